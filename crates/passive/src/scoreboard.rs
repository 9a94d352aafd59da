//! What of a stream was seen and is not acknowledged yet.

use crate::Nanos;
use std::collections::VecDeque;

/// More segments in flight are not followed: 4 Gb/s over a second in segments of 1,448 bytes.
const MOST_RECORDS: usize = 1 << 18;

/// A stretch of the stream that travelled as one segment, or a hole where one is missing.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub start: u64,
    pub end: u64,
    /// When it was first seen; of a hole, when it was first missed.
    pub time: Nanos,
    /// How often it was seen; 0 for a hole.
    pub copies: u32,
    /// Of these, lost after the first tapping point as far as its place is known already.
    pub dropped: u32,
    /// How long the only copy waited between the tapping points.
    pub waited: Option<Nanos>,
    /// The sender's clock on its last copy, if it went out more than once.
    pub last_stamp: Option<u32>,
    pub sacked: bool,
    /// It was a hole once.
    pub filled: bool,
}

impl Record {
    /// Whether its acknowledgement tells a round trip: it was sent once (Karn).
    pub fn is_sample(&self) -> bool {
        self.copies == 1 && !self.filled
    }

    /// Something seen for the first time.
    pub fn new(start: u64, end: u64, time: Nanos, copies: u32) -> Self {
        Self {
            start,
            end,
            time,
            copies,
            dropped: 0,
            waited: None,
            last_stamp: None,
            sacked: false,
            filled: false,
        }
    }
}

/// Records in order of the stream, without gaps.
#[derive(Debug, Default)]
pub struct Scoreboard {
    records: VecDeque<Record>,
}

impl Scoreboard {
    /// Adds what follows the last record; the oldest is forgotten if there are too many.
    pub fn push(&mut self, record: Record) {
        if self.records.len() >= MOST_RECORDS {
            self.records.pop_front();
        }
        self.records.push_back(record);
    }

    /// The place of the record that holds a position.
    pub fn find(&self, position: u64) -> Option<usize> {
        let place = self
            .records
            .partition_point(|record| record.end <= position);
        let found = self.records.get(place)?;
        (found.start <= position).then_some(place)
    }

    /// The record that holds a position.
    pub fn get_mut(&mut self, position: u64) -> Option<&mut Record> {
        let place = self.find(position)?;
        self.records.get_mut(place)
    }

    /// Makes the stretch a record of its own where it is part of a larger one, and shows the record
    /// that holds its start.
    pub fn carve(&mut self, start: u64, end: u64) -> Option<&mut Record> {
        if start >= end {
            return None;
        }
        let mut place = self.find(start)?;
        if self.records[place].start < start {
            let mut first = self.records[place];
            first.end = start;
            self.records[place].start = start;
            self.records.insert(place, first);
            place += 1;
        }
        if self.records[place].end > end {
            let mut last = self.records[place];
            last.start = end;
            self.records[place].end = end;
            self.records.insert(place + 1, last);
        }
        self.records.get_mut(place)
    }

    /// Takes out what lies before `ack`, a record at a time.
    pub fn acknowledge(&mut self, ack: u64) -> Option<Record> {
        let front = self.records.front_mut()?;
        if front.end <= ack {
            return self.records.pop_front();
        }
        front.start = front.start.max(ack);
        None
    }

    /// Marks what a selective acknowledgement covers: the latest of the records newly marked, and the
    /// bytes in all of them.
    pub fn sack(&mut self, start: u64, end: u64) -> (Option<Record>, u64) {
        let mut newest: Option<Record> = None;
        let mut bytes = 0;
        let mut place = self.records.partition_point(|record| record.end <= end);
        // Blocks grow upwards: below what was marked before, all is marked.
        while place > 0 {
            place -= 1;
            let record = &mut self.records[place];
            if record.start < start || record.sacked {
                break;
            }
            record.sacked = true;
            bytes += record.end - record.start;
            if newest.is_none_or(|newest| newest.time < record.time) {
                newest = Some(*record);
            }
        }
        (newest, bytes)
    }
}
