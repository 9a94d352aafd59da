//! Parameters of `CoDel` and their checks.

use crate::Refusal;
use crate::keys::{DEVICE_MTU, ECN, FRAME};
use goodqueue_types::parameters::{DELAY, Key, Kind, TIMER, Tc, one_of, words};
use goodqueue_types::{Span, parameters, words};

/// Linux's unit of `CoDel` times, 1024 ns, in picoseconds.
const LINUX_UNIT: u64 = 1_024_000;

words! {
    /// Arithmetic with which the spacing of drops is computed.
    pub enum CodelArithmetic {
        /// Linux's arithmetic (`codel_impl.h`; ns-3 has the same). Times are in units of 1024 ns.
        /// 1/√count has 16 bits and is updated by one Newton step for each drop, so that the second
        /// interval, after 99.998 ms, is 50.001 ms and not 70.711 ms. A packet may be dropped
        /// strictly after the interval has passed.
        Linux = "linux",
        /// The arithmetic of RFC 8289 section 5: interval/√count to the nearest picosecond. A packet
        /// may be dropped as soon as the interval has passed.
        Exact = "exact",
    }

    /// Count from which dropping resumes if it starts again soon after it stopped.
    pub enum CountReuse {
        /// The number of drops of the last dropping state, if it exceeds one and at most 16
        /// intervals have passed (RFC 8289 section 5.5, Linux, ns-3).
        Delta = "delta",
        /// The last count less two, if at most 8 intervals have passed (the first published code
        /// and the drafts before the RFC).
        MinusTwo = "minus_two",
        /// The count is one in every case.
        Never = "never",
    }

    /// Time from which the distance to the next mark is counted in the dropping state. The
    /// difference has an effect if packets are rare, as in one of many fair queues.
    pub enum NextMark {
        /// The time at which this mark was due, as with drops (RFC 8289, Linux).
        FromDue = "from_due",
        /// The time at which this mark was made, which is later by up to the gap between packets
        /// (ns-3).
        FromNow = "from_now",
    }
}

parameters! {
    /// Parameters of `CoDel` except its limit. The defaults are those of `tc qdisc add ... codel`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CodelParams("codel control law") {
        /// The sojourn time that a standing queue may have.
        target: Span = Span::from_millis(5) => Key::new(TIMER).tc("target").example("5ms");
        /// Time for which the sojourn time may exceed the target: a worst-case round-trip time.
        interval: Span = Span::from_millis(100) => Key::new(TIMER).tc("interval").example("100ms");
        ecn: bool = false => ECN;
        /// Sojourn time above which every ECN-capable packet is marked, even without `ecn`.
        ce_threshold: Option<Span> = None
            => one_of(&[DELAY, Kind::Choice(&["none"])]).tc("ce_threshold").example("1ms");
        /// Largest backlog behind a packet, in frame bytes, that is no standing queue (Linux 1514,
        /// ns-3 1499).
        ///
        /// Linux compares with the device's MTU and its link-layer header. ns-3 requires fewer than
        /// `MinBytes`, 1500.
        mtu: u64 = 1514 => Key::new(FRAME).in_tc(DEVICE_MTU).example("1499B");
        /// Linux's fixed-point control law, or RFC 8289's to the picosecond.
        arithmetic: CodelArithmetic = CodelArithmetic::Linux
            => words::<CodelArithmetic>().example("exact");
        /// Count from which dropping resumes soon after it stopped: the last drops (RFC 8289,
        /// Linux), the last count less two (before the RFC), or always one.
        reuse: CountReuse = CountReuse::Delta
            => words::<CountReuse>().named("count_reuse").example("never").in_tc(AS_RFC);
        /// Start of the time to the next mark: the time at which this mark was due (RFC 8289,
        /// Linux) or was made (ns-3).
        next_mark: NextMark = NextMark::FromDue => words::<NextMark>().example("from_now").in_tc(AS_RFC);
    }
}

/// Reason why `tc` cannot set what Linux does as the RFC.
const AS_RFC: Tc = Tc::Fixed("it is as in RFC 8289");

impl CodelParams {
    /// Returns the parameters of `tc qdisc add ... codel` without parameters.
    pub fn linux() -> Self {
        Self::default()
    }

    /// Returns the parameters of RFC 8289 with exact arithmetic.
    pub fn rfc8289() -> Self {
        Self {
            arithmetic: CodelArithmetic::Exact,
            ..Self::linux()
        }
    }

    /// Returns the parameters of ns-3's `CoDelQueueDisc`. They are Linux's except for the smallest
    /// backlog, which ns-3 compares strictly, and the time to the next mark.
    pub fn ns3() -> Self {
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
