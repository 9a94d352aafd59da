//! A phase that loads the path: queueing delays, losses, and the time in which the queue never emptied.

use super::Pauses;
use crate::{Record, Recording, Stream, TINY};
use std::ops::Range;

/// A packet is backlogged if it waited for longer than this number of packets of its size takes.
const BACKLOGGED: f64 = 2.0;
/// Share of the estimated time of a transmission by which packets that leave the bottleneck are apart
/// at least. The rate is an estimate, so the whole time is not certain.
const TRUSTED: f64 = 0.97;
/// Smallest number of packets from which a rate is estimated.
const ENOUGH: usize = 30;

/// Lost packets next to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Index of the last packet that was received before them.
    pub before: usize,
    /// Number of packets lost.
    pub lost: u32,
}

/// Packets of the main stream in the order of their numbers, and of the sparse stream beside them.
#[derive(Clone, Debug)]
pub struct Load {
    /// Packets of the main stream.
    pub main: Vec<Record>,
    /// Queueing delay of each packet of the main stream, in seconds.
    pub wait: Vec<f64>,
    /// Losses of the main stream.
    pub gaps: Vec<Gap>,
    /// Packets of the sparse stream, with their queueing delay in seconds.
    pub sparse: Vec<(Record, f64)>,
    /// Times of receipt of sparse packets, sorted.
    sparse_received: Vec<i64>,
    /// Smallest delay, in nanoseconds.
    pub base: i64,
    /// Smallest delay of sparse packets, in nanoseconds.
    sparse_base: i64,
    /// IP size of the packets of the main stream.
    pub bytes: u32,
    /// Rate at which the path delivered.
    pub throughput: Throughput,
    /// Pauses of the link.
    pub pauses: Pauses,
}

/// Rate at which packets were received, in bits of IP per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Throughput {
    /// The rate.
    pub bps: f64,
    /// Standard error.
    pub error: f64,
    /// Rate from the spacing of neighbouring packets, if it is clearly one value. Without other
    /// traffic it equals the rate.
    pub spacing_bps: Option<f64>,
    /// True if the bottleneck, and not the sender, limited the rate.
    pub is_saturated: bool,
}

impl Load {
    /// Returns the packets of a phase, or none if fewer than ten arrived.
    ///
    /// `base` is the smallest delay of packets of this size before the phase, and `sparse_base` that
    /// of tiny packets.
    pub fn new(recording: &Recording, base: Option<i64>, sparse_base: Option<i64>) -> Option<Self> {
        let of = |stream| {
            let records = recording.records.iter().copied();
            let mut records: Vec<_> = records.filter(|one| one.stream == stream).collect();
            records.sort_by_key(|one| one.sequence);
            records.dedup_by_key(|one| one.sequence);
            records
        };
        let main = of(Stream::Main);
        if main.len() < 10 {
            return None;
        }
        let smallest = |records: &[Record], base: Option<i64>| {
            let delays = records.iter().map(Record::delay);
            delays.chain(base).min().unwrap_or(0)
        };
        let base = smallest(&main, base);
        let sparse = of(Stream::Sparse);
        let sparse_base = smallest(&sparse, sparse_base);
        let seconds = |delay: i64, base: i64| (delay - base) as f64 * 1e-9;
        let pairs = main.windows(2).enumerate();
        let gaps = pairs.filter_map(|(before, pair)| {
            let lost = pair[1].sequence - pair[0].sequence - 1;
            (lost > 0).then_some(Gap { before, lost })
        });
        let mut load = Self {
            wait: main.iter().map(|one| seconds(one.delay(), base)).collect(),
            gaps: gaps.collect(),
            sparse: sparse
                .iter()
                .map(|one| (*one, seconds(one.delay(), sparse_base)))
                .collect(),
            sparse_received: sorted(sparse.iter().map(|one| one.received)),
            base,
            sparse_base,
            bytes: main[0].bytes,
            main,
            throughput: Throughput::default(),
            pauses: Pauses::default(),
        };
        load.throughput = load.find_throughput();
        load.remove_silences();
        Some(load)
    }

    /// Returns the pauses that the times of receipt show.
    fn find_pauses(&self) -> Pauses {
        let gaps = self.main.windows(2);
        let gaps = gaps.map(|pair| (pair[1].received - pair[0].received) as f64);
        let transmission = quantile(gaps, 0.5).unwrap_or(0.0);
        let packet = |one: &Record, base: i64| (one.received, one.sent + base);
        let main = self.main.iter().map(|one| packet(one, self.base));
        let sparse = self.sparse.iter();
        let sparse = sparse.map(|(one, _)| packet(one, self.sparse_base));
        Pauses::find(main.chain(sparse).collect(), transmission.max(0.0) as i64)
    }

