//! What RED can be told, and what ns-2 takes where it is told nothing.

use super::Red;
use crate::config::refuse_small_limit;
use crate::{Configuration, Limit, Refusal};
use goodqueue_types::{RandomStream, Rate, Span};

/// What the average and its thresholds count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedUnit {
    /// Packets.
    Packets,
    /// Frame bytes (ns-2 `queue_in_bytes_`).
    Bytes,
}

/// Parameters of RED (Floyd and Jacobson, "Random Early Detection Gateways for Congestion
/// Avoidance", 1993), as ns-2 has it. Defaults: [`RedConfig::ns2`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of ns-2 that can be set without the others"
)]
pub struct RedConfig {
    /// Who finds so much waiting is lost (ns-2: `limit_` times `mean_pktsize_` bytes with
    /// `queue_in_bytes_`). What is compared is the backlog without the arrival, as in ns-2: of a limit in
    /// bytes the last packet may stand out.
    pub limit: Limit,
    /// What the average counts.
    pub unit: RedUnit,
    /// Below this average, in `unit`, nothing is dropped at random (`thresh_`; tc `min`).
    pub min: f64,
    /// At this average, in `unit`, the probability is `max_probability` (`maxthresh_`; tc `max`).
    pub max: f64,
    /// The weight of the newest sample in the average, from 0 to 1 (`q_weight_`).
    pub weight: f64,
    /// The probability at `max` (`1 / linterm_`; tc `probability`).
    pub max_probability: f64,
    /// Whether the probability grows from `max_probability` to 1 between `max` and twice `max`,
    /// instead of jumping there (`gentle_`).
    pub gentle: bool,
    /// Whether a drop is followed by a wait of 1/p packets before the next may come (`wait_`).
    pub wait: bool,
    /// Whether large packets are dropped more often, in proportion to their size (`bytes_`).
    pub by_size: bool,
    /// The size in bytes for which the other parameters are meant (`mean_pktsize_`; tc `avpkt`).
    pub mean_packet: u32,
    /// The rate at which packets of `mean_packet` are imagined to have left while the link was
    /// idle: the link's (tc `bandwidth`).
    pub bandwidth: Rate,
    /// Whether ECN-capable packets are marked instead of dropped at random (`setbit_`; tc `ecn`).
    pub ecn: bool,
    /// Up to which probability packets are marked, not dropped (`mark_p_` with `use_mark_p_`,
    /// where the average alone forces no drop). With `None` (`use_mark_p_` off) each packet
    /// is dropped, whatever it is, where the probability has reached 1.
    pub mark_below: Option<f64>,
    /// How `max_probability` follows the load (`adaptive_`).
    pub adaptation: Option<RedAdaptation>,
}

/// How adaptive RED turns `max_probability`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RedAdaptation {
    /// Floyd, Gummadi and Shenker, "Adaptive RED" (2001): keeps the average in the middle fifth
    /// between the thresholds.
    Floyd {
        /// The least time between two changes (`interval_`).
        interval: Span,
        /// Added at each increase, but no more than a quarter of what is there (`alpha_`).
        increment: f64,
        /// Multiplied at each decrease (`beta_`).
        decrease: f64,
        /// No decrease from here or below (`bottom_`).
        least: f64,
        /// No increase from here or above (`top_`).
        most: f64,
        /// Whether the gentle part starts from the probability as adapted, as in the paper; in
        /// ns-2 it starts from the configured one for ever.
        gentle_follows: bool,
    },
    /// Feng, Kandlur, Saha and Shin, "A Self-Configuring RED Gateway" (1999): one change for
    /// each crossing of a threshold (`feng_adaptive_`).
    Feng {
        /// Divides when the average falls below `min` (`alpha_`; the paper has 3).
        decrease: f64,
        /// Multiplies when the average exceeds `max` (`beta_`; the paper has 2).
        increase: f64,
    },
}

/// What ns-2's automatic values are computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedLink {
    /// The link's rate.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Span,
    /// The mean packet size in bytes. ns-2 takes 500 unless told.
    pub mean_packet: u32,
}

impl RedLink {
    /// Packets of mean size per second ("packet time constant").
    pub fn packet_rate(self) -> f64 {
        self.rate.0 as f64 / (8.0 * f64::from(self.mean_packet))
    }

    /// ns-2's automatic weight (`q_weight_ = -1`): the average forgets in ten round trips, of
    /// 100 ms or three times the link's delay, whichever is longer.
    pub fn weight(self) -> f64 {
        let packets = self.packet_rate();
        let round_trip = 3.0 * (self.delay.as_secs_f64() + 1.0 / packets);
        -libm::expm1(-1.0 / (10.0 * round_trip.max(0.1) * packets))
    }

    /// ns-2's automatic `min` in packets (`thresh_ = 0`): half of what `target_delay` holds, and
    /// 5 at least. Floyd's "Setting parameters" (1997) has 5; "Adaptive RED" section 5.1 this.
    pub fn min_packets(self, target_delay: Span) -> f64 {
        (self.packet_rate() * target_delay.as_secs_f64() / 2.0).max(5.0)
    }
}

impl RedConfig {
    /// ns-2.35's defaults: byte mode, thresholds and weight automatic for a target delay of 5 ms,
    /// `max` three times `min`, probability 0.1, gentle, wait.
    pub fn ns2(link: RedLink, limit: Limit) -> Self {
        let min = link.min_packets(Span::from_millis(5)) * f64::from(link.mean_packet);
        Self {
            limit,
            unit: RedUnit::Bytes,
            min,
            max: 3.0 * min,
            weight: link.weight(),
            max_probability: 0.1,
            gentle: true,
            wait: true,
            by_size: true,
            mean_packet: link.mean_packet,
            bandwidth: link.rate,
            ecn: false,
            mark_below: Some(0.1),
            adaptation: None,
        }
    }

    /// The algorithm of the 1993 paper with its recommendations: packets, thresholds of 5 and 15,
    /// weight 0.002, probability 0.02, no gentle part, gaps from 1 packet on.
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
    /// The parameters of "Adaptive RED" (2001), section 4.
    pub const FLOYD_2001: Self = Self::Floyd {
        interval: Span::from_millis(500),
        increment: 0.01,
        decrease: 0.9,
        least: 0.01,
        most: 0.5,
        gentle_follows: true,
    };

    /// The parameters of Feng et al. (1999).
    pub const FENG_1999: Self = Self::Feng {
        decrease: 3.0,
        increase: 2.0,
    };

    /// ns-2's: those of 2001, with a lower bound that shrinks on links above 8 Mb/s.
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

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
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

/// Refuses thresholds out of order.
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

/// Refuses what is no probability, and 0, with which RED would do nothing.
pub fn check_probability(key: &'static str, value: f64) -> Result<(), Refusal> {
    if value > 0.0 && value <= 1.0 {
        return Ok(());
    }
    Err(Refusal::new(
        key,
        format!("{value} is no probability above 0"),
        format!("write a number above 0 and at most 1, as in {key} = 0.1"),
    ))
}
