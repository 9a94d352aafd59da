//! RED in Linux's fixed-point arithmetic (`net/sched/sch_red.c`, `include/net/red.h`).

use super::config::{check_probability, check_thresholds};
use super::kernel::{Averaging, KernelRed};
use super::tc::red_wlog;
use crate::config::refuse_small_limit;
use crate::keys::{BANDWIDTH, ECN, LIMIT, MEAN};
use crate::{
    Backlog, BuiltIn, Configuration, Context, Fifo, Ignored, Limit, Place, Qdisc, QueueDiscipline,
    Refusal,
};
use goodqueue_types::parameters::{
    Given, Key, Parameter, Parameters, Tc, flag, fraction, integer, size,
};
use goodqueue_types::{DropReason, Packet, RandomStream, Rate, Span, Time, parameters};

/// A queue in bytes, as far as 32 bits go.
const BYTES: Key = size(0, u32::MAX as u64);

parameters! {
    /// Parameters of Linux `red`, by their names in `tc`. Sizes are in bytes.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct LinuxRedConfig("red") {
        limit: Limit = Limit::Unlimited => LIMIT.required().in_tc(Tc::Scaled("limit"));
        /// Average queue in frame bytes below which no packet is dropped.
        min: u32 = 0 => BYTES.in_tc(Tc::Scaled("min")).default("a third of `max`").example("30kB");
        /// Average queue at and above which every packet is dropped or marked: Linux has no gentle
        /// mode.
        max: u32 = 0
            => BYTES.in_tc(Tc::Scaled("max")).default("a quarter of `limit`").example("90kB");
        /// Mean packet size.
        avpkt: u32 = 1_000 => Key::new(MEAN).in_tc(Tc::Scaled("avpkt")).default("\"1000B\"").example("1500B");
        /// Number of packets that may arrive at once without a drop; the weight of the average
        /// follows from it.
        burst: u32 = 1 => integer(1, u32::MAX as u64)
            .tc("burst")
            .default("(2 `min` + `max`) / (3 `avpkt`)")
            .example("55");
        /// Drop probability at `max`.
        probability: f64 = 0.02 => fraction().tc("probability").example("0.02");
        /// tc uses 10 Mbit/s, with a warning, if no rate is given.
        bandwidth: Rate = Rate(10_000_000) => BANDWIDTH;
        /// Adapt the probability every 500 ms (Adaptive RED).
        adaptive: bool = false => flag().tc("adaptive").example("true");
        ecn: bool = false => ECN;
        /// Drop ECN-capable packets, too, if the average exceeds `max`.
        harddrop: bool = false => flag().tc("harddrop").example("true");
        /// Let packets that are not ECN-capable pass, if `ecn` is set.
        nodrop: bool = false => flag().tc("nodrop").example("true");
    }
}

impl BuiltIn for LinuxRedConfig {
    const QDISC: Qdisc = Qdisc::Named("red");
    /// The kernel's cut of the idle table follows from the other parameters.
    const IGNORED: &'static [Ignored] = &[Ignored {
        words: &["Scell_log", "Plog"],
        values: 1,
        note: "",
    }];

    /// Values that are not given follow from the limit, as in `tc`.
    fn read(given: &Given, place: &Place) -> Result<Self, Refusal> {
        let limit = given.get("limit").cloned().map(Limit::from_value);
        let bytes = match limit.ok_or_else(|| Refusal::missing::<Self>("limit"))? {
            Limit::Bytes(bytes) => bytes,
            Limit::Packets(packets) => packets.saturating_mul(place.frame_bytes),
            Limit::Unlimited if !given.has("max") => return Err(Refusal::missing::<Self>("max")),
            Limit::Unlimited => u64::MAX,
        };
        let mut config = Self {
            max: u32::try_from(bytes).unwrap_or(u32::MAX) / 4,
            bandwidth: place.rate,
            ..Self::default()
        };
        config.apply(given);
        if !given.has("min") {
            config.min = config.max / 3;
        }
        if !given.has("burst") {
            config.burst = Self::default_burst(config.min, config.max, config.avpkt);
        }
        Ok(config)
    }
}

