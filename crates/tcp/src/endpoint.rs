//! The endpoint: a sender, a receiver, and the opening of the connection between them.

use std::sync::Arc;

use goodqueue_types::{Ecn, SackBlocks, Segment, SegmentFlags, Span, Time, Timestamps};

use crate::cc::{CongestionControl, Controller, MarkSample};
use crate::config::{Recovery, TcpConfig};
use crate::ecn::EcnState;
use crate::limits::Limited;
use crate::opening::Opening;
use crate::receiver::{AckDue, Receiver};
use crate::reset::Reset;
use crate::sender::{Chunk, Sender};
use crate::stats::{ConnectionState, TcpStats};

/// Write this much for a bulk source without end.
pub const ENDLESS: u64 = 1 << 62;

/// One end of a TCP connection.
///
/// After every call that takes a segment, a timeout or data, ask [`poll_transmit`] until it gives
/// none, then [`poll_timeout`]: both answers may have changed. Time never goes backward.
///
/// [`poll_transmit`]: TcpEndpoint::poll_transmit
/// [`poll_timeout`]: TcpEndpoint::poll_timeout
#[derive(Debug)]
pub struct TcpEndpoint {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) stats: TcpStats,
    pub(crate) config: Arc<TcpConfig>,
    pub(crate) state: ConnectionState,
    pub(crate) opening: Opening,
    /// ECN, while it is asked for and once it is agreed on.
    pub(crate) ecn: Option<Box<EcnState>>,
    /// A reset to send.
    pub(crate) reset: Option<Box<Reset>>,
    /// The peer had closed before our FIN first left: nothing of the connection stays after its ACK.
    closes_last: bool,
    /// The profile keeps records of transmissions, as Linux: it answers Linux's window probes.
    answers_probes: bool,
    /// The ECN field for the segment polled last.
    transmit_ecn: Ecn,
    /// `TS.Recent` and `Last.ACK.sent` of RFC 7323 section 4.3.
    pub(crate) recent_timestamp: u32,
    pub(crate) last_ack_sent: u64,
}

impl TcpEndpoint {
    /// A closed endpoint. Allocates nothing.
    pub fn new(config: Arc<TcpConfig>) -> Self {
        let controller = Controller::new(&config);
        Self::with_controller(config, controller)
    }

    /// A closed endpoint that takes data and never [writes](Self::write) any: its acknowledgements are
    /// those of any other, but it has no memory of what it sent, nor a congestion control of its own.
    pub fn receiving(config: Arc<TcpConfig>) -> Self {
        let answers_probes = config.records_segments();
        let sender = Sender::of_nothing(&config);
        Self {
            answers_probes,
            ..Self::with_sender(config, sender)
        }
    }

    /// A closed endpoint with a congestion control of the caller's.
    pub fn with_congestion_control(
        config: Arc<TcpConfig>,
        control: Box<dyn CongestionControl + Send>,
    ) -> Self {
        Self::with_controller(config, Controller::Custom(control))
    }

    fn with_controller(config: Arc<TcpConfig>, controller: Controller) -> Self {
        let sender = Sender::new(&config, controller);
        Self::with_sender(config, sender)
    }

    fn with_sender(config: Arc<TcpConfig>, sender: Sender) -> Self {
        Self {
            answers_probes: sender.ledger.is_some(),
            sender,
            receiver: Receiver::new(&config),
            stats: TcpStats::default(),
            ecn: EcnState::new(config.ecn, config.l4s),
            reset: None,
            closes_last: false,
            transmit_ecn: Ecn::NotCapable,
            config,
            state: ConnectionState::Closed,
            opening: Opening::default(),
            recent_timestamp: 0,
            last_ack_sent: 0,
        }
    }

    /// Before the connection opens: its sender begins as if it had sent for long, and its last loss had
    /// come at a window of `peak` segments. The share `phase` of the time until the window is back
    /// there has passed. An application that writes all at once sends that window as one burst.
    pub fn begin_between_losses(&mut self, peak: u32, phase: f64) {
        let peak = f64::from(peak) * f64::from(self.config.mss);
        self.sender.controller.begin_between_losses(peak, phase);
    }

