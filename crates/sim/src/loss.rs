//! Packets that a link loses at random, whatever its queue does. Counted apart from the queue's.

use goodqueue_types::{Body, Packet, RandomStream};

/// What a link loses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossConfig {
    /// How often and in what bursts.
    pub model: LossModel,
    /// Which packets can be lost.
    pub of: LossOf,
    /// Whether they are lost after their transmission, which then took its time for nothing; else
    /// before the queue, which then never sees them.
    pub after_transmission: bool,
}

/// How losses come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossModel {
    /// Each packet for itself, with this probability.
    Independent {
        /// From 0 to 1.
        probability: f64,
    },
}

/// Which packets a link can lose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossOf {
    /// All.
    #[default]
    Everything,
    /// Those with payload: TCP data, datagrams, pings.
    Data,
    /// TCP segments without payload.
    Acks,
}

impl LossOf {
    fn concerns(self, packet: &Packet) -> bool {
        let is_ack = matches!(&packet.body, Body::Tcp(segment) if segment.payload == 0);
        match self {
            Self::Everything => true,
            Self::Data => !is_ack,
            Self::Acks => is_ack,
        }
    }
}

/// Decides on each packet in order.
#[derive(Clone, Debug)]
pub struct LossProcess {
    config: LossConfig,
    random: RandomStream,
}

impl LossProcess {
    /// The losses of one link.
    pub fn new(config: LossConfig, random: RandomStream) -> Self {
        Self { config, random }
    }

    /// Whether packets are lost after their transmission, not before the queue.
    pub fn is_after_transmission(&self) -> bool {
        self.config.after_transmission
    }

    /// Whether this packet, the next one, of `frame_bytes` on the wire, is lost.
    pub fn loses(&mut self, packet: &Packet, _frame_bytes: u64) -> bool {
        if !self.config.of.concerns(packet) {
            return false;
        }
        match self.config.model {
            LossModel::Independent { probability } => self.random.unit() < probability,
        }
    }
}
