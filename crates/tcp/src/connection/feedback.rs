//! The ECN feedback of an endpoint: marks read from segments that arrive, and flags, ECN field and
//! option of those that leave.

use goodqueue_types::{Ecn, SackBlocks, Segment, SegmentFlags, Time};

use crate::cc::{CongestionControl, MarkSample};
use crate::connection::accurate_ecn::{OPTION_BYTES, OPTION_SPACE, Room};
use crate::connection::endpoint::TcpEndpoint;
use crate::receive::receiver::AckDue;

impl TcpEndpoint {
    /// Handles the ACK that ends the handshake, which reports the ECN field of the SYN-ACK.
    #[cold]
    pub(crate) fn handle_third_ack(&mut self, segment: &Segment) {
        let ecn = self.ecn.as_deref_mut();
        if let Some(ecn) = ecn.filter(|ecn| ecn.is_accurate()) {
            ecn.accurate.on_third_ack(segment);
        }
    }

    /// Handles a segment of a connection with ECN. `reports` is true if its flags are no report of
    /// the handshake, and `newer` if its timestamp is newer than that of the segments before it.
    #[cold]
    pub(crate) fn handle_ecn(
        &mut self,
        now: Time,
        segment: &Segment,
        mark: Ecn,
        reports: bool,
        newer: bool,
    ) {
        if mark == Ecn::Experienced {
            self.stats.marked_packets += u64::from(segment.segments());
        }
        if segment.flags.contains(SegmentFlags::SYN) {
            return self.handle_old_syn(now, segment, mark);
        }
        let is_ack = segment.flags.contains(SegmentFlags::ACK);
        if reports && is_ack && segment.ack <= self.sender.stream.max_sent() {
            self.read_marks(now, segment, newer);
        }
        let ack_waits = self.receiver.ack_due == AckDue::Delayed;
        let next = self.receiver.next;
        let tells = self
            .ecn
            .as_deref_mut()
            .is_some_and(|ecn| ecn.on_packet(segment, mark, next, ack_waits));
        self.handle_established(now, segment);
        if tells {
            self.receiver.owe_ack();
        }
    }

    /// Handles a SYN or SYN-ACK on the open connection, which the next ACK reports.
    fn handle_old_syn(&mut self, now: Time, segment: &Segment, mark: Ecn) {
        let ecn = self.ecn.as_deref_mut();
        if let Some(ecn) = ecn.filter(|ecn| ecn.is_accurate()) {
            ecn.accurate.report_handshake(mark);
        }
        self.handle_established(now, segment);
    }

    /// Passes the marks that an acknowledgement reports to the congestion control.
    fn read_marks(&mut self, now: Time, segment: &Segment, newer: bool) {
        let Some(ecn) = self.ecn.as_deref_mut() else {
            return;
        };
        let sender = &mut self.sender;
        let acked = segment.ack.saturating_sub(sender.stream.una());
        if ecn.is_accurate() {
            ecn.accurate
                .check_first_report(segment, acked, self.config.mss);
        }
        let has_news = acked > 0 || !segment.sack.is_empty();
        if ecn.is_accurate() && !has_news && !newer {
            // The order of this ACK and others is unknown, and its counters may be old.
            sender.window_use.hold(false);
            return;
        }
        let feedback = ecn.feedback(segment, acked, self.config.mss);
        sender.controller.on_marks(&MarkSample {
            acked,
            marked: feedback.marked,
            acked_to: segment.ack,
            sent_to: sender.stream.max_sent(),
        });
        sender.window_use.hold(feedback.holds_growth);
        let losses = self.stats.fast_retransmits + self.stats.timeouts;
        if feedback.echo
            && (has_news || !ecn.is_accurate())
            && ecn.may_reduce(segment.ack, losses, sender.course.point())
            && sender.on_ecn_echo(now, segment.ack, &self.config)
        {
            self.stats.ecn_reductions += 1;
            ecn.reduced(sender.stream.max_sent());
        }
    }