    /// Opens the connection: the next [`poll_transmit`](Self::poll_transmit) gives the SYN.
    pub fn connect(&mut self, now: Time) {
        debug_assert_eq!(self.state, ConnectionState::Closed);
        self.state = ConnectionState::SynSent;
        self.sender.note_limit(now, Limited::Handshake);
        self.opening.due = true;
    }

    /// Waits for a SYN.
    pub fn listen(&mut self) {
        debug_assert_eq!(self.state, ConnectionState::Closed);
        self.state = ConnectionState::Listen;
    }

    /// The application offers `bytes` more to send; possible before the connection is open.
    /// Nothing is taken after [`close`](Self::close).
    pub fn write(&mut self, bytes: u64) {
        self.sender.blocked = false;
        if !self.sender.closing {
            let end = self.sender.data_end.saturating_add(bytes);
            self.sender.data_end = end.min(2 * ENDLESS);
            self.sender.asked_to_send = true;
        }
    }

    /// [`write`](Self::write) of a record: its last segment holds nothing that is written later
    /// (`MSG_EOR`). Without records of transmissions it is an ordinary write.
    pub fn write_record(&mut self, bytes: u64) {
        self.write(bytes);
        let end = self.sender.data_end;
        if let Some(ledger) = &mut self.sender.ledger {
            let ends = ledger.records_end_at.get_or_insert_default();
            ends.ahead.push_back(end);
        }
    }

    /// Sends a FIN after all data written.
    pub fn close(&mut self) {
        self.sender.closing = true;
        self.sender.blocked = false;
    }

    /// Whether small segments wait for what is outstanding (Nagle's algorithm). At the start it is
    /// as configured.
    pub fn set_nagle(&mut self, nagle: bool) {
        self.sender.nagle = nagle;
        self.sender.blocked = false;
    }

    /// Whether the application takes data as they come (as at the start) or leaves them in the
    /// receive buffer, to be fetched by [`read`](Self::read).
    pub fn set_reading(&mut self, now: Time, reading: bool) {
        self.receiver.set_reading(reading);
        if reading {
            self.read(now, u64::MAX);
        }
    }