impl LinuxRedConfig {
    /// Returns tc's defaults for a limit in bytes: `max` is a quarter of it, `min` a third of that,
    /// and `burst` (2 min + max) / (3 avpkt).
    pub fn tc(limit: u32, avpkt: u32) -> Self {
        let max = limit / 4;
        let min = max / 3;
        Self {
            limit: Limit::Bytes(u64::from(limit)),
            min,
            max,
            avpkt,
            burst: Self::default_burst(min, max, avpkt),
            ..Self::default()
        }
    }

    /// Returns tc's default for `burst`, in packets.
    pub fn default_burst(min: u32, max: u32, avpkt: u32) -> u32 {
        let bytes = (2 * u64::from(min) + u64::from(max)) / (3 * u64::from(avpkt.max(1)));
        bytes.min(u64::from(u32::MAX)) as u32
    }
}

impl LinuxRedConfig {
    fn averaging(&self) -> Averaging {
        Averaging {
            wlog: red_wlog(self.min, self.burst, self.avpkt),
            burst: self.burst,
            max: self.max,
            unit: "bytes",
            avpkt: self.avpkt,
            bandwidth: self.bandwidth,
        }
    }
}

/// Returns the bytes between the thresholds.
fn range(config: &LinuxRedConfig) -> u64 {
    u64::from(config.max.saturating_sub(config.min)).max(1)
}

/// One per cent in units of 2⁻³².
const ONE_PERCENT: u64 = 42_949_673;
/// Time between adaptations of the probability.
const ADAPTATION_INTERVAL: Span = Span::from_millis(500);

impl Configuration for LinuxRedConfig {
    type Queue = LinuxRed;

    fn build(&self, _random: &mut RandomStream) -> LinuxRed {
        LinuxRed::new(*self)
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        check_thresholds(f64::from(self.min), f64::from(self.max))?;
        check_probability("probability", self.probability)?;
        if self.avpkt == 0 {
            return Err(Refusal::new(
                "avpkt",
                "packets of no bytes",
                "write the mean size of a packet, as in avpkt = \"1500B\"",
            ));
        }
        if self.min < self.avpkt {
            let (min, avpkt) = (self.min, self.avpkt);
            return Err(Refusal::new(
                "min",
                format!("{min} bytes hold no burst: a packet has {avpkt}"),
                "write several times avpkt",
            ));
        }
        let least = 1 + self.min / self.avpkt;
        self.averaging()
            .check(format!("write a burst of {least} packets or a few more"))
    }
}

/// State of Linux `red`: a FIFO and an average in bytes.
#[derive(Clone, Debug)]
pub struct LinuxRed {
    config: LinuxRedConfig,
    red: KernelRed,
    waiting: Fifo,
    /// Probability at `max`, in units of 2⁻³².
    max_probability: u64,
    /// Probability per byte between the thresholds, in units of 2⁻³².
    step: u64,
    next_adaptation: Time,
}

/// Decision of Linux on an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Pass,
    Early,
    Forced,
}

impl LinuxRed {
    fn new(config: LinuxRedConfig) -> Self {
        let max_probability = libm::floor(config.probability * 4_294_967_296.0) as u64;
        Self {
            config,
            red: KernelRed::new(&config.averaging()),
            waiting: Fifo::default(),
            max_probability,
            step: (max_probability / range(&config)).max(1),
            next_adaptation: Time::ZERO + ADAPTATION_INTERVAL,
        }
    }

    /// Returns the average backlog in bytes.
    pub fn average_bytes(&self) -> f64 {
        self.red.mean()
    }

    fn action(&mut self, random: &mut RandomStream) -> Action {
        let (bytes, min) = (self.red.whole(), u64::from(self.config.min));
        if self.red.average < min << self.red.wlog {
            self.red.count = None;
            return Action::Pass;
        }
        if bytes >= u64::from(self.config.max) {
            self.red.count = None;
            return Action::Forced;
        }
        if self.red.is_chosen(bytes - min, self.step, random) {
            Action::Early
        } else {
            Action::Pass
        }
    }

