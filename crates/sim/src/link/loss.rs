//! Packets that a link loses at random, independently of its queue. They are counted separately
//! from the queue's drops.

use goodqueue_types::parameters::{Key, Kind, flag, fraction, key, words};
use goodqueue_types::{Body, Packet, RandomStream, variants, words};

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

const KIND: Key = key(
    "kind",
    Kind::Choice(LossConfig::WORDS),
    "\"independent\"",
    "independent",
    "`independent`: each packet or byte for itself; `gilbert_elliott`: in bursts.",
);
const PER: Key = words::<LossUnit>()
    .example("byte")
    .doc("What the probabilities are for: a packet of any size, or a byte of a frame, which is lost with any of its bytes.");
const OF: Key = words::<LossOf>()
    .example("acks")
    .doc("Which packets can be lost: all, those with payload (`data`), or TCP segments without (`acks`).");
const AFTER: Key = flag().example("true").doc(
    "Lose packets after they have taken their time on the link; otherwise before the queue, which never sees them.",
);

variants! {
    /// Random losses of a link.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum LossConfig(KIND) {
        /// Each packet or byte is lost independently.
        Independent = "independent"("independent loss") {
            /// Share of the packets, or bytes, that is lost.
            probability: f64 = 0.0 => fraction().required().example("1%");
            /// Unit to which the probability applies.
            per: LossUnit = LossUnit::Packet => PER;
            /// Packets that can be lost.
            of: LossOf = LossOf::Everything => OF;
            /// True if packets are lost after their transmission, which then took its time in vain.
            /// False if they are lost before the queue, which then never sees them.
            after_transmission: bool = false => AFTER;
        },
        /// Losses come in bursts: a chain of two states with a probability of loss in each (Gilbert
        /// 1960, Elliott 1963), as in `tc netem loss gemodel`.
        GilbertElliott = "gilbert_elliott"("losses in bursts") {
            /// Probability of a step from the good state to the bad one (`p` of `tc netem loss
            /// gemodel`).
            to_bad: f64 = 0.0 => fraction().required().example("0.5%");
            /// Probability of a step back (netem's `r`). If all is lost in the bad state, bursts
            /// are `1 / to_good` long.
            to_good: f64 = 0.0 => fraction().required().example("25%");
            /// Share lost in the bad state (netem's `1-h`).
            loss_bad: f64 = 1.0 => fraction().default("\"100%\"").example("50%");
            /// Share lost in the good state (netem's `1-k`).
            loss_good: f64 = 0.0 => fraction().default("\"0%\"").example("0.01%");
            /// Unit for which the chain takes a step.
            per: LossUnit = LossUnit::Packet => PER;
            /// Packets that can be lost.
            of: LossOf = LossOf::Everything => OF;
            /// True if packets are lost after their transmission, false if before the queue.
            after_transmission: bool = false => AFTER;
        },
    }
}

impl LossConfig {
    /// Returns true if packets are lost after their transmission, false if before the queue.
    pub fn is_after_transmission(&self) -> bool {
        match *self {
            Self::Independent {
                after_transmission, ..
            }
            | Self::GilbertElliott {
                after_transmission, ..
            } => after_transmission,
        }
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
        let chain = Chain::of(&config);
        Self {
            config,
            random,
            chain,
        }
    }

    /// Returns true if packets are lost after their transmission, false if before the queue.
    pub fn is_after_transmission(&self) -> bool {
        self.config.is_after_transmission()
    }

    /// Returns true if the next packet, of `frame_bytes` on the wire, is lost.
    pub fn loses(&mut self, packet: &Packet, frame_bytes: u64) -> bool {
        let (LossConfig::Independent { of, per, .. } | LossConfig::GilbertElliott { of, per, .. }) =
            self.config;
        if !of.concerns(packet) {
            return false;
        }
        let (random, units) = (self.random.unit(), per.count(frame_bytes));
        match (self.config, &mut self.chain) {
            (LossConfig::Independent { probability, .. }, _) => {
                random < loss_of_frame(probability, units)
            }
            (_, Some(chain)) => chain.loses(units, random),
            (_, None) => false,
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
    fn of(config: &LossConfig) -> Option<Self> {
        let LossConfig::GilbertElliott {
            to_bad,
            to_good,
            loss_bad,
            loss_good,
            ..
        } = *config
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
