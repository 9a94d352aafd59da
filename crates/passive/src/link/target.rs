//! Measurements at the target link: bytes, waits and rate.

use crate::Nanos;
use crate::connection::crossing::Arrival;
use crate::connection::half::Half;
use crate::connection::shared::Waited;
use goodqueue_types::Histogram;
use std::collections::VecDeque;

/// Largest number of bins of the series. Beyond it, the bins become twice as wide.
const MAX_BINS: usize = 4096;
const FIRST_BIN: Nanos = 10_000_000;
/// Number of recent passages that are kept to look up the queue at the time of a drop.
const RECENT: usize = 1 << 14;

/// Measurements of one bin of time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bin {
    /// Bytes of frames as captured, by heading (unknown, in, out). With two tapping points the
    /// first is the measured direction.
    pub bytes: [u64; 3],
    /// Acknowledged payload by heading of the data, at the time at which the data left the link.
    pub delivered: [u64; 3],
    /// True if data of this heading waited for the whole bin.
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

/// Time series whose bins widen as it grows.
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
    /// Returns the bin of a time since the start of the capture.
    pub fn at(&mut self, time: Nanos) -> &mut Bin {
        let time = time.max(0);
        while time / self.width >= MAX_BINS as i64 {
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

    /// Marks the bins that lie wholly within a wait of data with heading `way` as busy.
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

/// Measurements of the link between two tapping points.
#[derive(Debug, Default)]
pub struct Passages {
    /// Arrival before the link and time taken, in order of arrival if the link is a FIFO.
    recent: VecDeque<(Nanos, Nanos)>,
    /// Shortest time taken, which includes no queueing.
    pub least: Option<Nanos>,
    /// Distribution of the times taken, queueing and propagation.
    taken: Histogram,
    last: Option<Nanos>,
    /// Bytes that left while other packets waited, and the duration of these departures.
    busy_bytes: u64,
    busy_time: Nanos,
    last_left: Option<Nanos>,
    since_last: u64,
    /// Time of the last packet behind the link, in either direction.
    last_behind: Option<Nanos>,
    /// Number of data segments seen before the link and then behind it.
    pub forward: u64,
    /// Number of data segments seen behind the link and then before it.
    pub backward: u64,
}

impl Passages {
    /// Records a packet behind the link.
    pub fn seen_behind(&mut self, time: Nanos) {
        self.last_behind = self.last_behind.max(Some(time));
    }

    /// Returns true if the data of this direction may cross the link: some arrived behind it, or
    /// none can have arrived yet.
    pub fn may_hold(&self, half: &Half) -> bool {
        let longest = self.taken.max().map_or(0, u64::cast_signed);
        let due = |first: Nanos| Some(first.saturating_add(longest)) <= self.last_behind;
        half.crossings.matched > 0 || !half.first_data.is_some_and(due)
    }

    /// Records that a packet of the measured direction left the link with this number of bytes.
    pub fn left(&mut self, bytes: u64) {
        self.since_last += bytes;
    }

    /// Records a matched packet, which [`Self::left`] has counted.
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
        // A packet that arrived before the previous one had left waited behind it, so the link was
        // busy in between.
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

    /// Returns the time that packets take at present.
    pub fn usual(&self) -> Option<Nanos> {
        self.last
    }

    /// Returns the time that packets took when a packet that was then seen before the link was
    /// dropped.
    pub fn took_at(&self, time: Nanos) -> Option<Nanos> {
        let after = self.recent.partition_point(|passage| passage.0 <= time);
        let near = after
            .checked_sub(1)
            .and_then(|place| self.recent.get(place));
        near.or(self.recent.front()).map(|passage| passage.1)
    }

    /// Returns the wait at a quantile, in nanoseconds.
    pub fn wait_quantile(&self, q: f64) -> Option<f64> {
        let least = self.least? as f64;
        Some((self.taken.quantile(q)? as f64 - least).max(0.0))
    }

    /// Returns the longest wait, in nanoseconds.
    pub fn longest_wait(&self) -> Option<f64> {
        Some(self.taken.max()? as f64 - self.least? as f64)
    }

    /// Returns the mean wait, in nanoseconds.
    pub fn mean_wait(&self) -> Option<f64> {
        Some(self.taken.mean()? - self.least? as f64)
    }

    /// Returns the bits per second while packets waited. None unless packets waited for 10 ms in
    /// total.
    pub fn busy_rate(&self) -> Option<f64> {
        (self.busy_time > 10_000_000).then(|| self.busy_bytes as f64 * 8e9 / self.busy_time as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Damaged times may jump over years repeatedly.
    #[test]
    fn jumping_times_do_not_overflow() {
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
