//! Parameters of RED, and ns-2's automatic values for those that are not given.

use super::Red;
use crate::config::refuse_small_limit;
use crate::keys::{BANDWIDTH, ECN, FACTOR, LIMIT, MEAN};
use crate::{BuiltIn, Configuration, Limit, Place, Qdisc, Refusal};
use goodqueue_types::parameters::{
    Given, Key, Kind, LARGEST, Parameter, Parameters, TIMER, Value, flag, fraction, key, number,
    one_of, words,
};
use goodqueue_types::{RandomStream, Rate, Span, parameters, variants, words};

words! {
    /// Unit of the average and its thresholds.
    pub enum RedUnit {
        /// Packets.
        Packets = "packets",
        /// Frame bytes (ns-2 `queue_in_bytes_`).
        Bytes = "bytes",
    }
}

/// Threshold of the average. A number has the unit that the key `unit` gives.
const THRESHOLD: Key = one_of(&[
    Kind::Number {
        min: 0.0,
        max: 1e12,
    },
    Kind::Size {
        min: 0,
        max: LARGEST,
    },
    Kind::Packets {
        min: 0,
        max: LARGEST,
    },
]);

parameters! {
    /// Parameters of RED (Floyd and Jacobson, "Random Early Detection Gateways for Congestion
    /// Avoidance", 1993), as in ns-2. [`RedConfig::ns2`] gives the defaults.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RedConfig("ns2_red") {
        /// Backlog at which an arrival is lost (ns-2: `limit_` times `mean_pktsize_` bytes with
        /// `queue_in_bytes_`). As in ns-2 the backlog excludes the arrival, so the last packet may
        /// exceed a limit in bytes.
        limit: Limit = Limit::Unlimited => LIMIT.required();
        /// Unit of the average and of thresholds that are numbers (`queue_in_bytes_`).
        unit: RedUnit = RedUnit::Bytes => words::<RedUnit>()
            .default("that of `min` and `max`, else \"bytes\"").example("packets");
        /// Average below which nothing is dropped at random (`thresh_`): `"5p"`, `"5000B"`, or a number
        /// of what `unit` says.
        min: f64 = 0.0 => THRESHOLD.default("what 2.5 ms hold, 5 packets at least").example("5p");
        /// Average at which the probability is `max_probability` (`maxthresh_`), as `min`.
        max: f64 = 0.0 => THRESHOLD.default("three times `min`").example("15p");
        /// Weight of the newest sample in the average (`q_weight_`).
        weight: f64 = 0.002 => number(0.0, 1.0).default("by rate and delay").example("0.002");
        /// Drop probability at `max` (1 / `linterm_`).
        max_probability: f64 = 0.1 => fraction().example("0.1");
        /// The probability grows linearly to 1 between `max` and twice `max`, instead of jumping to
        /// 1 at `max`.
        ///
        /// ns-2: `gentle_`.
        gentle: bool = true => flag().example("false");
        /// After a drop, at least 1/p packets pass before the next drop.
        ///
        /// ns-2: `wait_`.
        wait: bool = true => flag().example("false");
        /// Drop large packets more often, in proportion to their size (`bytes_`).
        by_size: bool = true => flag().example("false");
        /// Mean packet size (`mean_pktsize_`).
        mean_packet: u32 = 500 => Key::new(MEAN).example("1500B");
        /// Rate at which imaginary packets of `mean_packet` bytes leave while the link is idle.
        bandwidth: Rate = Rate(10_000_000) => BANDWIDTH;
        ecn: bool = false => ECN;
        /// Probability up to which packets are marked, not dropped (`mark_p_`); `none`: 1.
        ///
        /// No average forces a drop if it is set (`use_mark_p_`). Otherwise every packet is
        /// dropped once the probability has reached 1, ECN-capable or not.
        mark_below: Option<f64> = Some(0.1)
            => one_of(&[Kind::Fraction, Kind::Choice(&["none"])]).example("none");
        /// Algorithm by which `max_probability` follows the load: Floyd et al. 2001, or Feng et
        /// al. 1999.
        adaptation: Option<RedAdaptation> = None => one_of(&[
            Kind::Tagged { tag: "kind", variants: RedAdaptation::VARIANTS },
            Kind::Choice(&["none"]),
        ])
        .example("{ kind = \"floyd\" }");
    }
}

/// Key of the algorithm that adapts RED.
const ADAPTATION: Key = key(
    "kind",
    Kind::Choice(RedAdaptation::WORDS),
    "\"floyd\"",
    "feng",
    "Whose adaptive RED.",
);