    /// The application takes up to `bytes` from the receive buffer; returns how many there were.
    pub fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let taken = self.receiver.read(bytes, &self.config, &mut self.stats);
        if taken > 0 {
            // A window that opens at a pace has room to go on from here.
            self.receiver.open_at_pace(now, &self.config);
        }
        taken
    }

    /// In-order bytes in the receive buffer that the application has not taken.
    pub fn unread(&self) -> u64 {
        self.receiver.unread()
    }

    /// Takes a segment from a network without ECN.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        self.handle_packet(now, segment, Ecn::NotCapable);
    }

    /// Takes a segment from the network, in a packet with this ECN field.
    #[inline]
    pub fn handle_packet(&mut self, now: Time, segment: &Segment, mark: Ecn) {
        if self.config.timestamps.is_some() {
            self.note_timestamp(segment);
        }
        let open = self.state == ConnectionState::Established;
        if open || self.handle_opening(now, segment, mark) {
            if self.ecn.is_some() {
                // The handshake's last ACK reports on the handshake.
                let reports = open || segment.payload > 0;
                self.handle_ecn(now, segment, mark, reports);
            } else {
                self.handle_established(now, segment);
            }
        }
    }

    /// Whether ECN is asked for, or once the connection is open, agreed on.
    pub fn has_ecn(&self) -> bool {
        self.ecn.is_some()
    }

    /// The ECN field of the packet that is to carry the segment which
    /// [`poll_transmit`](Self::poll_transmit) gave last.
    #[inline]
    pub fn transmit_ecn(&self) -> Ecn {
        self.transmit_ecn
    }

    /// Fires every timer whose deadline is `now` or earlier.
    pub fn handle_timeout(&mut self, now: Time) {
        let opening = matches!(
            self.state,
            ConnectionState::SynSent | ConnectionState::SynReceived
        );
        if !opening {
            self.sender
                .handle_timeout(now, &self.config, &mut self.stats);
            self.receiver.handle_timeout(now, &self.config);
        } else if self.sender.deadline <= now {
            self.handle_opening_timeout();
        }
    }

    /// The next segment to send at `now`, until there is none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_transmit_into(now, &mut segment)
            .then_some(segment)
    }

    /// [`poll_transmit`](Self::poll_transmit) into a segment of the caller's: true if there was
    /// one to send. Written in place because a segment returned by value is read back in wider
    /// words than it was written in, and each such read waits for the cache.
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Time, segment: &mut Segment) -> bool {
        if !self.poll_segment(now, segment) {
            return false;
        }
        if self.config.timestamps.is_some() {
            self.stamp(now, segment);
        }
        true
    }

    #[inline]
    fn poll_segment(&mut self, now: Time, segment: &mut Segment) -> bool {
        if self.state != ConnectionState::Established {
            return self.poll_opening(now, segment);
        }
        let due = self.receiver.ack_due;
        let sent_before = self.sender.max_sent;
        let pure_first =
            due == AckDue::NowPure || (due == AckDue::Now && self.config.details.separate_acks);
        if self.ecn.is_some() && self.early_ack(segment) {
            return true;
        }
        if pure_first {
            self.pure_ack(segment);
        } else if let Some(chunk) = self.sender.poll(now, &self.config, &mut self.stats) {
            self.data_segment(chunk, segment);
            if chunk.fin && sent_before <= self.sender.data_end {
                // Every FIN of ours acknowledges the peer's, if the first does.
                self.closes_last = self.receiver.is_finished();
            }
            if let Some(acks) = self.receiver.linux_acks.as_deref_mut() {
                acks.data_sent(now);
            }
            if self.ecn.is_some() {
                let is_new = chunk.seq >= sent_before && !self.sender.persisting;
                self.mark_data(is_new && chunk.len > 0, segment);
            }
        } else if due == AckDue::Now {
            self.pure_ack(segment);
        } else {
            return false;
        }
        true
    }

    /// False if [`poll_transmit`](Self::poll_transmit) would surely give none: a look that costs
    /// nothing, for one call in two would be in vain.
    #[inline]
    pub fn may_transmit(&self) -> bool {
        let ack = matches!(self.receiver.ack_due, AckDue::Now | AckDue::NowPure);
        ack || !self.sender.blocked || self.state != ConnectionState::Established
    }

    /// The earliest deadline of all timers.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        let mut deadline = self.sender.deadline.min(self.receiver.ack_deadline);
        deadline = deadline.min(self.sender.release);
        (deadline != Time::MAX).then_some(deadline)
    }

    /// The newest round-trip sample since the last call.
    #[inline]
    pub fn take_rtt_sample(&mut self) -> Option<Span> {
        let sample = std::mem::replace(&mut self.sender.sample, Span::MAX);
        (sample != Span::MAX).then_some(sample)
    }

    /// Counts since the connection began.
    #[inline]
    pub fn stats(&self) -> &TcpStats {
        &self.stats
    }

    /// The configuration of both ends.
    pub fn config(&self) -> &TcpConfig {
        &self.config
    }

    /// Whether data may flow.
    #[inline]
    pub fn is_established(&self) -> bool {
        self.state == ConnectionState::Established
    }

    /// Whether [`close`](Self::close) was called and all data and the FIN are acknowledged.
    pub fn is_finished(&self) -> bool {
        self.sender.is_finished()
    }

    /// Whether the peer's FIN and all data before it have arrived.
    pub fn is_peer_finished(&self) -> bool {
        self.receiver.is_finished()
    }

    #[inline]
    fn handle_established(&mut self, now: Time, segment: &Segment) {
        let carries = segment.payload > 0 || segment.flags.contains(SegmentFlags::FIN);
        if segment.flags.0 & SegmentFlags::SYN.with(SegmentFlags::RST).0 != 0 {
            return self.handle_syn_or_reset(segment);
        }
        if self.config.details.strict_ack_acceptance && segment.end_seq() < self.needed(carries) {
            return self.handle_below_window(now, segment);
        }
        if carries && self.is_out_of_date(segment) {
            self.receiver.ack_due = AckDue::NowPure;
            return;
        }
        if segment.flags.contains(SegmentFlags::ACK) {
            if segment.ack > self.sender.max_sent {
                // It acknowledges what was never sent: answered and dropped (RFC 9293 section
                // 3.10.7.4, Linux since 6.18).
                self.receiver.ack_due = AckDue::NowPure;
                return;
            }
            self.sender
                .on_ack(now, segment, &self.config, &mut self.stats);
        } else {
            // RFC 9293 section 3.10.7.4, fifth step.
            return;
        }
        if self.closes_last && self.sender.is_finished() {
            return self.abandon();
        }
        if carries {
            self.receiver.set_path(&self.sender.rtt, &self.config);
            self.receiver
                .on_data(now, segment, &self.config, &mut self.stats);
            if segment.flags.contains(SegmentFlags::FIN) && self.has_sent_fin() {
                // Nothing of ours will come that an ACK could ride on.
                self.receiver.owe_ack();
            }
            if self.receiver.is_moderated(&self.config) {
                self.receiver
                    .moderate_window(now, segment, &self.config, &self.stats);
            }
        } else if segment.seq < self.receiver.next {
            self.receiver.open_at_pace(now, &self.config);
            self.answer_window_probe(segment);
        }
    }

    /// Linux probes a closed window with the sequence number before its next, which asks for an ACK
    /// (RFC 9293 section 3.10.7.4).
    #[cold]
    fn answer_window_probe(&mut self, segment: &Segment) {
        if self.answers_probes && segment.seq + 1 == self.receiver.next {
            self.receiver.ack_due = AckDue::NowPure;
        }
    }

    /// A strict endpoint takes nothing from a segment below its receive window.
    #[cold]
    fn handle_below_window(&mut self, now: Time, segment: &Segment) {
        self.receiver.ack_due = AckDue::NowPure;
        self.receiver.open_at_pace(now, &self.config);
        self.stats.received_payload_bytes += u64::from(segment.payload);
        self.stats.duplicate_payload_bytes += u64::from(segment.payload);
        // When both ends repeat old data, each would ignore the other's ACKs for ever.
        if self.sender.timed_out_at == self.sender.una {
            self.sender
                .on_ack(now, segment, &self.config, &mut self.stats);
        }
    }

    fn has_sent_fin(&self) -> bool {
        self.sender.max_sent > self.sender.data_end
    }

    /// The least end of a segment that is not below the receive window.
    fn needed(&self, carries: bool) -> u64 {
        self.receiver.next + u64::from(carries)
    }

    #[inline]
    fn data_segment(&mut self, chunk: Chunk, segment: &mut Segment) {
        self.receiver.ack_sent();
        let flags = if chunk.fin {
            SegmentFlags::ACK.with(SegmentFlags::FIN)
        } else {
            SegmentFlags::ACK
        };
        *segment = Segment {
            seq: chunk.seq,
            ack: self.receiver.next,
            window: self.receiver.advertise(&self.config),
            payload: chunk.len,
            header: self.config.header,
            flags,
            sack: SackBlocks::default(),
            timestamps: Timestamps::default(),
        };
    }

    #[inline]
    fn pure_ack(&mut self, segment: &mut Segment) {
        let config = &*self.config;
        let mut header = config.header;
        let mut sack = SackBlocks::default();
        if config.recovery == Recovery::Sack && self.receiver.has_sack_blocks() {
            sack = self.receiver.sack_blocks(config);
            if config.option_bytes {
                let overhead = u16::from(config.details.sack_option_overhead);
                header += 8 * sack.len() as u16 + overhead;
            }
        }
        self.receiver.ack_sent();
        let sender = &self.sender;
        let seq = if config.details.acks_carry_snd_nxt {
            sender.next
        } else {
            sender.max_sent
        };
        *segment = Segment {
            seq,
            ack: self.receiver.next,
            window: self.receiver.advertise(config),
            payload: 0,
            header,
            flags: SegmentFlags::ACK,
            sack,
            timestamps: Timestamps::default(),
        };
        if let Some(ecn) = self.ecn.as_deref_mut() {
            segment.flags = segment.flags.with(ecn.ack_flags());
            self.transmit_ecn = Ecn::NotCapable;
        }
    }

    /// A segment of a connection with ECN.
    #[cold]
    fn handle_ecn(&mut self, now: Time, segment: &Segment, mark: Ecn, reports: bool) {
        let Some(ecn) = self.ecn.as_deref_mut() else {
            return;
        };
        let sender = &mut self.sender;
        self.stats.marked_packets += u64::from(mark == Ecn::Experienced);
        let kind = segment.flags.0 & SegmentFlags::ACK.with(SegmentFlags::SYN).0;
        if reports && kind == SegmentFlags::ACK.0 && segment.ack <= sender.max_sent {
            let acked = segment.ack.saturating_sub(sender.una);
            let feedback = ecn.feedback(segment.flags, acked, self.config.mss);
            sender.controller.on_marks(&MarkSample {
                acked,
                marked: feedback.marked,
                acked_to: segment.ack,
                sent_to: sender.max_sent,
            });
            sender.echoed = feedback.echo && (feedback.marked == 0 || feedback.marked >= acked);
            let losses = self.stats.fast_retransmits + self.stats.timeouts;
            if feedback.echo
                && ecn.may_reduce(segment.ack, losses, sender.recover)
                && sender.on_ecn_echo(now, segment.ack, &self.config)
            {
                self.stats.ecn_reductions += 1;
                ecn.reduced(sender.max_sent);
            }
        }
        let ack_waits = self.receiver.ack_due == AckDue::Delayed;
        let next = self.receiver.next;
        let tells = segment.payload > 0 && ecn.on_data(segment, mark, next, ack_waits);
        self.handle_established(now, segment);
        if tells {
            self.receiver.owe_ack();
        }
    }

    /// The ACK of what came before a change of DCTCP's state, which no later ACK can speak for.
    #[cold]
    fn early_ack(&mut self, segment: &mut Segment) -> bool {
        let Some(ecn) = self.ecn.as_deref_mut() else {
            return false;
        };
        let Some(ack) = ecn.early_ack.take() else {
            return false;
        };
        let flags = SegmentFlags::ACK.with(ecn.early_ack_flags());
        let (due, deadline) = (self.receiver.ack_due, self.receiver.ack_deadline);
        self.pure_ack(segment);
        // It says nothing of the data that came with the change.
        (self.receiver.ack_due, self.receiver.ack_deadline) = (due, deadline);
        segment.window = (self.receiver.next + u64::from(segment.window) - ack) as u32;
        (segment.ack, segment.flags) = (ack, flags);
        segment.sack = SackBlocks::default();
        true
    }

    /// ECN of a data segment, new or sent again (RFC 3168 section 6.1.5: not ECN-capable).
    #[cold]
    fn mark_data(&mut self, is_new: bool, segment: &mut Segment) {
        let Some(ecn) = self.ecn.as_deref_mut() else {
            return;
        };
        let losses = self.stats.fast_retransmits + self.stats.timeouts;
        ecn.note_losses(losses, self.sender.recover);
        segment.flags = segment.flags.with(ecn.ack_flags());
        if is_new {
            segment.flags = segment.flags.with(ecn.data_flags());
        }
        self.transmit_ecn = if is_new {
            ecn.codepoint
        } else {
            Ecn::NotCapable
        };
    }
}
