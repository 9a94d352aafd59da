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
const MAX_SAMPLES: usize = 2000;
/// Largest number of the receiver's clock values whose echo is awaited.
const MAX_STAMPS: usize = 256;

/// Minimum of several values, in the memory of one.
#[derive(Clone, Copy, Debug)]
pub struct Least(Nanos);

impl Default for Least {
    fn default() -> Self {
        Self(Nanos::MAX)
    }
}

impl Least {
    /// Adds a value.
    pub fn add(&mut self, value: Nanos) {
        self.0 = self.0.min(value);
    }

    /// Returns the minimum. None without values.
    pub fn get(self) -> Option<Nanos> {
        (self.0 < Nanos::MAX).then_some(self.0)
    }
}

/// Time without an answer after which a sender sends again, if it knows no round trip yet: 1 s
/// (RFC 6298, section 2), and 3 s in older systems (RFC 1122, section 4.2.3.1).
pub const FIRST_TIMEOUT: Nanos = 1_000_000_000;
/// See [`FIRST_TIMEOUT`].
pub const OLD_FIRST_TIMEOUT: Nanos = 3_000_000_000;
/// Ratio of a retransmission timeout to the first round trip (RFC 6298, section 2: R + 4 R / 2). The
/// timeout follows later round trips.
const TIMEOUT_RATIO: f64 = 3.0;

/// Clock value of the receiver whose echo is awaited.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    value: u32,
    passed: Nanos,
    /// True if its packet carried data, which the sender acknowledges without delay by its
    /// application.
    data: bool,
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
    receiver_unqueued: Least,
    /// Sender's part, from timestamps.
    sender_by_stamps: Least,
    /// Sender's part, from timestamps, with the time in which its application had no data.
    sender_with_pauses: Least,
    /// Sender's part, from the handshake.
    pub sender_by_handshake: Option<Nanos>,
    /// Last samples of the sender's part from timestamps.
    recent: [Least; 4],
    /// Time of the sender's last packet with an echo.
    last_echo: Nanos,
    /// True if the beginning of the flow was seen.
    pub begun: bool,
    /// True if data waited before they passed the tapping point, as losses there show.
    pub behind_queue: bool,
    smoothed: Option<f64>,
    last: Option<Nanos>,
    sum_ns: f64,
    count: u64,
    /// Number of samples before the sender's part was known, which do not include it.
    without_sender: u64,
    samples: Thinned<(Nanos, Nanos)>,
    stamps: VecDeque<Stamp>,
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self {
            handshake: None,
            slow_start: None,
            receiver: Least::default(),
            receiver_unqueued: Least::default(),
            sender_by_stamps: Least::default(),
            sender_with_pauses: Least::default(),
            sender_by_handshake: None,
            recent: [Least::default(); 4],
            last_echo: Nanos::MIN,
            begun: false,
            behind_queue: false,
            smoothed: None,
            last: None,
            sum_ns: 0.0,
            count: 0,
            without_sender: 0,
            samples: Thinned::new(MAX_SAMPLES),
            stamps: VecDeque::new(),
        }
    }
}

impl RoundTrips {
    /// Adds a sample of the receiver's part, if the clock did not go back, and if the sender would
    /// not have sent the data again in this time. Returns true if it was added.
    pub fn sample(&mut self, time: Nanos, value: Nanos, waited: Option<Nanos>) -> bool {
        if value < 0 || self.exceeds_timeout(value) {
            return false;
        }
        self.receiver.add(value);
        if let Some(unqueued) = waited.map(|waited| value - waited).filter(|rest| *rest > 0) {
            self.receiver_unqueued.add(unqueued);
        }
        let known = self.known_sender_part().is_some();
        self.without_sender += u64::from(!known);
        let sender = if known { self.sender_part_now() } else { 0 };
        let kept = value + sender;
        let whole = value + self.sender_part_now();
        self.last = Some(whole);
        // The weights are those of RFC 6298.
        let smoothed = self.smoothed.unwrap_or(whole as f64);
        self.smoothed = Some(smoothed + (whole as f64 - smoothed) / 8.0);
        self.sum_ns += kept as f64;
        self.count += 1;
        self.samples.push((time, kept));
        true
    }

    /// Returns true if the sender would have sent data again before an ACK that came after this
    /// time. The capture then lacks the ACK, and the answer that it has came after a pause.
    fn exceeds_timeout(&self, value: Nanos) -> bool {
        let known = [self.smoothed(), self.last].into_iter().flatten().max();
        let timeout = known.map_or(0.0, |known| TIMEOUT_RATIO * known as f64);
        value >= FIRST_TIMEOUT && value as f64 > timeout
    }

    /// Records that a clock value of the receiver passed on its way to the sender, which will echo
    /// it. `data` is true if its packet carried data.
    pub fn stamp_passed(&mut self, passed: Nanos, value: u32, data: bool) {
        if self.stamps.back().is_none_or(|last| last.value != value) {
            if self.stamps.len() >= MAX_STAMPS {
                self.stamps.pop_front();
            }
            self.stamps.push_back(Stamp {
                value,
                passed,
                data,
            });
        }
    }

