//! The response to the share of marks of Google's Linux tree (google/bbr, commit 001a430,
//! `net/ipv4/tcp_bbr.c`), which the draft leaves open. Names in backticks are those of that file.

use goodqueue_types::Time;

use super::{Bbr3, MAX_DOUBLINGS};
use crate::cc::{MarkSample, RateSample};

/// Weight of the newest round in α (`bbr_ecn_alpha_gain`).
const GAIN: f64 = 1.0 / 16.0;
/// Share of the short-term bound that a round takes in which all is marked (`bbr_ecn_factor`).
const FACTOR: f64 = 1.0 / 3.0;
/// Share of marks from which a flight is too large (`bbr_ecn_thresh`).
const TOO_MANY: f64 = 0.5;
/// Number of successive rounds with as many marks that end Startup (`bbr_full_ecn_cnt`).
const STARTUP_ROUNDS: u32 = 2;
/// Share of the long-term bound by which it grows in the first round of a probe after marks that
/// ceased (`bbr_ecn_reprobe_gain`).
const REPROBE_GAIN: f64 = 0.5;

/// Marks of a connection whose receiver counts them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// True once the round-trip time was short enough (`ecn_eligible`).
    is_used: bool,
    /// Smoothed share of marked bytes, from 0 to 1. It starts at 1, so that a flow that begins
    /// behind a full queue reacts at once.
    alpha: f64,
    acked: u64,
    marked: u64,
    /// Share of the bytes that were marked in the last round.
    share: f64,
    /// True if this round has marks, and if this probing cycle has.
    in_round: bool,
    in_cycle: bool,
    /// Successive rounds of Startup with too many marks.
    startup_rounds: u32,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            is_used: false,
            alpha: 1.0,
            acked: 0,
            marked: 0,
            share: 0.0,
            in_round: false,
            in_cycle: false,
            startup_rounds: 0,
        }
    }
}

impl Marks {
    /// Returns true if more than half of the last round was marked.
    fn is_too_high(&self) -> bool {
        self.is_used && self.share > TOO_MANY
    }

    /// Returns true if the cycle had marks, and neither the last round nor this one has.
    fn has_ceased(&self) -> bool {
        self.is_used && self.in_cycle && !self.in_round && self.share == 0.0
    }

    /// Forgets the marks of the present cycle.
    pub(super) fn restart(&mut self) {
        self.in_round = false;
        self.in_cycle = false;
    }
}

impl Bbr3 {
    /// Counts the marks that an ACK reports.
    pub(super) fn take_marks(&mut self, sample: &MarkSample) {
        if let Some(marks) = &mut self.marks {
            marks.acked += sample.acked;
            marks.marked += sample.marked;
            marks.in_round |= sample.marked > 0;
            marks.in_cycle |= sample.marked > 0;
        }
    }

    /// Updates α at the start of a round, and ends Startup after two rounds of which at least half
    /// was marked (`bbr_update_ecn_alpha`, `bbr_check_ecn_too_high_in_startup`).
    pub(super) fn update_marks(&mut self) {
        let is_short = self
            .min_rtt
            .is_some_and(|rtt| rtt <= self.config.ecn_max_rtt);
        let Some(marks) = self.marks.as_mut().filter(|_| self.round_start) else {
            return;
        };
        marks.is_used |= is_short;
        if !marks.is_used || marks.acked == 0 {
            return;
        }
        marks.share = (marks.marked as f64 / marks.acked as f64).min(1.0);
        marks.alpha = (1.0 - GAIN) * marks.alpha + GAIN * marks.share;
        (marks.acked, marks.marked) = (0, 0);
        if self.pipe_is_full {
            return;
        }
        marks.startup_rounds = if marks.share >= TOO_MANY {
            marks.startup_rounds + 1
        } else {
            0
        };
        if marks.startup_rounds >= STARTUP_ROUNDS {
            self.end_startup();
        }
    }

    /// Returns the short-term bound on the flight after a round with marks (`bbr_ecn_lower_bounds`),
    /// infinite after another round.
    pub(super) fn bound_after_marks(&mut self) -> f64 {
        let Some(marks) = &mut self.marks else {
            return f64::INFINITY;
        };
        let in_round = std::mem::take(&mut marks.in_round);
        if !in_round || !marks.is_used || self.mode.is_probing() {
            return f64::INFINITY;
        }
        if self.inflight_shortterm.is_infinite() {
            self.inflight_shortterm = self.cwnd;
        }
        self.inflight_shortterm * (1.0 - FACTOR * marks.alpha)
    }

    /// Ends a probe of whose last round more than half was marked (`bbr_is_inflight_too_high`).
    /// Returns true if that round had so many marks, in any state.
    pub(super) fn judge_marks(&mut self, now: Time, rate: &RateSample) -> bool {
        let too_high = self.marks.as_deref().is_some_and(Marks::is_too_high);
        if too_high && self.has_probe_samples {
            let flight = rate.in_flight_at_send as f64;
            self.take_high_congestion(now, flight, rate.is_app_limited);
        }
        too_high
    }

    /// Probes at once when marks cease in a cycle without losses, in the hope that other flows have
    /// left (`bbr_check_time_to_probe_bw`). Returns true if it does.
    pub(super) fn refill_after_marks(&mut self) -> bool {
        let ceased = self.marks.as_deref().is_some_and(Marks::has_ceased);
        let is_due = ceased && !self.loss_in_cycle && !self.is_repairing;
        if is_due {
            self.start_refill();
            let growth = REPROBE_GAIN * self.inflight_longterm / self.mss;
            self.up_rounds = (libm::log2(growth.max(1.0)) as u32).min(MAX_DOUBLINGS);
        }
        is_due
    }
}
