//! The handshake of a connection, and the effect of a lost SYN or SYN-ACK on its start.

use goodqueue_types::{Ecn, Segment, SegmentFlags, Time};

use crate::cc::CongestionControl;
use crate::config::{Handshake, Recovery, SynLossRule};
use crate::connection::ecn::EcnState;
use crate::connection::endpoint::TcpEndpoint;
use crate::connection::stats::ConnectionState;
use crate::receive::receiver::AckDue;
use crate::sender::detection::rtt::RttEstimator;
use crate::sender::stream::FIRST;

/// Exchange of SYNs, as one end has seen it.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// True if a SYN or SYN-ACK is to be sent.
    pub due: bool,
    /// Number of times that it was sent, and the time of the last.
    count: u16,
    sent: Time,
    /// Number of SYN-ACKs among them.
    answers: u16,
    /// Number of times that the timer required it again.
    timeouts: u16,
}

impl TcpEndpoint {
    /// Handles a segment during the handshake. Returns true if the connection is now open and the
    /// segment may carry more than the handshake.
    #[cold]
    pub(crate) fn handle_opening(&mut self, now: Time, segment: &Segment, mark: Ecn) -> bool {
        let one_way = self.config.handshake == Handshake::OneWay;
        let syn = segment.flags.contains(SegmentFlags::SYN);
        let ack = segment.flags.contains(SegmentFlags::ACK);
        if segment.flags.contains(SegmentFlags::RST) {
            self.handle_reset_while_opening(segment);
            return false;
        }
        let in_answer = self.state == ConnectionState::SynSent && ack && !one_way;
        if in_answer && !self.acknowledges_syn(segment.ack) {
            // It belongs to another connection (RFC 9293 section 3.10.7.3).
            self.refuse(segment);
            return false;
        }
        if syn
            && matches!(
                self.state,
                ConnectionState::Listen | ConnectionState::SynSent
            )
        {
            self.negotiate_ecn(segment, ack, mark);
        }
        match self.state {
            ConnectionState::Listen if syn => {
                self.receiver.open();
                if one_way {
                    self.establish(now, segment);
                    self.receiver.ack_due = AckDue::NowPure;
                } else {
                    self.state = ConnectionState::SynReceived;
                    self.opening.due = true;
                    self.accept_early_data(now, segment);
                }
                false
            }
            ConnectionState::SynSent if ack && segment.ack >= FIRST && (syn || one_way) => {
                self.receiver.open();
                self.establish(now, segment);
                if syn {
                    self.receiver.ack_due = self.answer_to_syn_ack();
                }
                !syn
            }
            ConnectionState::SynSent if syn && !one_way => {
                // Both ends open at the same time (RFC 9293 section 3.5).
                self.receiver.open();
                self.state = ConnectionState::SynReceived;
                self.opening.due = true;
                false
            }
            ConnectionState::SynReceived if ack && segment.ack >= FIRST => {
                self.establish(now, segment);
                if syn && self.sent_early_data() {
                    self.receiver.report_syn(now, &self.config);
                }
                true
            }
            ConnectionState::SynReceived if syn => {
                if let Some(ecn) = self.ecn.as_deref_mut() {
                    ecn.on_syn_again(segment, mark);
                }
                self.opening.due = true;
                false
            }
            ConnectionState::Closed if self.opening.count > 0 => {
                self.refuse(segment);
                false
            }
            _ => false,
        }
    }

    /// Handles a reset during the handshake. It refuses the connection if it acknowledges the SYN,
    /// or if it comes next after the peer's SYN (RFC 9293 section 3.10.7.3, RFC 5961 section 3.2).
    fn handle_reset_while_opening(&mut self, segment: &Segment) {
        let refused = match self.state {
            ConnectionState::SynSent => {
                segment.flags.contains(SegmentFlags::ACK) && self.acknowledges_syn(segment.ack)
            }
            ConnectionState::SynReceived => segment.seq == self.receiver.next,
            _ => false,
        };
        if refused {
            self.abandon();
        }
    }

    /// Negotiates ECN by the peer's first SYN or SYN-ACK. The result is final.
    fn negotiate_ecn(&mut self, segment: &Segment, is_answer: bool, mark: Ecn) {
        let agreed = self.ecn.as_deref_mut().is_some_and(|ecn| {
            if is_answer {
                ecn.on_syn_ack(segment, mark)
            } else {
                ecn.on_syn(segment, mark)
            }
        });
        if !agreed {
            self.ecn = None;
        }
        let counts_marks = self.ecn.as_deref().is_some_and(EcnState::counts_marks);
        self.sender.controller.on_feedback(counts_marks);
    }

