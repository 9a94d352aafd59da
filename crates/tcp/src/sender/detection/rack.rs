//! Loss detection by time (RACK) and the tail loss probe (RFC 8985), with Linux's choices where the
//! RFC leaves one.

use goodqueue_types::{Span, Time};

use crate::connection::stats::CaState;
use crate::sender::detection::expiry::Timer;
use crate::sender::detection::tail_probe::Verdict;
use crate::sender::in_flight::record::Record;
use crate::sender::ledger::{Ledger, Seen, Turn};
use crate::sender::response::due::Resend;

/// Number of recoveries for which a reordering window widened by a DSACK is kept (RFC 8985 section
/// 6.2 step 4).
const PERSISTENCE: u32 = 16;

/// State of RACK (RFC 8985 section 5.2).
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Time at which the segment was sent that was sent last among those delivered, and its end.
    sent: Time,
    end: u64,
    /// Round-trip time of that segment.
    rtt: Span,
    /// True if a segment was delivered since the last search for losses.
    advanced: bool,
    /// True if a retransmission sent since the last reduction was found lost.
    lost_again: bool,
    /// Multiplier of the reordering window (`RACK.reo_wnd_mult`).
    steps: u32,
    persist: u32,
    dsack_seen: bool,
    /// Number of delivered segments at the last adjustment.
    adjusted_at: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            sent: Time::ZERO,
            end: 0,
            rtt: Span::ZERO,
            advanced: false,
            lost_again: false,
            steps: 1,
            persist: 0,
            dsack_seen: false,
            adjusted_at: 0,
        }
    }
}

impl Rack {
    /// Records a delivered segment (RFC 8985 section 6.2 step 2). If its round-trip time is shorter
    /// than any before, the ACK was for an earlier transmission.
    pub fn on_delivered(&mut self, record: &Record, now: Time, min_rtt: Option<Span>) {
        let rtt = now.saturating_since(record.sent);
        if record.was_resent() && min_rtt.is_some_and(|min| rtt < min) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if (record.sent, record.end()) > (self.sent, self.end) {
            (self.sent, self.end) = (record.sent, record.end());
        }
    }

    /// Returns the reordering window: `steps` times `quarter` of the shortest round-trip time, at most
    /// `longest`.
    fn window(&self, quarter: Span, longest: Span) -> Span {
        quarter.saturating_mul(u64::from(self.steps)).min(longest)
    }

    /// Returns true if a segment was sent before the one that was sent last among those delivered.
    fn is_passed(&self, record: &Record) -> bool {
        (record.sent, record.end()) < (self.sent, self.end)
    }

    /// Returns `Ok` if a segment sent at `sent` is overdue at `now`, or else the time until it is.
    fn overdue(&self, sent: Time, window: Span, now: Time) -> Result<(), Span> {
        let due = sent.saturating_add(self.rtt).saturating_add(window);
        if now >= due { Ok(()) } else { Err(due - now) }
    }

    /// Records if a retransmission sent since the last reduction was found lost.
    fn note_lost_again(&mut self, lost_again: bool) {
        self.lost_again |= lost_again;
    }

