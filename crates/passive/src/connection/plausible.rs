//! Segments whose numbers do not follow those of their connection.
//!
//! One number may be damaged, or a segment may belong to another connection. Such a segment is held
//! until others agree with it. If two do, data are missing in the capture, or the ports are used again
//! by a connection whose SYN was not captured.

use crate::Nanos;
use goodqueue_trace::read::{Datagram, TcpHeader};

/// Distance in bytes within which numbers follow those of a flow without a known window: the largest
/// window without scaling.
pub const USUAL_REACH: u64 = 65_535;
/// Largest window of TCP (RFC 7323, section 2.3).
pub const LARGEST_WINDOW: u64 = 65_535 << 14;
/// Distance below the last data within which data follow if no ACKs were seen.
pub const LACKING: u64 = 1 << 20;

/// Number of segments that agree, so that they are believed.
const AGREE: usize = 3;
/// Largest distance between the numbers of segments that agree.
const NEAR: u32 = 1 << 20;
/// Largest number of segments held of a direction.
const MAX_HELD: usize = 8;

/// Position of a segment relative to its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// The segment follows those before it.
    Within,
    /// The segment can belong to the connection, but much is missing before it.
    Far,
    /// The segment is outside any possible window.
    Outside,
}

/// Segment that waits for others that agree with it.
#[derive(Clone, Copy, Debug)]
pub struct HeldSegment {
    pub time: Nanos,
    pub datagram: Datagram,
    seq: u32,
    ack: u32,
}

/// Held segments of one direction.
#[derive(Debug, Default)]
pub struct Held(Vec<HeldSegment>);

impl Held {
    /// Holds a segment. Returns the segments that agree with one another, if they are enough, and the
    /// number of those that were dropped.
    pub fn add(
        &mut self,
        time: Nanos,
        datagram: &Datagram,
        tcp: &TcpHeader,
    ) -> (Option<Vec<HeldSegment>>, u64) {
        let near = |a: u32, b: u32| a.wrapping_sub(b).cast_signed().unsigned_abs() < NEAR;
        self.0.push(HeldSegment {
            time,
            datagram: *datagram,
            seq: tcp.seq,
            ack: tcp.ack,
        });
        let agrees = |held: &&HeldSegment| near(held.seq, tcp.seq) && near(held.ack, tcp.ack);
        let agreeing: Vec<_> = self.0.iter().filter(agrees).copied().collect();
        if agreeing.len() >= AGREE {
            let dropped = self.0.len() - agreeing.len();
            self.0.clear();
            return (Some(agreeing), dropped as u64);
        }
        let over = self.0.len().saturating_sub(MAX_HELD);
        self.0.drain(..over);
        (None, over as u64)
    }

    /// Removes and returns all held segments.
    pub fn take(&mut self) -> Vec<HeldSegment> {
        std::mem::take(&mut self.0)
    }

    /// Returns true if no segment is held.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of held segments.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