    /// Sends the ACK of the data before a change of DCTCP's state, which no later ACK can report.
    #[cold]
    pub(crate) fn early_ack(&mut self, now: Time, segment: &mut Segment) -> bool {
        let Some(ecn) = self.ecn.as_deref_mut() else {
            return false;
        };
        let Some(ack) = ecn.early_ack.take() else {
            return false;
        };
        let flags = SegmentFlags::ACK.with(ecn.early_ack_flags());
        let (due, deadline) = (self.receiver.ack_due, self.receiver.ack_deadline);
        self.pure_ack(now, segment);
        // This ACK does not cover the data that arrived with the change.
        (self.receiver.ack_due, self.receiver.ack_deadline) = (due, deadline);
        segment.window = (self.receiver.next + u64::from(segment.window) - ack) as u32;
        (segment.ack, segment.flags) = (ack, flags);
        let option = segment.accecn();
        segment.sack = SackBlocks::default();
        segment.set_accecn(option);
        true
    }

    /// Adds the feedback to a pure ACK.
    #[cold]
    pub(crate) fn mark_ack(&mut self, now: Time, segment: &mut Segment) {
        if let Some(ecn) = self.ecn.as_deref_mut() {
            segment.flags = segment.flags.with(ecn.ack_flags());
            self.transmit_ecn = ecn.field(false);
        }
        self.add_accecn_option(now, segment);
    }

    /// Adds the feedback to a data segment, new or retransmitted.
    #[cold]
    pub(crate) fn mark_data(&mut self, now: Time, is_new: bool, segment: &mut Segment) {
        let losses = self.stats.fast_retransmits + self.stats.timeouts;
        if let Some(ecn) = self.ecn.as_deref_mut() {
            ecn.note_losses(losses, self.sender.course.point());
            segment.flags = segment.flags.with(ecn.ack_flags());
            if is_new {
                segment.flags = segment.flags.with(ecn.data_flags());
            }
            self.transmit_ecn = ecn.field(is_new);
        }
        self.add_accecn_option(now, segment);
    }

    fn add_accecn_option(&mut self, now: Time, segment: &mut Segment) {
        let ecn = self.ecn.as_deref_mut();
        if let Some(ecn) = ecn.filter(|ecn| ecn.is_accurate()) {
            let config = &*self.config;
            let room = Room {
                has_timestamps: config.timestamps.is_some(),
                counts_options: config.option_bytes,
            };
            let srtt = self.sender.rtt.srtt(&config.rto);
            ecn.accurate.add_option(now, srtt, room, segment);
        }
    }

    /// Adds the option to a SYN-ACK, which is the first that was sent or a later one. Beside a cookie
    /// and timestamps it has room for two counters (Linux).
    pub(crate) fn add_initial_accecn_option(&self, is_first: bool, segment: &mut Segment) {
        let ecn = self.ecn.as_deref();
        if let Some(ecn) = ecn.filter(|ecn| ecn.is_accurate()) {
            let config = &*self.config;
            let stamped = u16::from(config.timestamps.is_some());
            let used = segment.header - config.header + 12 * stamped;
            let room = OPTION_SPACE.saturating_sub(usize::from(used)) as u16;
            segment.set_accecn(ecn.accurate.syn_ack_option(is_first, room < OPTION_BYTES));
            if segment.accecn().is_present() && config.option_bytes {
                segment.header += OPTION_BYTES.min(room);
            }
        }
    }

    /// Returns the counts of the peer's AccECN feedback, if the connection has any.
    pub fn accecn_counts(&self) -> Option<AccEcnCounts> {
        let ecn = self.ecn.as_deref().filter(|ecn| ecn.is_accurate())?;
        let [ect1_bytes, ce_bytes, ect0_bytes] = ecn.accurate.delivered_bytes();
        Some(AccEcnCounts {
            ce_packets: ecn.accurate.delivered_marked(),
            ce_bytes,
            ect0_bytes,
            ect1_bytes,
        })
    }
}

/// Counts that the peer's accurate ECN has reported of our packets (RFC 9768).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccEcnCounts {
    /// Number of marked packets (`tcpi_delivered_ce` of Linux).
    pub ce_packets: u32,
    /// Payload bytes in marked packets, as far as options have reported them.
    pub ce_bytes: u32,
    /// Payload bytes in packets with ECT(0).
    pub ect0_bytes: u32,
    /// Payload bytes in packets with ECT(1).
    pub ect1_bytes: u32,
}
