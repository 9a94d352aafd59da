//! Networks as plain as formulas assume them, to drive a control without a sender.

use goodqueue_types::{RandomStream, Span, Time};

use super::{AckSample, CongestionControl, CongestionEvent, Controller};
use crate::config::{InitialSsthresh, TcpConfig};

/// A control on a path whose round trip is `rtt` whatever the window.
pub struct Path {
    pub control: Controller,
    pub now: Time,
    mss: u64,
    rtt: Span,
}

impl Path {
    /// In congestion avoidance.
    pub fn new(config: &TcpConfig, rtt: Span) -> Self {
        let mut config = config.clone();
        config.initial_ssthresh = InitialSsthresh::Segments(1);
        Self {
            control: Controller::new(&config),
            now: Time::ZERO,
            mss: u64::from(config.mss),
            rtt,
        }
    }

    /// Sends `packets`, spread over each round trip. Returns the round trips it took.
    pub fn send(&mut self, packets: u64) -> f64 {
        let (mut left, mut rounds) = (packets, 0.0);
        while left > 0 {
            let window = (self.control.cwnd() / self.mss).max(1);
            let this = window.min(left);
            let gap = self.rtt / window;
            for _ in 0..this {
                self.now += gap;
                self.control.on_ack(&AckSample {
                    now: self.now,
                    acked: self.mss,
                    delivered: self.mss,
                    rtt: Some(self.rtt),
                    is_window_limited: true,
                    ..AckSample::default()
                });
            }
            // A round that the loss cuts off counts as the part of it that was sent.
            rounds += this as f64 / window as f64;
            left -= this;
        }
        rounds
    }

    pub fn lose(&mut self) {
        self.control.on_congestion_event(&CongestionEvent {
            now: self.now,
            basis: self.control.window(),
            ..CongestionEvent::default()
        });
    }

    /// The window in segments.
    pub fn window(&self) -> f64 {
        self.control.window() / self.mss as f64
    }
}

/// The mean window, in segments, of the cycle that repeats itself when one of `packets` packets is
/// lost. Found by bisection, for where a curve is flat the sequence of cycles creeps towards it.
pub fn periodic_loss(config: &TcpConfig, packets: u64, rtt: Span) -> f64 {
    let cycle = |peak: f64| {
        let mut path = Path::new(config, rtt);
        path.control.set_window(peak * f64::from(config.mss));
        path.lose();
        let rounds = path.send(packets);
        (path.window(), packets as f64 / rounds)
    };
    let (mut low, mut high) = (2.0, 1e6);
    while high / low > 1.0 + 1e-6 {
        let middle = f64::midpoint(low, high);
        if cycle(middle).0 > middle {
            low = middle;
        } else {
            high = middle;
        }
    }
    cycle(low).1
}

/// The mean window, in segments, over `losses` losses when each packet is lost with `chance`.
pub fn random_loss(config: &TcpConfig, chance: f64, rtt: Span, losses: u32) -> f64 {
    let mut random = RandomStream::new(1, "loss", 0);
    let mut path = Path::new(config, rtt);
    let (mut sent, mut rounds) = (0, 0.0);
    for n in 0..losses + 20 {
        let packets = random.exponential(1.0 / chance) as u64 + 1;
        let took = path.send(packets);
        path.lose();
        if n >= 20 {
            sent += packets;
            rounds += took;
        }
    }
    sent as f64 / rounds
}
