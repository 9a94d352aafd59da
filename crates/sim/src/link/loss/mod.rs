//! Packets that a link loses at random, independently of its queue. They are counted separately
//! from the queue's drops.

mod gilbert_elliott;
mod independent;
mod periodic;

use goodqueue_types::parameters::{Key, Kind, flag, key, words};
use goodqueue_types::{Body, Packet, RandomStream, parameters, variants, words};
use std::fmt;

pub use gilbert_elliott::GilbertElliott;
pub use independent::IndependentLoss;
pub use periodic::PeriodicLoss;

words! {
    /// Unit of loss.
    pub enum LossUnit {
        /// A packet of any size.
        Packet = "packet",
        /// A byte of a frame. A frame is lost if any of its bytes is.
        Byte = "byte",
    }

    /// Packets that a link can lose.
    pub enum LossOf {
        /// All packets.
        Everything = "all",
        /// Packets with payload: TCP data, datagrams, pings.
        Data = "data",
        /// TCP segments without payload.
        Acks = "acks",
    }
}

parameters! {
    /// Packets that can be lost, and the place of the loss. All laws have these parameters.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct LossScope("scope of losses") {
        /// Unit to which the probabilities apply.
        per: LossUnit = LossUnit::Packet => words::<LossUnit>().example("byte").doc(
            "Unit that each probability is for: a packet of any size, or a byte of a frame, which is \
             lost with any of its bytes.",
        );
        /// Packets that can be lost: all, those with payload (`data`), or TCP segments without
        /// (`acks`).
        of: LossOf = LossOf::Everything => words::<LossOf>().example("acks");
        /// Lose packets after they have taken their time on the link; otherwise before the queue,
        /// which never sees them.
        after_transmission: bool = false => flag().example("true");
    }
}

const KIND: Key = key(
    "kind",
    Kind::Choice(LossConfig::WORDS),
    "\"independent\"",
    "independent",
    LossConfig::MEANINGS,
);

variants! {
    /// Random losses of a link.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum LossConfig(KIND) as dyn LossLaw {
        /// Each packet or byte is lost independently.
        Independent(loss: IndependentLoss)
            = "independent"("independent loss", "each packet or byte for itself"),
        /// Losses come in bursts.
        GilbertElliott(loss: GilbertElliott)
            = "gilbert_elliott"("losses in bursts", "in bursts"),
        /// Losses come at equal distances.
        Periodic(loss: PeriodicLoss) = "periodic"("periodic loss", "at equal distances"),
    }
}

/// Law by which packets are lost.
pub trait LossLaw {
    /// Returns the packets that can be lost, and the place of the loss.
    fn scope(&self) -> LossScope;

    /// Returns the state of the law at the start of a run.
    fn start(&self) -> Box<dyn LossState>;
}

/// The state is not printed: otherwise the code that prints all of them would be a part of every
/// program.
impl fmt::Debug for dyn LossState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a law of loss")
    }
}

/// State of a law.
pub trait LossState: Send {
    /// Returns true if the next packet is lost. It has this number of units, and `random` is drawn
    /// uniformly from 0 to 1.
    fn loses(&mut self, units: u64, random: f64) -> bool;
}

/// Decides on each packet in order.
#[derive(Debug)]
pub struct LossProcess {
    scope: LossScope,
    random: RandomStream,
    state: Box<dyn LossState>,
}

impl LossProcess {
    /// Creates the losses of one link.
    pub fn new(config: LossConfig, random: RandomStream) -> Self {
        Self {
            scope: config.law().scope(),
            random,
            state: config.law().start(),
        }
    }

    /// Returns true if packets are lost after their transmission, false if before the queue.
    pub fn is_after_transmission(&self) -> bool {
        self.scope.after_transmission
    }

    /// Returns true if the next packet, of `frame_bytes` on the wire, is lost.
    pub fn loses(&mut self, packet: &Packet, frame_bytes: u64) -> bool {
        self.scope.of.concerns(packet)
            && (self.state).loses(self.scope.per.count(frame_bytes), self.random.unit())
    }
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

impl LossUnit {
    fn count(self, frame_bytes: u64) -> u64 {
        match self {
            Self::Packet => 1,
            Self::Byte => frame_bytes,
        }
    }
}

#[cfg(test)]
mod tests;
