//! The states of recovery with transmission records, in Linux's order: Open, Disorder, CWR,
//! Recovery, Loss.

use goodqueue_types::{Span, Time};

use crate::cc::{CongestionControl, CongestionEvent, CongestionSignal};
use crate::config::{DecreaseBasis, RecoveryWindow, SackVariant};
use crate::connection::stats::{CaState, Phase};
use crate::sender::detection::expiry::Timer;
use crate::sender::in_flight::record::Record;
use crate::sender::ledger::{Ledger, Seen, Turn};
use crate::sender::response::due::Resend;

/// Shortest time that a receiver has to acknowledge data that it had SACKed.
const MIN_PATIENCE: Span = Span::from_millis(10);

impl Ledger {
    /// Updates the state for an ACK that is more than plain progress.
    pub fn advance_state(&mut self, turn: &mut Turn<'_>, duplicates: u32, seen: &mut Seen) {
        let una = turn.sender.stream.una();
        if self.records.is_empty() && !self.rules.sack {
            self.records.forget_counted();
        }
        if self.suspects_reneging(turn) {
            seen.restart_timer = false;
            return;
        }
        if self.episode.state() == CaState::Open {
            self.undo.forget_resends();
        } else if una >= self.episode.high_seq() && self.finish_state(turn) {
            return;
        }
        match self.episode.state() {
            CaState::Recovery => self.advance_recovery(turn, duplicates, seen),
            CaState::Loss => self.advance_loss(turn, duplicates, seen),
            _ => self.advance_calm(turn, duplicates, seen),
        }
    }

    /// Checks if the first outstanding segment is SACKed and yet not acknowledged. The receiver may
    /// have dropped it (RFC 2018 section 8), or an ACK is late. Linux waits for half a round trip,
    /// and at least 10 ms.
    fn suspects_reneging(&mut self, turn: &mut Turn<'_>) -> bool {
        let suspect = self.rules.sack && self.records.first().is_some_and(Record::is_sacked);
        if suspect {
            let srtt = turn.sender.rtt.srtt(&turn.config.rto);
            let patience = (srtt.unwrap_or(Span::ZERO) / 2).max(MIN_PATIENCE);
            turn.sender.timers.set(turn.now.saturating_add(patience));
            self.expiry.wait_for(Timer::Retransmit);
        }
        suspect
    }

    /// Ends a state when everything is acknowledged that was outstanding at its start. Returns true
    /// if the ACK needs no further handling.
    fn finish_state(&mut self, turn: &mut Turn<'_>) -> bool {
        match self.episode.state() {
            CaState::Cwr if turn.sender.stream.una() > self.episode.high_seq() => {
                self.end_reduction(turn);
                self.set_state(turn, CaState::Open);
            }
            CaState::Recovery => {
                if !self.rules.sack {
                    self.records.forget_counted();
                }
                if self.recovered(turn) {
                    return true;
                }
                self.end_reduction(turn);
            }
            _ => {}
        }
        false
    }

    fn advance_recovery(&mut self, turn: &mut Turn<'_>, duplicates: u32, seen: &mut Seen) {
        if !seen.una_advanced {
            self.count_duplicates(turn, duplicates);
        } else if self.undo_partial(turn, seen.prior_una) {
            return;
        }
        if self.undo_by_dsack(turn) {
            self.try_open(turn, seen);
        }
        self.identify_losses(turn, seen);
        if self.episode.state() == CaState::Recovery {
            self.reduce_again(turn);
        } else if self.records.lost_out() == 0 {
            return;
        } else {
            self.enter_recovery(turn, seen.ecn_echo);
        }
        self.due.set_resend(Resend::Lost);
    }

    /// Reduces the window again if a retransmission sent since the last reduction is lost, which is
    /// another sign of congestion (RFC 5681 section 4.3, RFC 8985 section 3.4). With proportional
    /// rate reduction, as in Linux, recovery instead sends no more than arrives.
    pub fn reduce_again(&mut self, turn: &mut Turn<'_>) {
        let lost_again = self.rack.take_lost_again();
        if lost_again && self.rules.recovery_window == RecoveryWindow::Ssthresh {
            self.undo
                .arm(turn.sender.stream.una(), self.records.resent_out(), false);
            self.undo.set_restores(false);
            self.start_reduction(turn);
        }
    }

