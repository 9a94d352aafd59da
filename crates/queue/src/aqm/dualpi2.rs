//! `DualPI2`: one queue for low-latency traffic and one for classic traffic, coupled so that flows
//! of both kinds get similar rates (RFC 9332).

use crate::aqm::pi2::{Pi2Params, Pi2Vars, refuse_coupling};
use crate::config::refuse_small_limit;
use crate::fair::flows::refuse_memory;
use crate::keys::{ANY_SIZE, COUPLING, LIMIT};
use crate::{
    Backlog, BuiltIn, Configuration, Context, Exclusive, Fifo, Ignored, Limit, Qdisc,
    QueueDiscipline, Refusal, truesize,
};
use goodqueue_types::parameters::{
    DELAY, Declared, Key, Kind, Parameter, Parameters, Tc, Value, flag, integer, one_of,
};
use goodqueue_types::{DropReason, Ecn, Packet, RandomStream, Span, Time, parameters};
use std::collections::VecDeque;

/// Threshold above which the low-latency queue marks every packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepThreshold {
    /// Sojourn time of the packet (`step_thresh` in microseconds).
    Delay(Span),
    /// Number of packets that wait behind the one that leaves (`step_thresh` in packets).
    Packets(u64),
}

/// Scheduler of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DualScheduler {
    /// Weighted round robin by bytes (`c_protection`). The scheduler divides the link while both
    /// queues have packets.
    Weighted {
        /// Percentage of the classic queue. The low-latency queue has the rest.
        classic_percent: u8,
    },
    /// Time-shifted FIFO (RFC 9332 section 4.2.1). It serves the packet that has waited longer,
    /// after `shift` is added to the wait of the low-latency packet.
    TimeShifted {
        /// Time added to the low-latency packet's wait.
        shift: Span,
    },
}

/// One of the two keys that divide the link.
impl Declared for DualScheduler {
    const KEYS: &'static [Key] = &[
        integer(0, 100)
            .named("classic_protection")
            .in_tc(Tc::Percent("classic_protection"))
            .example("10")
            .doc("Per cent of the link for the classic queue while both queues have packets."),
        Key::new(DELAY)
            .named("time_shift")
            .default("by `classic_protection`")
            .example("50ms")
            .doc(
                "Time added to the wait of low-latency packets, in place of `classic_protection`: the \
                 packet with the longer wait is sent first.",
            ),
    ];
}

impl Parameters for DualScheduler {
    fn keys(&self) -> &'static [Key] {
        Self::KEYS
    }

    fn get(&self, key: &str) -> Option<Value> {
        match (key, self) {
            ("classic_protection", Self::Weighted { classic_percent }) => {
                Some(classic_percent.value())
            }
            ("time_shift", Self::TimeShifted { shift }) => Some(shift.value()),
            _ => None,
        }
    }

    fn set(&mut self, key: &str, value: Value) {
        match key {
            "classic_protection" => {
                let classic_percent = u8::from_value(value);
                *self = Self::Weighted { classic_percent };
            }
            "time_shift" => {
                let shift = Span::from_value(value);
                *self = Self::TimeShifted { shift };
            }
            _ => {}
        }
    }
}

impl Parameter for StepThreshold {
    fn from_value(value: Value) -> Self {
        match value {
            Value::Packets(packets) => Self::Packets(packets),
            value => Self::Delay(Span::from_value(value)),
        }
    }

    fn value(&self) -> Value {
        match *self {
            Self::Packets(packets) => Value::Packets(packets),
            Self::Delay(delay) => Value::Span(delay),
        }
    }
}

/// Packets of a low-latency queue.
const QUEUE_PACKETS: Kind = Kind::Packets {
    min: 0,
    max: 1_000_000,
};

/// Reason why `tc` cannot set the ramp.
const STEP_ALONE: Tc = Tc::Fixed("Linux has the step alone");

