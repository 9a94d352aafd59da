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
    /// Each packet or byte for itself.
    Independent {
        /// The probability of each, from 0 to 1.
        probability: f64,
        /// What it is the probability of.
        per: LossUnit,
    },
    /// In bursts: a chain of two states with a probability of loss in each (Gilbert 1960, Elliott
    /// 1963), as `tc netem loss gemodel` has it.
    GilbertElliott {
        /// From the good state to the bad one, at each step (netem `p`).
        to_bad: f64,
        /// From the bad state to the good one (netem `r`).
        to_good: f64,
        /// The probability of loss in the bad state (netem `1-h`).
        loss_bad: f64,
        /// The probability of loss in the good state (netem `1-k`).
        loss_good: f64,
        /// What makes a step.
        per: LossUnit,
    },
}

/// What is lost or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossUnit {
    /// A packet, whatever its size.
    #[default]
    Packet,
    /// A byte of a frame; a frame is lost with any of its bytes.
    Byte,
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
    chain: Option<Chain>,
}

impl LossProcess {
    /// The losses of one link.
    pub fn new(config: LossConfig, random: RandomStream) -> Self {
        let chain = Chain::of(&config.model);
        Self {
            config,
            random,
            chain,
        }
    }

    /// Whether packets are lost after their transmission, not before the queue.
    pub fn is_after_transmission(&self) -> bool {
        self.config.after_transmission
    }

    /// Whether this packet, the next one, of `frame_bytes` on the wire, is lost.
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

/// 1 - (1 - p)^n, without loss of digits where p is tiny.
fn loss_of_frame(probability: f64, count: u64) -> f64 {
    if count == 1 {
        return probability;
    }
    -libm::expm1(count as f64 * libm::log1p(-probability))
}

/// Probabilities of going from a state (first index) to a state: 0 is good, 1 is bad.
type Matrix = [[f64; 2]; 2];

/// The two states of Gilbert and Elliott. A unit's fate goes by the state that it finds; then the
/// state takes a step.
#[derive(Clone, Debug)]
struct Chain {
    bad: bool,
    step: Matrix,
    /// A step without a loss.
    kept: Matrix,
    /// Both to the power of the number of units in the last frame.
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

    /// One draw decides on both, the fate of the frame and the state after it: first the part in
    /// which all units are kept, then the rest; within each the good state first.
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

/// A matrix to the `exponent`th power, by squaring.
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