    fn advance_loss(&mut self, turn: &mut Turn<'_>, duplicates: u32, seen: &mut Seen) {
        self.process_loss(turn, duplicates, seen);
        self.identify_losses(turn, seen);
        if self.episode.state() == CaState::Open || seen.resent_lost {
            self.advance_or_recover(turn, duplicates, seen);
        }
    }

    fn advance_calm(&mut self, turn: &mut Turn<'_>, duplicates: u32, seen: &mut Seen) {
        self.advance_or_recover(turn, duplicates, seen);
    }

    /// Enters recovery if a segment is lost, otherwise stays in Open, Disorder or CWR. This
    /// function also handles the states that can follow Loss.
    fn advance_or_recover(&mut self, turn: &mut Turn<'_>, duplicates: u32, seen: &mut Seen) {
        if !self.rules.sack {
            if seen.una_advanced {
                self.records.forget_counted();
            }
            self.count_duplicates(turn, duplicates);
        }
        if self.episode.state() <= CaState::Disorder {
            self.undo_by_dsack(turn);
        }
        self.identify_losses(turn, seen);
        if self.records.lost_out() == 0 {
            self.try_open(turn, seen);
            return;
        }
        self.enter_recovery(turn, seen.ecn_echo);
        self.due.set_resend(Resend::Lost);
    }

    /// Marks losses by the present information.
    fn identify_losses(&mut self, turn: &mut Turn<'_>, seen: &mut Seen) {
        if self.records.is_empty() {
            return;
        }
        if self.rules.sack && !self.rules.rack {
            self.mark_lost_by_sack(turn);
            return;
        }
        if self.rules.sack {
            let resent = self.records.resent_out();
            if self.mark_lost_by_time(turn) {
                seen.restart_timer = false;
            }
            seen.resent_lost |= resent > self.records.resent_out();
            return;
        }
        let fresh = self.episode.state() < CaState::Recovery
            && self.records.sacked_out() >= self.reordering.degree();
        let partial = self.episode.state() == CaState::Recovery && seen.una_advanced;
        // In NewReno the first segment is the hole (RFC 6582).
        if (fresh || partial) && !self.records.get(0).is_lost() {
            self.records.mark_lost(0);
        }
    }

    /// Marks the segments lost above which enough data are SACKed (`IsLost` of RFC 6675). Segments
    /// sent again are not judged: RFC 6675 leaves a lost retransmission to the timeout.
    fn mark_lost_by_sack(&mut self, turn: &Turn<'_>) {
        let below = turn.sender.scoreboard.lost_below(
            SackVariant::Rfc6675,
            self.reordering.degree(),
            turn.config.mss,
        );
        self.records.mark_lost_below(below);
    }

    /// Returns to Open or Disorder if nothing is lost, or enters CWR if a mark requires it.
    fn try_open(&mut self, turn: &mut Turn<'_>, seen: &Seen) {
        if self.records.resent_out() == 0 {
            self.undo.forget_resends();
        }
        if seen.ecn_echo {
            self.enter_reduced(turn);
        }
        if self.episode.state() != CaState::Cwr {
            self.try_keep_open(turn);
        }
    }

    pub fn try_keep_open(&mut self, turn: &mut Turn<'_>) {
        let disordered = self.records.sacked_out() + self.records.lost_out() > 0
            || self.records.resent_out() > 0;
        let state = if disordered {
            CaState::Disorder
        } else {
            CaState::Open
        };
        if self.episode.state() != state {
            self.set_state(turn, state);
            self.episode.end_at(turn.sender.stream.max_sent());
        }
    }

