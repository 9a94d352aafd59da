//! `CHOKe` as in Linux `sch_choke`: RED that compares each arrival with a packet drawn from the
//! queue, and drops both if they belong to the same flow (Pan, Prabhakar and Psounis, "`CHOKe`: a
//! stateless active queue management scheme for approximating fair bandwidth allocation", INFOCOM
//! 2000).
//!
//! The kernel's queue may have holes where packets were dropped, and after three draws of a hole it
//! takes the head. This queue has none, so that each waiting packet is drawn with the same
//! probability.

use super::config::{check_probability, check_thresholds};
use super::kernel::{Averaging, KernelRed};
use super::tc::red_wlog;
use crate::config::refuse_small_limit;
use crate::keys::{BANDWIDTH, ECN, LIMIT, MEAN};
use crate::{
    Backlog, BuiltIn, Configuration, Context, Fifo, Ignored, Limit, Place, Qdisc, QueueDiscipline,
    Refusal,
};
use goodqueue_types::parameters::{Given, Key, Parameter, Parameters, fraction, integer, packets};
use goodqueue_types::{DropReason, Packet, RandomStream, Rate, Span, parameters};

/// Most packets of the kernel's queue (`CHOKE_MAX_QUEUE`).
const MAX_PACKETS: u32 = 131_071;

/// Threshold in packets.
const PACKETS: Key = packets(0, MAX_PACKETS as u64);

parameters! {
    /// Parameters of `CHOKe`, by their names in `tc`. Thresholds are in packets.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ChokeConfig("choke") {
        limit: Limit = Limit::Unlimited => LIMIT.required();
        /// Average queue in packets up to which no packet is dropped.
        min: u32 = 0 => PACKETS.tc("min").default("a third of `max`").example("8p");
        /// Average queue in packets above which every packet is dropped or marked.
        max: u32 = 0 => PACKETS.tc("max").default("a quarter of `limit`").example("25p");
        /// Mean packet size.
        avpkt: u32 = 1_000 => Key::new(MEAN).tc("avpkt").default("\"1000B\"").example("1500B");
        /// Number of packets that may arrive at once without a drop; the weight of the average
        /// follows from it.
        burst: u32 = 1 => integer(1, 131_071)
            .tc("burst")
            .default("(2 `min` + `max`) / 3")
            .example("14");
        /// Drop probability at `max`.
        probability: f64 = 0.02 => fraction().tc("probability").example("0.02");
        bandwidth: Rate = Rate(10_000_000) => BANDWIDTH;
        ecn: bool = false => ECN;
    }
}

impl BuiltIn for ChokeConfig {
    const QDISC: Qdisc = Qdisc::Named("choke");
    /// The kernel's cut of the idle table follows from the other parameters.
    const IGNORED: &'static [Ignored] = &[Ignored {
        words: &["Scell_log", "Plog"],
        values: 1,
        note: "",
    }];

    /// Values that are not given follow from the limit, as in `tc`.
    fn read(given: &Given, place: &Place) -> Result<Self, Refusal> {
        let limit = given.get("limit").cloned().map(Limit::from_value);
        let packets = match limit.ok_or_else(|| Refusal::missing::<Self>("limit"))? {
            Limit::Packets(packets) => packets,
            Limit::Bytes(bytes) => bytes / place.frame_bytes.max(1),
            Limit::Unlimited if !given.has("max") => return Err(Refusal::missing::<Self>("max")),
            Limit::Unlimited => 0,
        };
        let mut config = Self {
            max: u32::try_from(packets / 4)
                .unwrap_or(u32::MAX)
                .min(MAX_PACKETS),
            bandwidth: place.rate,
            ..Self::default()
        };
        config.apply(given);
        if !given.has("min") {
            config.min = config.max / 3;
        }
        if !given.has("burst") {
            let sum = 2 * u64::from(config.min) + u64::from(config.max);
            config.burst = (sum / 3) as u32;
        }
        Ok(config)
    }
}

impl ChokeConfig {
    /// Returns the values of the average. `tc` computes its weight from the thresholds in bytes.
    fn averaging(&self) -> Averaging {
        let min_bytes = self.min.checked_mul(self.avpkt);
        Averaging {
            wlog: min_bytes.and_then(|min| red_wlog(min, self.burst, self.avpkt)),
            burst: self.burst,
            max: self.max,
            unit: "packets",
            avpkt: self.avpkt,
            bandwidth: self.bandwidth,
        }
    }

