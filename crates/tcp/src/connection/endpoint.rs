//! The endpoint: a sender, a receiver, and the opening of the connection between them.

use std::sync::Arc;

use goodqueue_types::{Ecn, SackBlocks, Segment, SegmentFlags, Span, Time};

use crate::cc::{CongestionControl, Controller};
use crate::config::{AckRule, Recovery, TcpConfig};
use crate::connection::ecn::EcnState;
use crate::connection::fast_open::FastOpening;
use crate::connection::opening::Opening;
use crate::connection::reset::Reset;
use crate::connection::stats::{ConnectionState, TcpStats};
use crate::receive::receiver::{AckDue, Receiver};
use crate::sender::limits::Limited;
use crate::sender::stream::FIRST;
use crate::sender::{Chunk, Sender};

/// Number of bytes to write for a bulk source without end.
pub const ENDLESS: u64 = 1 << 62;

/// One end of a TCP connection.
///
/// After every call that takes a segment, a timeout or data, call [`poll_transmit`] until it
/// returns none, then [`poll_timeout`], because both results may have changed. Time never goes
/// backward.
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
    /// State of ECN, while it is requested and once it is negotiated.
    pub(crate) ecn: Option<Box<EcnState>>,
    /// State that most connections never have.
    pub(crate) rare: Option<Box<Rare>>,
    /// True if the peer had closed before our FIN was first sent: the connection ends with the ACK
    /// of our FIN.
    closes_last: bool,
    /// True if no option or rule of the profile needs a look at every segment, as under `rfc`.
    is_plain: bool,
    /// ECN field for the segment polled last.
    pub(crate) transmit_ecn: Ecn,
    /// Values of `TS.Recent` and `Last.ACK.sent` (RFC 7323 section 4.3).
    pub(crate) recent_timestamp: u32,
    pub(crate) last_ack_sent: u64,
}

/// State of a connection that sends a reset or uses Fast Open.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// Reset to send.
    pub reset: Option<Reset>,
    pub fast_open: FastOpening,
}

impl TcpEndpoint {
    /// Creates a closed endpoint. Allocates nothing.
    pub fn new(config: Arc<TcpConfig>) -> Self {
        let controller = Controller::new(&config);
        Self::with_controller(config, controller)
    }

    /// Creates a closed endpoint that receives data and never [writes](Self::write). Its
    /// acknowledgements are those of any other, but it has neither records of transmissions nor a
    /// congestion control.
    pub fn receiving(config: Arc<TcpConfig>) -> Self {
        let sender = Sender::of_nothing(&config);
        Self::with_sender(config, sender)
    }