parameters! {
    /// Parameters of `DualPI2`. The defaults are those of `tc qdisc add ... dualpi2` (Linux 6.17).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DualPi2Config("dualpi2") {
        limit: Limit = Limit::Packets(10_000) => LIMIT;
        /// Kernel memory that the packets of both queues may take; `auto`: no limit.
        ///
        /// See [`truesize`](crate::truesize). Linux's own default is two frames of `mtu` for each
        /// packet of `limit`, which frames of at most `mtu` cannot exceed.
        memory_limit: Option<u64> = None
            => one_of(&[ANY_SIZE, Kind::Choice(&["auto"])]).tc("memlimit").example("4MiB");
        pi2: Pi2Params = Pi2Params::default();
        /// Delay, or number of packets behind a low-latency packet, above which every such packet
        /// is marked.
        step: StepThreshold = StepThreshold::Delay(Span::from_millis(1))
            => one_of(&[DELAY, QUEUE_PACKETS]).named("step_thresh").tc("step_thresh").example("2p");
        /// Number of packets in the low-latency queue below which the step marks no arrival.
        least_backlog: u64 = 0 => Key::new(QUEUE_PACKETS).named("min_qlen_step").tc("min_qlen_step").example("2p");
        /// Range of delays above `step_thresh` in which the probability of a mark rises from 0 to 1;
        /// with `0s` every packet above `step_thresh` is marked.
        ///
        /// RFC 9332 appendix A.1 has a threshold of 800 µs and a range of 400 µs. With a range, the
        /// larger of this probability and k·p′ is accumulated, and a sum above 1 marks a packet
        /// that leaves.
        ramp_range: Span = Span::ZERO => Key::new(DELAY).example("400us").in_tc(STEP_ALONE);
        /// Number of packets left in the low-latency queue below which neither the step nor the ramp
        /// marks the packet that leaves; RFC 9332 has `2p`.
        ///
        /// The pseudo-code of RFC 9332 appendix A.1 marks if more than `Th_len` of one packet are
        /// left.
        min_qlen_left: u64 = 0 => Key::new(QUEUE_PACKETS).example("2p").in_tc(STEP_ALONE);
        /// k of RFC 9332.
        coupling: f64 = 2.0 => COUPLING;
        /// Drop low-latency packets, too, if marking all of them is not enough. Without this switch
        /// the queues grow.
        drop_overload: bool = true => flag()
            .named("drop_on_overload")
            .in_tc(Tc::Flag("drop_on_overload", "overflow"))
            .example("false");
        /// Drop and mark on arrival instead of on departure.
        drop_early: bool = false => flag()
            .named("drop_enqueue")
            .in_tc(Tc::Flag("drop_enqueue", "drop_dequeue"))
            .example("true");
        scheduler: DualScheduler = DualScheduler::Weighted { classic_percent: 10 };
    }
}

impl BuiltIn for DualPi2Config {
    const QDISC: Qdisc = Qdisc::Named("dualpi2");
    const EXCLUSIVE: Exclusive = Exclusive {
        keys: &["classic_protection", "time_shift"],
        reason: "both share out the link",
    };
    const IGNORED: &'static [Ignored] = &[
        Ignored {
            words: &["memory_limit"],
            values: 1,
            note: "memory_limit is left out: it is written memlimit",
        },
        // The simulator has no aggregates that would have to be split.
        Ignored {
            words: &["l4s_ect", "split_gso", "no_split_gso"],
            values: 0,
            note: "",
        },
        Ignored {
            words: &["any_ect"],
            values: 0,
            note: "any_ect is left out: only packets with ECT(1) are of low latency",
        },
    ];

    fn qdisc(&self) -> Qdisc {
        match self.scheduler {
            DualScheduler::Weighted { .. } => Self::QDISC,
            DualScheduler::TimeShifted { .. } => Qdisc::None(
                "a time-shifted FIFO has no equivalent: dualpi2 of Linux has weights",
                "write classic_protection in place of time_shift",
            ),
        }
    }
}

impl DualPi2Config {
    /// Returns the parameters of `tc qdisc add ... dualpi2 limit` (Linux 6.17).
    pub fn linux(limit: Limit) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Returns true if the low-latency queue marks by a ramp in place of the step.
    fn has_ramp(&self) -> bool {
        self.ramp_range > Span::ZERO
    }

    /// Returns the credit while both queues are empty. It favours the queue of the larger weight.
    fn initial_credit(&self) -> i64 {
        match self.scheduler {
            DualScheduler::Weighted { classic_percent } => {
                self.pi2.mtu as i64 * (2 * i64::from(classic_percent) - 100)
            }
            DualScheduler::TimeShifted { .. } => 0,
        }
    }
}

impl Configuration for DualPi2Config {
    type Queue = DualPi2;

    fn build(&self, _random: &mut RandomStream) -> DualPi2 {
        DualPi2 {
            config: *self,
            vars: Pi2Vars::new(&self.pi2),
            credit: self.initial_credit(),
            low_latency: Fifo::default(),
            spared: VecDeque::new(),
            classic: Fifo::default(),
            memory: 0,
            due: 0.0,
        }
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        refuse_coupling(self.coupling)?;
        if let Some(memory_limit) = self.memory_limit {
            refuse_memory(memory_limit, frame_bytes)?;
        }
        if self.ramp_range > Span::ZERO && matches!(self.step, StepThreshold::Packets(_)) {
            return Err(Refusal::new(
                "ramp_range",
                "a range of delays above a threshold in packets",
                "write the threshold as a time, as in step_thresh = \"800us\"",
            ));
        }
        if let DualScheduler::Weighted { classic_percent } = self.scheduler
            && classic_percent > 100
        {
            return Err(Refusal::new(
                "classic_protection",
                format!("a share of {classic_percent} %"),
                "write the classic queue's share in percent, as in classic_protection = 10",
            ));
        }
        self.pi2.check()
    }
}