    pub fn set_state(&mut self, turn: &mut Turn<'_>, state: CaState) {
        let left = self.episode.enter(state);
        turn.sender.course.enter(match state {
            CaState::Recovery => Phase::FastRecovery,
            CaState::Loss => Phase::GoBackN,
            _ => Phase::Open,
        });
        if !matches!(state, CaState::Cwr | CaState::Recovery) {
            self.window.end_reduction();
        }
        if left == CaState::Recovery && state < CaState::Recovery {
            turn.sender.controller.on_recovery_exit(turn.now);
            self.records.tighten();
            turn.sender.scoreboard.tighten();
        }
    }

    /// Enters CWR for a mark: the window falls as for a loss, but nothing is retransmitted (RFC
    /// 3168 section 6.1.2).
    pub fn enter_reduced(&mut self, turn: &mut Turn<'_>) {
        if self.episode.state() < CaState::Cwr {
            self.undo.disarm();
            self.start_reduction_by(turn, CongestionSignal::EcnEcho);
            self.set_state(turn, CaState::Cwr);
        }
    }

    pub fn enter_recovery(&mut self, turn: &mut Turn<'_>, ecn_echo: bool) {
        turn.stats.fast_retransmits += 1;
        self.undo.arm(
            turn.sender.stream.una(),
            self.records.resent_out(),
            self.probe.repeats(),
        );
        if self.window.is_reducing() {
            self.undo.set_restores(false);
        } else {
            self.undo.set_restores(!ecn_echo);
            self.start_reduction(turn);
        }
        // Proportional rate reduction makes room for the first retransmission itself.
        let at_once = self.rules.recovery_window == RecoveryWindow::Ssthresh;
        self.due.retransmit_fast(at_once);
        self.set_state(turn, CaState::Recovery);
    }

    /// Starts a reduction: the control lowers ssthresh, and the rule of the recovery window moves
    /// the window there.
    pub fn start_reduction(&mut self, turn: &mut Turn<'_>) {
        self.start_reduction_by(turn, CongestionSignal::Loss);
    }

    /// Gives the control the segments marked lost since the last call, if it needs them.
    #[inline]
    pub fn report_losses(&mut self, turn: &mut Turn<'_>) {
        if self.records.keeps_losses() {
            self.report_kept_losses(turn);
        }
    }

    fn report_kept_losses(&mut self, turn: &mut Turn<'_>) {
        for loss in self.records.take_losses() {
            let segment = self.rate.lost_segment(turn.now, &loss, self.rules.mss);
            turn.sender.controller.on_lost(&segment);
        }
    }

    fn start_reduction_by(&mut self, turn: &mut Turn<'_>, signal: CongestionSignal) {
        self.report_losses(turn);
        self.episode.end_at(turn.sender.stream.max_sent());
        turn.sender.course.set_point(self.episode.high_seq());
        self.probe.forget();
        self.episode.reduce(turn.now);
        self.rack.take_lost_again();
        let prior = self.window_segments(turn.sender);
        let event = self.event(turn, signal);
        turn.sender.controller.on_congestion_event(&event);
        if !self.rules.control_sets_window {
            self.window.begin_reduction(prior);
        }
    }

    fn event(&self, turn: &Turn<'_>, signal: CongestionSignal) -> CongestionEvent {
        let basis = self.decrease_basis(turn, self.records.sacked_throughout());
        let kept = match signal {
            CongestionSignal::EcnEcho => turn.sender.kept_at_echo(turn.config),
            CongestionSignal::Loss => None,
        };
        CongestionEvent {
            now: turn.now,
            basis,
            signal,
            kept,
        }
    }

