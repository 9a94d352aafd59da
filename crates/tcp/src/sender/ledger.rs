//! The sender with transmission records, which show the effect of an ACK on each segment sent. The
//! switch `records` of the profile selects it. Otherwise `duplicate_acks` and `sack` compute the
//! same from sequence numbers, which is faster (`tests/endpoint/networks/with_and_without_records.rs`).

use goodqueue_types::{Segment, Span, Time};

use crate::cc::{AckSample, CongestionControl, Controller, Needs, SegmentSample};
use crate::config::{LossDetection, Recovery, RecoveryWindow, TcpConfig};
use crate::connection::stats::{CaState, TcpInfo, TcpStats};
use crate::sender::Sender;
use crate::sender::detection::expiry::Expiry;
use crate::sender::detection::rack::Rack;
use crate::sender::detection::reordering::Reordering;
use crate::sender::detection::rtt::MinRtt;
use crate::sender::detection::tail_probe::TailProbe;
use crate::sender::in_flight::meter::Before;
use crate::sender::in_flight::rate::{DeliveryRate, Snapshot};
use crate::sender::in_flight::record::Record;
use crate::sender::in_flight::records::Records;
use crate::sender::pacing::Pacer;
use crate::sender::response::due::{Due, Resend};
use crate::sender::response::episode::Episode;
use crate::sender::response::undo::Undo;
use crate::sender::response::window::Window;
use crate::sender::stream::units::Unit;
use crate::sender::stream::writes::Writes;
use crate::sender::validation::Validation;

/// Arguments of a call into the sender.
pub(crate) struct Turn<'a> {
    pub sender: &'a mut Sender,
    pub now: Time,
    pub config: &'a TcpConfig,
    pub stats: &'a mut TcpStats,
}

/// Switches of the configuration, read once.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed)]
pub(crate) struct Rules {
    pub sack: bool,
    /// True if losses are detected by time. False if SACKed data or duplicate ACKs are counted.
    pub rack: bool,
    pub tail_loss_probe: bool,
    pub frto: bool,
    pub undo: bool,
    pub adaptive_reordering: bool,
    pub recovery_window: RecoveryWindow,
    pub control_sets_window: bool,
    /// True if the control reads measurements of segments.
    pub measures: bool,
    /// True if the profile or the control may pace.
    pub paces: bool,
    pub mss: u64,
}

/// Effects of one ACK.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent observations")]
pub(crate) struct Seen {
    pub prior_una: u64,
    /// End of the data that were SACKed before.
    pub prior_highest: u64,
    pub una_advanced: bool,
    /// True if the ACK carried data, changed the window or acknowledged data, so that it is no
    /// duplicate ACK.
    pub not_duplicate: bool,
    /// True if the ACK SACKed new data.
    pub sacked: bool,
    /// True if a segment sent only once, before `high_seq`, was delivered.
    pub original_delivered: bool,
    /// True if a retransmitted segment was cumulatively acknowledged.
    pub resent_acked: bool,
    pub dsack: bool,
    pub dsack_of_probe: bool,
    /// True if a retransmission was found lost.
    pub resent_lost: bool,
    pub ecn_echo: bool,
    /// True if the timer restarts.
    pub restart_timer: bool,
    /// Lowest segment that was delivered late: below another one delivered before it.
    pub reordered: Option<u64>,
    /// Times at which the oldest and the newest acknowledged segment were sent, among those sent
    /// once. `sacked_sent` has the same for SACKed segments.
    pub acked_sent: Option<(Time, Time)>,
    pub sacked_sent: Option<(Time, Time)>,
    /// Newest round-trip time, if it can be known.
    pub rtt: Option<Span>,
}

