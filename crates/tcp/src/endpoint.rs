//! The endpoint: a sender, a receiver, and the opening of the connection between them.

use std::sync::Arc;

use goodqueue_types::{SackBlocks, Segment, SegmentFlags, Span, Time, Timestamps};

use crate::cc::{CongestionControl, Controller};
use crate::config::{Handshake, Recovery, TcpConfig};
use crate::receiver::{AckDue, Receiver};
use crate::rtt::RttEstimator;
use crate::sender::{Chunk, FIRST, Sender};
use crate::stats::{ConnectionState, Phase, TcpInfo, TcpStats};

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
    sender: Sender,
    receiver: Receiver,
    stats: TcpStats,
    config: Arc<TcpConfig>,
    state: ConnectionState,
    /// A SYN or SYN-ACK is to be sent.
    syn_due: bool,
    /// How often it was sent, and when last.
    syn_count: u32,
    syn_sent: Time,
}

impl TcpEndpoint {
    /// A closed endpoint. Allocates nothing.
    pub fn new(config: Arc<TcpConfig>) -> Self {
        let controller = Controller::new(&config);
        Self::with_controller(config, controller)
    }

    /// A closed endpoint with a congestion control of the caller's.
    pub fn with_congestion_control(
        config: Arc<TcpConfig>,
        control: Box<dyn CongestionControl + Send>,
    ) -> Self {
        Self::with_controller(config, Controller::Custom(control))
    }

    fn with_controller(config: Arc<TcpConfig>, controller: Controller) -> Self {
        Self {
            sender: Sender::new(&config, controller),
            receiver: Receiver::new(&config),
            stats: TcpStats::default(),
            config,
            state: ConnectionState::Closed,
            syn_due: false,
            syn_count: 0,
            syn_sent: Time::ZERO,
        }
    }

    /// Opens the connection: the next [`poll_transmit`](Self::poll_transmit) gives the SYN.
    pub fn connect(&mut self, _now: Time) {
        debug_assert_eq!(self.state, ConnectionState::Closed);
        self.state = ConnectionState::SynSent;
        self.syn_due = true;
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

    /// Sends a FIN after all data written.
    pub fn close(&mut self) {
        self.sender.closing = true;
        self.sender.blocked = false;
    }

    /// Whether the application takes data as they come (as at the start) or leaves them in the
    /// receive buffer, to be fetched by [`read`](Self::read).
    pub fn set_reading(&mut self, reading: bool) {
        self.receiver.set_reading(reading);
        if reading {
            self.read(u64::MAX);
        }
    }

    /// The application takes up to `bytes` from the receive buffer; returns how many there were.
    pub fn read(&mut self, bytes: u64) -> u64 {
        self.receiver.read(bytes, &self.config, &mut self.stats)
    }

    /// In-order bytes in the receive buffer that the application has not taken.
    pub fn unread(&self) -> u64 {
        self.receiver.unread()
    }

    /// Takes a segment from the network.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        let open = self.state == ConnectionState::Established;
        if open || self.handle_opening(now, segment) {
            self.handle_established(now, segment);
        }
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
            self.receiver.handle_timeout(now);
        } else if self.sender.deadline <= now {
            self.stats.timeouts += 1;
            self.sender.rtt.back_off(&self.config.rto);
            self.sender.deadline = Time::MAX;
            self.syn_due = true;
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
        if self.state != ConnectionState::Established {
            return self.poll_opening(now, segment);
        }
        let due = self.receiver.ack_due;
        let pure_first =
            due == AckDue::NowPure || (due == AckDue::Now && self.config.details.separate_acks);
        if pure_first {
            self.pure_ack(segment);
        } else if let Some(chunk) = self.sender.poll(now, &self.config, &mut self.stats) {
            self.data_segment(chunk, segment);
        } else if due == AckDue::Now {
            self.pure_ack(segment);
        } else {
            return false;
        }
        true
    }