    /// Refuses numbers of packets that the kernel or `tc` does not accept.
    fn check_packets(&self) -> Result<(), Refusal> {
        if self.min == 0 {
            return Err(Refusal::new(
                "min",
                "tc takes a lower threshold of 0 packets as one that is not given",
                "write a min of at least 1 packet, or leave it out with a max of at least 3",
            ));
        }
        let Limit::Packets(limit) = self.limit else {
            return Ok(());
        };
        if limit > u64::from(MAX_PACKETS) {
            return Err(Refusal::new(
                "limit",
                format!("{limit} packets are more than the kernel's queue holds, {MAX_PACKETS}"),
                format!("write a limit of at most {MAX_PACKETS} packets"),
            ));
        }
        if u64::from(self.max) > limit {
            return Err(Refusal::new(
                "max",
                format!("max, {} packets, is larger than limit, {limit}", self.max),
                "write a max of at most limit; by default it is a quarter of it",
            ));
        }
        Ok(())
    }
}

impl Configuration for ChokeConfig {
    type Queue = Choke;

    fn build(&self, _random: &mut RandomStream) -> Choke {
        Choke::new(*self)
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        self.check_packets()?;
        check_thresholds(f64::from(self.min), f64::from(self.max))?;
        check_probability("probability", self.probability)?;
        self.averaging()
            .check("write a burst above min, and packets of a usual size".to_owned())
    }
}

/// State of `CHOKe`: a FIFO and an average in packets.
#[derive(Clone, Debug)]
pub struct Choke {
    config: ChokeConfig,
    red: KernelRed,
    waiting: Fifo,
    /// Probability per packet between the thresholds, in units of 2⁻³².
    step: u64,
}

impl Choke {
    fn new(config: ChokeConfig) -> Self {
        let probability = libm::floor(config.probability * 4_294_967_296.0) as u64;
        let range = u64::from(config.max.saturating_sub(config.min)).max(1);
        Self {
            config,
            red: KernelRed::new(&config.averaging()),
            waiting: Fifo::default(),
            step: (probability / range).max(1),
        }
    }

    /// Removes a packet drawn from the queue if it is of the arrival's flow.
    fn matching(&mut self, context: &mut Context<'_>, arrival: &Packet) -> Option<Packet> {
        let place = context
            .random
            .span_below(Span(self.waiting.backlog().packets))
            .0 as usize;
        let drawn = self.waiting.get(place)?;
        let flow = |packet: &Packet| (packet.connection, packet.flow, packet.direction);
        let matches = flow(drawn) == flow(arrival);
        matches
            .then(|| self.waiting.remove(context, place))
            .flatten()
    }

    /// Returns the reason to mark or drop the arrival, or none if it is accepted.
    fn verdict(&mut self, random: &mut RandomStream) -> Option<DropReason> {
        if self.red.average > u64::from(self.config.max) << self.red.wlog {
            self.red.count = None;
            return Some(DropReason::Forced);
        }
        let above = self.red.whole() - u64::from(self.config.min);
        let chosen = self.red.is_chosen(above, self.step, random);
        chosen.then_some(DropReason::Early)
    }
}

