//! The timestamps of an endpoint's segments (RFC 7323).

use goodqueue_types::{Segment, SegmentFlags, Time, Timestamps};

use crate::connection::endpoint::TcpEndpoint;

impl TcpEndpoint {
    /// Adds the timestamps option (RFC 7323 section 3.2): 10 bytes and two NOPs.
    #[inline]
    pub(crate) fn stamp(&mut self, now: Time, segment: &mut Segment) {
        segment.timestamps = Timestamps {
            value: self.config.timestamp(now),
            echo: self.recent_timestamp,
        };
        if self.config.option_bytes {
            segment.header += 12;
        }
        if segment.flags.contains(SegmentFlags::ACK) {
            self.last_ack_sent = segment.ack;
        }
    }

    /// Updates `TS.Recent` (RFC 7323 section 4.3): the newest timestamp of a segment that reaches
    /// down to the sequence number last acknowledged. Returns true if the timestamp is newer than
    /// the one before.
    #[cold]
    pub(crate) fn note_timestamp(&mut self, segment: &Segment) -> bool {
        let value = segment.timestamps.value;
        let step = value.wrapping_sub(self.recent_timestamp) as i32;
        let first = self.recent_timestamp == 0;
        let counts = segment.timestamps.is_present() && segment.seq <= self.last_ack_sent;
        if counts && (step >= 0 || first) {
            self.recent_timestamp = value;
            return step > 0 || first;
        }
        false
    }

    /// Returns true if a segment of new data has an older timestamp than the last segment in order
    /// (protection against wrapped sequences, RFC 7323 section 5). It is answered and dropped.
    #[inline]
    pub(crate) fn is_out_of_date(&self, segment: &Segment) -> bool {
        let value = segment.timestamps.value;
        let older = (value.wrapping_sub(self.recent_timestamp) as i32) < 0;
        older
            && self.recent_timestamp != 0
            && segment.timestamps.is_present()
            && segment.end_seq() > self.receiver.next
    }
}
