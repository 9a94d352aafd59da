//! Flow-proportional queueing (FPQ), whose queue length is proportional to the number of flows (R.
//! Morris, "Scalable TCP Congestion Control", INFOCOM 2000).
//!
//! If each TCP connection has w packets in the network, a link loses a share of about (0.87 / w)²
//! of them. A buffer in proportion to the number of flows therefore keeps the loss rate constant.

mod flow_count;
#[cfg(test)]
mod tests;

pub use flow_count::FlowCount;

use crate::aqm::red::check_probability;
use crate::config::refuse_small_limit;
use crate::keys::{BANDWIDTH, ECN, FACTOR, LIMIT, MEAN};
use crate::{
    Backlog, BuiltIn, Configuration, Context, Fifo, Limit, Place, Qdisc, QueueDiscipline,
    RedConfig, RedDecision, RedLaw, RedUnit, Refusal,
};
use goodqueue_types::parameters::{
    Given, Key, Kind, LARGEST, Parameters, TIMER, Value, fraction, integer, key, number,
};
use goodqueue_types::{DropReason, Packet, RandomStream, Rate, Span, parameters, variants};

variants! {
    /// Mechanism by which FPQ holds its target.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum FpqControl(CONTROL) {
        /// Tail drop at the target.
        TailDrop = "tail_drop"("tail_drop control"),
        /// A variation of RED. The loss rate is `target_loss` when the average backlog is at the
        /// target, and proportional to the average below and above it.
        Red = "red"("red control") {
            /// Loss rate at the target.
            target_loss: f64 = target_loss(6.0) => fraction().example("0.02");
            /// Weight of the newest sample in the average.
            weight: f64 = 0.002 => fraction().example("0.002");
            /// Mean packet size.
            mean_packet: u32 = 1500
                => Key::new(MEAN).default("the largest frame").example("1500B");
            /// Rate of the link, for the average while the link is idle.
            bandwidth: Rate = Rate(10_000_000) => BANDWIDTH;
        },
    }
}

/// Key of the mechanism.
const CONTROL: Key = key(
    "kind",
    Kind::Choice(FpqControl::WORDS),
    "\"tail_drop\"",
    "red",
    "`tail_drop`: the target is the limit. `red`: random loss about the target.",
);

parameters! {
    /// Parameters of FPQ. The defaults have a loss rate of 2.1 %.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FpqConfig("fpq") {
        limit: Limit = Limit::Unlimited => LIMIT.required();
        /// Number of packets in the queue for each flow.
        packets_per_flow: f64 = 6.0 => FACTOR.example("6");
        /// Smallest target in packets: half a bandwidth-delay product, which applies if flows are
        /// few.
        least_packets: f64 = 0.0 => number(0.0, LARGEST as f64).example("42");
        /// Mechanism that holds the target: tail drop, or random loss as in RED.
        control: FpqControl = FpqControl::TailDrop => Key::new(Kind::Tagged {
            tag: "kind",
            variants: FpqControl::VARIANTS,
        })
        .default("{ kind = \"tail_drop\" }")
        .example("{ kind = \"red\" }");
        /// Places in the bit vector that counts flows.
        count_bits: u32 = 5_000 => integer(1, 100_000_000).example("5000");
        /// Time in which the whole vector is cleared once.
        ///
        /// A flow that sends nothing for this long is no longer counted.
        count_interval: Span = Span::from_secs(4) => Key::new(TIMER).example("4s");
        ecn: bool = false => ECN;
    }
}

impl BuiltIn for FpqConfig {
    const QDISC: Qdisc = Qdisc::None(
        "flow-proportional queueing has no equivalent in Linux",
        "set the limit by hand, or write kind = \"fq_codel\"",
    );

    fn read(given: &Given, place: &Place) -> Result<Self, Refusal> {
        let mut config = Self::default();
        config.apply(given);
        if let FpqControl::Red {
            mean_packet,
            bandwidth,
            ..
        } = &mut config.control
            && let Some(Value::Table(table)) = given.get("control")
        {
            if !table.given.has("mean_packet") {
                *mean_packet = place.frame_bytes as u32;
            }
            if !table.given.has("bandwidth") {
                *bandwidth = place.rate;
            }
        }
        Ok(config)
    }
}

impl FpqConfig {
    /// Returns parameters with tail drop at six packets for each flow, for a loss rate of 2.1 %.
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Returns the same target under the variation of RED, on a link of rate `bandwidth`.
    pub fn red(limit: Limit, bandwidth: Rate, mean_packet: u32) -> Self {
        let control = FpqControl::Red {
            target_loss: target_loss(6.0),
            weight: 0.002,
            mean_packet,
            bandwidth,
        };
        Self {
            control,
            ..Self::new(limit)
        }
    }
}