/// State of `DualPI2`: two FIFOs and one controller (Linux `dualpi2`).
#[derive(Clone, Debug)]
pub struct DualPi2 {
    config: DualPi2Config,
    vars: Pi2Vars,
    /// Credit of the weighted scheduler. The classic queue is served next if it is positive.
    credit: i64,
    low_latency: Fifo,
    /// For each packet of the low-latency queue, true if the step exempts it. Empty if the step
    /// exempts no packet.
    spared: VecDeque<bool>,
    classic: Fifo,
    /// Kernel memory of the packets of both queues, in bytes.
    memory: u64,
    /// Sum of the ramp's probabilities since the last mark, `q.count` of RFC 9332.
    due: f64,
}

/// Returns true for packets of the low-latency queue: ECT(1), and CE, which may have been ECT(1)
/// (RFC 9331 section 5.1).
fn is_l4s(packet: &Packet) -> bool {
    matches!(packet.ecn, Ecn::Capable1 | Ecn::Experienced)
}

/// Decision on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Pass,
    Mark,
    Drop,
}

/// Packet that leaves.
#[derive(Clone, Copy, Debug)]
struct Taken {
    packet: Packet,
    low_latency: bool,
    /// True if the step exempts the packet.
    spared: bool,
    /// Change of the credit if the packet is sent.
    credit: i64,
}

impl DualPi2 {
    /// Returns the base probability, p' of RFC 9332.
    pub fn probability(&self) -> f64 {
        self.vars.probability()
    }

    #[inline]
    fn catch_up(&mut self, now: Time) {
        let arrived = |queue: &Fifo| queue.head().map_or(Time::MAX, |packet| packet.arrived);
        let oldest = arrived(&self.low_latency).min(arrived(&self.classic));
        let oldest = (oldest != Time::MAX).then_some(oldest);
        // Without drops, a probability above that which marks every low-latency packet has no
        // effect.
        let bound = if self.config.drop_overload {
            1.0
        } else {
            1.0 / self.config.coupling
        };
        self.vars.catch_up(&self.config.pi2, now, oldest, bound);
    }

    /// Draws the controller's decision on a packet of one of the queues.
    fn decide(
        &self,
        context: &mut Context<'_>,
        packet: &mut Packet,
        low_latency: bool,
    ) -> Decision {
        let DualPi2Config {
            coupling,
            drop_overload,
            ..
        } = self.config;
        if self.backlog().bytes < 2 * self.config.pi2.mtu {
            return Decision::Pass;
        }
        let overloaded = self.vars.is_overloaded(coupling);
        let drop = if low_latency {
            overloaded && drop_overload && self.vars.hits_classic(context.random)
        } else {
            let hit = self.vars.hits_classic(context.random);
            if !hit {
                return Decision::Pass;
            }
            overloaded || !packet.ecn.is_capable()
        };
        if drop {
            return Decision::Drop;
        }
        if low_latency && !overloaded && self.config.has_ramp() {
            return Decision::Pass;
        }
        let mark = !low_latency || overloaded || self.vars.hits_scalable(context.random, coupling);
        if mark && context.mark(packet, DropReason::Early) {
            return Decision::Mark;
        }
        Decision::Pass
    }

    /// Removes the packet that is served next.
    fn take(&mut self, context: &mut Context<'_>) -> Option<Taken> {
        let both = !self.low_latency.is_empty() && !self.classic.is_empty();
        let low_latency =
            self.classic.is_empty() || (both && self.is_low_latency_next(context.now));
        let queue = if low_latency {
            &mut self.low_latency
        } else {
            &mut self.classic
        };
        let packet = queue.pop(context)?;
        self.memory -= truesize(context.frame_bytes(&packet));
        // Each queue pays with the other's weight. A queue pays nothing if the other one is empty.
        let weight = match self.config.scheduler {
            DualScheduler::Weighted { classic_percent } if both && low_latency => {
                i64::from(classic_percent)
            }
            DualScheduler::Weighted { classic_percent } if both => i64::from(classic_percent) - 100,
            _ => 0,
        };
        Some(Taken {
            packet,
            low_latency,
            spared: low_latency && self.spared.pop_front().unwrap_or(false),
            credit: weight * context.frame_bytes(&packet) as i64,
        })
    }

