//! Parameters of `CoDel` and their checks.

use crate::Refusal;
use goodqueue_types::Span;

/// Linux's unit of `CoDel` times, 1024 ns, in picoseconds.
const LINUX_UNIT: u64 = 1_024_000;

/// Arithmetic with which the spacing of drops is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodelArithmetic {
    /// Linux's arithmetic (`codel_impl.h`; ns-3 has the same). Times are in units of 1024 ns.
    /// 1/√count has 16 bits and is updated by one Newton step for each drop, so that the second
    /// interval, after 99.998 ms, is 50.001 ms and not 70.711 ms. A packet may be dropped strictly
    /// after the interval has passed.
    Linux,
    /// The arithmetic of RFC 8289 section 5: interval/√count to the nearest picosecond. A packet
    /// may be dropped as soon as the interval has passed.
    Exact,
}

/// Count from which dropping resumes if it starts again soon after it stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountReuse {
    /// The number of drops of the last dropping state, if it exceeds one and at most 16 intervals
    /// have passed (RFC 8289 section 5.5, Linux, ns-3).
    Delta,
    /// The last count less two, if at most 8 intervals have passed (the first published code and
    /// the drafts before the RFC).
    MinusTwo,
    /// One in every case.
    Never,
}

/// Time from which the distance to the next mark is counted in the dropping state. It matters if
/// packets are rare, as in one of many fair queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextMark {
    /// The time at which this mark was due, as with drops (RFC 8289, Linux).
    FromDue,
    /// The time at which this mark was made, which is later by up to the gap between packets
    /// (ns-3).
    FromNow,
}

/// Parameters of `CoDel` except its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelParams {
    /// Largest sojourn time that is not a standing queue (`target`). Default 5 ms.
    pub target: Span,
    /// Time for which the sojourn time may exceed the target: a worst-case round-trip time
    /// (`interval`). Default 100 ms.
    pub interval: Span,
    /// True if ECN-capable packets are marked instead of dropped (`ecn`). Default no, and yes in
    /// `FQ-CoDel`.
    pub ecn: bool,
    /// Sojourn time above which every ECN-capable packet is marked, whatever `ecn` is
    /// (`ce_threshold`). Default never.
    pub ce_threshold: Option<Span>,
    /// Largest backlog behind the packet that is not a standing queue, in frame bytes (Linux: the
    /// device's MTU with its link-layer header, 1514; ns-3: fewer than `MinBytes` 1500, hence
    /// 1499).
    pub mtu: u64,
    /// Arithmetic of Linux or of the RFC. Default Linux's.
    pub arithmetic: CodelArithmetic,
    /// Count from which dropping resumes. Default as both Linux and the RFC.
    pub reuse: CountReuse,
    /// Time from which the next mark is counted. Default as both Linux and the RFC.
    pub next_mark: NextMark,
}

impl CodelParams {
    /// Returns the parameters of `tc qdisc add ... codel` without parameters.
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

    /// Returns the parameters of RFC 8289 with exact arithmetic.
    pub const fn rfc8289() -> Self {
        Self {
            arithmetic: CodelArithmetic::Exact,
            ..Self::linux()
        }
    }

    /// Returns the parameters of ns-3's `CoDelQueueDisc`. They are Linux's except for the smallest
    /// backlog, which ns-3 compares strictly, and the time to the next mark.
    pub const fn ns3() -> Self {
        Self {
            mtu: 1499,
            next_mark: NextMark::FromNow,
            ..Self::linux()
        }
    }

    /// Checks that the parameters can work together.
    ///
    /// # Errors
    /// Returns the parameter at fault, the reason, and what to write instead.
    pub fn check(&self) -> Result<(), Refusal> {
        // Linux's arithmetic would round a target below one unit to zero.
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
                "an interval of more than 1000 s is longer than any round-trip time",
                "write a round-trip time that most flows stay below, as in interval = \"100ms\"",
            ));
        }
        Ok(())
    }

    /// Converts picoseconds into the units of the arithmetic.
    #[inline]
    pub(super) fn units(&self, picos: u64) -> u64 {
        match self.arithmetic {
            CodelArithmetic::Linux => picos / LINUX_UNIT,
            CodelArithmetic::Exact => picos,
        }
    }
}