impl QueueDiscipline for Choke {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        let backlog = self.waiting.backlog().packets;
        self.red.update(context.now, backlog);
        if self.red.average <= u64::from(self.config.min) << self.red.wlog {
            self.red.count = None;
        } else {
            if let Some(drawn) = self.matching(context, &packet) {
                context.drop(drawn, DropReason::Early);
                return context.drop(packet, DropReason::Early);
            }
            if let Some(reason) = self.verdict(context.random) {
                let marked = self.config.ecn && context.mark(&mut packet, reason);
                if !marked {
                    return context.drop(packet, reason);
                }
            }
        }
        if let Err(packet) = self.waiting.push(context, self.config.limit, packet) {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let packet = self.waiting.pop(context);
        if packet.is_none() {
            self.red.found_empty(context.now);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    /// Returns the average backlog in packets.
    fn average(&self) -> Option<f64> {
        Some(self.red.mean())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Rig;
    use goodqueue_types::{Body, Ecn, FlowId};

    fn config() -> ChokeConfig {
        ChokeConfig {
            limit: Limit::Packets(200),
            min: 10,
            max: 50,
            burst: 23,
            probability: 0.02,
            ..ChokeConfig::default()
        }
    }

    /// Offers a packet of this flow.
    fn offer(rig: &mut Rig<Choke>, flow: u32) {
        let packet = Packet {
            size: 1000,
            flow: FlowId(flow),
            body: Body::Datagram,
            ..Packet::default()
        };
        rig.call(|queue, context| queue.enqueue(context, packet));
    }

    /// Fills the queue with 40 packets of flow 0 below `min`, then sets the average in packets.
    fn filled(config: ChokeConfig, average: u64) -> Rig<Choke> {
        let mut rig = Rig::new(&config);
        for _ in 0..40 {
            rig.queue.red.average = 0;
            offer(&mut rig, 0);
        }
        assert_eq!(rig.waiting(), 40);
        rig.queue.red.average = average << rig.queue.red.wlog;
        rig
    }

    #[test]
    fn defaults_follow_from_the_limit_as_in_tc() {
        let keys = ChokeConfig::default().keys();
        let given = Given(vec![(&keys[0], Limit::Packets(1_200).value())]);
        let place = Place {
            rate: Rate(1_000_000),
            delay: Span::ZERO,
            base_rtt: None,
            frame_bytes: 1514,
        };
        let config = ChokeConfig::read(&given, &place).unwrap();
        assert_eq!((config.min, config.max, config.burst), (100, 300, 166));
        assert_eq!(config.bandwidth, Rate(1_000_000));
    }

    #[test]
    fn up_to_the_lower_threshold_every_packet_passes() {
        let mut rig = filled(config(), 9);
        // The average rises by (40 - 9) / 2^wlog per packet at first, so one stays below min.
        offer(&mut rig, 0);
        assert_eq!((rig.waiting(), rig.verdicts.len()), (41, 0));
    }

    #[test]
    fn an_arrival_of_the_same_flow_as_the_drawn_packet_is_dropped_with_it() {
        let mut rig = filled(config(), 30);
        offer(&mut rig, 0);
        assert_eq!((rig.waiting(), rig.drops(DropReason::Early)), (39, 2));
        // Another flow's packet is compared, too, but matches none of these.
        offer(&mut rig, 1);
        assert_eq!((rig.waiting(), rig.drops(DropReason::Early)), (40, 2));
    }

    /// An arrival of a flow with a share s of the queue matches with probability s.
    #[test]
    fn the_packet_is_drawn_uniformly() {
        let trials = 4_000;
        let mut matched = 0;
        let mut rig = filled(config(), 30);
        for _ in 0..10 {
            rig.queue.red.average = 0;
            offer(&mut rig, 1);
        }
        for _ in 0..trials {
            rig.queue.red.average = 30 << rig.queue.red.wlog;
            // A clone, so that the shares stay 40 and 10 of 50.
            let before = rig.queue.clone();
            let drops = rig.verdicts.len();
            offer(&mut rig, 1);
            matched += usize::from(rig.verdicts.len() == drops + 2);
            rig.queue = before;
        }
        let share = matched as f64 / f64::from(trials);
        // Four standard deviations of 4,000 draws with probability 0.2.
        assert!((share - 0.2).abs() < 0.0253, "{share}");
    }

    #[test]
    fn above_the_upper_threshold_arrivals_are_dropped_or_marked() {
        let mut rig = filled(config(), 60);
        offer(&mut rig, 1);
        assert_eq!((rig.waiting(), rig.drops(DropReason::Forced)), (40, 1));
        let mut rig = filled(
            ChokeConfig {
                ecn: true,
                ..config()
            },
            60,
        );
        let packet = Packet {
            size: 1000,
            flow: FlowId(1),
            ecn: Ecn::Capable0,
            body: Body::Datagram,
            ..Packet::default()
        };
        rig.call(|queue, context| queue.enqueue(context, packet));
        assert_eq!((rig.waiting(), rig.marks(DropReason::Forced)), (41, 1));
    }

    /// Between the thresholds the gaps between random drops are uniform up to 1/p, so that their
    /// mean is half of that, as in RED: p = 0.02 · (30 - 10) / 40 at an average of 30.
    #[test]
    fn between_the_thresholds_drops_have_the_probability_of_red() {
        let mut rig = filled(config(), 30);
        let before = rig.waiting();
        for _ in 0..20_000 {
            rig.queue.red.average = 30 << rig.queue.red.wlog;
            let waiting = rig.queue.waiting.clone();
            offer(&mut rig, 1);
            rig.queue.waiting = waiting;
        }
        assert_eq!(rig.waiting(), before);
        let gap = 20_000.0 / rig.drops(DropReason::Early) as f64;
        // The mean of a uniform gap from 1 to 100 is 50.5. Its standard deviation is 28.9, and four
        // of 396 gaps are 5.8.
        assert!((gap - 50.5).abs() < 5.8, "{gap}");
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let key = |config: ChokeConfig| config.check(1514).unwrap_err().key;
        assert_eq!(config().check(1514), Ok(()));
        assert_eq!(
            key(ChokeConfig {
                min: 50,
                ..config()
            }),
            "min"
        );
        assert_eq!(key(ChokeConfig { min: 0, ..config() }), "min");
        for (packets, refused) in [(49, "max"), (131_072, "limit")] {
            let limit = Limit::Packets(packets);
            assert_eq!(key(ChokeConfig { limit, ..config() }), refused);
        }
        for limit in [Limit::Packets(50), Limit::Packets(131_071)] {
            assert_eq!(ChokeConfig { limit, ..config() }.check(1514), Ok(()));
        }
        assert_eq!(
            key(ChokeConfig {
                burst: 9,
                ..config()
            }),
            "burst"
        );
        let probability = 0.0;
        assert_eq!(
            key(ChokeConfig {
                probability,
                ..config()
            }),
            "probability"
        );
        let bandwidth = Rate(0);
        assert_eq!(
            key(ChokeConfig {
                bandwidth,
                ..config()
            }),
            "bandwidth"
        );
    }
}
