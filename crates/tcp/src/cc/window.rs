//! The window that Reno and related controls share: slow start, additive increase, decrease.

use super::AckSample;
use super::slow_start::{ExitRule, Verdict};
use crate::config::{SlowStart, TcpConfig, WindowArithmetic};

/// A congestion window in bytes with its threshold.
///
/// The window is a real number. Whole-byte arithmetic keeps it whole, which is exact below 2⁵³.
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
    /// Largest number of segments that an ACK adds in slow start, or `u32::MAX` without a limit.
    slow_start_limit: u32,
    /// True if everything is sent again after a timeout. An ACK may then cover many segments that
    /// arrived before, so one segment per ACK is the limit there, whatever else is (RFC 3465
    /// section 2.3).
    goes_back: bool,
    /// Rule that ends slow start early, or none for classic slow start.
    exit_rule: Option<Box<ExitRule>>,
    /// Window before the last decrease, or NaN if there was none. `ssthresh_before` is the
    /// threshold then.
    cwnd_before: f64,
    ssthresh_before: u64,
}

impl Window {
    /// Creates a window of the initial size. Its slow start ends as `slow_start` says if the
    /// configuration leaves the choice to the control.
    pub fn new(config: &TcpConfig, slow_start: SlowStart) -> Self {
        Self {
            cwnd: config.initial_window.bytes(config.mss) as f64,
            ssthresh: config.initial_ssthresh_bytes(),
            credit: 0.0,
            mss: config.mss,
            byte_counting: config.byte_counting,
            arithmetic: config.details.window_arithmetic,
            whole_segment_ssthresh: config.details.whole_segment_ssthresh,
            slow_start_limit: config.details.slow_start_limit.unwrap_or(u32::MAX),
            goes_back: !config.records_segments(),
            exit_rule: ExitRule::new(config.slow_start, slow_start).map(Box::new),
            cwnd_before: f64::NAN,
            ssthresh_before: 0,
        }
    }

    /// Grows for an ACK: by slow start below ssthresh, otherwise by `alpha` segments per window
    /// (RFC 5681 section 3.1, RFC 3465).
    #[inline]
    pub fn grow(&mut self, sample: &AckSample, alpha: f64) {
        let rest = self.slow_start(sample);
        if rest > 0 {
            self.avoid(rest, alpha);
        }
    }

    /// Grows by slow start if the window is below ssthresh. Returns the acknowledged bytes that are
    /// left for congestion avoidance.
    #[inline]
    pub fn slow_start(&mut self, sample: &AckSample) -> u64 {
        if self.cwnd >= self.ssthresh as f64 {
            return sample.acked;
        }
        let window = self.segments();
        let verdict = match &mut self.exit_rule {
            None => Verdict::Grow,
            Some(rule) => rule.on_ack(sample, window),
        };
        if verdict == Verdict::Leave {
            self.leave_slow_start();
            return sample.acked;
        }
        let mss = f64::from(self.mss);
        let acked = sample.acked as f64;
        let mut step = match self.slow_start_limit {
            _ if !self.byte_counting => mss,
            // RFC 3465 section 2.3 has L = 2, but 1 in the slow start after a timeout.
            u32::MAX if !(sample.after_timeout && self.goes_back) => acked,
            _ if sample.after_timeout => acked.min(mss),
            limit => acked.min(f64::from(limit) * mss),
        };
        if verdict == Verdict::GrowSlowly {
            step /= 4.0;
        }
        let grown = self.cwnd + step;
        if self.slow_start_limit == u32::MAX && grown > self.ssthresh as f64 {
            // Linux stops at the threshold. The rest of the ACK counts towards congestion
            // avoidance.
            self.cwnd = self.ssthresh as f64;
            return (grown - self.cwnd) as u64;
        }
        self.cwnd = grown;
        0
    }

    /// Sets the threshold to the window, but at least to two segments.
    pub fn leave_slow_start(&mut self) {
        self.ssthresh = (self.cwnd as u64).max(2 * u64::from(self.mss));
    }

    /// Grows by congestion avoidance, by `alpha` segments per window.
    #[inline]
    pub fn avoid(&mut self, acked: u64, alpha: f64) {
        let mss = f64::from(self.mss);
        if self.byte_counting {
            self.credit += acked as f64;
            if self.credit >= self.cwnd {
                self.credit -= self.cwnd;
                self.cwnd += self.step(alpha * mss);
            }
        } else {
            self.cwnd += self.step(alpha * mss * mss / self.cwnd);
        }
    }