    /// Makes the adaptations that the kernel's timer would have made every 500 ms since the last
    /// call.
    fn adapt_until(&mut self, now: Time) {
        while self.config.adaptive && self.next_adaptation <= now {
            let average = self.red.average_at(self.next_adaptation);
            self.adapt(average >> self.red.wlog);
            self.next_adaptation += ADAPTATION_INTERVAL;
        }
    }

    /// Moves the probability so that the average returns to the middle fifth between the thresholds
    /// (`red_adaptative_algo`).
    fn adapt(&mut self, average: u64) {
        let fifth = range(&self.config) / 5;
        let low = u64::from(self.config.min) + 2 * fifth;
        if average > low + fifth && self.max_probability <= 50 * ONE_PERCENT {
            self.max_probability += ONE_PERCENT.min(self.max_probability / 4);
        } else if average < low && self.max_probability >= ONE_PERCENT {
            self.max_probability = self.max_probability / 10 * 9;
        }
        let range = range(&self.config);
        self.step = ((self.max_probability + range / 2) / range).max(1);
    }

    /// Marks the packet if it is to be marked. Returns false if the packet must be dropped.
    fn marks_or_lets_pass(
        &self,
        context: &mut Context<'_>,
        packet: &mut Packet,
        action: Action,
    ) -> bool {
        let (reason, markable) = match action {
            Action::Pass => return true,
            Action::Early => (DropReason::Early, self.config.ecn),
            Action::Forced => (DropReason::Forced, self.config.ecn && !self.config.harddrop),
        };
        markable && (context.mark(packet, reason) || self.config.nodrop)
    }
}

