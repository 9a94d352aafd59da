//! The window that Reno and its relatives share: slow start, additive increase, decrease.

use crate::config::{TcpConfig, WindowArithmetic};

/// A congestion window in bytes with its threshold.
///
/// Kept as a real number; whole-byte arithmetic keeps it whole, which is exact below 2⁵³.
#[derive(Clone, Debug)]
pub struct Window {
    cwnd: f64,
    ssthresh: u64,
    /// Bytes acknowledged towards the next step of congestion avoidance (RFC 3465 section 2.1).
    credit: f64,
    mss: u32,
    byte_counting: bool,
    arithmetic: WindowArithmetic,
    whole_segment_ssthresh: bool,
}

impl Window {
    /// A window at its initial size.
    pub fn new(config: &TcpConfig) -> Self {
        Self {
            cwnd: config.initial_window.bytes(config.mss) as f64,
            ssthresh: config.initial_ssthresh_bytes(),
            credit: 0.0,
            mss: config.mss,
            byte_counting: config.byte_counting,
            arithmetic: config.details.window_arithmetic,
            whole_segment_ssthresh: config.details.whole_segment_ssthresh,
        }
    }

    /// Grows for an ACK of `acked` bytes: slow start below ssthresh, else by `alpha` segments per
    /// window (RFC 5681 section 3.1, RFC 3465).
    #[inline]
    pub fn grow(&mut self, acked: u64, after_timeout: bool, alpha: f64) {
        let mss = f64::from(self.mss);
        if self.cwnd < self.ssthresh as f64 {
            self.cwnd += if self.byte_counting {
                // RFC 3465 section 2.3: L = 2, but 1 in the slow start after a timeout.
                let limit = if after_timeout { mss } else { 2.0 * mss };
                (acked as f64).min(limit)
            } else {
                mss
            };
        } else if self.byte_counting {
            self.credit += acked as f64;
            if self.credit >= self.cwnd {
                self.credit -= self.cwnd;
                self.cwnd += self.step(alpha * mss);
            }
        } else {
            self.cwnd += self.step(alpha * mss * mss / self.cwnd);
        }
    }

    /// A step of growth in the arithmetic chosen (RFC 5681: "at least one byte").
    #[inline]
    fn step(&self, bytes: f64) -> f64 {
        match self.arithmetic {
            WindowArithmetic::Real => bytes,
            WindowArithmetic::WholeBytes => ((bytes as u64).max(1)) as f64,
        }
    }

    /// Sets ssthresh to `share` of `basis`, but not below two segments (RFC 5681 equation 4), and
    /// the window to it.
    pub fn decrease(&mut self, basis: f64, share: f64) {
        let target = basis * share;
        self.lower_ssthresh(target);
        self.cwnd = match self.arithmetic {
            // ns-2 halves the real window; only the threshold is cut to whole segments.
            WindowArithmetic::Real if self.whole_segment_ssthresh => target,
            _ => self.ssthresh as f64,
        };
        self.credit = 0.0;
    }

    /// The window after a timeout is one segment (RFC 5681's loss window).
    pub fn collapse(&mut self, lowered: Option<f64>) {
        if let Some(target) = lowered {
            self.lower_ssthresh(target);
        }
        self.cwnd = f64::from(self.mss);
        self.credit = 0.0;
    }

    fn lower_ssthresh(&mut self, target: f64) {
        let mss = u64::from(self.mss);
        let mut bytes = target as u64;
        if self.whole_segment_ssthresh {
            bytes -= bytes % mss;
        }
        self.ssthresh = bytes.max(2 * mss);
    }

    /// The window in bytes.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Sets the window.
    pub fn set_cwnd(&mut self, bytes: f64) {
        self.cwnd = bytes;
    }

    /// The slow-start threshold in bytes.
    #[inline]
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Sets the slow-start threshold.
    pub fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes;
    }
}
