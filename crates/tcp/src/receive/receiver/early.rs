//! The receiving half of connections with data in the SYN, as in Linux.

use goodqueue_types::{Segment, Time};

use super::{AckDue, Receiver};
use crate::config::TcpConfig;
use crate::sender::detection::rtt::RttEstimator;

impl Receiver {
    /// Records that a client with data in its SYN has more data to send when the SYN-ACK arrives. Its
    /// application waits in the call that sends them (`sk_write_pending`), so data go in both
    /// directions from the start.
    pub fn expect_answer(&mut self, now: Time, rtt: &RttEstimator, config: &TcpConfig) {
        self.set_path(rtt, config);
        let window = u64::from(self.full_window);
        if let Some(acks) = self.linux_acks.as_deref_mut() {
            acks.on_opening(now, window);
        }
    }

    /// Reports the sequence number of a SYN that has arrived twice as a duplicate (RFC 2883).
    pub fn report_syn(&mut self, now: Time, config: &TcpConfig) {
        self.note_duplicate(now, &Segment::default(), 1, config);
        self.has_blocks = self.reassembly().has_blocks();
        self.ack_due = self.ack_due.max_urgency(AckDue::NowPure);
    }
}
