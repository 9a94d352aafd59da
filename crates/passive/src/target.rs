//! The target link: what passed it, how long it waited, how fast it is.

use crate::Nanos;
use crate::crossing::Arrival;
use crate::half::{Half, Waited};
use goodqueue_types::Histogram;
use std::collections::VecDeque;

/// Bins of the series: when there are more, each becomes twice as wide.
const MOST_BINS: usize = 4096;
const FIRST_BIN: Nanos = 10_000_000;
/// Passages kept to look up the queue at the time of a drop.
const RECENT: usize = 1 << 14;

/// What happened in a stretch of time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bin {
    /// Bytes of frames as the capture shows them, by heading (unknown, in, out); with two tapping points the first is the measured
    /// direction.
    pub bytes: [u64; 3],
    /// Payload acknowledged of data that went each way, at the time when it left the link.
    pub delivered: [u64; 3],
    /// Whether data that went each way waited all the time.
    pub busy: [bool; 3],
    pub delay_sum: f64,
    pub delay_count: u64,
    pub delay_max: Nanos,
}

impl Bin {
    fn join(&mut self, other: &Self) {
        for (bytes, more) in self.bytes.iter_mut().zip(other.bytes) {
            *bytes += more;
        }
        for (bytes, more) in self.delivered.iter_mut().zip(other.delivered) {
            *bytes += more;
        }
        for (busy, also) in self.busy.iter_mut().zip(other.busy) {
            *busy &= also;
        }
        self.delay_sum += other.delay_sum;
        self.delay_count += other.delay_count;
        self.delay_max = self.delay_max.max(other.delay_max);
    }
}

/// A series of bins that widen as it grows.
#[derive(Debug)]
pub struct Series {
    pub bins: Vec<Bin>,
    pub width: Nanos,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            bins: Vec::new(),
            width: FIRST_BIN,
        }
    }
}

impl Series {
    /// The bin of a time since the start of the capture.
    pub fn at(&mut self, time: Nanos) -> &mut Bin {
        let time = time.max(0);
        while time / self.width >= MOST_BINS as i64 {
            let halved = self.bins.chunks(2).map(|pair| {
                let mut bin = pair[0];
                pair[1..].iter().for_each(|other| bin.join(other));
                bin
            });
            self.bins = halved.collect();
            self.width *= 2;
        }
        let index = (time / self.width) as usize;
        if self.bins.len() <= index {
            self.bins.resize(index + 1, Bin::default());
        }
        &mut self.bins[index]
    }

    /// Data that went a way waited: the bins that lie wholly within that time are busy.
    pub fn was_busy(&mut self, waited: &Waited, way: usize) {
        self.at(waited.to);
        let width = self.width;
        let bin = |time: Nanos| (time.max(0) / width) as usize;
        let first = bin(waited.known).max(bin(waited.from + width - 1));
        let end = bin(waited.to).min(self.bins.len());
        for busy in self.bins.get_mut(first..end).into_iter().flatten() {
            busy.busy[way] = true;
        }
    }
}

/// What two tapping points show of the link between them.
#[derive(Debug, Default)]
pub struct Passages {
    /// Time before the link and time taken, in order of the former as far as it is a FIFO.
    recent: VecDeque<(Nanos, Nanos)>,
    /// The least time taken: no queue.
    pub least: Option<Nanos>,
    /// Times taken, all queue and propagation.
    taken: Histogram,
    last: Option<Nanos>,
    /// Bytes that left while others waited, and the time that they took.
    busy_bytes: u64,
    busy_time: Nanos,
    last_left: Option<Nanos>,
    since_last: u64,
    /// The last packet behind the link, of any direction.
    last_behind: Option<Nanos>,
    /// Segments of data seen before the link and then behind it, and the other way round.
    pub forward: u64,
    /// See above.
    pub backward: u64,
}

impl Passages {
    /// A packet was seen behind the link.
    pub fn seen_behind(&mut self, time: Nanos) {
        self.last_behind = self.last_behind.max(Some(time));
    }

    /// Whether what was sent from an end goes through the link: some of it came, or none can have come yet.
    pub fn may_hold(&self, half: &Half) -> bool {
        let longest = self.taken.max().map_or(0, u64::cast_signed);
        let due = |first: Nanos| Some(first.saturating_add(longest)) <= self.last_behind;
        half.crossings.matched > 0 || !half.first_data.is_some_and(due)
    }

    /// A packet of the measured direction left the link, of so many bytes.
    pub fn left(&mut self, bytes: u64) {
        self.since_last += bytes;
    }

    /// A packet was matched; it has been counted by [`Self::left`].
    pub fn matched(&mut self, arrival: &Arrival) {
        let left = arrival.time + arrival.took;
        self.forward += 1;
        self.least = Some(
            self.least
                .map_or(arrival.took, |least| least.min(arrival.took)),
        );
        self.last = Some(arrival.took);
        self.taken.record(arrival.took.max(0).cast_unsigned(), 1);
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((arrival.time, arrival.took));
        // One that came before the last had left waited behind it: the link was busy in between.
        let least = self.least.unwrap_or(0);
        if let Some(last) = self.last_left
            && arrival.time + least < last
            && left > last
        {
            self.busy_bytes += self.since_last;
            self.busy_time = self.busy_time.saturating_add(left - last);
        }
        self.last_left = Some(left);
        self.since_last = 0;
    }

    /// How long packets take at present.
    pub fn usual(&self) -> Option<Nanos> {
        self.last
    }

    /// How long packets took when one was dropped that was seen before the link at this time.
    pub fn took_at(&self, time: Nanos) -> Option<Nanos> {
        let after = self.recent.partition_point(|passage| passage.0 <= time);
        let near = after
            .checked_sub(1)
            .and_then(|place| self.recent.get(place));
        near.or(self.recent.front()).map(|passage| passage.1)
    }

    /// The waiting time at a quantile, in nanoseconds.
    pub fn wait_quantile(&self, q: f64) -> Option<f64> {
        let least = self.least? as f64;
        Some((self.taken.quantile(q)? as f64 - least).max(0.0))
    }

    /// The longest waiting time, in nanoseconds.
    pub fn longest_wait(&self) -> Option<f64> {
        Some(self.taken.max()? as f64 - self.least? as f64)
    }

    /// The mean waiting time, in nanoseconds.
    pub fn mean_wait(&self) -> Option<f64> {
        Some(self.taken.mean()? - self.least? as f64)
    }

    /// Bits per second while packets waited; none unless they did for 10 ms in all.
    pub fn busy_rate(&self) -> Option<f64> {
        (self.busy_time > 10_000_000).then(|| self.busy_bytes as f64 * 8e9 / self.busy_time as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Damaged times may jump over years, again and again.
    #[test]
    fn jumping_times_fit() {
        let mut passages = Passages::default();
        let far = 100_000_000_000_000_000;
        for _ in 0..100 {
            for (time, took) in [(far, -2 * far), (-far, 2 * far)] {
                let start = 0;
                passages.left(1500);
                passages.matched(&Arrival { start, time, took });
            }
        }
        assert_eq!(passages.busy_time, Nanos::MAX);
    }
}
