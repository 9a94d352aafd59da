//! Data of a stream that were seen and are not acknowledged yet.

use crate::Nanos;
use std::collections::VecDeque;
use std::ops::Range;

/// Largest number of segments in flight that are followed: 4 Gb/s over a second, in segments of
/// 1,448 bytes.
const MAX_RECORDS: usize = 1 << 18;

/// Number of records above which none is cut, because each cut moves those behind it.
const MAX_CUT: usize = 1 << 13;
/// Smallest full segment of a sender (Linux, `TCP_MIN_SND_MSS`). Super-segments are not cut into
/// smaller parts.
const MIN_SEGMENT: u64 = 48;

/// Stretch of the stream that was sent as one segment, or a hole in place of a missing segment.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub start: u64,
    pub end: u64,
    /// Time at which it was first seen, or at which a hole was first noticed.
    pub time: Nanos,
    /// Number of times that it was seen; 0 for a hole.
    pub copies: u32,
    /// Number of these copies that are already known to be lost after the first tapping point.
    pub dropped: u32,
    /// Wait of the only copy between the tapping points.
    pub waited: Option<Nanos>,
    /// The sender's clock value on the last copy, if it was sent more than once.
    pub last_stamp: Option<u32>,
    pub sacked: bool,
    /// True if it was a hole once.
    pub filled: bool,
}

impl Record {
    /// Returns true if its acknowledgement is a round-trip sample: it was sent once (Karn's rule).
    pub fn is_sample(&self) -> bool {
        self.copies == 1 && !self.filled
    }

    /// Creates a record of data, or of a hole, first seen at `time`.
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
    /// Appends a record. The oldest is discarded if there are too many.
    pub fn push(&mut self, record: Record) {
        if self.records.len() >= MAX_RECORDS {
            self.records.pop_front();
        }
        self.records.push_back(record);
    }

    /// Returns the index of the record that contains a position.
    pub fn find(&self, position: u64) -> Option<usize> {
        let place = self
            .records
            .partition_point(|record| record.end <= position);
        let found = self.records.get(place)?;
        (found.start <= position).then_some(place)
    }

    /// Returns the record that contains a position.
    pub fn get_mut(&mut self, position: u64) -> Option<&mut Record> {
        let place = self.find(position)?;
        self.records.get_mut(place)
    }

    /// Cuts the record at a position in two, and returns the index of the first record behind the
    /// cut. The record stays whole if there are too many, or if a part would be smaller than a full
    /// segment.
    fn cut(&mut self, at: u64) -> usize {
        let place = self.records.partition_point(|record| record.end <= at);
        let full = self.records.len() >= MAX_CUT;
        let crossed = self.records.get_mut(place);
        let divides = |record: &&mut Record| record.start + MIN_SEGMENT <= at && !full;
        let Some(record) = crossed.filter(divides) else {
            return place;
        };
        let mut below = *record;
        below.end = at;
        record.start = at;
        self.records.insert(place, below);
        place + 1
    }

    /// Returns the indices of the records that make up a stretch, cut to it. A record that cannot
    /// be cut belongs to the stretch.
    pub fn stretch(&mut self, start: u64, end: u64) -> Range<usize> {
        if start >= end {
            return 0..0;
        }
        let first = self.cut(start);
        let behind = self.cut(end);
        let crossed = self.records.get(behind).is_some_and(|r| r.start < end);
        first..behind + usize::from(crossed)
    }

    /// Returns true if a stretch is one record.
    pub fn is_record(&self, start: u64, end: u64) -> bool {
        let record = self.find(start).map(|place| self.records[place]);
        record.is_some_and(|record| (record.start, record.end) == (start, end))
    }

    /// Returns true if all data of a stretch were seen at times that `lately` accepts.
    pub fn was_seen(&self, start: u64, end: u64, lately: impl Fn(Nanos) -> bool) -> bool {
        let Some(first) = self.find(start) else {
            return false;
        };
        let parts = self.records.range(first..);
        let mut parts = parts.take_while(|record| record.start < end);
        parts.all(|record| record.copies > 0 && lately(record.time))
    }

