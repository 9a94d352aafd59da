//! What is left of a connection in TIME-WAIT: a few bytes that answer what comes late.

use goodqueue_types::Time;
use goodqueue_types::{Segment, SegmentFlags, Timestamps};

use crate::config::TcpConfig;
use crate::ecn::EcnState;
use crate::endpoint::TcpEndpoint;

/// A connection that both ends have closed, as a stack keeps it after that (Linux's minisocket).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWait {
    seq: u64,
    ack: u64,
    window: u32,
    recent_timestamp: u32,
    /// What ECN says in every ACK.
    ecn_flags: SegmentFlags,
}

impl TcpEndpoint {
    /// What answers in place of this endpoint once both ends have closed; none before, and while
    /// something is to be sent or a timer runs.
    pub fn time_wait(&mut self) -> Option<TimeWait> {
        let is_over = self.is_finished() && self.is_peer_finished();
        if !is_over || self.may_transmit() || self.poll_timeout().is_some() {
            return None;
        }
        Some(TimeWait {
            seq: self.sender.max_sent,
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
    /// Takes a segment; true if [`answer`](Self::answer) is to be sent. That is so unless it is an
    /// ACK at the next sequence number, which says nothing new, or a reset (RFC 9293 section
    /// 3.10.7.4; RFC 1337 section 3: resets are ignored in TIME-WAIT).
    pub fn handle_segment(&mut self, segment: &Segment) -> bool {
        let newer = segment.timestamps.value.wrapping_sub(self.recent_timestamp) as i32 >= 0;
        if segment.timestamps.is_present() && segment.seq <= self.ack && newer {
            self.recent_timestamp = segment.timestamps.value;
        }
        let says_nothing = segment.seq == self.ack && segment.end_seq() == self.ack;
        !says_nothing && !segment.flags.contains(SegmentFlags::RST)
    }

    /// The ACK that is sent again. Duplicate data are not reported in it, as in Linux.
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
