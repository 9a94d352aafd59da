//! Undoing a spurious reduction: DSACK (RFC 2883, RFC 3708), timestamps (Eifel, RFC 3522 and RFC
//! 4015), and F-RTO after a timeout (RFC 5682, with SACK).

use crate::cc::CongestionControl;
use crate::connection::stats::CaState;
use crate::sender::ledger::{Ledger, Seen, Turn};
use crate::sender::response::due::Resend;

/// Value of `Undo::marker` if there is nothing to undo.
const DISARMED: u64 = u64::MAX;
/// Value of `Undo::unreported` if nothing was retransmitted.
const NOTHING_RESENT: u32 = u32::MAX;

/// State by which a spurious reduction is detected.
#[derive(Clone, Debug)]
pub(crate) struct Undo {
    /// Value of `una` when the reduction began, or [`DISARMED`].
    marker: u64,
    /// Number of duplicates reported, and of retransmissions made, since the start of the
    /// connection.
    reported: u64,
    resent: u64,
    /// Number of retransmissions not yet reported as duplicates, or [`NOTHING_RESENT`].
    unreported: u32,
    /// Timestamp of the first retransmission.
    first_resent: Option<u32>,
    /// True if the control's values are restored by an undo.
    restores: bool,
    /// True while F-RTO has not decided if the timeout was spurious.
    frto: bool,
}

impl Default for Undo {
    fn default() -> Self {
        Self {
            marker: DISARMED,
            reported: 0,
            resent: 0,
            unreported: NOTHING_RESENT,
            first_resent: None,
            restores: false,
            frto: false,
        }
    }
}

impl Undo {
    pub fn is_armed(&self) -> bool {
        self.marker != DISARMED
    }

    /// Returns true if there is no reduction and no retransmission to judge.
    pub fn is_idle(&self) -> bool {
        !self.is_armed() && self.first_resent.is_none()
    }

    pub fn disarm(&mut self) {
        self.marker = DISARMED;
    }

    /// Records the start of a reduction with `resent` retransmissions already in flight.
    pub fn arm(&mut self, una: u64, resent: u32, probe: bool) {
        self.marker = una;
        let out = resent + u32::from(probe);
        self.unreported = if out > 0 { out } else { NOTHING_RESENT };
    }

    /// Sets whether an undo restores the values of the control.
    pub fn set_restores(&mut self, restores: bool) {
        self.restores = restores;
    }

    /// Returns true if there is a reduction to undo and it began below `end`.
    pub fn covers(&self, end: u64) -> bool {
        end > self.marker
    }

    /// Begins to find out by F-RTO if a timeout was spurious, if `tries` is true.
    pub fn try_frto(&mut self, tries: bool) {
        self.frto = tries;
    }

    /// Returns true while F-RTO has not decided if the timeout was spurious.
    pub fn tries_frto(&self) -> bool {
        self.frto
    }

    /// Ends F-RTO, which could not show that the timeout was spurious.
    pub fn end_frto(&mut self) {
        self.frto = false;
    }

    /// Counts segments that the receiver reports as duplicates. Returns false if it has reported
    /// more than were retransmitted, so that the network has duplicated some.
    fn report(&mut self, segments: u32) -> bool {
        self.reported += u64::from(segments);
        self.reported <= self.resent
    }

    pub fn on_dsack(&mut self, segments: u32) {
        if self.unreported != NOTHING_RESENT {
            self.unreported = self.unreported.saturating_sub(segments);
        }
    }

    /// Returns true if every retransmission was reported as a duplicate.
    fn is_all_reported(&self) -> bool {
        self.unreported == 0
    }

    /// Records that no retransmission is in flight any more.
    pub fn forget_resends(&mut self) {
        self.first_resent = None;
    }

    /// Counts a probe, which repeats data too.
    pub fn on_probe(&mut self) {
        self.resent += 1;
    }

    pub fn on_resend(&mut self, timestamp: u32) {
        self.first_resent.get_or_insert(timestamp);
        self.unreported = match self.unreported {
            NOTHING_RESENT => 1,
            count => count + 1,
        };
        self.resent += 1;
    }
}

impl Ledger {
    /// Handles a first SACK block that reports a duplicate (RFC 2883). Returns true if it is about
    /// data that may still be outstanding.
    pub fn on_dsack(&mut self, turn: &mut Turn<'_>, block: (u64, u64), seen: &mut Seen) -> bool {
        let (start, end) = block;
        let segments = ((end - start).div_ceil(self.rules.mss)).max(1) as u32;
        if !self.undo.report(segments) {
            return false;
        }
        seen.dsack = true;
        if self.probe.repeats_to(end) {
            seen.dsack_of_probe = true;
        } else {
            self.rack.on_dsack();
        }
        if end <= seen.prior_una {
            if self.undo.covers(end) {
                self.undo.on_dsack(segments);
            }
            return false;
        }
        let _ = turn;
        true
    }