    /// Corrects what a busy machine delivered late, and takes pauses of the link out of the queueing
    /// delays and out of the rate.
    ///
    /// A silence of the link and one of the machine look alike until the packets after it are seen, which
    /// a machine delivers faster than the link.
    fn remove_silences(&mut self) {
        let whole = self.throughput;
        self.pauses = self.find_pauses();
        if self.pauses.count() > 0 {
            self.throughput = self.find_throughput();
        }
        self.remove_lateness();
        self.pauses = self.find_pauses();
        self.throughput = whole;
        if self.pauses.count() > 0 {
            self.remove_pauses();
            self.throughput = self.find_throughput();
        }
    }

    /// Takes the time of pauses out of the queueing delays.
    fn remove_pauses(&mut self) {
        let pauses = &mut self.pauses;
        for (packet, wait) in self.main.iter().zip(&mut self.wait) {
            *wait -= pauses.attribute(packet.sent + self.base, packet.received);
        }
        for (packet, wait) in &mut self.sparse {
            *wait -= pauses.attribute(packet.sent + self.sparse_base, packet.received);
        }
    }

    /// Corrects the times of receipt of packets that a busy machine delivered late.
    ///
    /// A bottleneck does not send packets faster than its rate. If packets arrive faster, the first of
    /// them were late. Each packet left the bottleneck at least one transmission before the next.
    fn remove_lateness(&mut self) {
        let transmission = self.packet_s(self.throughput.capacity_bps()) * TRUSTED * 1e9;
        let mut latest = i64::MAX;
        for (packet, wait) in self.main.iter_mut().zip(&mut self.wait).rev() {
            let earliest = packet.sent + self.base;
            packet.received = packet.received.min(latest).max(earliest);
            *wait = (packet.received - earliest) as f64 * 1e-9;
            latest = packet.received.saturating_sub(transmission as i64);
        }
    }

    /// Returns the time that one packet takes at a rate, in seconds.
    pub fn packet_s(&self, bps: f64) -> f64 {
        f64::from(self.bytes) * 8.0 / bps
    }

    /// Returns the rate at which the path delivers while it is loaded.
    fn find_throughput(&self) -> Throughput {
        let last = self.main.len() - 1;
        let tail = self.rate(last * 2 / 3..last + 1).unwrap_or(1.0);
        let run = self.backlogged(tail);
        let after = self.after_loss();
        let whole = last / 2..last + 1;
        // A burst that a policer passes may fill the queue of the line behind it.
        let slower = |rate: Option<f64>| rate < self.rate(run.clone()).map(|rate| 0.7 * rate);
        let is_policed = after.len() >= ENOUGH && slower(self.rate(after.clone()));
        let (range, is_saturated) = if run.len() >= ENOUGH && !is_policed {
            (run, true)
        } else if after.len() >= ENOUGH {
            (after, true)
        } else {
            (whole, false)
        };
        let bps = self.rate(range.clone()).unwrap_or(tail);
        Throughput {
            bps,
            error: self.rate_error(&range, bps),
            spacing_bps: self.spacing(&range),
            is_saturated,
        }
    }

    /// Returns the longest run of packets that found the queue backlogged, without its first packet.
    pub fn backlogged(&self, bps: f64) -> Range<usize> {
        let least = BACKLOGGED * self.packet_s(bps);
        let (mut best, mut begun) = (0..0, None);
        for (index, wait) in self.wait.iter().chain([&0.0]).enumerate() {
            match (*wait > least, begun) {
                (true, None) => begun = Some(index),
                (false, Some(from)) => {
                    if index - from > best.len() {
                        best = from..index;
                    }
                    begun = None;
                }
                _ => {}
            }
        }
        best.start + usize::from(!best.is_empty())..best.end
    }

    /// Returns the packets from one that follows a loss to the last one that does. A quarter of
    /// those after the first loss is left out, until the sender has slowed down.
    fn after_loss(&self) -> Range<usize> {
        let Some(first) = self.gaps.first() else {
            return 0..0;
        };
        let from = first.before + (self.main.len() - first.before) / 4;
        let mut inside = self.gaps.iter().filter(|gap| gap.before >= from);
        let start = inside.next().map_or(0, |gap| gap.before + 1);
        start..inside.next_back().map_or(start, |gap| gap.before + 2)
    }

    /// Returns the rate between the first and the last packet of a range.
    fn rate(&self, range: Range<usize>) -> Option<f64> {
        let records = self.main.get(range)?;
        let (first, last) = (records.first()?, records.last()?);
        let silent = self.pauses.within(first.received, last.received);
        let span = last.received - first.received - silent;
        let main: u64 = records[1..].iter().map(|one| u64::from(one.bytes)).sum();
        let until = |time| self.sparse_received.partition_point(|at| *at <= time);
        let sparse = until(last.received).saturating_sub(until(first.received));
        let all = main as f64 + sparse as f64 * f64::from(TINY);
        (span > 0).then(|| all * 8e9 / span as f64)
    }

