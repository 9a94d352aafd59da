//! A window onto a stream of bytes: as much of it in memory as one record needs.

use super::tally::{Skip, Tally};
use std::io::{self, Read};

/// Read at once.
const CHUNK: usize = 1 << 18;

/// Bytes from a reader, of which a stretch at the front is in memory.
pub struct Source<R> {
    reader: R,
    memory: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes before `start`, over the whole stream.
    passed: u64,
    ended: bool,
}

impl<R: Read> Source<R> {
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            memory: vec![0; 2 * CHUNK],
            start: 0,
            end: 0,
            passed: 0,
            ended: false,
        }
    }

    /// Reads until `wanted` bytes are in memory or the stream ends, and shows what there is.
    pub fn fill(&mut self, wanted: usize) -> io::Result<&[u8]> {
        if self.end - self.start < wanted && !self.ended {
            self.read_on(wanted)?;
        }
        Ok(&self.memory[self.start..self.end])
    }

    /// The same, if there is so much; where the stream ends within it, a record is cut.
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

    /// What is in memory.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }

    /// Leaves up to `count` bytes of those in memory behind.
    pub fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.passed += count as u64;
    }

    /// How many bytes were left behind.
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