    /// Returns the bytes that a reduction halves. `FlightSize` excludes SACKed data and the data
    /// that left in their place (RFC 5681 section 3.2 on limited transmit). It includes the data
    /// that the present ACK shows to have arrived (RFC 9937 section 6.1, `RecoverFS`). All
    /// outstanding data would increase with each round that a hole stays open, and so would
    /// ssthresh. Without SACK information the window is the bound: a loss never raises it.
    fn decrease_basis(&self, turn: &Turn<'_>, sacked_before: u32) -> f64 {
        let basis = turn.sender.decrease_basis(turn.config);
        let delivered = match turn.config.details.decrease_basis {
            // Without limited transmit no data were sent in place of SACKed data.
            DecreaseBasis::FlightSize
                if !turn.config.limited_transmit && self.episode.state() < CaState::Recovery =>
            {
                0
            }
            DecreaseBasis::FlightSize => sacked_before,
            DecreaseBasis::LessDuplicates => self.records.sacked_out(),
            DecreaseBasis::Outstanding => 0,
            _ => return basis,
        };
        let mss = self.rules.mss;
        let window = u64::from(self.window_segments(turn.sender)) * mss;
        (basis - (u64::from(delivered) * mss) as f64).clamp(0.0, window as f64)
    }

    /// Updates the window of recovery after an ACK.
    pub fn reduce(&mut self, turn: &mut Turn<'_>, newly: u32, lost: u64, una_advanced: bool) {
        let (in_flight, ssthresh) = (self.records.in_flight(), self.ssthresh(turn.sender));
        let safe = una_advanced && lost == 0;
        let rule = self.rules.recovery_window;
        self.window.on_ack(rule, newly, in_flight, ssthresh, safe);
    }

    /// Ends a reduction: the window becomes ssthresh, unless the reduction was undone.
    pub fn end_reduction(&mut self, turn: &mut Turn<'_>) {
        if self.rules.control_sets_window {
            return;
        }
        let ssthresh = turn.sender.controller.ssthresh();
        if ssthresh < u64::MAX && (self.episode.state() == CaState::Cwr || self.undo.is_armed()) {
            turn.sender.controller.set_window(ssthresh as f64);
        }
        self.window.end_reduction();
    }

    /// Handles a retransmission timeout (RFC 6298 (5.4) to (5.6)). Linux excludes segments that
    /// were sent too recently to be lost.
    pub fn on_retransmission_timeout(&mut self, turn: &mut Turn<'_>) {
        turn.stats.timeouts += 1;
        // Without SACK a timeout discards the count of delivered segments.
        let basis = self.decrease_basis(turn, self.records.sacked_out());
        self.mark_lost_by_timeout(turn);
        self.report_losses(turn);
        let fresh = self.episode.state() < CaState::Recovery;
        let at_ssthresh = self.rules.recovery_window == RecoveryWindow::Ssthresh;
        let reduces = self.episode.state() <= CaState::Disorder
            || self.episode.high_seq() <= turn.sender.stream.una()
            || (self.episode.state() == CaState::Loss && self.expiry.backoff() == 0)
            // The retransmission is lost. Linux does not reduce again, because its window is small
            // by then.
            || (self.episode.state() == CaState::Recovery && at_ssthresh);
        if reduces {
            self.episode.reduce(turn.now);
            self.undo.set_restores(true);
            self.undo
                .arm(turn.sender.stream.una(), self.records.resent_out(), false);
        }
        let event = reduces.then_some(CongestionEvent {
            now: turn.now,
            basis,
            signal: CongestionSignal::Loss,
            kept: None,
        });
        let sender = &mut *turn.sender;
        sender.controller.on_retransmission_timeout(event.as_ref());
        let in_flight = u64::from(self.records.in_flight());
        if !self.rules.control_sets_window {
            sender
                .controller
                .set_window(((in_flight + 1) * self.rules.mss) as f64);
        }
        if self.episode.state() <= CaState::Disorder
            && self.records.sacked_out() >= turn.config.duplicate_ack_threshold
        {
            // Many segments were SACKed without a fast retransmit, so the reordering was
            // overestimated.
            self.reordering.narrow(turn.config.duplicate_ack_threshold);
        }
        self.undo
            .try_frto(self.rules.frto && (fresh || self.expiry.backoff() > 0));
        self.set_state(turn, CaState::Loss);
        self.episode.end_at(turn.sender.stream.max_sent());
        turn.sender.course.set_point(self.episode.high_seq());
        self.probe.forget();
        self.expiry.back_off();
        self.due.time_out();
        let sender = &mut *turn.sender;
        sender.course.note_timeout(sender.stream.una());
        sender.rtt.back_off(&turn.config.rto);
        sender.timers.set(turn.now.saturating_add(sender.rtt.rto()));
    }