    /// Returns the record at an index.
    pub fn at_mut(&mut self, place: usize) -> &mut Record {
        &mut self.records[place]
    }

    /// Removes the next record before `ack`. Removes the acknowledged part of a super-segment that
    /// is acknowledged in part.
    pub fn acknowledge(&mut self, ack: u64) -> Option<Record> {
        let front = self.records.front_mut()?;
        if front.end <= ack {
            return self.records.pop_front();
        }
        if front.start >= ack {
            return None;
        }
        let mut part = *front;
        (part.end, front.start) = (ack, ack);
        Some(part)
    }

    /// Marks the data of a SACK block, which may cover a part of a super-segment. Returns the
    /// latest of the newly marked records, and the bytes of all of them.
    pub fn sack(&mut self, start: u64, end: u64) -> (Option<Record>, u64) {
        let mut newest: Option<Record> = None;
        let mut bytes = 0;
        let mut place = self.cut(end);
        // A block is repeated while it grows at its upper end, so the downward walk ends at records
        // marked before. New data below them count when they are acknowledged cumulatively.
        while place > 0 {
            place -= 1;
            let record = self.records[place];
            if record.end <= start || record.sacked {
                break;
            }
            if record.start < start {
                place = self.cut(start);
            }
            let record = self.records.get_mut(place);
            let Some(record) = record.filter(|r| start <= r.start && r.end <= end) else {
                break;
            };
            record.sacked = true;
            bytes += record.end - record.start;
            if newest.is_none_or(|newest| newest.time < record.time) {
                newest = Some(*record);
            }
        }
        (newest, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scoreboard_of(sizes: &[u64]) -> Scoreboard {
        let mut scoreboard = Scoreboard::default();
        let mut start = 0;
        for (time, size) in sizes.iter().enumerate() {
            scoreboard.push(Record::new(start, start + size, time as Nanos, 1));
            start += size;
        }
        scoreboard
    }

    fn extents(scoreboard: &Scoreboard) -> Vec<(u64, u64, bool)> {
        let records = scoreboard.records.iter();
        records.map(|r| (r.start, r.end, r.sacked)).collect()
    }

    #[test]
    fn a_super_segment_is_acknowledged_in_parts() {
        let mut scoreboard = scoreboard_of(&[1000]);
        let taken = |record: Option<Record>| record.map(|record| (record.start, record.end));
        assert_eq!(taken(scoreboard.acknowledge(200)), Some((0, 200)));
        assert_eq!(taken(scoreboard.acknowledge(200)), None);
        // Data in repeated SACK blocks count once.
        assert_eq!(scoreboard.sack(400, 600).1, 200);
        assert_eq!(scoreboard.sack(400, 800).1, 200);
        assert_eq!(scoreboard.sack(400, 800).1, 0);
        assert_eq!(
            extents(&scoreboard),
            [
                (200, 400, false),
                (400, 600, true),
                (600, 800, true),
                (800, 1000, false)
            ]
        );
    }

    #[test]
    fn parts_below_a_full_segment_are_not_cut() {
        let mut scoreboard = scoreboard_of(&[60_000; 100]);
        for start in (0..6_000_000).step_by(7) {
            let parts = scoreboard.stretch(start, start + 2);
            let held = |place: usize| scoreboard.records[place];
            assert!(held(parts.start).start <= start && start + 2 <= held(parts.end - 1).end);
        }
        assert!(scoreboard.records.len() <= MAX_CUT);
        let mut one = scoreboard_of(&[60_000]);
        (0..60_000).for_each(|start| _ = one.stretch(start, start + 2));
        assert!(one.records.len() as u64 <= 60_000 / MIN_SEGMENT);
    }

    #[test]
    fn a_stretch_is_cut_out_of_the_records_it_crosses() {
        let mut scoreboard = scoreboard_of(&[300, 300, 300]);
        assert_eq!(scoreboard.stretch(200, 700), 1..4);
        let ends: Vec<_> = extents(&scoreboard).iter().map(|r| r.1).collect();
        assert_eq!(ends, [200, 300, 600, 700, 900]);
        assert!(scoreboard.stretch(900, 1000).is_empty());
        assert!(scoreboard.stretch(500, 500).is_empty());
    }
}
