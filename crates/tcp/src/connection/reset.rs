//! Connections that end by a reset, and segments for connections that have ended (RFC 9293 section
//! 3.5.2, RFC 5961).

use goodqueue_types::{Segment, SegmentFlags};

use crate::connection::endpoint::TcpEndpoint;
use crate::connection::stats::ConnectionState;
use crate::receive::receiver::AckDue;

/// Header fields of a reset.
#[derive(Debug)]
pub(crate) struct Reset {
    seq: u64,
    ack: u64,
    flags: SegmentFlags,
}

impl TcpEndpoint {
    /// Ends the connection at once. Waiting data are dropped, and a connected peer gets a reset.
    pub fn abort(&mut self) {
        let open = matches!(
            self.state,
            ConnectionState::Established | ConnectionState::SynReceived
        );
        if open {
            self.rare.get_or_insert_default().reset = Some(Reset {
                seq: self.sender.stream.max_sent(),
                ack: self.receiver.next,
                flags: SegmentFlags::RST.with(SegmentFlags::ACK),
            });
        }
        self.abandon();
    }

    /// Handles a SYN or a reset on an open connection (RFC 5961 sections 3.2 and 4.2). A SYN means
    /// that our ACK of it was lost. It is answered with an ACK, whatever its sequence number is. A
    /// reset ends the connection only at exactly the next sequence number. Elsewhere in the window
    /// it is answered with an ACK, and outside it is ignored.
    #[cold]
    pub(crate) fn handle_syn_or_reset(&mut self, segment: &Segment) {
        let is_reset = segment.flags.contains(SegmentFlags::RST);
        if !is_reset || self.receiver.has_in_window(segment.seq) {
            self.receiver.ack_due = AckDue::NowPure;
        }
        if is_reset && segment.seq == self.receiver.next {
            self.abandon();
        }
    }

    /// Ends the connection. Nothing more is sent and no timer runs.
    #[cold]
    pub(crate) fn abandon(&mut self) {
        self.state = ConnectionState::Closed;
        self.opening.due = false;
        self.sender.timers.stop_all();
        self.receiver.ack_sent();
    }

    /// Answers a segment for an ended connection with a reset. The caller excludes resets.
    pub(crate) fn refuse(&mut self, segment: &Segment) {
        let reset = if segment.flags.contains(SegmentFlags::ACK) {
            Reset {
                seq: segment.ack,
                ack: 0,
                flags: SegmentFlags::RST,
            }
        } else {
            Reset {
                seq: 0,
                ack: segment.end_seq(),
                flags: SegmentFlags::RST.with(SegmentFlags::ACK),
            }
        };
        self.rare.get_or_insert_default().reset = Some(reset);
    }

    /// Writes the reset that is due, if there is one.
    pub(crate) fn poll_reset(&mut self, segment: &mut Segment) -> bool {
        let Some(reset) = self.rare.as_mut().and_then(|rare| rare.reset.take()) else {
            return false;
        };
        *segment = Segment {
            seq: reset.seq,
            ack: reset.ack,
            header: self.config.header,
            flags: reset.flags,
            ..Segment::default()
        };
        true
    }
}
