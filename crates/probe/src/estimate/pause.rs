//! Pauses of a link, as of a radio: times in which it delivers nothing although packets wait.
//!
//! A queue in front of the link grows in a pause, and its packets wait for the rest of the pause. This
//! time is no queueing delay: the queue is as long as it would be if the clock stood still in the pause.

/// A gap between arrivals counts as a pause if it is longer than this, in nanoseconds. A busy machine
/// causes shorter gaps, too.
const SHORTEST: i64 = 15_000_000;
/// A gap counts as a pause only if it is also longer than this number of transmissions, because packets
/// of other traffic may pass between two packets of the probe.
const TRANSMISSIONS: i64 = 10;

/// Pauses of a phase.
#[derive(Clone, Debug, Default)]
pub struct Pauses {
    /// Beginning and end of each in times of receipt, in nanoseconds, in their order.
    spans: Vec<(i64, i64)>,
    /// Packets that waited in a pause.
    packets: u32,
}

impl Pauses {
    /// Returns the pauses between packets, each with the times at which it was received and at which
    /// it would have been received without a queue.
    ///
    /// A pause is a time without receipts during which a packet was due: it had reached the link,
    /// and `transmission` ns had passed since the receipt before. It lasts longer than 15 ms and
    /// than ten transmissions.
    pub fn find(mut packets: Vec<(i64, i64)>, transmission: i64) -> Self {
        packets.sort_unstable();
        let least = SHORTEST.max(TRANSMISSIONS * transmission);
        let spans = packets.windows(2).filter_map(|pair| {
            let [(before, _), (received, arrived)] = *pair else {
                return None;
            };
            let due = arrived.max(before + transmission);
            (received - due > least).then_some((due, received))
        });
        Self {
            spans: spans.collect(),
            packets: 0,
        }
    }

    /// Returns the number of pauses.
    pub fn count(&self) -> u32 {
        self.spans.len() as u32
    }

    /// Returns the number of packets that waited in a pause.
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// Returns the longest pause in seconds, zero without any.
    pub fn longest_s(&self) -> f64 {
        let lengths = self.spans.iter().map(|(from, to)| to - from);
        lengths.max().unwrap_or(0) as f64 * 1e-9
    }

    /// Returns the time of all pauses in seconds.
    pub fn total_s(&self) -> f64 {
        self.within(i64::MIN, i64::MAX) as f64 * 1e-9
    }

    /// Returns the time of pauses between two times, in nanoseconds.
    pub fn within(&self, from: i64, to: i64) -> i64 {
        let first = self.spans.partition_point(|(_, end)| *end <= from);
        let later = self.spans[first..].iter();
        let inside = later.take_while(|(begin, _)| *begin < to);
        inside
            .map(|(begin, end)| to.min(*end) - from.max(*begin))
            .sum()
    }

    /// Returns the time in seconds for which a packet waited in pauses, and counts it if it did. It
    /// would have been received at `arrived` without a queue.
    pub fn attribute(&mut self, arrived: i64, received: i64) -> f64 {
        let silent = self.within(arrived, received);
        self.packets += u32::from(silent > 0);
        silent as f64 * 1e-9
    }
}
