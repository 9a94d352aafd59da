//! Round-trip times of one direction of a connection.
//!
//! A round trip has two parts. The receiver's part goes from the tapping point to the receiver and
//! back. Data and their ACKs show it, if the data were sent once (Karn's rule). The sender's part
//! goes from the tapping point to the sender and back. The handshake or echoed timestamps show it.

pub(crate) mod flights;
pub(crate) mod slow_start;

use crate::Nanos;
use crate::thinned::Thinned;
use std::collections::VecDeque;

/// Largest number of samples kept of a flow. More are thinned.
const MOST_SAMPLES: usize = 2000;
/// Largest number of the receiver's clock values whose echo is awaited.
const MOST_STAMPS: usize = 256;

/// Minimum of several values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Least(pub Option<Nanos>);

impl Least {
    /// Adds a value.
    pub fn add(&mut self, value: Nanos) {
        self.0 = Some(self.0.map_or(value, |least| least.min(value)));
    }
}

/// Estimates of the round-trip times of a sender.
#[derive(Debug)]
pub struct RoundTrips {
    /// Whole round trip, from the handshake.
    pub handshake: Option<Nanos>,
    /// Whole round trip, from the spacing of the first flights.
    pub slow_start: Option<Nanos>,
    /// Receiver's part, from data and ACKs.
    pub receiver: Least,
    /// Receiver's part without the known waits between two tapping points.
    pub receiver_unqueued: Least,
    /// Sender's part, from timestamps and the handshake.
    pub sender_by_stamps: Least,
    pub sender_by_handshake: Option<Nanos>,
    /// Sender's part from the first flights: the whole less the receiver's part.
    sender_by_slow_start: Option<Nanos>,
    /// Last samples of the sender's part from timestamps.
    recent: [Option<Nanos>; 4],
    /// True if data waited before they passed the tapping point, as losses there show.
    pub behind_queue: bool,
    smoothed: Option<f64>,
    last: Option<Nanos>,
    sum_ns: f64,
    count: u64,
    samples: Thinned<(Nanos, Nanos)>,
    stamps: VecDeque<(u32, Nanos)>,
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self {
            handshake: None,
            slow_start: None,
            receiver: Least::default(),
            receiver_unqueued: Least::default(),
            sender_by_stamps: Least::default(),
            sender_by_handshake: None,
            sender_by_slow_start: None,
            recent: [None; 4],
            behind_queue: false,
            smoothed: None,
            last: None,
            sum_ns: 0.0,
            count: 0,
            samples: Thinned::new(MOST_SAMPLES),
            stamps: VecDeque::new(),
        }
    }
}

impl RoundTrips {
    /// Adds a sample of the receiver's part.
    pub fn sample(&mut self, time: Nanos, value: Nanos, waited: Option<Nanos>) {
        if value < 0 {
            return;
        }
        self.receiver.add(value);
        if let Some(waited) = waited {
            self.receiver_unqueued.add((value - waited).max(0));
        }
        let whole = value + self.sender_part_now();
        self.last = Some(whole);
        // The weights are those of RFC 6298.
        let smoothed = self.smoothed.unwrap_or(whole as f64);
        self.smoothed = Some(smoothed + (whole as f64 - smoothed) / 8.0);
        self.sum_ns += whole as f64;
        self.count += 1;
        self.samples.push((time, whole));
    }

    /// Records that a clock value of the receiver passed on its way to the sender, which will echo
    /// it.
    pub fn stamp_passed(&mut self, time: Nanos, stamp: u32) {
        if self.stamps.back().is_none_or(|last| last.0 != stamp) {
            if self.stamps.len() >= MOST_STAMPS {
                self.stamps.pop_front();
            }
            self.stamps.push_back((stamp, time));
        }
    }

    /// Records that the sender echoed a clock value. The time of the first packet with that value
    /// counts. The echo may answer any of several packets in one tick; the shortest of all samples
    /// is one where it answered the first.
    pub fn stamp_echoed(&mut self, time: Nanos, echo: u32) {
        while let Some((stamp, passed)) = self.stamps.front().copied() {
            let age = echo.wrapping_sub(stamp).cast_signed();
            if age < 0 {
                return;
            }
            self.stamps.pop_front();
            if age == 0 {
                self.sender_by_stamps.add(time - passed);
                self.recent.rotate_right(1);
                self.recent[0] = Some(time - passed);
                return;
            }
        }
    }

    /// Returns the shortest sender's part, or 0 if it is unknown.
    pub fn sender_part(&self) -> Nanos {
        let known = [self.sender_by_stamps.0, self.sender_by_handshake];
        let known = known.into_iter().flatten().min();
        known.or(self.sender_by_slow_start).unwrap_or(0)
    }

    /// Returns the present sender's part. For a tapping point behind the queue it includes the wait
    /// of data. In this case the estimate is the minimum of a few samples, because an idle sender
    /// answers late. Otherwise it is the minimum of all.
    pub fn sender_part_now(&self) -> Nanos {
        let recent = self.recent.into_iter().flatten().min();
        recent
            .filter(|_| self.behind_queue)
            .unwrap_or_else(|| self.sender_part())
    }

    /// Sets the whole round trip from the spacing of the first flights.
    pub fn set_slow_start(&mut self, whole: Nanos) {
        self.slow_start = Some(whole);
        if let Some(receiver) = self.receiver.0 {
            self.sender_by_slow_start = Some((whole - receiver).max(0));
        }
    }

    /// Returns true if the sender's part is known.
    pub fn sender_part_known(&self) -> bool {
        self.sender_by_stamps.0.is_some() || self.sender_by_handshake.is_some()
    }

    /// Returns the best estimate of the base RTT.
    pub fn base(&self) -> Option<Nanos> {
        let receiver = self.receiver_unqueued.0.or(self.receiver.0);
        let pairs = receiver.filter(|_| self.sender_part_known());
        let pairs = pairs.map(|receiver| receiver + self.sender_part());
        let whole = [pairs, self.handshake].into_iter().flatten().min();
        whole.or(self.slow_start).or(receiver)
    }

    /// Returns the whole round trip from timestamps alone.
    pub fn by_stamps(&self) -> Option<Nanos> {
        Some(self.receiver.0? + self.sender_by_stamps.0?)
    }

    /// Returns the shortest whole round trip from data and ACKs.
    pub fn by_pairs(&self) -> Option<Nanos> {
        Some(self.receiver.0? + self.sender_part())
    }

    /// Returns the smoothed round-trip time. Without samples the estimate is the round trip of the
    /// handshake.
    pub fn smoothed(&self) -> Option<Nanos> {
        self.smoothed.map(|value| value as Nanos).or(self.handshake)
    }

    /// Returns the last round-trip time.
    pub fn last(&self) -> Option<Nanos> {
        self.last
    }

    /// Returns the mean of all samples, in seconds.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns / self.count as f64 * 1e-9)
    }

    /// Returns times and values of the samples, thinned.
    pub fn into_samples(self) -> Vec<(Nanos, Nanos)> {
        self.samples.into_values()
    }
}
