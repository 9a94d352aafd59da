//! What of a stream was seen and is not acknowledged yet.

use crate::Nanos;
use std::collections::VecDeque;
use std::ops::Range;

/// More segments in flight are not followed: 4 Gb/s over a second in segments of 1,448 bytes.
const MOST_RECORDS: usize = 1 << 18;

/// More are not made by cutting, as each moves those behind it.
const MOST_CUT: usize = 1 << 13;
/// No sender's full segments carry less (Linux, `TCP_MIN_SND_MSS`): no super-segment is cut finer.
const LEAST_SEGMENT: u64 = 48;

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

    /// Makes a border at a position, and shows the place of the first record behind it. Where there is no
    /// room for more records, or what is below would be no full segment, the record there stays whole.
    fn cut(&mut self, at: u64) -> usize {
        let place = self.records.partition_point(|record| record.end <= at);
        let full = self.records.len() >= MOST_CUT;
        let crossed = self.records.get_mut(place);
        let divides = |record: &&mut Record| record.start + LEAST_SEGMENT <= at && !full;
        let Some(record) = crossed.filter(divides) else {
            return place;
        };
        let mut below = *record;
        below.end = at;
        record.start = at;
        self.records.insert(place, below);
        place + 1
    }

    /// The places of the records that make up a stretch, cut to it; one that stays whole belongs to it.
    pub fn stretch(&mut self, start: u64, end: u64) -> Range<usize> {
        if start >= end {
            return 0..0;
        }
        let first = self.cut(start);
        let behind = self.cut(end);
        let crossed = self.records.get(behind).is_some_and(|r| r.start < end);
        first..behind + usize::from(crossed)
    }

    /// The record at a place.
    pub fn at_mut(&mut self, place: usize) -> &mut Record {
        &mut self.records[place]
    }

    /// Takes out what lies before `ack`, a record at a time; of a super-segment that is acknowledged in
    /// part, that part.
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

    /// Marks what a selective acknowledgement covers, which may be part of a super-segment: the latest of
    /// the records newly marked, and the bytes in all of them.
    pub fn sack(&mut self, start: u64, end: u64) -> (Option<Record>, u64) {
        let mut newest: Option<Record> = None;
        let mut bytes = 0;
        let mut place = self.cut(end);
        // A block is reported again and again as it grows at its upper end: the walk down ends at what was
        // marked before. What is new below that counts when all is acknowledged.
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

    fn of(sizes: &[u64]) -> Scoreboard {
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
        let mut scoreboard = of(&[1000]);
        let taken = |record: Option<Record>| record.map(|record| (record.start, record.end));
        assert_eq!(taken(scoreboard.acknowledge(200)), Some((0, 200)));
        assert_eq!(taken(scoreboard.acknowledge(200)), None);
        // Of the rest, what is acknowledged selectively counts once, however often it is said.
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
    fn tiny_parts_are_no_records_of_their_own() {
        let mut scoreboard = of(&[60_000; 100]);
        for start in (0..6_000_000).step_by(7) {
            let parts = scoreboard.stretch(start, start + 2);
            let held = |place: usize| scoreboard.records[place];
            assert!(held(parts.start).start <= start && start + 2 <= held(parts.end - 1).end);
        }
        assert!(scoreboard.records.len() <= MOST_CUT);
        let mut one = of(&[60_000]);
        (0..60_000).for_each(|start| _ = one.stretch(start, start + 2));
        assert!(one.records.len() as u64 <= 60_000 / LEAST_SEGMENT);
    }

    #[test]
    fn a_stretch_is_cut_out_of_what_it_crosses() {
        let mut scoreboard = of(&[300, 300, 300]);
        assert_eq!(scoreboard.stretch(200, 700), 1..4);
        let ends: Vec<_> = extents(&scoreboard).iter().map(|r| r.1).collect();
        assert_eq!(ends, [200, 300, 600, 700, 900]);
        assert!(scoreboard.stretch(900, 1000).is_empty());
        assert!(scoreboard.stretch(500, 500).is_empty());
    }
}