/// The parts of recovery by records. Each has private state; the ledger makes the calls that an ACK,
/// a timeout or a segment to send requires.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(super) rules: Rules,
    pub(super) records: Records,
    pub(super) rate: DeliveryRate,

    pub(super) rack: Rack,
    pub(super) probe: TailProbe,
    pub(super) expiry: Expiry,
    pub(super) min_rtt: MinRtt,
    pub(super) reordering: Reordering,

    pub(super) episode: Episode,
    pub(super) window: Window,
    pub(super) due: Due,
    pub(super) undo: Undo,

    pub(super) validation: Validation,
    pub(super) writes: Writes,
    pub(super) unit: Unit,
    pub(super) pacer: Pacer,
}

impl Ledger {
    /// Creates a ledger if the configuration records segments.
    pub fn if_needed(config: &TcpConfig, control: &Controller) -> Option<Box<Self>> {
        if !config.records_segments() {
            return None;
        }
        let rate_samples = control.needs() == Needs::Rates;
        let sack = config.recovery == Recovery::Sack;
        let rack = sack && config.loss_detection == LossDetection::Rack;
        Some(Box::new(Self {
            rules: Rules {
                sack,
                rack,
                tail_loss_probe: config.tail_loss_probe && rack,
                frto: config.frto,
                undo: config.undo,
                adaptive_reordering: config.adaptive_reordering,
                recovery_window: config.recovery_window,
                control_sets_window: control.sets_window_in_recovery(),
                measures: control.reads_segments(),
                paces: config.pacing || control.may_pace(),
                mss: u64::from(config.mss),
            },
            records: Records::new(rate_samples),
            rate: DeliveryRate::new(rate_samples),
            rack: Rack::default(),
            probe: TailProbe::default(),
            expiry: Expiry::default(),
            min_rtt: MinRtt::default(),
            reordering: Reordering::new(config.duplicate_ack_threshold),
            episode: Episode::default(),
            window: Window::default(),
            due: Due::default(),
            undo: Undo::default(),
            validation: Validation::default(),
            writes: Writes::default(),
            unit: Unit::default(),
            pacer: Pacer::default(),
        }))
    }

    /// Returns true if nothing is outstanding, and an ACK without news would change nothing.
    pub fn rests(&self) -> bool {
        self.records.is_empty()
            && self.episode.state() == CaState::Open
            && self.due.resend() == Resend::Nothing
            && !self.episode.has_echo()
            && self.undo.is_idle()
    }

    /// Returns the window in segments, at least one.
    #[inline]
    pub fn window_segments(&self, sender: &Sender) -> u32 {
        self.window.segments(&sender.controller, self.rules.mss)
    }

    /// Returns the bytes thought to be in the network.
    pub fn bytes_in_flight(&self) -> u64 {
        u64::from(self.records.in_flight()) * self.rules.mss
    }

    /// Returns the part of a connection's state that the ledger knows.
    pub fn info(&self) -> TcpInfo {
        TcpInfo {
            min_rtt: self.min_rtt.get(),
            ca_state: self.episode.state(),
            unacked: self.records.out(),
            sacked: self.records.sacked_out(),
            lost: self.records.lost_out(),
            retrans: self.records.resent_out(),
            reordering: self.reordering.degree(),
            reordering_seen: self.reordering.events(),
            backoff: self.expiry.backoff(),
            ..TcpInfo::default()
        }
    }

    /// Takes the round-trip time of the handshake, which ends now.
    pub fn note_handshake(&mut self, now: Time, rtt: Span) {
        self.min_rtt.update(now, rtt);
    }

    /// Records that a write of the application ends at `end` and shares no segment with later data.
    pub fn end_write(&mut self, end: u64) {
        self.writes.end_at(end);
    }

    /// Returns true if the window may grow, because it limits the amount of data sent. In slow
    /// start it may while it is less than twice the segments used. A control that sets the window in
    /// recovery has a slow start of its own.
    fn is_window_limited(&self, sender: &Sender) -> bool {
        let control = &sender.controller;
        self.validation.is_limited()
            || (!self.rules.control_sets_window
                && control.cwnd() < control.ssthresh()
                && self.validation.is_half_used(self.window_segments(sender)))
    }

    /// Returns the threshold in segments.
    pub fn ssthresh(&self, sender: &Sender) -> u32 {
        let segments = sender.controller.ssthresh() / self.rules.mss;
        u32::try_from(segments).unwrap_or(u32::MAX)
    }

