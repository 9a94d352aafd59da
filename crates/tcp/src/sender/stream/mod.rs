//! The data to send: those written and sent so far, and the choice of the next segment.

pub(crate) mod activity;
pub(crate) mod allowance;
pub(crate) mod peer_window;
pub(crate) mod sending;
pub(crate) mod transmit;
pub(crate) mod units;
pub(crate) mod writes;

use crate::connection::endpoint::ENDLESS;

/// Sequence number of the first data byte. The SYN takes sequence number 0.
pub(crate) const FIRST: u64 = 1;

/// The data of one direction, in sequence numbers as those of RFC 9293. Only its own calls move
/// them.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed)]
pub(crate) struct Stream {
    una: u64,
    next: u64,
    max_sent: u64,
    data_end: u64,
    closing: bool,
    nagle: bool,
}

impl Stream {
    /// Creates a stream of a connection that is not open yet. Small segments wait for the
    /// acknowledgement of outstanding data if `nagle` is true.
    pub fn new(nagle: bool) -> Self {
        Self {
            una: 0,
            next: 0,
            max_sent: 0,
            data_end: FIRST,
            closing: false,
            nagle,
        }
    }

    /// Returns the oldest sequence number that is not acknowledged.
    #[inline]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Returns the next sequence number to send, which go-back-N pulls back.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns the highest sequence number sent plus one.
    #[inline]
    pub fn max_sent(&self) -> u64 {
        self.max_sent
    }

    /// Returns the end of the data that the application has written.
    #[inline]
    pub fn data_end(&self) -> u64 {
        self.data_end
    }

    /// Returns true if a FIN follows the data.
    #[inline]
    pub fn is_closing(&self) -> bool {
        self.closing
    }

    /// Returns true if small segments wait for the acknowledgement of outstanding data.
    #[inline]
    pub fn has_nagle(&self) -> bool {
        self.nagle
    }

    /// Returns the sequence numbers that are sent and not acknowledged.
    #[inline]
    pub fn outstanding(&self) -> u64 {
        self.max_sent - self.una
    }

    /// Returns true if only the FIN is left to send next.
    #[inline]
    pub fn fin_is_next(&self) -> bool {
        self.closing && self.next == self.data_end
    }

    /// Returns true if everything sent is acknowledged.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.una == self.max_sent
    }

    /// Returns true if all data written and the FIN are acknowledged.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.closing && self.una > self.data_end
    }

    /// Begins the stream at `seq`, because the sequence numbers before it are acknowledged.
    pub fn begin(&mut self, seq: u64) {
        (self.una, self.next, self.max_sent) = (seq, seq, seq);
    }

    /// Adds data to send. Returns false and adds nothing after [`close`](Self::close).
    #[inline]
    pub fn write(&mut self, bytes: u64) -> bool {
        if !self.closing {
            self.data_end = self.data_end.saturating_add(bytes).min(2 * ENDLESS);
        }
        !self.closing
    }

    /// Sends a FIN after all data written.
    pub fn close(&mut self) {
        self.closing = true;
    }

    /// Withdraws written data that were never sent, unless a FIN follows them.
    pub fn withdraw(&mut self) {
        if !self.closing {
            self.data_end = self.max_sent.clamp(FIRST, self.data_end);
        }
    }

    pub fn set_nagle(&mut self, nagle: bool) {
        self.nagle = nagle;
    }

    /// Moves the stream on to `ack`. Returns the data bytes newly acknowledged.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64) -> u64 {
        let acked = ack - self.una;
        self.una = ack;
        self.next = self.next.max(ack);
        // The FIN's sequence number is not payload.
        acked - u64::from(ack > self.data_end)
    }

    /// Records that a segment up to `end` leaves.
    #[inline]
    pub fn send(&mut self, end: u64) {
        self.next = self.next.max(end);
        self.max_sent = self.max_sent.max(end);
    }

    /// Sends everything from `una` on again.
    pub fn go_back(&mut self) {
        self.next = self.una;
    }

    /// Goes back to `seq`, the number before the last call of [`send`](Self::send): what it sent does
    /// not count as sent until it is acknowledged.
    pub fn return_to(&mut self, seq: u64) {
        self.next = seq;
    }

    /// Leaves out the data below `seq`, which need not be sent.
    pub fn skip_to(&mut self, seq: u64) {
        self.next = self.next.max(seq);
    }

    /// Records that the data of the SYN up to `end` were sent and that none of them are acknowledged.
    pub fn send_early(&mut self, end: u64) {
        (self.next, self.max_sent) = (end, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three segments and the FIN leave, go-back-N begins again, and the ACKs tell data from the FIN.
    #[test]
    fn a_stream_counts_what_was_written_sent_and_acknowledged() {
        let mut stream = Stream::new(true);
        stream.begin(FIRST);
        assert!(stream.write(300));
        stream.close();
        assert!(!stream.write(100), "nothing follows the FIN");
        for end in [101, 201, 301, 302] {
            stream.send(end);
        }
        assert_eq!((stream.outstanding(), stream.is_idle()), (301, false));
        stream.go_back();
        assert_eq!((stream.next(), stream.max_sent()), (1, 302));
        assert_eq!(stream.acknowledge(201), 200);
        assert_eq!(stream.next(), 201, "acknowledged data are not sent again");
        stream.skip_to(301);
        assert!(!stream.is_finished());
        assert_eq!(stream.acknowledge(302), 100, "the FIN is no data");
        assert!(stream.is_finished() && stream.is_idle());
    }

    #[test]
    fn only_data_that_were_never_sent_are_withdrawn() {
        let mut stream = Stream::new(false);
        stream.write(500);
        stream.withdraw();
        assert_eq!(stream.data_end(), FIRST, "the connection is not open yet");
        stream.begin(FIRST);
        stream.write(500);
        stream.send(201);
        stream.withdraw();
        assert_eq!(stream.data_end(), 201);
        // A byte beyond a closed window counts as sent from its acknowledgement on.
        stream.write(10);
        stream.send(202);
        stream.return_to(201);
        assert_eq!((stream.next(), stream.max_sent()), (201, 202));
    }
}