    /// Returns the part of the next segment of congestion avoidance that ACKs have earned so far,
    /// in bytes.
    pub fn earned(&self) -> f64 {
        f64::from(self.mss) * (self.credit / self.cwnd).min(1.0)
    }

    /// Returns a step of growth in the configured arithmetic (RFC 5681: "at least one byte").
    #[inline]
    fn step(&self, bytes: f64) -> f64 {
        match self.arithmetic {
            WindowArithmetic::Real | WindowArithmetic::RealWholeDecrease => bytes,
            WindowArithmetic::WholeBytes => ((bytes as u64).max(1)) as f64,
        }
    }

    /// Sets ssthresh to `share` of `basis`, but at least to two segments (RFC 5681 equation 4), and
    /// the window to it.
    pub fn decrease(&mut self, basis: f64, share: f64) {
        self.decrease_to(basis * share);
    }

    /// Sets ssthresh to `target`, but at least to two segments, and the window to it.
    pub fn decrease_to(&mut self, target: f64) {
        self.remember();
        self.end_slow_start(false);
        self.lower_ssthresh(target);
        self.cwnd = match self.arithmetic {
            // ns-2 halves the real window. Only its threshold is rounded down to whole segments.
            WindowArithmetic::Real if self.whole_segment_ssthresh => target,
            WindowArithmetic::RealWholeDecrease => self.whole_segments(target) as f64,
            _ => self.ssthresh as f64,
        };
        self.credit = 0.0;
    }

    /// Sets the window to one segment after a timeout (RFC 5681's loss window).
    pub fn collapse(&mut self, lowered: Option<f64>) {
        if let Some(target) = lowered {
            self.remember();
            self.lower_ssthresh(target);
        }
        self.end_slow_start(true);
        self.cwnd = f64::from(self.mss);
        self.credit = 0.0;
    }

    /// Congestion avoidance begins with a window of `bytes`, cut to whole segments and at least two.
    pub fn begin_at(&mut self, bytes: f64) {
        self.ssthresh = self.whole_segments(bytes).max(2 * u64::from(self.mss));
        self.cwnd = self.ssthresh as f64;
    }

    fn end_slow_start(&mut self, timeout: bool) {
        if let Some(rule) = &mut self.exit_rule {
            rule.on_loss(timeout);
        }
    }

    fn remember(&mut self) {
        self.cwnd_before = self.cwnd;
        self.ssthresh_before = self.ssthresh;
    }

    /// Undoes the last decrease, which was spurious: window and threshold return to their values
    /// before it unless they have grown beyond them. Returns true if there was a decrease.
    pub fn undo(&mut self) -> bool {
        if self.cwnd_before.is_nan() {
            return false;
        }
        self.cwnd = self.cwnd.max(self.cwnd_before);
        self.ssthresh = self.ssthresh.max(self.ssthresh_before);
        self.cwnd_before = f64::NAN;
        self.credit = 0.0;
        true
    }

    fn lower_ssthresh(&mut self, target: f64) {
        let bytes = if self.whole_segment_ssthresh {
            self.whole_segments(target)
        } else {
            target as u64
        };
        self.ssthresh = bytes.max(2 * u64::from(self.mss));
    }

    /// Rounds `bytes` down to whole segments.
    fn whole_segments(&self, bytes: f64) -> u64 {
        let bytes = bytes as u64;
        bytes - bytes % u64::from(self.mss)
    }

    /// Returns the window in bytes.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Returns the window in segments.
    #[inline]
    pub fn segments(&self) -> f64 {
        self.cwnd / f64::from(self.mss)
    }

    /// Returns the payload of a full segment, in bytes.
    #[inline]
    pub fn mss(&self) -> f64 {
        f64::from(self.mss)
    }

    /// Returns true if the window is below ssthresh.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh as f64
    }

    /// Sets the window.
    pub fn set_cwnd(&mut self, bytes: f64) {
        self.cwnd = bytes;
    }

    /// Returns the slow-start threshold in bytes.
    #[inline]
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Sets the slow-start threshold.
    pub fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes;
    }
}

/// Implements the methods of a control that its [`Window`] provides.
macro_rules! serve_by_window {
    () => {
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
    };
}

pub(in crate::cc) use serve_by_window;
