//! Levels of the queue, in packets of any size.
//!
//! Other traffic in smaller packets fills a queue that is limited in packets at a shorter delay. The
//! packets of the probe in the queue are counted. The rest of the backlog's bytes is other traffic, in
//! packets of a size that is not known. If the queue is full whenever a packet is lost, there is a size
//! at which all losses happen at the same level.

use super::{Load, quantile};

/// Sizes of the packets of other traffic that are tried, in bytes.
const SIZES: [f64; 8] = [1400.0, 1000.0, 700.0, 500.0, 350.0, 250.0, 150.0, 100.0];

/// Packets of the probe, and bytes of others, that the queue held when a packet of the probe arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Held {
    own: f64,
    other_bytes: f64,
}

/// Levels of a queue during a load.
#[derive(Clone, Debug)]
pub struct Levels {
    held: Vec<Held>,
    bytes: f64,
}

impl Levels {
    /// Returns the levels at a bottleneck of this rate.
    pub fn new(load: &Load, bps: f64) -> Self {
        let bytes = f64::from(load.bytes);
        let transmission = (load.packet_s(bps) * 1e9) as i64;
        let held = load.main.iter().enumerate().map(|(index, packet)| {
            // A packet whose transmission had not ended when this one arrived was in the queue.
            let arrived = packet.sent + load.base - transmission;
            let gone = load.main[..index].partition_point(|one| one.received <= arrived);
            let own = (index - gone) as f64;
            let backlog = load.wait[index] * bps / 8.0;
            // Half of the packet in transmission is gone, on average.
            let own_bytes = (own - 0.5).max(0.0) * bytes;
            Held {
                own,
                other_bytes: (backlog - own_bytes).max(0.0),
            }
        });
        Self {
            held: held.collect(),
            bytes,
        }
    }

    /// Returns the level at a packet, if other packets have this size.
    pub fn at(&self, index: usize, size: f64) -> f64 {
        self.held[index].own + self.held[index].other_bytes / size
    }

    /// Returns the mean number of other packets at losses after these packets.
    pub fn others(&self, losses: &[usize], size: f64) -> f64 {
        let sum: f64 = losses
            .iter()
            .map(|index| self.held[*index].other_bytes)
            .sum();
        // Half a packet of the probe is the error of what it holds itself.
        (sum / losses.len().max(1) as f64 - self.bytes / 2.0).max(0.0) / size
    }

    /// Returns the median level at losses after these packets.
    pub fn median(&self, losses: &[usize], size: f64) -> f64 {
        let levels = losses.iter().map(|index| self.at(*index, size));
        quantile(levels, 0.5).unwrap_or(0.0)
    }

    /// Returns the level that the queue hardly ever exceeds.
    pub fn highest(&self, size: f64) -> f64 {
        let all = (0..self.held.len()).map(|index| self.at(index, size));
        quantile(all, 0.995).unwrap_or(0.0)
    }

    /// Returns the size of other packets at which losses after these packets come closest to the
    /// highest level, and the lower decile of their levels as a share of the highest.
    pub fn size(&self, losses: &[usize], has_others: bool) -> (f64, f64) {
        let depth = |size: f64| {
            let highest = self.highest(size);
            let levels = losses.iter().map(|index| self.at(*index, size));
            let low = quantile(levels, 0.1).unwrap_or(highest);
            let share = if highest > 0.0 { low / highest } else { 1.0 };
            (size, share)
        };
        let tried = if has_others { &SIZES[..] } else { &[] };
        let sizes = tried.iter().copied().chain([self.bytes]);
        let depths = sizes.map(depth);
        depths
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((self.bytes, 1.0))
    }
}
