//! Packets that a link loses at random, independently of its queue. They are counted separately
//! from the queue's drops.

use goodqueue_types::{Body, Packet, RandomStream};

/// Random losses of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossConfig {
    /// Frequency and burstiness of losses.
    pub model: LossModel,
    /// Packets that can be lost.
    pub of: LossOf,
    /// True if packets are lost after their transmission, which then took its time in vain. False
    /// if they are lost before the queue, which then never sees them.
    pub after_transmission: bool,
}

/// Random model of losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossModel {
    /// Each packet or byte is lost independently.
    Independent {
        /// Probability of a loss, from 0 to 1.
        probability: f64,
        /// Unit to which the probability applies.
        per: LossUnit,
    },
    /// Losses come in bursts: a chain of two states with a probability of loss in each (Gilbert
    /// 1960, Elliott 1963), as in `tc netem loss gemodel`.
    GilbertElliott {
        /// Probability of a change from the good state to the bad one, at each step (netem `p`).
        to_bad: f64,
        /// Probability of a change from the bad state to the good one, at each step (netem `r`).
        to_good: f64,
        /// Probability of a loss in the bad state (netem `1-h`).
        loss_bad: f64,
        /// Probability of a loss in the good state (netem `1-k`).
        loss_good: f64,
        /// Unit for which the chain takes a step.
        per: LossUnit,
    },
}

/// Unit of loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossUnit {
    /// A packet of any size.
    #[default]
    Packet,
    /// A byte of a frame. A frame is lost if any of its bytes is.
    Byte,
}

/// Packets that a link can lose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossOf {
    /// All packets.
    #[default]
    Everything,
    /// Packets with payload: TCP data, datagrams, pings.
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
    chain: Option<Chain>,
}

impl LossProcess {
    /// Creates the losses of one link.
    pub fn new(config: LossConfig, random: RandomStream) -> Self {
        let chain = Chain::of(&config.model);
        Self {
            config,
            random,
            chain,
        }
    }

    /// Returns true if packets are lost after their transmission, false if before the queue.
    pub fn is_after_transmission(&self) -> bool {
        self.config.after_transmission
    }

    /// Returns true if the next packet, of `frame_bytes` on the wire, is lost.
    pub fn loses(&mut self, packet: &Packet, frame_bytes: u64) -> bool {
        if !self.config.of.concerns(packet) {
            return false;
        }
        let random = self.random.unit();
        match (self.config.model, &mut self.chain) {
            (LossModel::Independent { probability, per }, _) => {
                random < loss_of_frame(probability, per.count(frame_bytes))
            }
            (LossModel::GilbertElliott { per, .. }, Some(chain)) => {
                chain.loses(per.count(frame_bytes), random)
            }
            (LossModel::GilbertElliott { .. }, None) => false,
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

/// Returns 1 - (1 - p)^n, without loss of digits for very small p.
fn loss_of_frame(probability: f64, count: u64) -> f64 {
    if count == 1 {
        return probability;
    }
    -libm::expm1(count as f64 * libm::log1p(-probability))
}

/// Probabilities of changes from a state (first index) to a state: 0 is good, 1 is bad.
type Matrix = [[f64; 2]; 2];

/// The two states of Gilbert and Elliott. The present state decides if a unit is lost. Then the
/// state takes a step.
#[derive(Clone, Debug)]
struct Chain {
    bad: bool,
    step: Matrix,
    /// Probabilities of a step without a loss.
    kept: Matrix,
    /// Number of units in the last frame, with both matrices to its power.
    last: (u64, Matrix, Matrix),
}

impl Chain {
    fn of(model: &LossModel) -> Option<Self> {
        let LossModel::GilbertElliott {
            to_bad,
            to_good,
            loss_bad,
            loss_good,
            ..
        } = *model
        else {
            return None;
        };
        let step = [[1.0 - to_bad, to_bad], [to_good, 1.0 - to_good]];
        let kept = [
            step[0].map(|p| p * (1.0 - loss_good)),
            step[1].map(|p| p * (1.0 - loss_bad)),
        ];
        Some(Self {
            bad: false,
            step,
            kept,
            last: (1, step, kept),
        })
    }

    /// Decides with one draw on the loss of the frame and the state after it. The range of the draw
    /// is divided: first the part in which all units are kept, then the rest; within each, the good
    /// state first.
    fn loses(&mut self, units: u64, random: f64) -> bool {
        if self.last.0 != units {
            self.last = (units, power(self.step, units), power(self.kept, units));
        }
        let from = usize::from(self.bad);
        let (all, kept) = (self.last.1[from], self.last.2[from]);
        let kept_whole = kept[0] + kept[1];
        let lost = random >= kept_whole;
        self.bad = if lost {
            random >= kept_whole + (all[0] - kept[0])
        } else {
            random >= kept[0]
        };
        lost
    }
}

/// Returns a matrix to the `exponent`th power, by squaring.
fn power(mut base: Matrix, mut exponent: u64) -> Matrix {
    let mut result = [[1.0, 0.0], [0.0, 1.0]];
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(&result, &base);
        }
        base = product(&base, &base);
        exponent >>= 1;
    }
    result
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let entry = |row: usize, column: usize| a[row][0] * b[0][column] + a[row][1] * b[1][column];
    [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]]
}

#[cfg(test)]
mod tests;