    /// Creates a closed endpoint with a congestion control of the caller.
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
        let ecn = EcnState::new(&config);
        let has_rules = config.timestamps.is_some()
            || config.records_segments()
            || config.details.strict_ack_acceptance
            || config.ack_rule == AckRule::Linux
            || config.receive_window_moderation.is_some()
            || config.receive_window_pace.is_some();
        Self {
            is_plain: !has_rules && ecn.is_none() && sender.meter.is_none(),
            sender,
            receiver: Receiver::new(&config),
            stats: TcpStats::default(),
            ecn,
            rare: None,
            closes_last: false,
            transmit_ecn: Ecn::NotCapable,
            config,
            state: ConnectionState::Closed,
            opening: Opening::default(),
            recent_timestamp: 0,
            last_ack_sent: 0,
        }
    }

    /// Prepares a sender that starts between two losses, before the connection opens. It starts as
    /// if its last loss had come at a window of `peak` segments, and as if the share `phase` of the
    /// time until the window is back there had passed. An application that writes all at once sends
    /// that window as one burst.
    pub fn begin_between_losses(&mut self, peak: u32, phase: f64) {
        let peak = f64::from(peak) * f64::from(self.config.mss);
        self.sender.controller.begin_between_losses(peak, phase);
    }

    /// Opens the connection: the next [`poll_transmit`](Self::poll_transmit) returns the SYN.
    pub fn connect(&mut self, now: Time) {
        debug_assert_eq!(self.state, ConnectionState::Closed);
        self.state = ConnectionState::SynSent;
        self.sender.limits.note(now, Limited::Handshake);
        self.opening.due = true;
    }

    /// Waits for a SYN.
    pub fn listen(&mut self) {
        debug_assert_eq!(self.state, ConnectionState::Closed);
        self.state = ConnectionState::Listen;
    }

    /// Adds `bytes` to the data to send; possible before the connection is open. Data after
    /// [`close`](Self::close) are ignored.
    pub fn write(&mut self, bytes: u64) {
        self.sender.allowance.unblock();
        let is_open = self.sender.stream.write(bytes);
        self.sender.activity.ask(is_open);
    }

    /// Adds a record to the data to send, as [`write`](Self::write) does. Its last segment contains
    /// no data that are written later (`MSG_EOR`). Without records of transmissions it is an
    /// ordinary write.
    pub fn write_record(&mut self, bytes: u64) {
        self.write(bytes);
        let end = self.sender.stream.data_end();
        if let Some(ledger) = &mut self.sender.ledger {
            ledger.end_write(end);
        }
    }

    /// Sends a FIN after all data written.
    pub fn close(&mut self) {
        self.sender.stream.close();
        self.sender.allowance.unblock();
    }

    /// Withdraws written data that were never sent. Data that were sent are still repaired until they
    /// are acknowledged. Has no effect after [`close`](Self::close).
    pub fn withdraw(&mut self) {
        self.sender.stream.withdraw();
    }

    /// Sets whether small segments wait for outstanding data to be acknowledged (Nagle's
    /// algorithm). The default is that of the configuration.
    pub fn set_nagle(&mut self, nagle: bool) {
        self.sender.stream.set_nagle(nagle);
        self.sender.allowance.unblock();
    }

    /// Sets whether the application takes data as they arrive (the default) or leaves them in the
    /// receive buffer for [`read`](Self::read).
    pub fn set_reading(&mut self, now: Time, reading: bool) {
        self.receiver.set_reading(reading);
        if reading {
            self.read(now, u64::MAX);
        }
    }

    /// Takes up to `bytes` from the receive buffer for the application. Returns the number taken.
    pub fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let taken = self.receiver.read(bytes, &self.config, &mut self.stats);
        if taken > 0 {
            // A window that opens at a pace can continue to open from here.
            self.receiver.open_at_pace(now, &self.config);
        }
        taken
    }

    /// Returns the in-order bytes in the receive buffer that the application has not taken.
    pub fn unread(&self) -> u64 {
        self.receiver.unread()
    }

    /// Handles a segment from a network without ECN.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        self.handle_packet(now, segment, Ecn::NotCapable);
    }

    /// Handles a segment from the network, in a packet with this ECN field.
    #[inline]
    pub fn handle_packet(&mut self, now: Time, segment: &Segment, mark: Ecn) {
        if self.is_plain
            && self.state == ConnectionState::Established
            && segment.flags.0 == SegmentFlags::ACK.0
            && segment.ack <= self.sender.stream.max_sent()
        {
            self.handle_plain(now, segment);
        } else {
            self.handle_any(now, segment, mark);
        }
    }

    /// Handles a segment with no flag but ACK under a plain profile, as almost all are there ("header
    /// prediction"). The result is that of [`handle_any`](Self::handle_any), whose checks take 2 %
    /// of the instructions of `s1`, `s3` and `s4`.
    #[inline]
    fn handle_plain(&mut self, now: Time, segment: &Segment) {
        self.sender
            .apply_ack(now, segment, &self.config, &mut self.stats);
        if self.closes_last && self.sender.stream.is_finished() {
            return self.abandon();
        }
        if segment.payload > 0 {
            self.receiver
                .on_data(now, segment, &self.config, &mut self.stats);
        }
    }

    /// Handles a segment of any connection.
    #[inline]
    fn handle_any(&mut self, now: Time, segment: &Segment, mark: Ecn) {
        let newer = self.config.timestamps.is_some() && self.note_timestamp(segment);
        let open = self.state == ConnectionState::Established;
        if open || self.handle_opening(now, segment, mark) {
            if self.ecn.is_some() {
                let reports = open || segment.payload > 0;
                if !reports {
                    self.handle_third_ack(segment);
                }
                self.handle_ecn(now, segment, mark, reports, newer);
            } else {
                self.handle_established(now, segment);
            }
        }
    }

    /// Returns true if ECN is requested, or once the connection is open, negotiated.
    pub fn has_ecn(&self) -> bool {
        self.ecn.is_some()
    }

    /// Returns the ECN field of the packet for the segment that
    /// [`poll_transmit`](Self::poll_transmit) returned last.
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
        let early = self.is_open_early();
        if opening && self.sender.timers.deadline() <= now {
            self.handle_opening_timeout();
        } else if !opening || early {
            self.sender
                .handle_timeout(now, &self.config, &mut self.stats);
        }
        if !opening || early {
            self.receiver.handle_timeout(now, &self.config);
        }
    }

    /// Returns the next segment to send at `now`, or none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_transmit_into(now, &mut segment)
            .then_some(segment)
    }

    /// Writes the result of [`poll_transmit`](Self::poll_transmit) into a segment of the caller.
    /// Returns true if there was one to send. Writing it in place is faster: the caller of a function
    /// that returns a segment copies it in wider words than it was written in, and each such read
    /// waits for the writes before it.
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
        let is_open = self.state == ConnectionState::Established
            || (self.is_open_early() && !self.opening.due);
        if !is_open {
            return self.poll_opening(now, segment);
        }
        let due = self.receiver.ack_due;
        let sent_before = self.sender.stream.max_sent();
        let pure_first =
            due == AckDue::NowPure || (due == AckDue::Now && self.config.details.separate_acks);
        if self.ecn.is_some() && self.early_ack(now, segment) {
            return true;
        }
        if pure_first {
            self.pure_ack(now, segment);
        } else if let Some(chunk) = self.sender.poll(now, &self.config, &mut self.stats) {
            self.data_segment(chunk, segment);
            if chunk.seq >= sent_before && self.sender.pushes(now) {
                segment.flags = segment.flags.with(SegmentFlags::PSH);
            }
            if chunk.fin && sent_before <= self.sender.stream.data_end() {
                // All our FINs acknowledge the peer's if the first does.
                self.closes_last = self.receiver.is_finished();
            }
            if let Some(acks) = self.receiver.linux_acks.as_deref_mut() {
                acks.data_sent(now);
            }
            if self.ecn.is_some() {
                let is_new = chunk.seq >= sent_before && !self.sender.timers.is_persisting();
                self.mark_data(now, is_new && chunk.len > 0, segment);
            }
        } else if due == AckDue::Now {
            self.pure_ack(now, segment);
        } else {
            return false;
        }
        true
    }

    /// Returns false if [`poll_transmit`](Self::poll_transmit) would certainly return none. This
    /// check costs nothing, while every second call would be in vain.
    #[inline]
    pub fn may_transmit(&self) -> bool {
        let ack = matches!(self.receiver.ack_due, AckDue::Now | AckDue::NowPure);
        ack || !self.sender.allowance.is_blocked() || self.state != ConnectionState::Established
    }

    /// Returns the earliest deadline of all timers.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        let deadline = self.sender.timers.next().min(self.receiver.ack_deadline);
        (deadline != Time::MAX).then_some(deadline)
    }

    /// Returns the newest round-trip sample since the last call.
    #[inline]
    pub fn take_rtt_sample(&mut self) -> Option<Span> {
        self.sender.timing.take()
    }

    /// Returns the counts since the connection began.
    #[inline]
    pub fn stats(&self) -> &TcpStats {
        &self.stats
    }

    /// Returns the bytes of data that were sent at least once.
    pub fn sent_bytes(&self) -> u64 {
        let sender = &self.sender;
        sender
            .stream
            .max_sent()
            .min(sender.stream.data_end())
            .saturating_sub(FIRST)
    }

    /// Returns true if the data to send have no end.
    pub fn is_endless(&self) -> bool {
        self.sender.stream.data_end() >= ENDLESS
    }

    /// Returns the configuration of both ends.
    pub fn config(&self) -> &TcpConfig {
        &self.config
    }

    /// Returns true if data may flow.
    #[inline]
    pub fn is_established(&self) -> bool {
        self.state == ConnectionState::Established || self.is_open_early()
    }

    /// Returns true if [`close`](Self::close) was called and all data and the FIN are acknowledged.
    pub fn is_finished(&self) -> bool {
        self.sender.stream.is_finished()
    }

    /// Returns true if all data written are acknowledged.
    pub fn is_acknowledged(&self) -> bool {
        self.sender.stream.una() >= self.sender.stream.data_end()
    }

    /// Returns true if the peer's FIN and all data before it have arrived.
    pub fn is_peer_finished(&self) -> bool {
        self.receiver.is_finished()
    }

    #[inline]
    pub(crate) fn handle_established(&mut self, now: Time, segment: &Segment) {
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
            if segment.ack > self.sender.stream.max_sent() {
                // The segment acknowledges data that were never sent. It is answered and dropped
                // (RFC 9293 section 3.10.7.4, Linux since 6.18).
                self.receiver.ack_due = AckDue::NowPure;
                return;
            }
            self.sender
                .on_ack(now, segment, &self.config, &mut self.stats);
        } else {
            // RFC 9293 section 3.10.7.4, fifth step.
            return;
        }
        if self.closes_last && self.sender.stream.is_finished() {
            return self.abandon();
        }
        if carries {
            self.receiver.set_path(&self.sender.rtt, &self.config);
            self.receiver
                .on_data(now, segment, &self.config, &mut self.stats);
            if segment.flags.contains(SegmentFlags::FIN) && self.has_sent_fin() {
                // No segment of ours will follow that could carry the ACK.
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

    /// Handles Linux's probe of a closed window, which has the sequence number before the next one
    /// and requests an ACK (RFC 9293 section 3.10.7.4).
    #[cold]
    fn answer_window_probe(&mut self, segment: &Segment) {
        if self.receiver.answers_probes && segment.seq + 1 == self.receiver.next {
            self.receiver.ack_due = AckDue::NowPure;
        }
    }

    /// Ignores, in a strict endpoint, a segment below its receive window.
    #[cold]
    fn handle_below_window(&mut self, now: Time, segment: &Segment) {
        self.receiver.ack_due = AckDue::NowPure;
        self.receiver.open_at_pace(now, &self.config);
        self.stats.received_payload_bytes += u64::from(segment.payload);
        self.stats.duplicate_payload_bytes += u64::from(segment.payload);
        // If both ends repeat old data, each would ignore the other's ACKs forever.
        if self
            .sender
            .course
            .has_timed_out_at(self.sender.stream.una())
        {
            self.sender
                .on_ack(now, segment, &self.config, &mut self.stats);
        }
    }

    fn has_sent_fin(&self) -> bool {
        self.sender.stream.max_sent() > self.sender.stream.data_end()
    }

    /// Returns the smallest end of a segment that is not below the receive window.
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
            ..Segment::default()
        };
    }

    #[inline]
    pub(crate) fn pure_ack(&mut self, now: Time, segment: &mut Segment) {
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
            sender.stream.next()
        } else {
            sender.stream.max_sent()
        };
        *segment = Segment {
            seq,
            ack: self.receiver.next,
            window: self.receiver.advertise(config),
            payload: 0,
            header,
            flags: SegmentFlags::ACK,
            sack,
            ..Segment::default()
        };
        if self.ecn.is_some() {
            self.mark_ack(now, segment);
        }
    }
}
