//! Round-trip times of one direction of a connection.
//!
//! A round trip has two parts: from the tapping point to the receiver and back, which data and their
//! acknowledgements show (Karn's rule: of what was sent once only), and from the tapping point to the
//! sender and back, which the handshake or echoed timestamps show.

use crate::Nanos;
use crate::thinned::Thinned;
use std::collections::VecDeque;

/// Samples kept of a flow; more are thinned.
const MOST_SAMPLES: usize = 2000;
/// Clock values of the receiver whose echo is awaited.
const MOST_STAMPS: usize = 256;

/// The least of values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Least(pub Option<Nanos>);

impl Least {
    /// Takes in a value.
    pub fn add(&mut self, value: Nanos) {
        self.0 = Some(self.0.map_or(value, |least| least.min(value)));
    }
}

/// Everything that is known of the round trips of a sender.
#[derive(Debug)]
pub struct RoundTrips {
    /// The whole, by the handshake.
    pub handshake: Option<Nanos>,
    /// The whole, by the spacing of the first flights.
    pub slow_start: Option<Nanos>,
    /// The receiver's part, by data and acknowledgements.
    pub receiver: Least,
    /// The same, without what is known to have waited between two tapping points.
    pub receiver_unqueued: Least,
    /// The sender's part, by timestamps and by the handshake.
    pub sender_by_stamps: Least,
    pub sender_by_handshake: Option<Nanos>,
    /// The sender's part by the first flights: what the receiver's leaves of the whole.
    sender_by_slow_start: Option<Nanos>,
    /// The last samples of the sender's part by timestamps.
    recent: [Option<Nanos>; 4],
    /// Data waited before they passed the tapping point, as losses there show.
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
    /// Takes in a sample of the receiver's part.
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
        // Weights of RFC 6298.
        let smoothed = self.smoothed.unwrap_or(whole as f64);
        self.smoothed = Some(smoothed + (whole as f64 - smoothed) / 8.0);
        self.sum_ns += whole as f64;
        self.count += 1;
        self.samples.push((time, whole));
    }

    /// The receiver's clock passed on its way to the sender, which will echo it.
    pub fn stamp_passed(&mut self, time: Nanos, stamp: u32) {
        if self.stamps.back().is_none_or(|last| last.0 != stamp) {
            if self.stamps.len() >= MOST_STAMPS {
                self.stamps.pop_front();
            }
            self.stamps.push_back((stamp, time));
        }
    }

    /// The sender echoed a clock value. The first packet that carried it counts: of several in one
    /// tick any may be the one answered, and the least of all samples is one where it was the first.
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

    /// The least of the sender's part, 0 if nothing shows it.
    pub fn sender_part(&self) -> Nanos {
        let known = [self.sender_by_stamps.0, self.sender_by_handshake];
        let known = known.into_iter().flatten().min();
        known.or(self.sender_by_slow_start).unwrap_or(0)
    }

    /// The sender's part at present: behind a queue, that is where data wait. The least of a few
    /// samples, as a sender that rests answers late; so elsewhere it is the least of all.
    pub fn sender_part_now(&self) -> Nanos {
        let recent = self.recent.into_iter().flatten().min();
        recent
            .filter(|_| self.behind_queue)
            .unwrap_or_else(|| self.sender_part())
    }

    /// The spacing of the first flights told the whole.
    pub fn slow_start_told(&mut self, whole: Nanos) {
        self.slow_start = Some(whole);
        if let Some(receiver) = self.receiver.0 {
            self.sender_by_slow_start = Some((whole - receiver).max(0));
        }
    }

    /// Whether anything shows the sender's part.
    pub fn sender_part_known(&self) -> bool {
        self.sender_by_stamps.0.is_some() || self.sender_by_handshake.is_some()
    }

    /// The whole without any queue, as well as can be told.
    pub fn base(&self) -> Option<Nanos> {
        let receiver = self.receiver_unqueued.0.or(self.receiver.0);
        let pairs = receiver.filter(|_| self.sender_part_known());
        let pairs = pairs.map(|receiver| receiver + self.sender_part());
        let whole = [pairs, self.handshake].into_iter().flatten().min();
        whole.or(self.slow_start).or(receiver)
    }

    /// The whole by timestamps alone.
    pub fn by_stamps(&self) -> Option<Nanos> {
        Some(self.receiver.0? + self.sender_by_stamps.0?)
    }

    /// The least whole by data and acknowledgements.
    pub fn by_pairs(&self) -> Option<Nanos> {
        Some(self.receiver.0? + self.sender_part())
    }

    /// The present one, smoothed; without samples the handshake's.
    pub fn smoothed(&self) -> Option<Nanos> {
        self.smoothed.map(|value| value as Nanos).or(self.handshake)
    }

    /// The last one.
    pub fn last(&self) -> Option<Nanos> {
        self.last
    }

    /// The mean of all samples, in seconds.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns / self.count as f64 * 1e-9)
    }

    /// Times and values of samples, thinned.
    pub fn into_samples(self) -> Vec<(Nanos, Nanos)> {
        self.samples.into_values()
    }
}
