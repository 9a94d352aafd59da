//! Opportunities to deliver a number of bytes at an instant, as in the traces of Mahimahi (Netravali
//! et al., USENIX ATC 2015).

use super::{FILE, ServiceLaw, ServiceState, Stretch, WORK_PER_BIT, per_second};
use goodqueue_types::parameters::{CHECKSUM, Unkeyed};
use goodqueue_types::{RandomStream, Rate, Span, Time, parameters};
use std::sync::Arc;

/// Bytes of an opportunity: Mahimahi's packet of 1500 bytes with the 4 bytes of its tunnel.
pub const BYTES_PER_OPPORTUNITY: u64 = 1_504;
/// Largest number of opportunities in one millisecond. Opportunities deliver a byte per picosecond
/// and must end before the next ones begin.
pub const MAX_OPPORTUNITIES: u64 = 500_000;
/// Rate of an opportunity, a byte each picosecond, in bits per second. 1504 bytes take 1.5 ns.
const AT_ONCE: u64 = 8_000_000_000_000;

parameters! {
    /// Times at which a link can deliver [`BYTES_PER_OPPORTUNITY`] bytes. The opportunities repeat
    /// after the last one. A packet may take several opportunities, and several packets may share
    /// one. Capacity that no packet uses is lost.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DeliveryTrace("delivery trace") {
        /// Path of the file.
        file: String = String::new() => FILE;
        /// Checksum of the file.
        checksum: String = String::new() => CHECKSUM;
        /// Milliseconds in ascending order, repeated for several opportunities at once. The last is
        /// above zero.
        milliseconds: Unkeyed<Arc<[u32]>> = Unkeyed(Arc::new([]));
    }
}

impl DeliveryTrace {
    /// Creates a trace of these milliseconds.
    pub fn new(milliseconds: impl Into<Arc<[u32]>>) -> Self {
        Self {
            milliseconds: Unkeyed(milliseconds.into()),
            ..Self::default()
        }
    }

    fn length(&self) -> Span {
        let last = self.milliseconds.0.last().copied();
        Span::from_millis(last.unwrap_or(0).into())
    }
}

impl ServiceLaw for DeliveryTrace {
    fn start(&self, _random: RandomStream) -> Box<dyn ServiceState> {
        Box::new(Round {
            milliseconds: self.milliseconds.0.clone(),
            index: 0,
            from: Time::ZERO,
        })
    }

    fn changes_in(&self, run: Span) -> u128 {
        super::changes(2 * self.milliseconds.0.len(), self.length(), run)
    }

    fn mean_rate(&self, _run: Span) -> Rate {
        let bits = self.milliseconds.0.len() as u128 * u128::from(8 * BYTES_PER_OPPORTUNITY);
        per_second(bits * WORK_PER_BIT, self.length())
    }
}

/// Position in a trace.
#[derive(Debug)]
struct Round {
    milliseconds: Arc<[u32]>,
    /// Index of the next opportunity.
    index: usize,
    /// Start of the present repetition.
    from: Time,
}

impl Round {
    fn due(&self) -> Time {
        let millis = self.milliseconds[self.index].into();
        self.from.saturating_add(Span::from_millis(millis))
    }
}

impl ServiceState for Round {
    fn next(&mut self, at: Time) -> Stretch {
        let due = self.due();
        if due > at {
            let rate = Rate(0);
            return Stretch { until: due, rate };
        }
        let mut count = 0;
        while self.due() == due && due < Time::MAX {
            count += 1;
            self.index += 1;
            if self.index == self.milliseconds.len() {
                (self.from, self.index) = (due, 0);
            }
        }
        Stretch {
            until: due.saturating_add(Span(count * BYTES_PER_OPPORTUNITY)),
            rate: Rate(AT_ONCE),
        }
    }
}