    /// Handles an acknowledgement that does not exceed the data sent.
    pub fn on_ack(&mut self, turn: &mut Turn<'_>, segment: &Segment) {
        let una = turn.sender.stream.una();
        let outstanding = !self.records.is_empty();
        let old = segment.ack < una;
        let mut seen = Seen {
            prior_una: una,
            prior_highest: turn.sender.scoreboard.highest().unwrap_or(una),
            ecn_echo: self.episode.take_echo(),
            not_duplicate: segment.payload > 0,
            ..Seen::default()
        };
        let before = Before::new(&self.records, &self.rate);
        self.records.note_sacked();
        if !old {
            seen.not_duplicate |= turn.sender.update_window(segment);
        }
        if self.rules.sack && !segment.sack.is_empty() {
            self.take_sack(turn, segment, &mut seen);
        }
        self.due.set_resend(Resend::Nothing);
        if old {
            if seen.sacked || seen.dsack {
                self.advance_state(turn, 0, &mut seen);
            }
            return;
        }
        self.take_cumulative(turn, segment.ack, &mut seen);
        self.take_rtt(turn, &mut seen);
        if !outstanding {
            self.advance_state(turn, 0, &mut seen);
            return;
        }
        let prior = self.rate.prior_delivered();
        self.rack
            .update_reordering_window(prior, self.rate.delivered());
        self.on_ack_of_probe(turn, segment.ack, &seen);
        let dubious = !seen.not_duplicate
            || seen.sacked
            || seen.ecn_echo
            || seen.dsack
            || self.episode.state() != CaState::Open;
        if dubious {
            let duplicate = !(seen.una_advanced || seen.not_duplicate || seen.dsack);
            self.advance_state(turn, u32::from(duplicate), &mut seen);
        }
        if seen.restart_timer && !self.schedule_probe(turn, true) {
            self.rearm(turn);
        }
        let news = before.news(&self.records, &self.rate, self.rules.mss);
        let segments = self
            .rules
            .measures
            .then(|| self.measure(turn, segment, &before, seen.rtt));
        self.report_losses(turn);
        let mut sample = AckSample {
            now: turn.now,
            acked: 0,
            rtt: seen.rtt,
            after_timeout: self.episode.state() == CaState::Loss,
            in_recovery: self.episode.state() == CaState::Recovery,
            pace_ahead: self.pacer.ahead(turn.now),
            acked_to: turn.sender.stream.una(),
            sent_to: turn.sender.stream.max_sent(),
            is_window_limited: self.is_window_limited(turn.sender),
            segments,
        };
        self.control(turn, &mut sample, news, &seen);
    }

    /// Returns the measurements of the segments of an ACK.
    #[inline(never)]
    fn measure(
        &mut self,
        turn: &Turn<'_>,
        segment: &Segment,
        before: &Before,
        rtt: Option<Span>,
    ) -> SegmentSample {
        let (now, mss) = (turn.now, self.rules.mss);
        let segments = before.sample(now, &self.records, &mut self.rate, &self.min_rtt, mss);
        SegmentSample {
            rtt,
            one_way_delay_s: turn.sender.timing.one_way_delay(segment, turn.config),
            ..segments
        }
    }

    /// Passes the ACK, which shows these bytes to be delivered and lost, to the congestion control, or
    /// lets recovery set the window.
    fn control(
        &mut self,
        turn: &mut Turn<'_>,
        sample: &mut AckSample,
        (delivered, lost): (u64, u64),
        seen: &Seen,
    ) {
        let mss = self.rules.mss;
        if self.rules.control_sets_window {
            sample.acked = delivered;
            turn.sender.controller.on_ack(sample);
            return;
        }
        if self.window.is_reducing() {
            let newly = (delivered / mss) as u32;
            self.reduce(turn, newly, lost / mss, seen.una_advanced);
        }
        // After much reordering, SACKed data let the window grow too.
        let progress = seen.una_advanced
            || (seen.sacked && self.reordering.degree() > turn.config.duplicate_ack_threshold);
        let may_grow = !self.window.is_reducing()
            && progress
            && (sample.is_window_limited || !turn.config.details.grow_only_when_limited);
        if self.window.is_reducing() {
            turn.sender.controller.observe(sample);
            return;
        }
        // A control may measure delays and marks even if the window may not grow.
        sample.acked = if may_grow { delivered } else { 0 };
        if may_grow || turn.config.byte_counting {
            turn.sender.controller.on_ack(sample);
        } else {
            turn.sender.controller.observe(sample);
        }
    }

