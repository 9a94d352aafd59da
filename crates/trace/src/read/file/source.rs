//! A window onto a stream of bytes that holds as much in memory as one record needs.

use super::packed::Unpacked;
use crate::read::tally::{Skip, Tally};
use std::io::{self, Read};

/// Number of bytes that are read at once.
const CHUNK: usize = 1 << 18;

/// Bytes of a reader; only a window of them is in memory.
pub struct Source<R> {
    reader: Unpacked<R>,
    memory: Vec<u8>,
    start: usize,
    end: usize,
    /// Number of bytes before `start`, counted from the start of the stream.
    passed: u64,
    ended: bool,
}

impl<R: Read> Source<R> {
    pub fn new(reader: R) -> io::Result<Self> {
        Ok(Self {
            reader: Unpacked::new(reader)?,
            memory: vec![0; 2 * CHUNK],
            start: 0,
            end: 0,
            passed: 0,
            ended: false,
        })
    }

    /// Returns the reader.
    pub fn reader(&self) -> &Unpacked<R> {
        &self.reader
    }

    /// Reads until `wanted` bytes are in memory or the stream ends, and returns the bytes in
    /// memory.
    pub fn fill(&mut self, wanted: usize) -> io::Result<&[u8]> {
        if self.end - self.start < wanted && !self.ended {
            self.read_on(wanted)?;
        }
        Ok(&self.memory[self.start..self.end])
    }

    /// Reads `wanted` bytes. Returns none if the stream ends before, and counts a cut record if it
    /// ends within them.
    pub fn whole(&mut self, wanted: usize, tally: &mut Tally) -> io::Result<Option<&[u8]>> {
        let bytes = self.fill(wanted)?;
        if bytes.len() >= wanted {
            return Ok(Some(bytes));
        }
        if !bytes.is_empty() {
            tally.add(Skip::CutRecord);
        }
        Ok(None)
    }

    /// Returns the bytes in memory.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }

    /// Discards up to `count` of the bytes in memory.
    pub fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.passed += count as u64;
    }

    /// Returns the number of bytes discarded so far, which is the position in the stream.
    pub fn position(&self) -> u64 {
        self.passed
    }

    fn read_on(&mut self, wanted: usize) -> io::Result<()> {
        self.memory.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.memory.len() < wanted + CHUNK {
            self.memory.resize(wanted + CHUNK, 0);
        }
        while self.end < wanted {
            match self.reader.read(&mut self.memory[self.end..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