    /// Opens the connection, because the SYN is acknowledged.
    fn establish(&mut self, now: Time, segment: &Segment) {
        let config = self.config.clone();
        self.state = ConnectionState::Established;
        self.opening.due = false;
        self.open_sender(now, self.opening.sent, segment);
        if self.opening.count == 1 && config.details.handshake_sample {
            self.sender.rtt.sample(&config.rto, self.opening.sent, now);
            self.sender.timing.note(now - self.opening.sent);
            if let Some(ledger) = &mut self.sender.ledger {
                ledger.note_handshake(now, now - self.opening.sent);
            }
            if let Some(meter) = &mut self.sender.meter {
                meter.min_rtt.update(now, now - self.opening.sent);
            }
        }
        if self.opening.count > 1 {
            self.start_after_syn_loss();
            // ns-2 treats the SYN's timeout like any other and keeps its backoff.
            if config.handshake == Handshake::ThreeWay {
                self.sender.rtt = RttEstimator::new(&config.rto);
                if let Some(floor) = config.details.rto_after_syn_loss {
                    self.sender.rtt.raise_to(floor);
                }
            }
        }
    }

    /// Sets the window after a SYN or SYN-ACK was sent more than once.
    fn start_after_syn_loss(&mut self) {
        let config = &*self.config;
        let mss = u64::from(config.mss);
        let control = &mut self.sender.controller;
        match config.syn_loss {
            SynLossRule::Rfc5681 => control.set_window(mss as f64),
            SynLossRule::Linux if self.opening.timeouts > 1 => control.set_window(mss as f64),
            SynLossRule::Linux => {}
            SynLossRule::Tsl => {
                let window = u64::from(config.details.tsl_initial_window) * mss;
                control.set_window(window as f64);
                control.set_ssthresh(u64::from(config.details.tsl_ssthresh) * mss);
            }
        }
    }

    /// Handles a timeout of the SYN or SYN-ACK.
    #[cold]
    pub(crate) fn handle_opening_timeout(&mut self) {
        self.stats.timeouts += 1;
        self.opening.timeouts = self.opening.timeouts.saturating_add(1);
        let linear = self.state == ConnectionState::SynSent
            && u32::from(self.opening.timeouts) <= self.config.details.linear_syn_timeouts;
        if !linear {
            self.sender.rtt.back_off(&self.config.rto);
        }
        self.sender.timers.stop();
        self.opening.due = true;
    }

    #[cold]
    pub(crate) fn poll_opening(&mut self, now: Time, segment: &mut Segment) -> bool {
        if !self.opening.due {
            return self.poll_reset(segment);
        }
        self.opening.due = false;
        self.opening.count = self.opening.count.saturating_add(1);
        self.opening.sent = now;
        let deadline = now.saturating_add(self.sender.rtt.rto());
        self.sender.timers.set(deadline);
        self.transmit_ecn = Ecn::NotCapable;
        let answer = self.state == ConnectionState::SynReceived;
        let one_way = self.config.handshake == Handshake::OneWay;
        // Without a handshake a SYN that is sent again requests ECN, too.
        let sent = match (answer, one_way) {
            (true, _) => self.opening.answers,
            (false, true) => 0,
            (false, false) => self.opening.count - 1,
        };
        self.opening.answers = self.opening.answers.saturating_add(u16::from(answer));
        let ecn = self.ecn.as_deref().map(|ecn| {
            if answer {
                ecn.syn_ack_flags(sent)
            } else {
                ecn.syn_flags(sent)
            }
        });
        let kind = if answer {
            SegmentFlags::SYN.with(SegmentFlags::ACK)
        } else {
            SegmentFlags::SYN
        };
        let limit = if one_way { u64::from(u32::MAX) } else { 0xFFFF };
        *segment = Segment {
            seq: 0,
            ack: if answer { self.receiver.next } else { 0 },
            // The window of a SYN is never scaled (RFC 7323 section 2.2).
            window: self.config.syn_window().min(limit) as u32,
            payload: 0,
            header: self.config.header + self.syn_options(),
            flags: kind.with(ecn.unwrap_or_default()),
            ..Segment::default()
        };
        if !one_way {
            self.add_fast_open(answer, sent == 0, segment);
        }
        if answer {
            self.add_initial_accecn_option(sent == 0, segment);
        }
        true
    }

    /// Returns the bytes of options in a SYN: MSS; window scale, if the buffer requires it, with a
    /// NOP; SACK-permitted, padded.
    fn syn_options(&self) -> u16 {
        let config = &*self.config;
        if !config.option_bytes || config.handshake == Handshake::OneWay {
            return 0;
        }
        4 + 4 * u16::from(config.window_scale().is_some())
            + 4 * u16::from(config.recovery == Recovery::Sack)
    }
}