    /// Records data of the SYN, which left at `sent`, as lost. The window stays, because the peer refused
    /// them and no congestion is known (Linux's `tcp_non_congestion_loss_retransmit`).
    pub fn take_refused(&mut self, turn: &mut Turn<'_>, sent: Time) {
        let snapshot = self.rate.snapshot(sent, 0, 0, true);
        let (mut seq, end) = (turn.sender.stream.una(), turn.sender.stream.max_sent());
        while seq < end {
            let len = (end - seq).min(self.rules.mss);
            let record = Record::new(seq, len as u32, sent, self.rate.delivered());
            self.records.push(record, snapshot);
            seq += len;
        }
        for index in 0..self.records.out() as usize {
            self.records.mark_lost(index);
        }
        self.set_state(turn, CaState::Loss);
        self.episode.end_at(end);
        self.due.set_resend(Resend::Lost);
    }

    fn mark_lost_by_timeout(&mut self, turn: &mut Turn<'_>) {
        let reneged = self.records.first().is_some_and(Record::is_sacked);
        if reneged {
            // The receiver has dropped data that it had reported (RFC 2018 section 8).
            self.records.unmark_sacked();
            turn.sender.scoreboard.clear();
        } else if !self.rules.sack {
            self.records.forget_counted();
        }
        let window = self.reordering_window(turn);
        for index in 0..self.records.out() as usize {
            let sent = self.records.get(index).sent;
            let spared = index > 0
                && !reneged
                && self.rules.rack
                && !self.is_overdue(sent, window, turn.now);
            if !spared {
                self.records.mark_lost(index);
            }
        }
    }

    /// Returns the time until the first segment times out, counted from its transmission.
    pub fn until_timeout(&self, turn: &Turn<'_>) -> Option<Span> {
        let first = self.records.first()?;
        let due = first.sent.saturating_add(turn.sender.rtt.rto());
        (due > turn.now).then(|| due - turn.now)
    }

    /// Restarts the retransmission timer, or stops it when nothing is outstanding (RFC 6298 (5.2),
    /// (5.3)). After another timer, the time since the first segment was sent counts.
    pub fn rearm(&mut self, turn: &mut Turn<'_>) {
        let wait = match self.expiry.timer() {
            Timer::Retransmit => turn.sender.rtt.rto(),
            _ => self.until_timeout(turn).unwrap_or(Span::from_micros(1)),
        };
        self.expiry.wait_for(Timer::Retransmit);
        turn.sender.timers.set(if self.records.is_empty() {
            goodqueue_types::Time::MAX
        } else {
            turn.now.saturating_add(wait)
        });
    }

    /// Counts a duplicate ACK without SACK information as a delivered segment.
    pub fn count_duplicates(&mut self, turn: &mut Turn<'_>, duplicates: u32) {
        if self.rules.sack || duplicates == 0 {
            return;
        }
        let before = self.records.sacked_out();
        let all = self.records.count_duplicates(duplicates);
        if !all && self.rules.adaptive_reordering {
            // More duplicates than segments in flight show reordering or a duplicating network.
            let seen = self.records.out() + duplicates.min(1);
            self.reordering.widen(seen);
            self.reordering.note();
        }
        self.rate
            .count(self.records.sacked_out().saturating_sub(before));
        let _ = turn;
    }

    /// Adapts the tolerated reordering after a segment was delivered later than one that was sent
    /// after it.
    pub fn on_reordering(&mut self, turn: &Turn<'_>, lowest: u64) {
        let highest = turn
            .sender
            .scoreboard
            .highest()
            .unwrap_or(turn.sender.stream.una());
        if lowest >= highest {
            return;
        }
        if self.rules.adaptive_reordering {
            self.reordering.widen_to(highest - lowest, self.rules.mss);
        }
        self.reordering.note();
    }
}