    /// Returns true if the low-latency queue is served next while both queues have packets.
    fn is_low_latency_next(&self, now: Time) -> bool {
        let waited = |queue: &Fifo| {
            queue
                .head()
                .map_or(Span::ZERO, |packet| now - packet.arrived)
        };
        match self.config.scheduler {
            DualScheduler::Weighted { .. } => self.credit <= 0,
            DualScheduler::TimeShifted { shift } => {
                waited(&self.low_latency) + shift >= waited(&self.classic)
            }
        }
    }

    /// Marks a packet that leaves the low-latency queue as the step or the ramp asks.
    fn native_mark(&mut self, context: &mut Context<'_>, packet: &mut Packet, spared: bool) {
        let native = if spared {
            0.0
        } else {
            self.native_probability(context.now, packet)
        };
        let mark = if self.config.has_ramp() {
            let coupled = self.vars.scalable_probability(self.config.coupling);
            self.recurs(native.max(coupled))
        } else {
            native > 0.0
        };
        if mark {
            let _ = context.mark(packet, DropReason::Forced);
        }
    }

    /// Returns the probability of the low-latency queue's own AQM, p'_L of RFC 9332, which is 0 or
    /// 1 without a ramp.
    fn native_probability(&self, now: Time, packet: &Packet) -> f64 {
        let left = self.low_latency.backlog().packets;
        if left < self.config.min_qlen_left {
            return 0.0;
        }
        let waited = now - packet.arrived;
        match self.config.step {
            StepThreshold::Delay(threshold) if waited <= threshold => 0.0,
            StepThreshold::Delay(threshold) if self.config.has_ramp() => {
                let above = waited.as_secs_f64() - threshold.as_secs_f64();
                (above / self.config.ramp_range.as_secs_f64()).min(1.0)
            }
            StepThreshold::Delay(_) => 1.0,
            StepThreshold::Packets(threshold) => f64::from(u8::from(left > threshold)),
        }
    }

    /// Adds a probability to the sum, and returns true and takes off 1 if the sum exceeds 1
    /// (`recur` of RFC 9332 appendix A.1).
    fn recurs(&mut self, probability: f64) -> bool {
        self.due += probability;
        let mark = self.due > 1.0;
        if mark {
            self.due -= 1.0;
        }
        mark
    }

    /// Returns true if a packet of this size has no place.
    fn is_full(&self, bytes: u64) -> bool {
        let memory = self.config.memory_limit.unwrap_or(u64::MAX);
        !self.config.limit.admits(self.backlog(), bytes) || self.memory + truesize(bytes) > memory
    }
}

impl QueueDiscipline for DualPi2 {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        if packet.segments() > 1 {
            let pieces = context.split(&packet);
            return pieces.for_each(|piece| self.enqueue(context, piece));
        }
        self.catch_up(context.now);
        let bytes = context.frame_bytes(&packet);
        if self.is_full(bytes) {
            context.drop(packet, DropReason::Overlimit);
            return;
        }
        let low_latency = is_l4s(&packet);
        if self.config.drop_early
            && self.decide(context, &mut packet, low_latency) == Decision::Drop
        {
            context.drop(packet, DropReason::Early);
            return;
        }
        let queue = if low_latency {
            &mut self.low_latency
        } else {
            &mut self.classic
        };
        let spared = queue.backlog().packets < self.config.least_backlog;
        if let Err(packet) = queue.push(context, Limit::Unlimited, packet) {
            context.drop(packet, DropReason::Overlimit);
            return;
        }
        self.memory += truesize(bytes);
        if low_latency && self.config.least_backlog > 0 {
            self.spared.push_back(spared);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.catch_up(context.now);
        while let Some(taken) = self.take(context) {
            let Taken {
                mut packet,
                low_latency,
                spared,
                credit,
            } = taken;
            let decision = if self.config.drop_early {
                Decision::Pass
            } else {
                self.decide(context, &mut packet, low_latency)
            };
            if decision == Decision::Drop {
                context.drop(packet, DropReason::Early);
                continue;
            }
            // A packet that is marked already is not reported twice.
            if low_latency && decision == Decision::Pass {
                self.native_mark(context, &mut packet, spared);
            }
            self.credit += credit;
            return Some(packet);
        }
        self.credit = self.config.initial_credit();
        None
    }

    fn backlog(&self) -> Backlog {
        let (low_latency, classic) = (self.low_latency.backlog(), self.classic.backlog());
        Backlog {
            packets: low_latency.packets + classic.packets,
            bytes: low_latency.bytes + classic.bytes,
        }
    }
}

#[cfg(test)]
mod tests;
