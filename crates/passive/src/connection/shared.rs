//! A segment as a direction takes it, and the state that all flows share.

use crate::Nanos;
use crate::loss::Loss;
use crate::repeats::Point;
use crate::thresholds::Thresholds;
use goodqueue_trace::read::{Heading, TcpHeader};
use goodqueue_types::Ecn;

/// Segment that passed the first tapping point.
#[derive(Clone, Copy, Debug)]
pub struct Passed<'a> {
    /// Time in nanoseconds since the first packet of the capture.
    pub time: Nanos,
    pub tcp: &'a TcpHeader,
    /// Bytes of the IP packet as sent.
    pub ip_bytes: u32,
    /// IP bytes and the link's own headers that the capture shows.
    pub frame_bytes: u32,
    pub ecn: Ecn,
    pub heading: Heading,
    /// Place at which the capture saw it.
    pub point: Point,
}

/// State that all flows share.
pub struct Shared<'a> {
    pub thresholds: &'a Thresholds,
    pub losses: &'a mut Vec<Loss>,
    /// Time that packets take at present between the tapping points.
    pub usual: Option<Nanos>,
    /// Excess of round-trip times over the shortest one at times of loss.
    pub delays_at_loss: &'a mut Vec<Nanos>,
    pub two_taps: bool,
    /// Payload bytes newly acknowledged, cumulatively or selectively.
    pub delivered: u64,
    /// Shortest time between the tapping point and the receiver and back, for the acknowledged
    /// data.
    pub since_link: Nanos,
    /// Time in which the acknowledged data waited in the queue.
    pub waited: Option<Waited>,
    /// Number of data segments that were seen behind the link first.
    pub backward: u64,
}

/// Time from `from` to `to` in which data of a flow waited without a pause. The part up to `known`
/// was reported before.
#[derive(Clone, Copy, Debug)]
pub struct Waited {
    pub from: Nanos,
    pub known: Nanos,
    pub to: Nanos,
}

/// Largest number of losses, and of delays at losses, that are kept. Further ones are only counted
/// by flow.
pub const MAX_LOSSES: usize = 1 << 20;

impl Shared<'_> {
    /// Lists a loss, and returns its number if the list has room.
    pub fn lose(&mut self, loss: Loss) -> Option<u32> {
        let number = self.losses.len();
        (number < MAX_LOSSES).then(|| {
            self.losses.push(loss);
            number as u32
        })
    }
}