    /// Returns the standard error of the mean rate of ten parts of a range.
    fn rate_error(&self, range: &Range<usize>, bps: f64) -> f64 {
        let part = range.len() / 10;
        if part < 3 {
            return bps / range.len().max(1) as f64;
        }
        let parts = (0..10).map(|one| range.start + one * part..range.start + (one + 1) * part + 1);
        let rates: Vec<_> = parts.filter_map(|part| self.rate(part)).collect();
        let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
        let square: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        let count = rates.len().max(2) as f64;
        (square / (count * (count - 1.0))).sqrt()
    }

    /// Returns the rate of the most frequent spacing of neighbours, if a third of the spacings are
    /// within 3 % of it.
    fn spacing(&self, range: &Range<usize>) -> Option<f64> {
        let records = self.main.get(range.clone())?;
        let pairs = records
            .windows(2)
            .filter(|pair| pair[1].sequence == pair[0].sequence + 1);
        let mut gaps: Vec<_> = pairs
            .map(|pair| (pair[1].received - pair[0].received) as f64)
            .filter(|gap| *gap > 0.0)
            .collect();
        gaps.sort_by(f64::total_cmp);
        let mode = half_sample_mode(&gaps)?;
        let near = gaps.iter().filter(|gap| (*gap / mode - 1.0).abs() < 0.03);
        let enough = near.count() * 3 >= gaps.len();
        enough.then(|| f64::from(self.bytes) * 8e9 / mode)
    }

    /// Returns the queueing delay of sparse packets as a share of that of the main stream, or none if
    /// the main stream hardly waited.
    ///
    /// Sparse packets with even and with odd numbers are different flows. The smaller share of the two
    /// counts, because a queue for each flow may by chance put one of them with the main stream.
    pub fn sparse_share(&self, bps: f64) -> Option<f64> {
        let least = 2.5 * self.packet_s(bps);
        let share = |parity: u32| {
            let (mut sparse, mut main, mut count) = (0.0, 0.0, 0);
            let of = self
                .sparse
                .iter()
                .filter(|(one, _)| one.sequence % 2 == parity);
            for (record, wait) in of {
                let next = self.main.partition_point(|one| one.sent < record.sent);
                if let Some(beside) = self.wait.get(next).filter(|beside| **beside > least) {
                    sparse += wait;
                    main += beside;
                    count += 1;
                }
            }
            (count >= 2).then(|| sparse / main)
        };
        let shares = [share(0), share(1)].into_iter().flatten();
        shares.min_by(f64::total_cmp)
    }

    /// Returns the time between packets of the sparse stream in seconds.
    pub fn sparse_interval_s(&self) -> f64 {
        let (Some((first, _)), Some((last, _))) = (self.sparse.first(), self.sparse.last()) else {
            return f64::INFINITY;
        };
        let count = f64::from(last.sequence - first.sequence).max(1.0);
        (last.sent - first.sent) as f64 * 1e-9 / count
    }

    /// Returns the losses of packets of either stream: the index of the last packet of the main stream
    /// before each. Neighbouring losses are one.
    pub fn losses(&self) -> Vec<usize> {
        let gaps = self.gaps.iter().map(|gap| gap.before);
        let sparse = self.sparse.windows(2).filter_map(|pair| {
            let [(before, _), (after, _)] = pair else {
                return None;
            };
            let lost = after.sequence - before.sequence - 1;
            let step = (after.sent - before.sent) / i64::from(lost + 1);
            let next = self
                .main
                .partition_point(|one| one.sent < before.sent + step);
            (lost > 0 && next > 0 && next < self.main.len()).then(|| next - 1)
        });
        let mut before: Vec<_> = gaps.chain(sparse).collect();
        before.sort_unstable();
        before.dedup();
        before
    }

    /// Returns the rates at which packets were sent and received since the first loss, in bits per
    /// second.
    pub fn overload(&self) -> Option<(f64, f64)> {
        let tail = &self.main[self.gaps.first()?.before..];
        let (first, last) = (tail.first()?, tail.last()?);
        let bits = f64::from(self.bytes) * 8e9;
        let sent =
            f64::from(last.sequence - first.sequence) / (last.sent - first.sent).max(1) as f64;
        let received = (tail.len() - 1) as f64 / (last.received - first.received).max(1) as f64;
        Some((sent * bits, received * bits))
    }
}

/// Returns the half-sample mode of sorted values (Robertson and Cryer 1974).
fn half_sample_mode(sorted: &[f64]) -> Option<f64> {
    let mut sample = sorted;
    while sample.len() > 3 {
        let half = sample.len().div_ceil(2);
        let width = |from: usize| sample[from + half - 1] - sample[from];
        let from = (0..=sample.len() - half).min_by(|a, b| width(*a).total_cmp(&width(*b)))?;
        sample = &sample[from..from + half];
    }
    let sum: f64 = sample.iter().sum();
    (!sample.is_empty()).then(|| sum / sample.len() as f64)
}

fn sorted(values: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable();
    values
}

/// Returns a quantile of values in any order.
pub fn quantile(values: impl IntoIterator<Item = f64>, p: f64) -> Option<f64> {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(values[(last as f64 * p).round() as usize])
}
