//! Reno: one segment more per round trip, half after a loss (RFC 5681).

use super::{AckSample, CongestionControl, CongestionEvent, Window};

/// State of Reno.
#[derive(Clone, Debug)]
pub struct Reno {
    window: Window,
}

impl Reno {
    /// Starts from `window`.
    pub fn new(window: Window) -> Self {
        Self { window }
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        self.window.grow(sample.acked, sample.after_timeout, 1.0);
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        self.window.decrease(event.basis, 0.5);
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        self.window.collapse(event.map(|event| event.basis * 0.5));
    }

    #[inline]
    fn window(&self) -> f64 {
        self.window.cwnd()
    }

    fn set_window(&mut self, bytes: f64) {
        self.window.set_cwnd(bytes);
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.window.ssthresh()
    }

    fn set_ssthresh(&mut self, bytes: u64) {
        self.window.set_ssthresh(bytes);
    }
}
