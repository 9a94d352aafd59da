//! Responses to lost segments, and their undoing (sections 5.3.1.3, 5.5.10 and 5.5.11).

use goodqueue_types::Time;

use super::{Bbr3, Mode};
use crate::cc::{AckSample, LostSegment, RateSample};

/// Number of separate ranges lost in a round from which the losses can end Startup
/// (`BBRStartupFullLossCnt`).
const STARTUP_RANGES: u32 = 6;

/// State before the present losses, or before the last ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// True while the losses are not repaired. The state is saved once until they are: the draft's
    /// pseudocode saves it anew in each of their rounds, and would forget what it is to restore.
    pub is_open: bool,
    /// State that the losses ended: Startup or Up.
    ended: Option<Mode>,
    bandwidth_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

impl Bbr3 {
    /// Saves the state before a loss (`SaveStateUponLoss`).
    pub(super) fn save_before_losses(&mut self) {
        self.save_window();
        if !self.undo.is_open {
            self.undo = Undo {
                is_open: true,
                ended: None,
                bandwidth_shortterm: self.bandwidth_shortterm,
                inflight_shortterm: self.inflight_shortterm,
                inflight_longterm: self.inflight_longterm,
            };
        }
    }

    /// Records a loss. The first one of a round starts a round, at whose end the short-term bounds
    /// fall (`NoteLoss`).
    pub(super) fn note_loss(&mut self) {
        if !self.loss_in_round {
            self.loss_round_ends_at = self.delivered;
            self.save_before_losses();
        }
        self.loss_in_round = true;
        self.loss_in_cycle = true;
    }

    /// Handles a lost segment (`HandleLostPacket`).
    pub(super) fn take_loss(&mut self, segment: &LostSegment) {
        self.delivered = segment.total_delivered;
        self.note_loss();
        self.ranges_in_round += u32::from(segment.seq != self.range_ends_at);
        self.range_ends_at = segment.end;
        let flight = segment.in_flight_at_send;
        if self.has_probe_samples && self.is_too_high(segment.lost, flight) {
            let flight = self.flight_at_loss(segment);
            self.take_high_congestion(segment.now, flight, segment.is_app_limited);
        }
    }

    /// Returns true if more than the threshold of a flight was lost (`IsInflightTooHigh`).
    pub(super) fn is_too_high(&self, lost: u64, flight: u64) -> bool {
        lost as f64 > flight as f64 * self.config.loss_threshold
    }

    /// Returns the bytes in flight at which the losses passed the threshold, somewhere in the lost
    /// segment (`InflightAtLoss`).
    pub(super) fn flight_at_loss(&self, segment: &LostSegment) -> f64 {
        let threshold = self.config.loss_threshold;
        let before = segment.in_flight_at_send.saturating_sub(segment.bytes) as f64;
        let lost_before = segment.lost.saturating_sub(segment.bytes) as f64;
        let prefix = (threshold * before - lost_before) / (1.0 - threshold);
        before + prefix.max(0.0)
    }

    /// Lowers the long-term bound to the flight that was too large, and ends the probe
    /// (`HandleInflightTooHigh`).
    pub(super) fn take_high_congestion(&mut self, now: Time, flight: f64, limited: bool) {
        self.probe_went_too_high = true;
        self.has_probe_samples = false;
        if !limited {
            self.inflight_longterm = flight.max(self.target_inflight() * self.config.beta);
        }
        if self.mode == Mode::Up {
            self.undo.ended = Some(Mode::Up);
            self.start_down(now);
        }
    }

    /// Concludes in Startup, from a round of fast recovery with many losses, that the pipe is full
    /// (section 5.3.1.3).
    pub(super) fn check_startup_losses(&mut self, sample: &AckSample, rate: &RateSample) {
        let is_certain = self.loss_round_start
            && self.ranges_in_round >= STARTUP_RANGES
            && self.is_too_high(rate.lost, rate.in_flight_at_send);
        if self.mode == Mode::Startup && !self.pipe_is_full && sample.in_recovery && is_certain {
            self.undo.ended = Some(Mode::Startup);
            self.end_startup();
        }
        if self.loss_round_start {
            self.ranges_in_round = 0;
            self.range_ends_at = u64::MAX;
        }
    }

    /// Concludes that the pipe is full, and bounds the flight by what it holds.
    pub(super) fn end_startup(&mut self) {
        self.pipe_is_full = true;
        self.inflight_longterm = self.bdp(1.0).max(self.inflight_latest);
    }

    /// Restores the state before losses that were none (`HandleSpuriousLossDetection`).
    pub(super) fn undo_losses(&mut self) {
        self.restore_window();
        self.loss_in_round = false;
        self.reset_full_bandwidth(0.0);
        let undo = &mut self.undo;
        self.bandwidth_shortterm = self.bandwidth_shortterm.max(undo.bandwidth_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(undo.inflight_longterm);
        match undo.ended.take() {
            Some(Mode::Startup) if self.mode != Mode::Startup => {
                self.pipe_is_full = false;
                if self.mode != Mode::ProbeRtt {
                    self.mode = Mode::Startup;
                }
            }
            Some(Mode::Up) if !matches!(self.mode, Mode::Up | Mode::ProbeRtt) => {
                self.start_refill();
            }
            _ => {}
        }
    }
}