    /// Records the SACK blocks, the lowest first.
    fn take_sack(&mut self, turn: &mut Turn<'_>, segment: &Segment, seen: &mut Seen) {
        let mut blocks = [(u64::MAX, u64::MAX); 4];
        for (slot, block) in blocks.iter_mut().zip(segment.sack.ranges(segment.ack)) {
            *slot = block;
        }
        let first = blocks[0];
        let inside_second =
            segment.sack.len() > 1 && first.0 >= blocks[1].0 && first.1 <= blocks[1].1;
        let duplicate = first.0 < segment.ack || inside_second;
        if duplicate && self.on_dsack(turn, first, seen) {
            self.tag_duplicate(first);
        }
        let count = segment.sack.len();
        blocks[..count].sort_unstable();
        // The next segment expected cannot be SACKed (Linux ignores such blocks).
        let floor = turn.sender.stream.una().max(segment.ack);
        for block in &blocks[..count] {
            if block.0 > floor && !(duplicate && *block == first) {
                self.tag(turn, *block, seen);
            }
        }
        if (self.episode.state() != CaState::Loss || self.undo.is_armed())
            && let Some(lowest) = seen.reordered
        {
            self.on_reordering(turn, lowest);
        }
    }

    /// Handles a DSACK of data still outstanding, which shows that the retransmission arrived too.
    fn tag_duplicate(&mut self, (start, end): (u64, u64)) {
        let mut index = self.records.index_above(start);
        while index < self.records.out() as usize && self.records.get(index).end() <= end {
            let record = *self.records.get(index);
            if record.was_resent() && self.undo.covers(record.end()) {
                self.undo.on_dsack(1);
            }
            self.records.clear_resent(index);
            index += 1;
        }
    }

    /// Marks the segments that a block newly reports.
    fn tag(&mut self, turn: &mut Turn<'_>, (start, end): (u64, u64), seen: &mut Seen) {
        let start = start.max(turn.sender.stream.una());
        if start >= end || end > turn.sender.stream.max_sent() {
            return;
        }
        if turn.sender.scoreboard.skip_sacked(start) >= end {
            return;
        }
        for gap in turn.sender.scoreboard.unsacked(start, end) {
            self.tag_gap(turn, gap, (start, end), seen);
        }
        turn.sender.scoreboard.insert(start, end);
    }

    fn tag_gap(&mut self, turn: &Turn<'_>, gap: (u64, u64), block: (u64, u64), seen: &mut Seen) {
        let mut index = self.records.index_above(gap.0);
        while index < self.records.out() as usize && self.records.get(index).seq < gap.1 {
            let record = *self.records.get(index);
            // Only whole segments count.
            if record.seq >= block.0 && record.end() <= block.1 && !record.is_sacked() {
                deliver(
                    &record,
                    self.records.snapshot(index),
                    turn,
                    self.min_rtt.get(),
                    (&mut self.rack, &mut self.rate),
                );
                seen.sacked = true;
                if !record.was_resent() {
                    let highest = turn.sender.scoreboard.highest();
                    if highest.is_some_and(|highest| record.seq < highest) {
                        seen.reordered = Some(record.seq.min(seen.reordered.unwrap_or(u64::MAX)));
                    }
                    seen.original_delivered |= record.end() <= self.episode.high_seq();
                    let since = seen.sacked_sent.map_or(record.sent, |times| times.0);
                    seen.sacked_sent = Some((since, record.sent));
                }
                self.records.mark_sacked(index);
            }
            index += 1;
        }
    }

