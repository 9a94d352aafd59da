//! The clock of a capture: packets in order of time, from records whose times may be damaged, out
//! of order, or set anew during the capture.
//!
//! A time that jumps is judged by the records after it, so some are read ahead. There are three cases.
//! The later records return to the time before the jump: this time is damaged. They go on from a later
//! time: a pause ends there. They go on from an earlier time, or the packets prove that less time
//! passed: the clock was set.

use super::evidence::Recent;
use super::resolution::Resolution;
use goodqueue_trace::read::Datagram;
use std::collections::VecDeque;

const SECOND: i64 = 1_000_000_000;
/// Longest time by which a record of an interface may be late without doubts about the clock. NTP
/// sets clocks that are wrong by more than 0.128 s and slews others (RFC 5905).
const DISORDER: i64 = SECOND / 10;
/// Time for which packets are held back, so that late ones take their place. dumpcap hands over the
/// packets of an interface every 0.25 s.
const HOLD: i64 = SECOND;
/// Largest number of packets that are held back.
const MAX_HELD: usize = 4096;
/// Shortest pause between two packets for which a note is written.
const LONG: i64 = 3600 * SECOND;
/// Longest pause before a last packet that no other confirms, and after a first one.
const DAY: i64 = 24 * 3600 * SECOND;
/// Longest pause. After a longer one the clock was set.
const YEAR: i64 = 365 * DAY;
/// Start of the year 2000. Machines without a clock of their own begin before, in 1970 or 1980.
const YEAR_2000: i64 = 946_684_800 * SECOND;
/// Number of records that are read ahead.
const AHEAD: usize = 16;
/// Number of these whose majority decides if a single time is damaged.
const VOTES: usize = 5;
/// Time between two stretches, whose true distance is unknown.
const BETWEEN: i64 = 1_000_000;
/// Number of interfaces whose clocks are followed. Later ones share the last place.
const MAX_INTERFACES: usize = 64;

/// A packet as the file has it.
#[derive(Clone, Copy)]
pub struct Record {
    pub time: i64,
    /// Number of the frame in the file, from 1.
    pub frame: u64,
    pub datagram: Datagram,
}

/// A packet in its order.
pub struct Ordered {
    pub time: i64,
    /// True if earlier packets have times that cannot be compared with this one.
    pub begins_stretch: bool,
    pub datagram: Datagram,
}

/// A place at which the time jumps.
#[derive(Clone, Copy, Debug)]
pub struct Jump {
    /// Number of the frame with the later time.
    pub frame: u64,
    /// Time since the first packet, before the jump.
    pub since_start: i64,
    pub length: i64,
}

/// Findings about the clock.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub longest_pause: Option<Jump>,
    pub pauses: u64,
    /// Places at which the clock was set.
    pub steps: Vec<Jump>,
    /// Number of packets that were recorded after later ones, and the longest time by which they
    /// were late.
    pub late: (u64, i64),
    pub resolution: Resolution,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Good,
    Damaged,
    Set,
}

/// Judge of times, and sorter of packets.
#[derive(Default)]
pub struct Clock {
    ahead: VecDeque<Record>,
    held: VecDeque<Ordered>,
    /// Number of held packets that are before the last stretch.
    before_stretch: usize,
    recent: Recent,
    /// Latest time of each interface since the clock was last set.
    latest: Vec<Option<i64>>,
    /// Latest time of all interfaces since then.
    newest: Option<i64>,
    /// Difference between the times in the results and those in the file.
    shift: i64,
    start: Option<i64>,
    /// Earliest time that a further packet may have in the results.
    floor: i64,
    findings: Findings,
}

impl Clock {
    /// Returns what the times so far showed.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Takes a record, and judges an earlier one. Returns the number of damaged times.
    pub fn take(&mut self, record: Record) -> u64 {
        self.ahead.push_back(record);
        if self.ahead.len() > AHEAD {
            self.judge_next()
        } else {
            0
        }
    }

    /// Judges the last records. Returns the number of damaged times.
    pub fn end(&mut self) -> u64 {
        let mut damaged = 0;
        while !self.ahead.is_empty() {
            damaged += self.judge_next();
        }
        damaged
    }

    /// Returns the next packet, if no earlier one can follow. After the end that is certain.
    pub fn next(&mut self, ended: bool) -> Option<Ordered> {
        let (first, last) = (self.held.front()?, self.held.back()?);
        let waited = last.time.saturating_sub(first.time) > HOLD || self.held.len() > MAX_HELD;
        if !(ended || waited || self.before_stretch > 0) {
            return None;
        }
        self.before_stretch = self.before_stretch.saturating_sub(1);
        let next = self.held.pop_front()?;
        self.floor = self.floor.max(next.time);
        Some(next)
    }

    fn judge_next(&mut self) -> u64 {
        let Some(record) = self.ahead.pop_front() else {
            return 0;
        };
        let verdict = self.verdict(&record);
        match verdict {
            Verdict::Damaged => return 1,
            Verdict::Set => self.set(&record),
            Verdict::Good => self.note_pause(&record),
        }
        let place = place(&record);
        self.latest.resize(self.latest.len().max(place + 1), None);
        if let Some(newest) = self.newest {
            self.findings
                .resolution
                .add(record.time.saturating_sub(newest));
        }
        self.latest[place] = self.latest[place].max(Some(record.time));
        self.newest = self.newest.max(Some(record.time));
        self.recent.add(&record.datagram);
        self.hold(&record, verdict == Verdict::Set);
        0
    }