    /// Returns true if the ACK is for a segment sent before the first retransmission, which was
    /// only late.
    fn was_delayed(&self, turn: &Turn<'_>) -> bool {
        match self.undo.first_resent {
            Some(timestamp) => turn.sender.timing.echo_before(timestamp),
            None => self.rules.sack || turn.sender.stream.una() < self.episode.high_seq(),
        }
    }

    fn may_undo(&self, turn: &Turn<'_>) -> bool {
        self.rules.undo
            && self.undo.is_armed()
            && (self.undo.is_all_reported() || self.was_delayed(turn))
    }

    fn undo_reduction(&mut self, turn: &mut Turn<'_>, unmark: bool) {
        if unmark {
            self.records.unmark_lost();
        }
        if self.undo.restores {
            turn.sender.controller.on_undo(turn.now);
        }
        self.window.end_reduction();
        self.undo.disarm();
        // Losses are searched for again.
        self.rack.search_again();
    }

    /// Ends recovery, because all data that were outstanding are acknowledged. Returns true if the
    /// state must be kept until more is acknowledged: without SACK, duplicate ACKs may still arrive
    /// (RFC 6582 section 4.1).
    pub fn recovered(&mut self, turn: &mut Turn<'_>) -> bool {
        if self.may_undo(turn) {
            self.undo_reduction(turn, false);
        } else {
            self.rack.on_recovery_end();
        }
        if !self.rules.sack && turn.sender.stream.una() == self.episode.high_seq() {
            if self.records.resent_out() == 0 {
                self.undo.forget_resends();
            }
            return true;
        }
        if self.episode.state() == CaState::Recovery {
            self.end_reduction(turn);
        }
        self.set_state(turn, CaState::Open);
        false
    }

    /// Undoes the reduction if DSACKs have reported every retransmission, which shows that nothing
    /// was lost.
    pub fn undo_by_dsack(&mut self, turn: &mut Turn<'_>) -> bool {
        let all = self.rules.undo && self.undo.is_armed() && self.undo.is_all_reported();
        if all {
            self.rack.persist_longer();
            self.undo_reduction(turn, false);
        }
        all
    }

    /// Undoes the reduction after a partial ACK of a segment that was only late. Returns true if
    /// the ACK needs no further handling.
    pub fn undo_partial(&mut self, turn: &mut Turn<'_>, prior_una: u64) -> bool {
        if !(self.rules.undo && self.undo.is_armed() && self.was_delayed(turn)) {
            return false;
        }
        self.on_reordering(turn, prior_una);
        // Retransmissions in flight may still cause DSACKs, so the decision waits for them.
        if self.records.resent_out() > 0 {
            return true;
        }
        self.undo.forget_resends();
        self.undo_reduction(turn, true);
        self.try_keep_open(turn);
        true
    }

    fn undo_loss(&mut self, turn: &mut Turn<'_>, by_frto: bool) -> bool {
        if !(self.rules.undo && (by_frto || self.may_undo(turn))) {
            return false;
        }
        self.undo_reduction(turn, true);
        self.expiry.end_backoff();
        if !by_frto && !self.rules.sack && turn.sender.stream.una() == self.episode.high_seq() {
            return true;
        }
        if by_frto || self.rules.sack {
            self.set_state(turn, CaState::Open);
        }
        true
    }

    /// Handles an ACK after a timeout: decides if the timeout was spurious, and which data may be
    /// sent (RFC 5682 section 3.1).
    pub fn process_loss(&mut self, turn: &mut Turn<'_>, duplicates: u32, seen: &mut Seen) {
        let recovered = turn.sender.stream.una() >= self.episode.high_seq();
        if seen.una_advanced && self.undo_loss(turn, false) {
            return;
        }
        if self.undo.tries_frto() {
            // Step (3.b): a segment that was never retransmitted was delivered.
            if seen.original_delivered && self.undo_loss(turn, true) {
                return;
            }
            if turn.sender.stream.max_sent() > self.episode.high_seq() {
                // Step (3.a): duplicate ACKs come although new data were sent.
                if seen.sacked || duplicates > 0 {
                    self.undo.end_frto();
                }
            } else if seen.una_advanced && !recovered {
                // Step (2.b): new data will decide.
                self.episode.end_at(turn.sender.stream.max_sent());
                self.due.set_resend(Resend::NewData);
                return;
            }
        }
        if recovered {
            self.recovered(turn);
            return;
        }
        if !self.rules.sack {
            if turn.sender.stream.max_sent() > self.episode.high_seq() && duplicates > 0 {
                self.count_duplicates(turn, duplicates);
            } else if seen.una_advanced {
                self.records.forget_counted();
            }
        }
        self.due.set_resend(Resend::Lost);
    }
}
