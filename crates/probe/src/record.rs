//! Observations of a phase: packets with the times at which they were sent and received.

/// Stream to which a packet of a phase belongs. The streams are different flows for routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// The packets that load the path.
    Main = 0,
    /// Tiny packets at a low rate.
    Sparse = 1,
}

/// A packet that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its stream.
    pub stream: Stream,
    /// Its number within the stream, from 0.
    pub sequence: u32,
    /// Time of sending on the sender's clock, in nanoseconds.
    pub sent: i64,
    /// Time of receipt on the receiver's clock, in nanoseconds.
    pub received: i64,
    /// IP size in bytes.
    pub bytes: u32,
    /// Two bits of the ECN field as received.
    pub ecn: u8,
}

impl Record {
    /// Returns the difference of the two clocks' readings: the delay plus a constant.
    pub fn delay(&self) -> i64 {
        self.received - self.sent
    }
}

/// A ping and its echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// Time of sending on the client's clock, in nanoseconds.
    pub sent: i64,
    /// Time of the echo on the server's clock.
    pub turned: i64,
    /// Time of receipt on the client's clock.
    pub received: i64,
}

/// Observations of the receiver of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Packets in the order of their receipt.
    pub records: Vec<Record>,
    /// Pings that came back. Other phases have none.
    pub pings: Vec<Ping>,
    /// Packets that were sent, by stream.
    pub sent: [u32; 2],
}

/// Counts that a receiver sends to the sender during a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// Number of the newest packet of the main stream, plus one.
    pub next: u32,
    /// Packets of the main stream that were received.
    pub received: u32,
    /// IP bytes of the main stream that were received.
    pub bytes: u64,
    /// Time of receipt of the newest packet, on the receiver's clock in nanoseconds.
    pub time: i64,
    /// Difference of the clocks' readings for that packet, in nanoseconds.
    pub delay: i64,
}