    fn verdict(&self, record: &Record) -> Verdict {
        let time = record.time;
        let own = self.latest.get(place(record)).copied().flatten();
        let Some(prior) = own.or(self.newest) else {
            return self.first_verdict(time);
        };
        let length = time.saturating_sub(prior);
        let slack = if own.is_some() { DISORDER } else { HOLD };
        if (-slack..=slack).contains(&length) {
            Verdict::Good
        } else if length > 0 {
            self.later_verdict(record, prior, length)
        } else if length < -LONG {
            let returning = self.ahead_where(|later| later > time.saturating_add(LONG));
            if 2 * returning >= self.votes() {
                Verdict::Damaged
            } else {
                Verdict::Set
            }
        } else if !self.returns(record, prior) {
            Verdict::Set
        } else if length < -HOLD {
            Verdict::Damaged
        } else {
            Verdict::Good
        }
    }

    /// Judges the first time of a file: it is damaged if it is later than most of those that
    /// follow, or much earlier than all of them.
    fn first_verdict(&self, time: i64) -> Verdict {
        let earlier = self.ahead_where(|later| later < time.saturating_sub(HOLD));
        let much_later = self.ahead_where(|later| later > time.saturating_add(DAY));
        if 2 * earlier > self.votes() || much_later >= 3 && much_later == self.votes() {
            Verdict::Damaged
        } else {
            Verdict::Good
        }
    }

    fn later_verdict(&self, record: &Record, prior: i64, length: i64) -> Verdict {
        let (least, most) = (prior.saturating_sub(DISORDER), record.time - DISORDER);
        let returning = self.ahead_where(|later| (least..most).contains(&later));
        let is_unconfirmed = self.ahead.is_empty() && length > DAY;
        if 2 * returning > self.votes() || is_unconfirmed {
            return Verdict::Damaged;
        }
        let is_new_epoch = prior < YEAR_2000 && record.time >= YEAR_2000 && length > LONG;
        let is_too_long = length > YEAR || self.since_start(record.time) > 2 * YEAR;
        let later = self.ahead.iter().map(|later| &later.datagram);
        let packets = std::iter::once(&record.datagram).chain(later);
        let was_set = is_new_epoch
            || is_too_long
            || length > SECOND && self.recent.contradicts_timestamps(length, packets.clone())
            || length > LONG && self.recent.contradicts_acks(packets);
        if was_set { Verdict::Set } else { Verdict::Good }
    }

    fn ahead_where(&self, holds: impl Fn(i64) -> bool) -> usize {
        let times = self.ahead.iter().take(VOTES).map(|later| later.time);
        times.filter(|later| holds(*later)).count()
    }

    fn votes(&self) -> usize {
        self.ahead.len().min(VOTES)
    }

    /// Returns true if the times of a record's interface jump back to the time before the record,
    /// instead of going on from the record's own time until they reach it.
    fn returns(&self, record: &Record, prior: i64) -> bool {
        let mut last = record.time;
        let own = self.ahead.iter();
        for later in own.filter(|later| place(later) == place(record)) {
            if later.time >= prior {
                return later.time.saturating_sub(last) >= (prior - record.time) / 2;
            }
            last = later.time;
        }
        last == record.time
    }

    /// Begins a new stretch shortly after the end of the last one.
    fn set(&mut self, record: &Record) {
        let newest = self.newest.unwrap_or(record.time);
        self.findings.steps.push(Jump {
            frame: record.frame,
            since_start: self.since_start(newest),
            length: record.time.saturating_sub(newest),
        });
        let begin = newest.saturating_add(self.shift).saturating_add(BETWEEN);
        self.shift = begin.saturating_sub(record.time);
        self.latest.clear();
        self.newest = None;
        self.recent = Recent::default();
    }

    fn since_start(&self, time: i64) -> i64 {
        let time = time.saturating_add(self.shift);
        time.saturating_sub(self.start.unwrap_or(time))
    }

    fn note_pause(&mut self, record: &Record) {
        let Some(newest) = self.newest else { return };
        let length = record.time.saturating_sub(newest);
        if length <= LONG {
            return;
        }
        self.findings.pauses += 1;
        let jump = Jump {
            frame: record.frame,
            since_start: self.since_start(newest),
            length,
        };
        let longest = self.findings.longest_pause.get_or_insert(jump);
        if longest.length < length {
            *longest = jump;
        }
    }

    /// Puts a packet in its place among those held back.
    fn hold(&mut self, record: &Record, begins_stretch: bool) {
        let time = record.time.saturating_add(self.shift);
        if begins_stretch || self.start.is_none() {
            self.before_stretch = self.held.len();
            self.floor = time;
        }
        self.start.get_or_insert(time);
        let newest = self.held.back().map_or(self.floor, |last| last.time);
        if time < newest {
            let (count, longest) = &mut self.findings.late;
            *count += 1;
            *longest = (*longest).max(newest.saturating_sub(time));
        }
        let time = time.max(self.floor);
        let mut at = self.held.len();
        while at > self.before_stretch && self.held[at - 1].time > time {
            at -= 1;
        }
        let ordered = Ordered {
            time,
            begins_stretch,
            datagram: record.datagram,
        };
        self.held.insert(at, ordered);
    }
}

/// Returns the place of a record's interface in the list of clocks.
fn place(record: &Record) -> usize {
    (record.datagram.interface as usize).min(MAX_INTERFACES - 1)
}
