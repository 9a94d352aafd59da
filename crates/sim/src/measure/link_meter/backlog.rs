//! The distribution of a link's backlog over time.

use crate::Distribution;
use goodqueue_queue::Backlog;
use goodqueue_types::{Histogram, Span, Time};

/// Time for which a link had each backlog, in packets and in bytes.
///
/// While all waiting frames have one size, the number of packets determines that of bytes. In this
/// case the meter only adds the time to a table by number of packets. The histograms get the sums
/// of the table at the end, or before frames of another size become common. A histogram is a sum,
/// so the result is the same as that of single records.
#[derive(Clone, Debug)]
pub struct BacklogMeter {
    /// The present backlog.
    current: Backlog,
    /// Time at which it began.
    since: Time,
    /// Picoseconds by number of packets, for backlogs of `frame_bytes` per packet.
    table: Vec<u64>,
    frame_bytes: u64,
    /// Number of backlogs that did not fit the table since the last check for another frame size.
    misfits: u32,
    packets: Histogram,
    bytes: Histogram,
}

impl BacklogMeter {
    /// Number of entries of the table.
    pub const PLACES: usize = 4096;

    /// Number of backlogs that do not fit the table after which another frame size is considered.
    /// Emptying the table costs about as much as recording them.
    const MAX_MISFITS: u32 = 1024;

    /// Creates a meter of an empty queue, with memory for these numbers of packets and bytes.
    pub fn new(most_packets: u64, most_bytes: u64) -> Self {
        let reserved = |largest| {
            let mut histogram = Histogram::default();
            histogram.reserve(largest);
            histogram
        };
        Self {
            current: Backlog::default(),
            since: Time::ZERO,
            table: vec![0; Self::PLACES],
            frame_bytes: 0,
            misfits: Self::MAX_MISFITS,
            packets: reserved(most_packets),
            bytes: reserved(most_bytes),
        }
    }

    /// Returns the present backlog.
    pub fn current(&self) -> Backlog {
        self.current
    }

    /// Returns the time at which the present backlog began.
    #[inline]
    pub fn since(&self) -> Time {
        self.since
    }

    /// Begins a backlog at `now`. The previous backlog counts for the time `dwell`.
    #[inline]
    pub fn change(&mut self, now: Time, dwell: Span, backlog: Backlog) {
        let Backlog { packets, bytes } = self.current;
        match self.table.get_mut(packets as usize) {
            Some(time) if bytes == packets * self.frame_bytes => *time += dwell.0,
            _ => self.count_misfit(dwell),
        }
        self.since = now;
        self.current = backlog;
    }

    /// Counts the present backlog, which does not fit the table, for the time `dwell`.
    #[inline(never)]
    fn count_misfit(&mut self, dwell: Span) {
        let Backlog { packets, bytes } = self.current;
        if dwell == Span::ZERO {
            return;
        }
        self.packets.record(packets, dwell.0);
        self.bytes.record(bytes, dwell.0);
        self.misfits += 1;
        if self.misfits > Self::MAX_MISFITS {
            self.misfits = 0;
            if bytes.is_multiple_of(packets) {
                self.empty_table();
                self.frame_bytes = bytes / packets;
            }
        }
    }

    /// Moves the sums of the table into the histograms.
    fn empty_table(&mut self) {
        for (packets, time) in (0..).zip(&mut self.table) {
            if *time > 0 {
                self.packets.record(packets, *time);
                self.bytes.record(packets * self.frame_bytes, *time);
                *time = 0;
            }
        }
    }

    /// Returns the distributions in packets and in bytes. The present backlog counts for the time
    /// `dwell`.
    pub fn finish(&mut self, dwell: Span) -> [Distribution; 2] {
        self.change(self.since, dwell, self.current);
        self.empty_table();
        [&self.packets, &self.bytes].map(|histogram| Distribution::from_histogram(histogram, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::RandomStream;

    /// Changes the backlog at random and compares the meter with histograms that get every single
    /// record.
    fn agrees(sizes: &[u64], changes: u64, most: u64) {
        let mut random = RandomStream::new(1, "backlog", most);
        let mut meter = BacklogMeter::new(1, 1);
        let mut expected = [Histogram::default(), Histogram::default()];
        let (mut waiting, mut now) = (std::collections::VecDeque::new(), Time::ZERO);
        let mut backlog = Backlog::default();
        for index in 0..changes {
            let dwell = Span(random.bits() % 1_000_000 * (random.bits() % 2));
            now += dwell;
            if dwell > Span::ZERO {
                expected[0].record(backlog.packets, dwell.0);
                expected[1].record(backlog.bytes, dwell.0);
            }
            let grows = random.bits() % 100 < if index < changes / 2 { 55 } else { 45 };
            if grows && backlog.packets < most {
                let size = sizes[(index * sizes.len() as u64 / changes) as usize];
                waiting.push_back(size);
                backlog.add(size);
            } else if let Some(size) = waiting.pop_front() {
                backlog.remove(size);
            }
            meter.change(now, dwell, backlog);
        }
        let expected = expected.map(|histogram| Distribution::from_histogram(&histogram, 1.0));
        assert_eq!(meter.finish(Span::ZERO), expected);
        assert!(expected[0].max > Some(10.0), "{expected:?}");
    }

    #[test]
    fn frames_of_one_size_give_the_distribution_of_single_records() {
        agrees(&[1500], 20_000, 2_000);
    }

    #[test]
    fn frames_of_changing_sizes_give_the_distribution_of_single_records() {
        agrees(&[1500, 40, 1500, 576, 64], 50_000, 100);
        agrees(&[1500, 1499, 7], 2_000, 100);
    }

    #[test]
    fn a_backlog_beyond_the_table_is_counted() {
        agrees(&[1500], 200_000, 3 * BacklogMeter::PLACES as u64);
    }

    #[test]
    fn a_mixture_of_frames_gives_the_distribution_of_single_records() {
        let mixture: Vec<u64> = (0..20_000).map(|index| 40 + index % 7 * 100).collect();
        agrees(&mixture, 20_000, 100);
    }

    #[test]
    fn the_last_backlog_counts_up_to_the_end() {
        let mut meter = BacklogMeter::new(1, 1);
        let backlog = Backlog {
            packets: 3,
            bytes: 300,
        };
        meter.change(Time(1), Span(1), backlog);
        let [packets, bytes] = meter.finish(Span(3));
        assert_eq!((packets.mean, bytes.mean), (Some(2.25), Some(225.0)));
    }
}