/// Returns the loss rate of TCP connections that have `packets_per_flow` packets in the network
/// each: (0.87 / w)² for Reno with delayed acknowledgements.
pub fn target_loss(packets_per_flow: f64) -> f64 {
    let share = 0.87 / packets_per_flow;
    (share * share).min(1.0)
}

impl Configuration for FpqConfig {
    type Queue = Fpq;

    fn build(&self, random: &mut RandomStream) -> Fpq {
        Fpq {
            config: *self,
            flows: FlowCount::new(self.count_bits, self.count_interval, random),
            law: self.red_law(),
            waiting: Fifo::default(),
        }
    }

    fn table_bytes(&self) -> usize {
        self.count_bits as usize / 8
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        let refuse = |key, message: &str, help| Err(Refusal::new(key, message, help));
        if !(self.packets_per_flow > 0.0 && self.packets_per_flow.is_finite()) {
            let help = "write a number above 0, as in packets_per_flow = 6";
            return refuse("packets_per_flow", "no queue for any flow", help);
        }
        if !(self.least_packets >= 0.0 && self.least_packets.is_finite()) {
            let help = "write half a bandwidth-delay product in packets, or 0";
            return refuse("least_packets", "a negative queue", help);
        }
        if self.count_bits == 0 || self.count_interval == Span::ZERO {
            let help = "write several bits for each flow, and some seconds, or leave both out";
            return refuse("count_bits", "nothing to count flows with", help);
        }
        match self.control {
            FpqControl::TailDrop => Ok(()),
            FpqControl::Red { mean_packet: 0, .. } => {
                refuse("mean_packet", "packets of no bytes", "write \"1500B\"")
            }
            FpqControl::Red {
                target_loss,
                weight,
                ..
            } => {
                check_probability("target_loss", target_loss)?;
                check_probability("weight", weight)
            }
        }
    }
}

impl FpqConfig {
    /// Returns RED's law with a straight line through the target. Its thresholds are 0 and twice
    /// the target, and move with the number of flows. Uniform gaps of 1 to 1/p - 1 packets lose a
    /// share of 2p, so the target loss requires half of it as the probability at the target.
    fn red_law(&self) -> Option<RedLaw> {
        let FpqControl::Red {
            target_loss,
            weight,
            mean_packet,
            bandwidth,
        } = self.control
        else {
            return None;
        };
        Some(RedLaw::new(RedConfig {
            unit: RedUnit::Packets,
            min: 0.0,
            weight,
            max_probability: target_loss,
            gentle: true,
            ..RedConfig::floyd_jacobson(bandwidth, mean_packet, self.limit)
        }))
    }
}

/// State of FPQ: a FIFO whose target length is proportional to the number of active flows.
#[derive(Clone, Debug)]
pub struct Fpq {
    config: FpqConfig,
    flows: FlowCount,
    law: Option<RedLaw>,
    waiting: Fifo,
}

impl Fpq {
    /// Returns the target queue in packets. The target is at least one packet, because no packet
    /// would pass otherwise.
    pub fn target_packets(&self) -> f64 {
        let FpqConfig {
            packets_per_flow,
            least_packets,
            ..
        } = self.config;
        (packets_per_flow * self.flows.flows())
            .max(least_packets)
            .max(1.0)
    }

    /// Returns the counter of flows.
    pub fn flows(&self) -> &FlowCount {
        &self.flows
    }

    fn decide(&mut self, context: &mut Context<'_>, packet: &Packet) -> RedDecision {
        let (target, backlog) = (self.target_packets(), self.waiting.backlog());
        let bytes = context.frame_bytes(packet);
        match &mut self.law {
            Some(law) => {
                law.set_thresholds(0.0, 2.0 * target);
                law.arrive(context.now, backlog, bytes, context.random)
            }
            None if backlog.packets as f64 + 1.0 > target => RedDecision::Forced,
            None => RedDecision::Pass,
        }
    }
}

impl QueueDiscipline for Fpq {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        self.flows.see(context.now, &packet);
        let reason = match self.decide(context, &packet) {
            RedDecision::Pass => None,
            RedDecision::Early(_) => Some(DropReason::Early),
            RedDecision::Forced => Some(DropReason::Forced),
        };
        if let Some(reason) = reason {
            let may_mark = self.config.ecn && reason == DropReason::Early;
            if !(may_mark && context.mark(&mut packet, reason)) {
                return context.drop(packet, reason);
            }
        }
        if let Err(packet) = self.waiting.push(context, self.config.limit, packet) {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let packet = self.waiting.pop(context);
        if let (None, Some(law)) = (packet, &mut self.law) {
            law.idle(context.now);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn average(&self) -> Option<f64> {
        self.law.as_ref().map(RedLaw::average)
    }
}