    /// Returns true if a segment was delivered since the last search for losses.
    fn take_advanced(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// Lets losses be searched for again.
    pub fn search_again(&mut self) {
        self.advanced = true;
    }

    /// Returns true if a retransmission sent since the last reduction was found lost since the last
    /// call.
    pub fn take_lost_again(&mut self) -> bool {
        std::mem::take(&mut self.lost_again)
    }

    pub fn on_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// Widens the reordering window by a quarter of the shortest round-trip time for each round
    /// with a DSACK (RFC 8985 section 6.2 step 4).
    pub fn update_reordering_window(&mut self, prior_delivered: Option<u64>, delivered: u64) {
        let Some(prior_delivered) = prior_delivered else {
            return;
        };
        if prior_delivered < self.adjusted_at {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.steps = (self.steps + 1).min(255);
            self.dsack_seen = false;
            self.adjusted_at = delivered;
            self.persist = PERSISTENCE;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    pub fn on_recovery_end(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// Keeps the reordering window wide for longer, because DSACKs showed a reduction to be
    /// spurious.
    pub fn persist_longer(&mut self) {
        self.persist = (self.persist + 1).min(PERSISTENCE);
    }
}

impl Ledger {
    /// Returns the time by which a segment may arrive later than another without counting as lost
    /// (`RACK_update_reo_wnd`).
    pub fn reordering_window(&self, turn: &Turn<'_>) -> Span {
        if self.reordering.events() == 0
            && (self.episode.state() >= CaState::Recovery
                || self.records.sacked_out() >= self.reordering.degree())
        {
            return Span::ZERO;
        }
        let rtt = &turn.sender.rtt;
        let quarter = self.min_rtt.get().unwrap_or(Span::ZERO) / 4;
        let longest = rtt.srtt(&turn.config.rto).unwrap_or(Span::ZERO);
        self.rack.window(quarter, longest)
    }

    /// Returns true if a segment sent at `sent` is overdue.
    pub fn is_overdue(&self, sent: Time, window: Span, now: Time) -> bool {
        self.rack.overdue(sent, window, now).is_ok()
    }

    /// Marks the segments that were sent sufficiently before one that was delivered
    /// (`RACK_detect_loss`). Returns the time until the rest would be lost.
    fn detect_losses(&mut self, turn: &Turn<'_>) -> Option<Span> {
        let window = self.reordering_window(turn);
        let (mut wait, mut lost_again) = (None, false);
        let reduced_at = self.episode.reduced_at();
        let rack = &self.rack;
        self.records.visit_by_time(|records, index| {
            let record = records.get(index);
            if !rack.is_passed(record) {
                return false;
            }
            match rack.overdue(record.sent, window, turn.now) {
                Ok(()) => {
                    let is_resent = record.is_lost() && record.is_resent();
                    lost_again |= is_resent && record.sent >= reduced_at;
                    records.mark_lost(index);
                }
                Err(left) => wait = wait.max(Some(left)),
            }
            true
        });
        self.rack.note_lost_again(lost_again);
        wait
    }

    /// Searches for losses after a segment was delivered. Sets a reordering timer if another search
    /// is needed, and returns true then.
    pub fn mark_lost_by_time(&mut self, turn: &mut Turn<'_>) -> bool {
        if !self.rack.take_advanced() {
            return false;
        }
        let wait = self.detect_losses(turn);
        if let Some(wait) = wait {
            turn.sender.timers.set(turn.now.saturating_add(wait));
            self.expiry.wait_for(Timer::Reorder);
        }
        wait.is_some()
    }

    /// Handles the expiry of the timer.
    pub fn on_timeout(&mut self, turn: &mut Turn<'_>) {
        self.records.note_sacked();
        if self.records.is_empty() {
            self.expiry.wait_for(Timer::Retransmit);
            return;
        }
        match self.expiry.timer() {
            Timer::Retransmit => self.on_retransmission_timeout(turn),
            Timer::Probe => self.on_probe_timeout(turn),
            Timer::Reorder => self.on_reordering_timeout(turn),
        }
    }

    /// Handles the expiry of the reordering timer.
    pub fn on_reordering_timeout(&mut self, turn: &mut Turn<'_>) {
        let (in_flight, lost) = (self.records.in_flight(), self.records.lost());
        self.detect_losses(turn);
        self.report_losses(turn);
        if self.records.in_flight() != in_flight {
            if self.episode.state() == CaState::Recovery {
                self.reduce_again(turn);
            } else {
                self.enter_recovery(turn, false);
            }
            if !self.rules.control_sets_window {
                self.reduce(turn, 1, self.records.lost() - lost, false);
            }
            self.due.set_resend(Resend::Lost);
        }
        self.rearm(turn);
    }

    /// Sets the timer of the tail loss probe to two round trips (RFC 8985 section 7.2). Linux adds
    /// 200 ms if the ACK may be delayed. Returns false if no probe may be sent now.
    pub fn schedule_probe(&mut self, turn: &mut Turn<'_>, from_now: bool) -> bool {
        let calm = matches!(self.episode.state(), CaState::Open | CaState::Cwr);
        if !self.rules.tail_loss_probe || !calm || self.records.is_empty() {
            return false;
        }
        let config = &turn.config.rto;
        let mut wait = config.initial;
        if let Some(srtt) = turn.sender.rtt.srtt(config) {
            wait = srtt * 2;
            if self.records.out() == 1 {
                wait += config.minimum;
            }
        }
        let rto = if from_now {
            Some(turn.sender.rtt.rto())
        } else {
            self.until_timeout(turn)
        };
        if let Some(rto) = rto {
            wait = wait.min(rto);
        }
        turn.sender.timers.set(turn.now.saturating_add(wait));
        self.expiry.wait_for(Timer::Probe);
        true
    }

    /// Handles the expiry of the probe timer. The probe is new data if the windows allow it,
    /// otherwise the last segment again.
    pub fn on_probe_timeout(&mut self, turn: &mut Turn<'_>) {
        if self.probe.is_out() || self.records.is_empty() {
            self.rearm(turn);
            return;
        }
        self.due.probe();
    }

    /// Records that a probe has left, or could not.
    pub fn probe_sent(&mut self, turn: &mut Turn<'_>, resent: bool) {
        self.probe.leave(turn.sender.stream.max_sent(), resent);
        // The retransmission timer starts now.
        self.expiry.wait_for(Timer::Retransmit);
        let deadline = turn.now.saturating_add(turn.sender.rtt.rto());
        turn.sender.timers.set(deadline);
    }

    /// Handles an ACK while a probe is in flight (RFC 8985 section 7.4). A probe that repaired a
    /// loss requires a smaller window.
    pub fn on_ack_of_probe(&mut self, turn: &mut Turn<'_>, ack: u64, seen: &Seen) {
        if !self.probe.is_reached(ack) {
            return;
        }
        let plain_duplicate = !(seen.una_advanced || seen.not_duplicate || seen.sacked);
        let verdict = self.probe.judge(ack, seen.dsack_of_probe, plain_duplicate);
        if verdict == Verdict::Repaired {
            self.start_reduction(turn);
            self.set_state(turn, CaState::Cwr);
            self.end_reduction(turn);
            self.try_keep_open(turn);
        }
    }
}