    /// The earliest deadline of all timers.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        let deadline = self.sender.deadline.min(self.receiver.ack_deadline);
        (deadline != Time::MAX).then_some(deadline)
    }

    /// The newest round-trip sample since the last call.
    #[inline]
    pub fn take_rtt_sample(&mut self) -> Option<Span> {
        self.sender.sample.take()
    }

    /// A look at the state.
    pub fn info(&self) -> TcpInfo {
        let sender = &self.sender;
        let ssthresh = sender.controller.ssthresh();
        let by_pipe = sender.phase == Phase::FastRecovery && self.config.recovery == Recovery::Sack;
        TcpInfo {
            state: self.state,
            phase: sender.phase,
            cwnd: sender
                .controller
                .cwnd()
                .saturating_add_signed(sender.inflation()),
            ssthresh: (ssthresh != u64::MAX).then_some(ssthresh),
            bytes_in_flight: sender.in_flight(),
            pipe: if by_pipe {
                sender.pipe.max(0) as u64
            } else {
                sender.in_flight() - sender.scoreboard.sacked_bytes()
            },
            send_window: sender.window,
            srtt: sender.rtt.srtt(&self.config.rto),
            rttvar: sender.rtt.rttvar(&self.config.rto),
            rto: sender.rtt.rto(),
        }
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
        if segment.flags.contains(SegmentFlags::SYN) {
            // Our ACK of the SYN or SYN-ACK was lost.
            self.receiver.ack_due = AckDue::NowPure;
            return;
        }
        if self.config.details.strict_ack_acceptance && segment.end_seq() < self.needed(carries) {
            self.receiver.ack_due = AckDue::NowPure;
            self.stats.received_payload_bytes += u64::from(segment.payload);
            self.stats.duplicate_payload_bytes += u64::from(segment.payload);
            // When both ends repeat old data, each would ignore the other's ACKs for ever.
            if self.sender.timed_out_at == self.sender.una {
                self.sender
                    .on_ack(now, segment, &self.config, &mut self.stats);
            }
            return;
        }
        if segment.flags.contains(SegmentFlags::ACK) {
            self.sender
                .on_ack(now, segment, &self.config, &mut self.stats);
        }
        if carries {
            self.receiver
                .on_data(now, segment, &self.config, &mut self.stats);
        }
    }

    /// The least end of a segment that is not below the receive window.
    fn needed(&self, carries: bool) -> u64 {
        self.receiver.next + u64::from(carries)
    }

    /// A segment while the connection opens; true when it is open now and the segment may carry
    /// more than the handshake.
    #[cold]
    fn handle_opening(&mut self, now: Time, segment: &Segment) -> bool {
        let one_way = self.config.handshake == Handshake::OneWay;
        let syn = segment.flags.contains(SegmentFlags::SYN);
        let ack = segment.flags.contains(SegmentFlags::ACK);
        match self.state {
            ConnectionState::Listen if syn => {
                self.receiver.open();
                if one_way {
                    self.establish(now, segment);
                    self.receiver.ack_due = AckDue::NowPure;
                } else {
                    self.state = ConnectionState::SynReceived;
                    self.syn_due = true;
                }
                false
            }
            ConnectionState::SynSent if ack && segment.ack >= FIRST && (syn || one_way) => {
                self.receiver.open();
                self.establish(now, segment);
                if syn {
                    self.receiver.ack_due = AckDue::NowPure;
                }
                !syn
            }
            ConnectionState::SynSent if syn && !one_way => {
                // Both ends opened at once (RFC 9293 section 3.5).
                self.receiver.open();
                self.state = ConnectionState::SynReceived;
                self.syn_due = true;
                false
            }
            ConnectionState::SynReceived if ack && segment.ack >= FIRST => {
                self.establish(now, segment);
                true
            }
            ConnectionState::SynReceived if syn => {
                self.syn_due = true;
                false
            }
            _ => false,
        }
    }

    /// The SYN is acknowledged.
    fn establish(&mut self, now: Time, segment: &Segment) {
        let config = &*self.config;
        self.state = ConnectionState::Established;
        self.syn_due = false;
        self.sender.open(u64::from(segment.window));
        if self.syn_count == 1 && config.details.handshake_sample {
            self.sender.rtt.sample(&config.rto, self.syn_sent, now);
            self.sender.sample = Some(now - self.syn_sent);
        }
        if self.syn_count > 1 {
            // RFC 5681 section 3.1: the initial window after a lost SYN or SYN-ACK is one segment.
            self.sender.controller.set_window(f64::from(config.mss));
            if config.handshake == Handshake::OneWay {
                // ns-2 treats the SYN's timeout like any other; a window of one halves to the minimum.
                self.sender
                    .controller
                    .set_ssthresh(2 * u64::from(config.mss));
            } else {
                self.sender.rtt = RttEstimator::new(&config.rto);
                if let Some(floor) = config.details.rto_after_syn_loss {
                    self.sender.rtt.raise_to(floor);
                }
            }
        }
    }

    #[cold]
    fn poll_opening(&mut self, now: Time, segment: &mut Segment) -> bool {
        if !self.syn_due {
            return false;
        }
        self.syn_due = false;
        self.syn_count += 1;
        self.syn_sent = now;
        self.sender.deadline = now.saturating_add(self.sender.rtt.rto());
        let answer = self.state == ConnectionState::SynReceived;
        let flags = if answer {
            SegmentFlags::SYN.with(SegmentFlags::ACK)
        } else {
            SegmentFlags::SYN
        };
        let limit = if self.config.handshake == Handshake::OneWay {
            u64::from(u32::MAX)
        } else {
            0xFFFF
        };
        *segment = Segment {
            seq: 0,
            ack: if answer { self.receiver.next } else { 0 },
            // The window of a SYN is never scaled (RFC 7323 section 2.2).
            window: self.config.receive_window.min(limit) as u32,
            payload: 0,
            header: self.config.header + self.syn_options(),
            flags,
            sack: SackBlocks::default(),
            timestamps: Timestamps::default(),
        };
        true
    }

    /// Bytes of options in a SYN: MSS; window scale, offered where the buffer needs it, with a NOP;
    /// SACK-permitted, padded.
    fn syn_options(&self) -> u16 {
        let config = &*self.config;
        if !config.option_bytes || config.handshake == Handshake::OneWay {
            return 0;
        }
        let scale = config.window_scaling && config.receive_window > 0xFFFF;
        4 + 4 * u16::from(scale) + 4 * u16::from(config.recovery == Recovery::Sack)
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
        self.receiver.ack_sent();
        let config = &*self.config;
        let mut header = config.header;
        let mut sack = SackBlocks::default();
        if config.recovery == Recovery::Sack && self.receiver.has_holes() {
            sack = self.receiver.sack_blocks(config);
            if config.option_bytes {
                let overhead = u16::from(config.details.sack_option_overhead);
                header += 8 * sack.len() as u16 + overhead;
            }
        }
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
    }
}
