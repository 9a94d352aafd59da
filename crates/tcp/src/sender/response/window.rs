//! The window of a sender with records, in whole segments: that of the control, or that of a
//! reduction in progress.

use std::cell::Cell;

use crate::cc::{CongestionControl, Controller};
use crate::config::RecoveryWindow;
use crate::sender::response::prr::Reduction;

/// Window in segments.
#[derive(Debug, Default)]
pub(crate) struct Window {
    reduction: Option<Reduction>,
    /// Last window of the control in bytes of which the segments were computed, and these.
    whole_segments: Cell<(f64, u32)>,
}

impl Window {
    /// Returns the window in segments, at least one.
    #[inline]
    pub fn segments(&self, control: &Controller, mss: u64) -> u32 {
        let window = match &self.reduction {
            Some(reduction) => reduction.window(),
            None => self.whole_segments(control.window(), mss),
        };
        window.max(1)
    }

    /// Returns the whole segments of a window in bytes. The quotient is kept, because most calls
    /// have the window of the call before: divisions took 4 % of the instructions of `s1-linux`.
    #[inline]
    fn whole_segments(&self, bytes: f64, mss: u64) -> u32 {
        let (known, segments) = self.whole_segments.get();
        if known.to_bits() == bytes.to_bits() {
            return segments;
        }
        let segments = (bytes as u64 / mss) as u32;
        self.whole_segments.set((bytes, segments));
        segments
    }

    /// Returns the window of the reduction in progress, if there is one.
    #[inline]
    pub fn reduced(&self) -> Option<u32> {
        self.reduction.as_ref().map(Reduction::window)
    }

    /// Returns true if a reduction is in progress, which sets the window in place of the control.
    #[inline]
    pub fn is_reducing(&self) -> bool {
        self.reduction.is_some()
    }

    /// Begins a reduction from `segments`.
    pub fn begin_reduction(&mut self, segments: u32) {
        self.reduction = Some(Reduction::new(segments, segments));
    }

    /// Ends the reduction in progress, if there is one.
    pub fn end_reduction(&mut self) {
        self.reduction = None;
    }

    /// Records that a segment leaves.
    #[inline]
    pub fn send(&mut self) {
        if let Some(reduction) = &mut self.reduction {
            reduction.send(1);
        }
    }

    /// Passes an ACK to the reduction in progress, as [`Reduction::on_ack`] describes it.
    pub fn on_ack(
        &mut self,
        rule: RecoveryWindow,
        newly: u32,
        in_flight: u32,
        ssthresh: u32,
        safe: bool,
    ) {
        if let Some(reduction) = &mut self.reduction {
            reduction.on_ack(rule, newly, in_flight, ssthresh, safe);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TcpConfig;

    /// A window of 10.5 segments is ten of them. Recovery to six segments, of which five are in
    /// flight, sets its own until it ends.
    #[test]
    fn a_reduction_sets_the_window_until_it_ends() {
        let mut control = Controller::smallest(&TcpConfig::default());
        control.set_window(10_500.0);
        let mut window = Window::default();
        let segments = |window: &Window| window.segments(&control, 1000);
        assert_eq!((segments(&window), window.reduced()), (10, None));
        window.begin_reduction(10);
        window.on_ack(RecoveryWindow::Ssthresh, 1, 5, 6, true);
        assert!(window.is_reducing());
        assert_eq!((segments(&window), window.reduced()), (6, Some(6)));
        window.end_reduction();
        assert_eq!(segments(&window), 10);
    }

    #[test]
    fn a_window_below_a_segment_counts_as_one() {
        let mut control = Controller::smallest(&TcpConfig::default());
        control.set_window(400.0);
        assert_eq!(Window::default().segments(&control, 1000), 1);
    }
}
