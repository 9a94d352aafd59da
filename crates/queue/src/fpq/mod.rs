//! Flow-proportional queueing (FPQ): a queue as long as there are flows (R. Morris, "Scalable TCP
//! Congestion Control", INFOCOM 2000).
//!
//! With w packets in the network for each of its TCP connections, a link loses about (0.87 / w)²
//! of them: a buffer in proportion to the number of flows holds the loss rate where it is.

mod flow_count;
#[cfg(test)]
mod tests;

pub use flow_count::FlowCount;

use crate::config::refuse_small_limit;
use crate::red::check_probability;
use crate::{
    Backlog, Configuration, Context, Fifo, Limit, QueueDiscipline, RedConfig, RedDecision, RedLaw,
    RedUnit, Refusal,
};
use goodqueue_types::{DropReason, Packet, RandomStream, Rate, Span};

/// What FPQ can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FpqConfig {
    /// The most that may wait, whatever the number of flows: the memory there is.
    pub limit: Limit,
    /// Packets of queue for each flow (6: a loss rate of 2 %).
    pub packets_per_flow: f64,
    /// The target never falls below this many packets (half a bandwidth-delay product keeps the
    /// link busy when flows are few).
    pub least_packets: f64,
    /// How the target is held.
    pub control: FpqControl,
    /// Places in the bit vector that counts flows (5000).
    pub count_bits: u32,
    /// The time in which the whole vector is cleared once, and an idle flow forgotten (4 s).
    pub count_interval: Span,
    /// Whether ECN-capable packets are marked instead of dropped at random.
    pub ecn: bool,
}

/// How FPQ holds its target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FpqControl {
    /// The target is the queue's limit: tail drop.
    TailDrop,
    /// The variation of RED: the loss rate that belongs to the target, when the average backlog
    /// is at the target; in proportion below and above.
    Red {
        /// The loss rate at the target (0.021, that is (0.87 / 6)²).
        target_loss: f64,
        /// The weight of the newest sample in the average (0.002).
        weight: f64,
        /// The mean packet size in bytes, for the average while the link is idle.
        mean_packet: u32,
        /// The link's rate, for the same.
        bandwidth: Rate,
    },
}

impl FpqConfig {
    /// Six packets for each flow: a loss rate of 2.1 %, held by tail drop.
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            packets_per_flow: 6.0,
            least_packets: 0.0,
            control: FpqControl::TailDrop,
            count_bits: 5000,
            count_interval: Span::from_secs(4),
            ecn: false,
        }
    }

    /// The same as a variation of RED on a link of this rate.
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

/// The loss rate of TCP connections that have so many packets in the network each: (0.87 / w)²
/// for Reno with delayed acknowledgements.
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

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
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
    /// RED whose straight line runs through the target: thresholds of 0 and twice the target, which
    /// move with the number of flows. Uniform gaps of 1 to 1/p - 1 packets lose a share of 2p, so
    /// that the target loss belongs to half its probability.
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

/// A FIFO whose target length is in proportion to the number of active flows.
#[derive(Clone, Debug)]
pub struct Fpq {
    config: FpqConfig,
    flows: FlowCount,
    law: Option<RedLaw>,
    waiting: Fifo,
}

impl Fpq {
    /// The target queue in packets; one at least, or nothing would pass.
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

    /// The count of flows.
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

    fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
        Box::new(self.clone())
    }
}
