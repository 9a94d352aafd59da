//! What `CoDel` can be told, and what is refused.

use crate::Refusal;
use goodqueue_types::Span;

/// Linux counts `CoDel`'s time in units of 1024 ns.
const LINUX_UNIT: u64 = 1_024_000;

/// With which arithmetic the spacing of drops is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodelArithmetic {
    /// Linux's (`codel_impl.h`; ns-3 has the same): times in units of 1024 ns, 1/√count in 16 bits,
    /// brought up to date by one Newton step for each drop, so that the second interval after
    /// 99.998 ms is 50.001 ms and not 70.711 ms. A packet may be dropped strictly after the
    /// interval has passed.
    Linux,
    /// RFC 8289 section 5: interval/√count to the nearest picosecond; a packet may be dropped as
    /// soon as the interval has passed.
    Exact,
}

/// From which count dropping goes on when it starts again soon after it stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountReuse {
    /// Within 16 intervals from the number of drops of the last dropping state, if more than one
    /// (RFC 8289 section 5.5, Linux, ns-3).
    Delta,
    /// Within 8 intervals from the last count less two (the first published code and the drafts
    /// before the RFC).
    MinusTwo,
    /// Always from one.
    Never,
}

/// From when the distance to the next mark is counted in the dropping state. It matters where
/// packets are rare, as they are in one of many fair queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextMark {
    /// From when this one was due, as with drops (RFC 8289, Linux).
    FromDue,
    /// From when this one was made, later than that by up to the distance between packets (ns-3).
    FromNow,
}

/// What `CoDel` can be told, apart from its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelParams {
    /// The sojourn time that a standing queue may have (`target`). Default 5 ms.
    pub target: Span,
    /// How long the sojourn time may stay above the target: a worst-case round-trip time
    /// (`interval`). Default 100 ms.
    pub interval: Span,
    /// Whether ECN-capable packets are marked instead of dropped (`ecn`). Default no; `FQ-CoDel` yes.
    pub ecn: bool,
    /// Above this sojourn time every ECN-capable packet is marked, whatever `ecn` says
    /// (`ce_threshold`). Default never.
    pub ce_threshold: Option<Span>,
    /// At most so many frame bytes behind the packet are no standing queue (Linux: the device's MTU
    /// with its link-layer header, 1514; ns-3: fewer than `MinBytes` 1500, hence 1499).
    pub mtu: u64,
    /// Linux's arithmetic or the RFC's. Default Linux's.
    pub arithmetic: CodelArithmetic,
    /// How dropping resumes. Default as both Linux and the RFC.
    pub reuse: CountReuse,
    /// How marks follow one another. Default as both Linux and the RFC.
    pub next_mark: NextMark,
}

impl CodelParams {
    /// As `tc qdisc add ... codel` without parameters.
    pub const fn linux() -> Self {
        Self {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            ecn: false,
            ce_threshold: None,
            mtu: 1514,
            arithmetic: CodelArithmetic::Linux,
            reuse: CountReuse::Delta,
            next_mark: NextMark::FromDue,
        }
    }

    /// RFC 8289 with exact arithmetic.
    pub const fn rfc8289() -> Self {
        Self {
            arithmetic: CodelArithmetic::Exact,
            ..Self::linux()
        }
    }

    /// ns-3's `CoDelQueueDisc`: Linux's but for the smallest backlog, which it compares strictly,
    /// and the time to the next mark.
    pub const fn ns3() -> Self {
        Self {
            mtu: 1499,
            next_mark: NextMark::FromNow,
            ..Self::linux()
        }
    }

    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// The parameter, why, and what to write instead.
    pub fn check(&self) -> Result<(), Refusal> {
        // A target of less than a unit would be none at all in Linux's arithmetic.
        if self.target.0 < LINUX_UNIT {
            return Err(Refusal::new(
                "target",
                "a target below 1.024 us: no queue could have so short a delay",
                "write a target of about a twentieth of the interval, as in target = \"5ms\"",
            ));
        }
        if self.target > self.interval {
            return Err(Refusal::new(
                "target",
                "the target is above the interval; RFC 8289 section 4.3 has it at 5 to 10 % of it",
                "write an interval of a long round trip and a target of a twentieth of it, as in \
                 interval = \"100ms\", target = \"5ms\"",
            ));
        }
        if self.interval > Span::from_secs(1000) {
            return Err(Refusal::new(
                "interval",
                "an interval of more than 1000 s is no round-trip time",
                "write a round-trip time that most flows stay below, as in interval = \"100ms\"",
            ));
        }
        Ok(())
    }

    /// A time or span in the units of the arithmetic.
    #[inline]
    pub(super) fn units(&self, picos: u64) -> u64 {
        match self.arithmetic {
            CodelArithmetic::Linux => picos / LINUX_UNIT,
            CodelArithmetic::Exact => picos,
        }
    }
}
