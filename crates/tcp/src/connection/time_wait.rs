//! The rest of a connection in TIME-WAIT: a few bytes of state that answer late segments.

use goodqueue_types::Time;
use goodqueue_types::{Segment, SegmentFlags, Timestamps};

use crate::config::TcpConfig;
use crate::connection::ecn::EcnState;
use crate::connection::endpoint::TcpEndpoint;

/// A connection after both ends have closed it, in the reduced form of a stack (Linux's
/// minisocket).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWait {
    seq: u64,
    ack: u64,
    window: u32,
    recent_timestamp: u32,
    /// ECN flags of every ACK.
    ecn_flags: SegmentFlags,
}

impl TcpEndpoint {
    /// Returns the state that answers in place of this endpoint once both ends have closed. Returns
    /// none before, and while the endpoint has something to send or a timer runs.
    pub fn time_wait(&mut self) -> Option<TimeWait> {
        let is_over = self.is_finished() && self.is_peer_finished();
        if !is_over || self.may_transmit() || self.poll_timeout().is_some() {
            return None;
        }
        Some(TimeWait {
            seq: self.sender.stream.max_sent(),
            ack: self.receiver.next,
            window: self.receiver.advertise(&self.config),
            recent_timestamp: self.recent_timestamp,
            ecn_flags: self
                .ecn
                .as_deref_mut()
                .map_or_else(SegmentFlags::default, EcnState::ack_flags),
        })
    }
}

impl TimeWait {
    /// Handles a segment. Returns true if [`answer`](Self::answer) is to be sent. Resets get no
    /// answer (RFC 1337 section 3), nor do ACKs at the next sequence number, which have no news (RFC
    /// 9293 section 3.10.7.4).
    pub fn handle_segment(&mut self, segment: &Segment) -> bool {
        let newer = segment.timestamps.value.wrapping_sub(self.recent_timestamp) as i32 >= 0;
        if segment.timestamps.is_present() && segment.seq <= self.ack && newer {
            self.recent_timestamp = segment.timestamps.value;
        }
        let says_nothing = segment.seq == self.ack && segment.end_seq() == self.ack;
        !says_nothing && !segment.flags.contains(SegmentFlags::RST)
    }

    /// Returns the ACK that is sent again. It does not report duplicate data, as in Linux.
    pub fn answer(&self, now: Time, config: &TcpConfig) -> Segment {
        let timestamps = if config.timestamps.is_some() {
            Timestamps {
                value: config.timestamp(now),
                echo: self.recent_timestamp,
            }
        } else {
            Timestamps::default()
        };
        let option = u16::from(timestamps.is_present() && config.option_bytes);
        Segment {
            seq: self.seq,
            ack: self.ack,
            window: self.window,
            header: config.header + 12 * option,
            flags: SegmentFlags::ACK.with(self.ecn_flags),
            timestamps,
            ..Segment::default()
        }
    }
}