impl QueueDiscipline for LinuxRed {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        self.adapt_until(context.now);
        let backlog = self.waiting.backlog().bytes;
        self.red.update(context.now, backlog);
        let action = self.action(context.random);
        if !self.marks_or_lets_pass(context, &mut packet, action) {
            let reason = match action {
                Action::Forced => DropReason::Forced,
                _ => DropReason::Early,
            };
            return context.drop(packet, reason);
        }
        if let Err(packet) = self.waiting.push(context, self.config.limit, packet) {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.adapt_until(context.now);
        let packet = self.waiting.pop(context);
        if packet.is_none() {
            self.red.found_empty(context.now);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn average(&self) -> Option<f64> {
        Some(self.average_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::red::tests::chi_square;
    use crate::rig::Rig;
    use goodqueue_types::Ecn;

    const BASE: LinuxRedConfig = LinuxRedConfig {
        limit: Limit::Bytes(200_000),
        min: 30_000,
        max: 90_000,
        avpkt: 1000,
        burst: 55,
        probability: 0.02,
        bandwidth: Rate(10_000_000),
        adaptive: false,
        ecn: true,
        harddrop: false,
        nodrop: false,
    };

    /// Returns a queue whose average is `bytes` bytes.
    fn at_average(config: LinuxRedConfig, bytes: u64) -> LinuxRed {
        let mut queue = LinuxRed::new(config);
        queue.red.average = bytes << queue.red.wlog;
        queue
    }

    /// Halfway between the thresholds the probability is 0.01, so gaps of 1 to 100 packets are
    /// equally likely (the kernel's integer arithmetic allows a few of 101). Quantile: 0.999.
    #[test]
    fn gaps_between_marks_are_uniform() {
        let (mut queue, mut random) = (at_average(BASE, 60_000), RandomStream::new(2, "gaps", 0));
        let (mut counts, mut gap, mut seen) = (vec![0_u64; 102], 0, 0);
        while seen <= 50_000 {
            gap += 1;
            if queue.action(&mut random) == Action::Early {
                counts[gap] += u64::from(seen > 0);
                (gap, seen) = (0, seen + 1);
            }
        }
        assert_eq!(counts.iter().sum::<u64>(), 50_000);
        assert!(counts[101] < 100, "{counts:?}");
        assert!(chi_square(&counts[1..101]) < 148.2, "{counts:?}");
    }

    /// A burst of 55 gives avg' = avg + (backlog - avg) / 32, in whole units of 1/32 byte.
    #[test]
    fn the_average_is_in_fixed_point_and_sees_the_backlog_before_the_arrival() {
        let mut rig = Rig::new(&BASE);
        rig.enqueue(3, 1000, Ecn::NotCapable);
        // The link is idle until the first arrival. The next two find 1000 and 2000 bytes.
        let scaled = 1000 + 2000 - (1000 >> 5);
        assert_eq!(rig.queue.red.average, scaled);
        assert_eq!(rig.queue.average(), Some(scaled as f64 / 32.0));
    }

    /// A burst of 55 packets passes with the average below `min`, as the weight was chosen for.
    #[test]
    fn a_burst_of_the_configured_length_leaves_the_average_below_min() {
        let mut rig = Rig::new(&BASE);
        rig.enqueue(55, 1000, Ecn::NotCapable);
        assert!(rig.queue.average_bytes() < 30_000.0);
        assert!(rig.verdicts.is_empty());
    }

    /// Returns four counts for one packet each: marked early, dropped early, marked above max, and
    /// dropped above max.
    fn fates(config: LinuxRedConfig, ecn: Ecn) -> [usize; 4] {
        let mut fates = [0; 4];
        for (index, bytes) in [(0, 60_000), (2, 90_000)] {
            let mut rig = Rig::new(&config);
            rig.queue = at_average(config, bytes);
            rig.queue.red.idle_since = None;
            (rig.queue.red.count, rig.queue.red.mark_at) = (Some(0), 0);
            // The average stays constant with this backlog.
            rig.call(|queue, context| {
                let packet = Packet {
                    size: bytes as u32,
                    ..Packet::default()
                };
                queue.waiting.push(context, Limit::Unlimited, packet)
            })
            .unwrap();
            rig.enqueue(1, 1000, ecn);
            let reason = [DropReason::Early, DropReason::Forced][index / 2];
            fates[index] = rig.marks(reason);
            fates[index + 1] = rig.drops(reason);
        }
        fates
    }

    /// `ecn` marks packets. `harddrop` drops them above max nevertheless. `nodrop` lets packets
    /// pass that cannot be marked.
    #[test]
    fn ecn_marks_harddrop_drops_above_max_and_nodrop_passes_other_packets() {
        let (capable, other) = (Ecn::Capable0, Ecn::NotCapable);
        let off = LinuxRedConfig { ecn: false, ..BASE };
        let hard = LinuxRedConfig {
            harddrop: true,
            ..BASE
        };
        let nodrop = LinuxRedConfig {
            nodrop: true,
            ..BASE
        };
        assert_eq!(fates(off, capable), [0, 1, 0, 1]);
        assert_eq!(fates(BASE, capable), [1, 0, 1, 0]);
        assert_eq!(fates(BASE, other), [0, 1, 0, 1]);
        assert_eq!(fates(hard, capable), [1, 0, 0, 1]);
        assert_eq!(fates(nodrop, other), [0, 0, 0, 0]);
        assert_eq!(fates(nodrop, capable), [1, 0, 1, 0]);
    }

    /// The kernel changes `max_P` every half second: up by a quarter or by 0.01, down to 9/10.
    #[test]
    fn adaptive_turns_the_probability_every_half_second() {
        let config = LinuxRedConfig {
            adaptive: true,
            ..BASE
        };
        let mut queue = at_average(config, 70_000);
        queue.red.idle_since = None;
        assert_eq!(queue.max_probability, 85_899_345);
        queue.adapt_until(Time::ZERO + Span::from_millis(499));
        assert_eq!(queue.max_probability, 85_899_345);
        queue.adapt_until(Time::ZERO + Span::from_millis(500));
        assert_eq!(queue.max_probability, 85_899_345 + 21_474_836);
        queue.red.average = 53_000 << queue.red.wlog;
        queue.adapt_until(Time::ZERO + Span::from_millis(1000));
        assert_eq!(queue.max_probability, 10_737_418 * 9);
        queue.red.average = 60_000 << queue.red.wlog;
        queue.adapt_until(Time::ZERO + Span::from_secs(100));
        assert_eq!(queue.max_probability, 10_737_418 * 9);
        assert_eq!(queue.step, (96_636_762 + 30_000) / 60_000);
    }
}