variants! {
    /// Algorithm by which adaptive RED changes `max_probability`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum RedAdaptation(ADAPTATION) {
        /// Floyd, Gummadi and Shenker, "Adaptive RED" (2001). It keeps the average in the middle
        /// fifth between the thresholds.
        Floyd = "floyd"("floyd") {
            /// Least time between two changes.
            interval: Span = Span::from_millis(500) => Key::new(TIMER).example("500ms");
            /// Addition to the probability at each increase, limited to a quarter of its value.
            increment: f64 = 0.01 => fraction().example("0.01");
            /// Multiplied at each decrease.
            decrease: f64 = 0.9 => fraction().example("0.9");
            /// Probability at and below which no decrease happens.
            least: f64 = 0.01 => fraction().example("0.01");
            /// Probability at and above which no increase happens.
            most: f64 = 0.5 => fraction().example("0.5");
            /// The gentle part starts from the adapted probability (the paper), not from the
            /// configured one (ns-2).
            gentle_follows: bool = true => flag().example("false");
        },
        /// Feng, Kandlur, Saha and Shin, "A Self-Configuring RED Gateway" (1999): one change for
        /// each crossing of a threshold (`feng_adaptive_`).
        Feng = "feng"("feng") {
            /// Divides when the average falls below `min`.
            decrease: f64 = 3.0 => FACTOR.example("3");
            /// Multiplies when the average exceeds `max`.
            increase: f64 = 2.0 => FACTOR.example("2");
        },
    }
}

impl BuiltIn for RedConfig {
    const QDISC: Qdisc = Qdisc::None(
        "ns-2's RED has no equivalent: Linux averages and drops in its own way",
        "write kind = \"red\", which is RED as Linux has it",
    );

    fn qdisc(&self) -> Qdisc {
        if self.gentle {
            return Qdisc::None(
                "gentle RED has no equivalent: Linux drops everything from max on",
                "write kind = \"red\", which is RED as Linux has it",
            );
        }
        Self::QDISC
    }

    /// Thresholds and weight that are not given are as ns-2's automatic ones.
    fn read(given: &Given, place: &Place) -> Result<Self, Refusal> {
        let link = RedLink {
            rate: place.rate,
            delay: place.delay,
            mean_packet: given
                .get("mean_packet")
                .cloned()
                .map_or(500, u32::from_value),
        };
        let mut config = Self::ns2(link, Limit::Unlimited);
        config.apply(given);
        config.unit = unit(given, link.mean_packet)?;
        if config.unit == RedUnit::Packets && !given.has("min") {
            config.min /= f64::from(link.mean_packet.max(1));
        }
        if !given.has("max") {
            config.max = 3.0 * config.min;
        }
        Ok(config)
    }
}

/// Returns the unit of the average: that of the thresholds, or the one that the file gives. Refuses
/// units that differ, and a number without any unit that would be a part of a packet.
fn unit(given: &Given, mean_packet: u32) -> Result<RedUnit, Refusal> {
    let stated = given.get("unit").cloned().map(RedUnit::from_value);
    let mut unit = stated;
    for key in ["min", "max"] {
        let own = match given.get(key) {
            Some(Value::Packets(_)) => RedUnit::Packets,
            Some(Value::Bytes(_)) => RedUnit::Bytes,
            Some(Value::Number(number)) => {
                if stated.is_none() && 0.0 < *number && *number < f64::from(mean_packet) {
                    let message = format!("{number} without a unit would be less than a packet");
                    let help = if number.fract() > 0.0 {
                        "write unit = \"packets\" or unit = \"bytes\" beside it".to_owned()
                    } else {
                        format!("write {key} = \"{number}p\" or {key} = \"{number}B\"")
                    };
                    return Err(Refusal::new(key, message, help));
                }
                continue;
            }
            _ => continue,
        };
        if unit.is_some_and(|unit| unit != own) {
            let message = "the thresholds and their unit differ";
            let help = "give min, max and unit in packets, as in min = \"5p\", or in bytes";
            return Err(Refusal::new(key, message, help));
        }
        unit = Some(own);
    }
    Ok(unit.unwrap_or(RedUnit::Bytes))
}

/// Properties of the link from which ns-2's automatic values are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedLink {
    /// Rate of the link.
    pub rate: Rate,
    /// Propagation delay of the link.
    pub delay: Span,
    /// Mean packet size in bytes. ns-2's default is 500.
    pub mean_packet: u32,
}

impl RedLink {
    /// Returns the packets of mean size that the link sends per second ("packet time constant").
    pub fn packet_rate(self) -> f64 {
        self.rate.0 as f64 / (8.0 * f64::from(self.mean_packet))
    }

    /// Returns ns-2's automatic weight (`q_weight_ = -1`). The average decays over ten round trips,
    /// each of 100 ms or three times the link's delay, whichever is longer.
    pub fn weight(self) -> f64 {
        let packets = self.packet_rate();
        let round_trip = 3.0 * (self.delay.as_secs_f64() + 1.0 / packets);
        -libm::expm1(-1.0 / (10.0 * round_trip.max(0.1) * packets))
    }

    /// Returns ns-2's automatic `min` in packets (`thresh_ = 0`): half of the packets sent in
    /// `target_delay`, and at least 5. Floyd's "Setting parameters" (1997) has 5, and "Adaptive
    /// RED" section 5.1 has this formula.
    pub fn min_packets(self, target_delay: Span) -> f64 {
        (self.packet_rate() * target_delay.as_secs_f64() / 2.0).max(5.0)
    }
}