    /// Records that the sender echoed a clock value. The time of the first packet with that value
    /// counts. The echo may answer any of several packets in one tick; the shortest of all samples
    /// is one where it answered the first.
    ///
    /// A sender without data echoes an ACK only with its next data, after a pause. A sample has no
    /// such pause if the value came with data, or if another packet of the sender passed in between.
    pub fn stamp_echoed(&mut self, time: Nanos, echo: u32) {
        let last_echo = std::mem::replace(&mut self.last_echo, time);
        while let Some(stamp) = self.stamps.front().copied() {
            let age = echo.wrapping_sub(stamp.value).cast_signed();
            if age < 0 {
                return;
            }
            self.stamps.pop_front();
            if age == 0 {
                let part = time - stamp.passed;
                let busy = last_echo >= stamp.passed;
                if part < 0 {
                    return;
                }
                self.recent.rotate_right(1);
                self.recent[0] = Least(part);
                if busy || stamp.data && part < FIRST_TIMEOUT {
                    self.sender_by_stamps.add(part);
                } else {
                    self.sender_with_pauses.add(part);
                }
                return;
            }
        }
    }

    /// Returns the shortest sender's part that is known. A sample with a pause is one of them if it is
    /// shorter than one without.
    fn known_sender_part(&self) -> Option<Nanos> {
        let known = [self.sender_by_stamps.get(), self.sender_by_handshake];
        let known = known.into_iter().flatten().min()?;
        Some(
            self.sender_with_pauses
                .get()
                .map_or(known, |part| part.min(known)),
        )
    }

    /// Returns the shortest receiver's part, without known waits.
    fn receiver_part(&self) -> Option<Nanos> {
        let parts = [self.receiver_unqueued, self.receiver];
        parts.into_iter().filter_map(Least::get).min()
    }

    /// Returns the shortest sender's part, or 0 if it is unknown. Without samples of this part it is
    /// the whole round trip less the receiver's part. If the whole is unknown, it is a sample that may
    /// include a pause, provided that the sample is not longer than the receiver's part.
    pub fn sender_part(&self) -> Nanos {
        if let Some(known) = self.known_sender_part() {
            return known;
        }
        let receiver = self.receiver.get().unwrap_or(Nanos::MAX);
        let rest = self.whole();
        let rest = rest.map(|whole| whole.saturating_sub(receiver).max(0));
        let paused = self
            .sender_with_pauses
            .get()
            .filter(|part| *part <= receiver);
        rest.or(paused).unwrap_or(0)
    }

    /// Returns the present sender's part. For a tapping point behind the queue it includes the wait
    /// of data. In this case the estimate is the minimum of a few samples, because an idle sender
    /// answers late. Otherwise it is the minimum of all.
    pub fn sender_part_now(&self) -> Nanos {
        let recent = self.recent.into_iter().filter_map(Least::get).min();
        recent
            .filter(|_| self.behind_queue && self.known_sender_part().is_some())
            .unwrap_or_else(|| self.sender_part())
    }

    /// Returns the best estimate of the base RTT. A time of zero is one that the clock of the
    /// capture does not resolve.
    pub fn base(&self) -> Option<Nanos> {
        let pairs = self.receiver_part().map(|part| part + self.sender_part());
        let base = if self.known_sender_part().is_some() {
            let both = [pairs, self.handshake].into_iter().flatten().min();
            both.or(self.slow_start)
        } else {
            self.whole().or(pairs)
        };
        base.filter(|base| *base > 0)
    }

    /// Returns the whole round trip of the handshake or of the first flights, which is not shorter than
    /// the receiver's part.
    fn whole(&self) -> Option<Nanos> {
        let receiver = self.receiver_part().unwrap_or(0);
        let flights = self.slow_start.filter(|whole| *whole >= receiver);
        self.handshake.or(flights)
    }

    /// Returns the whole round trip from timestamps alone.
    pub fn by_stamps(&self) -> Option<Nanos> {
        let parts = [self.sender_by_stamps, self.sender_with_pauses];
        self.sender_by_stamps.get()?;
        Some(self.receiver.get()? + parts.into_iter().filter_map(Least::get).min()?)
    }

    /// Returns the shortest whole round trip from data and ACKs.
    pub fn by_pairs(&self) -> Option<Nanos> {
        Some(self.receiver.get()? + self.sender_part())
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
        let sender = self.without_sender as f64 * self.sender_part() as f64;
        (self.count > 0).then(|| (self.sum_ns + sender) / self.count as f64 * 1e-9)
    }

    /// Returns times and values of the samples, thinned. Samples that were taken before the sender's
    /// part was known have it, too.
    pub fn into_samples(mut self) -> Vec<(Nanos, Nanos)> {
        let sender = self.sender_part();
        for (_, value) in self.samples.first_mut(self.without_sender) {
            *value += sender;
        }
        self.samples.into_values()
    }
}
