//! TCP Fast Open (RFC 7413): data in the SYN of a client that has a cookie of the server, and answers
//! before the handshake ends.

use goodqueue_types::{FastOpenOption, Segment, SegmentFlags, Time};

use crate::config::{FastOpen, TcpConfig};
use crate::connection::accurate_ecn::OPTION_SPACE;
use crate::connection::ecn::EcnState;
use crate::connection::endpoint::TcpEndpoint;
use crate::connection::stats::ConnectionState;
use crate::receive::receiver::AckDue;
use crate::sender::stream::FIRST;

/// State of Fast Open at one end, during the handshake.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FastOpening {
    /// Largest payload of the SYN, for a client with a cookie.
    room: Option<u32>,
    /// Payload of the client's SYN.
    early: u32,
    /// True if the server has accepted the cookie, so that data flow before the handshake ends.
    accepted: bool,
    /// True if the server's SYN-ACK issues a cookie.
    issues_cookie: bool,
    /// True if the server has accepted all data of the SYN.
    has_carried: bool,
}

impl TcpEndpoint {
    /// Gives a client the cookie of an earlier connection between the same hosts, and the MSS of the
    /// server then, in bytes with the options of a data segment. It has an effect before
    /// [`connect`](Self::connect), if the configuration permits Fast Open.
    pub fn hold_cookie(&mut self, mss: u32) {
        self.fast_mut().room = Some(mss.saturating_sub(OPTION_SPACE as u32));
    }

    /// Returns true if the SYN carried data and the server accepted all of them.
    pub fn has_early_data(&self) -> bool {
        self.fast().has_carried
    }

    /// Returns true if our SYN carried data.
    pub(crate) fn sent_early_data(&self) -> bool {
        self.fast().early > 0
    }

    fn fast(&self) -> FastOpening {
        let rare = self.rare.as_deref();
        rare.map_or_else(FastOpening::default, |rare| rare.fast_open)
    }

    fn fast_mut(&mut self) -> &mut FastOpening {
        &mut self.rare.get_or_insert_default().fast_open
    }

    /// Returns true if data may flow although the handshake has not ended.
    #[inline]
    pub(crate) fn is_open_early(&self) -> bool {
        self.state == ConnectionState::SynReceived && self.fast().accepted
    }

    /// Adds the Fast Open option to a SYN or SYN-ACK, and data to the first SYN of a client with a
    /// cookie. A SYN that is sent again has neither (Linux; RFC 7413 section 4.1.3).
    pub(crate) fn add_fast_open(&mut self, is_answer: bool, is_first: bool, segment: &mut Segment) {
        let config = &*self.config;
        let fast = self.fast();
        if is_answer && fast.accepted {
            self.receiver.ack_sent();
        }
        segment.fast_open = if is_answer && fast.issues_cookie {
            FastOpenOption::Cookie
        } else if is_answer || !is_first || config.fast_open == FastOpen::Off {
            FastOpenOption::None
        } else if let Some(room) = fast.room.or_else(|| usual_room(config)) {
            let waiting = self.sender.stream.data_end() - FIRST;
            segment.payload = waiting.min(u64::from(room)) as u32;
            self.stats.segments_sent += u64::from(segment.payload > 0);
            FastOpenOption::Cookie
        } else {
            FastOpenOption::Request
        };
        if config.option_bytes {
            segment.header += segment.fast_open.padded();
        }
        if segment.payload > 0 {
            self.fast_mut().early = segment.payload;
        }
    }

    /// Handles the Fast Open option of a client's SYN. If it carries a cookie, its data are accepted
    /// and the answer may leave at once.
    pub(crate) fn accept_early_data(&mut self, now: Time, segment: &Segment) {
        if self.config.fast_open == FastOpen::Off {
            return;
        }
        self.fast_mut().issues_cookie = segment.fast_open == FastOpenOption::Request;
        if segment.fast_open != FastOpenOption::Cookie {
            return;
        }
        self.fast_mut().accepted = true;
        self.sender.open(segment.window);
        if segment.payload > 0 {
            self.fast_mut().has_carried = true;
            let data = Segment {
                seq: FIRST,
                flags: SegmentFlags::ACK,
                ..*segment
            };
            // Linux's rule for ACKs begins after the handshake.
            self.receiver
                .on_data(now, &data, &self.config, &mut self.stats);
            if self.receiver.is_moderated(&self.config) {
                self.receiver
                    .moderate_window(now, &data, &self.config, &self.stats);
            }
        }
    }

    /// Opens the sender, because the SYN that left at `sent` is acknowledged. Data of the SYN that the
    /// acknowledgement does not cover are sent again: as lost data where transmissions are recorded
    /// (Linux), otherwise as ordinary data.
    pub(crate) fn open_sender(&mut self, now: Time, sent: Time, segment: &Segment) {
        let window = segment.window;
        let FastOpening {
            accepted, early, ..
        } = self.fast();
        let sender = &mut self.sender;
        if accepted {
            sender.allowance.unblock();
            sender.peer.set(window);
            if sender.in_flight() == 0 {
                sender.timers.stop();
            }
            return;
        }
        sender.open(window);
        let early = u64::from(early);
        let accepted = segment.ack.saturating_sub(FIRST).min(early);
        if early > 0 && sender.stream.data_end() > FIRST + early {
            self.receiver.expect_answer(now, &sender.rtt, &self.config);
        }
        if accepted > 0 {
            let end = FIRST + accepted;
            sender.stream.begin(end);
            self.stats.acked_bytes += accepted;
        }
        if accepted < early && sender.ledger.is_some() {
            let end = FIRST + early;
            sender.stream.send_early(end);
            sender.resend_refused(now, sent, &self.config, &mut self.stats);
        } else {
            self.stats.retransmitted_segments += u64::from(accepted < early);
            self.stats.retransmitted_bytes += early - accepted;
        }
        if early > 0 && accepted == early {
            self.fast_mut().has_carried = true;
        }
    }

    /// Returns the ACK that a SYN-ACK requires. After a SYN with data, the data that follow may carry it
    /// (Linux), unless it has to report the ECN field of the SYN-ACK, which only a pure ACK does.
    pub(crate) fn answer_to_syn_ack(&self) -> AckDue {
        let ecn = self.ecn.as_deref();
        if self.sent_early_data() && !ecn.is_some_and(EcnState::is_accurate) {
            AckDue::Now
        } else {
            AckDue::NowPure
        }
    }

    /// Returns true if a sequence number acknowledges the SYN, with all of its data or none.
    pub(crate) fn acknowledges_syn(&self, ack: u64) -> bool {
        (FIRST..=FIRST + u64::from(self.fast().early)).contains(&ack)
    }
}

/// Returns the largest payload of a SYN if all clients have a cookie: a full segment less the space of
/// all options, because devices on the path may add some (Linux).
fn usual_room(config: &TcpConfig) -> Option<u32> {
    let all_have = config.fast_open == FastOpen::Cookie;
    all_have.then(|| config.offered_mss().saturating_sub(OPTION_SPACE as u32))
}