impl RedConfig {
    /// Returns ns-2.35's defaults: byte mode, automatic thresholds and weight for a target delay of
    /// 5 ms, `max` three times `min`, probability 0.1, gentle, wait.
    pub fn ns2(link: RedLink, limit: Limit) -> Self {
        let min = link.min_packets(Span::from_millis(5)) * f64::from(link.mean_packet);
        Self {
            limit,
            min,
            max: 3.0 * min,
            weight: link.weight(),
            mean_packet: link.mean_packet,
            bandwidth: link.rate,
            ..Self::default()
        }
    }

    /// Returns the algorithm of the 1993 paper with its recommendations: packets, thresholds of 5
    /// and 15, weight 0.002, probability 0.02, no gentle part, gaps from 1 packet on.
    pub fn floyd_jacobson(bandwidth: Rate, mean_packet: u32, limit: Limit) -> Self {
        Self {
            limit,
            unit: RedUnit::Packets,
            min: 5.0,
            max: 15.0,
            weight: 0.002,
            max_probability: 0.02,
            gentle: false,
            wait: false,
            by_size: false,
            mean_packet,
            bandwidth,
            ecn: false,
            mark_below: None,
            adaptation: None,
        }
    }
}

impl RedAdaptation {
    /// Parameters of "Adaptive RED" (2001), section 4.
    pub const FLOYD_2001: Self = Self::Floyd {
        interval: Span::from_millis(500),
        increment: 0.01,
        decrease: 0.9,
        least: 0.01,
        most: 0.5,
        gentle_follows: true,
    };

    /// Parameters of Feng et al. (1999).
    pub const FENG_1999: Self = Self::Feng {
        decrease: 3.0,
        increase: 2.0,
    };

    /// Returns ns-2's parameters: those of 2001, with a lower bound that shrinks on links above 8
    /// Mb/s.
    pub fn ns2(rate: Rate) -> Self {
        Self::Floyd {
            interval: Span::from_millis(500),
            increment: 0.01,
            decrease: 0.9,
            least: (80_000.0 / rate.0 as f64).min(0.01),
            most: 0.5,
            gentle_follows: false,
        }
    }
}

impl Configuration for RedConfig {
    type Queue = Red;

    fn build(&self, _random: &mut RandomStream) -> Red {
        Red::new(*self)
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        check_thresholds(self.min, self.max)?;
        check_probability("max_probability", self.max_probability)?;
        if !(self.weight > 0.0 && self.weight <= 1.0) {
            return Err(Refusal::new(
                "weight",
                format!("a weight of {} is not above 0 and at most 1", self.weight),
                "write a small number, as in weight = 0.002",
            ));
        }
        if self.mean_packet == 0 {
            return Err(Refusal::new(
                "mean_packet",
                "packets of no bytes",
                "write the mean size of a packet, as in mean_packet = \"1500B\"",
            ));
        }
        if let Some(mark_below) = self.mark_below {
            check_probability("mark_below", mark_below)?;
        }
        self.adaptation.map_or(Ok(()), RedAdaptation::check)
    }
}

impl RedAdaptation {
    fn check(self) -> Result<(), Refusal> {
        match self {
            Self::Floyd {
                interval,
                increment,
                decrease,
                least,
                most,
                ..
            } => {
                let sensible = interval > Span::ZERO
                    && increment > 0.0
                    && (0.0..1.0).contains(&decrease)
                    && 0.0 < least
                    && least <= most
                    && most <= 1.0;
                refuse_unless(
                    sensible,
                    "adaptive RED needs an interval and an increment above 0, a decrease below 1, \
                     and bounds between 0 and 1",
                )
            }
            Self::Feng { decrease, increase } => refuse_unless(
                decrease >= 1.0 && increase >= 1.0,
                "Feng's adaptive RED divides and multiplies by numbers of at least 1",
            ),
        }
    }
}

fn refuse_unless(sensible: bool, message: &str) -> Result<(), Refusal> {
    if sensible {
        Ok(())
    } else {
        let help = "leave out what you did not mean to change: the defaults are the paper's";
        Err(Refusal::new("adaptation", message, help))
    }
}

/// Refuses thresholds that are not in ascending order.
pub fn check_thresholds(min: f64, max: f64) -> Result<(), Refusal> {
    if min >= 0.0 && min < max && max.is_finite() {
        return Ok(());
    }
    Err(Refusal::new(
        "min",
        format!("the lower threshold, {min}, is not below the upper one, {max}"),
        "write min below max; Floyd recommends a third of it",
    ))
}

/// Refuses a value that is not a probability, and 0, with which RED would have no effect.
pub fn check_probability(key: &'static str, value: f64) -> Result<(), Refusal> {
    if value > 0.0 && value <= 1.0 {
        return Ok(());
    }
    Err(Refusal::new(
        key,
        format!("{value} is not a probability above 0"),
        format!("write a number above 0 and at most 1, as in {key} = 0.1"),
    ))
}