    /// Handles the cumulative acknowledgement.
    fn take_cumulative(&mut self, turn: &mut Turn<'_>, ack: u64, seen: &mut Seen) {
        let sender = &mut *turn.sender;
        if ack <= sender.stream.una() {
            return;
        }
        seen.una_advanced = true;
        seen.not_duplicate = true;
        seen.restart_timer = true;
        turn.stats.acked_bytes += sender.stream.acknowledge(ack);
        sender.activity.acknowledge(turn.now);
        sender.scoreboard.remove_below(ack);
        let mut late = u64::MAX;
        let sacked_before = self.records.sacked_out();
        let (high_seq, least) = (self.episode.high_seq(), self.min_rtt.get());
        let popped = self.records.remove_below(ack, |record, snapshot| {
            if record.was_resent() {
                seen.resent_acked = true;
            } else if !record.is_sacked() {
                // Linux treats a segment that is acknowledged in pieces as one that arrived late.
                late = late.min(record.seq - u64::from(record.is_cut()));
                seen.original_delivered |= record.end() <= high_seq;
                let since = seen.acked_sent.map_or(record.sent, |times| times.0);
                seen.acked_sent = Some((since, record.sent));
            }
            if !record.is_sacked() {
                let to = (&mut self.rack, &mut self.rate);
                deliver(record, snapshot, turn, least, to);
            }
        });
        if self.records.is_empty() {
            self.records.forget_repetitions();
        }
        if self.rules.sack {
            // A hole that was never repaired is filled, which is reordering.
            if late < seen.prior_highest {
                self.on_reordering(turn, late);
            }
        } else if popped > 0 {
            let eaten = self.records.remove_counted(popped, sacked_before);
            self.rate.uncount(eaten);
        }
    }

    /// Takes round-trip samples: of the oldest segment acknowledged for the timeout, of the newest
    /// for the control and the minimum. Retransmitted data are measured only by their timestamps.
    fn take_rtt(&mut self, turn: &mut Turn<'_>, seen: &mut Seen) {
        let now = turn.now;
        let mut round = seen.acked_sent.filter(|_| !seen.resent_acked);
        let sack = seen.sacked_sent;
        if let Some(sack) = sack {
            round = Some((round.map_or(sack.0, |round| round.0), sack.1));
        }
        let (smooth, newest) = match round {
            Some((oldest, newest)) => (now - oldest, now - newest),
            None => match turn.sender.timing.echoed_round_trip(now, turn.config) {
                Some(rtt) if seen.una_advanced => (rtt, rtt),
                _ => return,
            },
        };
        seen.rtt = Some(newest);
        self.expiry.end_backoff();
        self.min_rtt.update(now, newest);
        let sender = &mut *turn.sender;
        sender
            .rtt
            .sample(&turn.config.rto, Time(now.0.saturating_sub(smooth.0)), now);
        sender.rtt.end_round(
            &turn.config.rto,
            sender.stream.una(),
            sender.stream.max_sent(),
        );
        sender.timing.note(smooth);
        // The timer restarts only if the SACKed data were sent before the first segment was last
        // sent. Otherwise the timeout could be postponed indefinitely.
        let first = self.records.first();
        seen.restart_timer |= sack
            .zip(first)
            .is_some_and(|(times, first)| times.0 < first.sent);
    }
}

/// Passes a delivery to RACK and to the delivery rate. `least` is the shortest round-trip time.
#[inline]
fn deliver(
    record: &Record,
    snapshot: Option<&Snapshot>,
    turn: &Turn<'_>,
    least: Option<Span>,
    (rack, rate): (&mut Rack, &mut DeliveryRate),
) {
    let echo_is_older = record.was_resent()
        && turn
            .sender
            .timing
            .echo_before(turn.config.timestamp(record.sent));
    if !echo_is_older || record.is_sacked() {
        rack.on_delivered(record, turn.now, least);
    }
    rate.on_delivered(record, snapshot);
}
