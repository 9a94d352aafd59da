//! Round-trip estimation and the retransmission timeout (RFC 6298 and two historical variants).

use goodqueue_types::{Span, Time};

use crate::config::{RtoConfig, RttEstimatorConfig};

/// `T_SRTT_BITS` of ns-2.
const TICK_SRTT_BITS: u32 = 3;
/// `T_RTTVAR_BITS` of ns-2.
const TICK_RTTVAR_BITS: u32 = 2;

/// Turns samples into a timeout. Who may be timed (Karn's rule) is the sender's affair.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    estimate: Estimate,
    /// The timeout in force, backoff included.
    rto: Span,
    /// Whether a sample was taken since the start.
    sampled: bool,
}

#[derive(Clone, Debug)]
enum Estimate {
    /// Seconds.
    Smooth { srtt: f64, rttvar: f64 },
    /// ns-2's scaled integers, in ticks, and the timeout before backoff.
    Ticks {
        srtt: i64,
        rttvar: i64,
        base: Span,
        backoff: u64,
    },
}

impl RttEstimator {
    pub fn new(config: &RtoConfig) -> Self {
        let estimate = match config.estimator {
            RttEstimatorConfig::Rfc6298 { .. } => Estimate::Smooth {
                srtt: 0.0,
                rttvar: 0.0,
            },
            RttEstimatorConfig::Inet2011 => Estimate::Smooth {
                srtt: 0.0,
                rttvar: 0.75,
            },
            RttEstimatorConfig::Ns2Ticks => Estimate::Ticks {
                srtt: 0,
                rttvar: 0,
                base: config.initial,
                backoff: 1,
            },
        };
        Self {
            estimate,
            rto: config.initial,
            sampled: false,
        }
    }

    #[inline]
    pub fn rto(&self) -> Span {
        self.rto
    }

    pub fn srtt(&self, config: &RtoConfig) -> Option<Span> {
        self.sampled.then(|| match self.estimate {
            Estimate::Smooth { srtt, .. } => Span::from_secs_f64(srtt),
            Estimate::Ticks { srtt, .. } => {
                Span(config.granularity.0 * srtt as u64 >> TICK_SRTT_BITS)
            }
        })
    }

    pub fn rttvar(&self, config: &RtoConfig) -> Option<Span> {
        self.sampled.then(|| match self.estimate {
            Estimate::Smooth { rttvar, .. } => Span::from_secs_f64(rttvar),
            Estimate::Ticks { rttvar, .. } => {
                Span(config.granularity.0 * rttvar as u64 >> TICK_RTTVAR_BITS)
            }
        })
    }

    /// Takes the round trip of a segment sent at `sent` and acknowledged at `now`; ends any backoff.
    pub fn sample(&mut self, config: &RtoConfig, sent: Time, now: Time) {
        let first = !self.sampled;
        self.sampled = true;
        match &mut self.estimate {
            Estimate::Smooth { srtt, rttvar } => {
                let rtt = (now - sent).as_secs_f64();
                match config.estimator {
                    RttEstimatorConfig::Rfc6298 { .. } if first => {
                        // (2.2)
                        *srtt = rtt;
                        *rttvar = rtt / 2.0;
                    }
                    RttEstimatorConfig::Rfc6298 { alpha, beta } => {
                        // (2.3): the deviation first, from the old mean.
                        *rttvar += beta * ((*srtt - rtt).abs() - *rttvar);
                        *srtt += alpha * (rtt - *srtt);
                    }
                    _ => {
                        let error = rtt - *srtt;
                        *srtt += 0.125 * error;
                        *rttvar += 0.125 * (error.abs() - *rttvar);
                    }
                }
                let margin = Span::from_secs_f64(4.0 * *rttvar).max(config.granularity);
                let rto = Span::from_secs_f64(*srtt) + margin;
                // (2.4), (2.5)
                self.rto = rto.max(config.minimum).min(config.maximum);
            }
            Estimate::Ticks {
                srtt,
                rttvar,
                base,
                backoff,
            } => {
                *backoff = 1;
                let tick = config.granularity;
                let ticks = ((now.0 / tick.0) as i64 - (sent.0 / tick.0) as i64).max(1);
                if *srtt == 0 {
                    *srtt = ticks << TICK_SRTT_BITS;
                    *rttvar = ticks << (TICK_RTTVAR_BITS - 1);
                } else {
                    let error = ticks - (*srtt >> TICK_SRTT_BITS);
                    *srtt = (*srtt + error).max(1);
                    *rttvar = (*rttvar + error.abs() - (*rttvar >> TICK_RTTVAR_BITS)).max(1);
                }
                *base = tick * (((*rttvar << TICK_SRTT_BITS) + *srtt) >> TICK_SRTT_BITS) as u64;
                self.rto = tick_rto(config, *base, 1);
            }
        }
    }

    /// Doubles the timeout after it passed (RFC 6298 (5.5)).
    pub fn back_off(&mut self, config: &RtoConfig) {
        match &mut self.estimate {
            Estimate::Smooth { .. } => {
                self.rto = self
                    .rto
                    .saturating_mul(2)
                    .min(config.maximum.max(config.minimum));
            }
            Estimate::Ticks {
                srtt,
                rttvar,
                base,
                backoff,
            } => {
                if *backoff < 64 || self.rto < config.maximum {
                    *backoff *= 2;
                }
                self.rto = tick_rto(config, *base, *backoff);
                if *backoff > 8 {
                    // The next sample starts the filter afresh.
                    *rttvar += *srtt >> TICK_SRTT_BITS;
                    *srtt = 0;
                }
            }
        }
    }

    /// Forgets the backoff without a sample, as ns-2 does on some partial ACKs.
    pub fn end_backoff(&mut self, config: &RtoConfig) {
        if let Estimate::Ticks { base, backoff, .. } = &mut self.estimate {
            *backoff = 1;
            self.rto = tick_rto(config, *base, 1);
        }
    }

    /// Raises the timeout to at least `floor` (RFC 6298 (5.7)).
    pub fn raise_to(&mut self, floor: Span) {
        self.rto = self.rto.max(floor);
    }
}

/// ns-2: the minimum before the backoff, the maximum after it, and never below two ticks.
fn tick_rto(config: &RtoConfig, base: Span, backoff: u64) -> Span {
    let rto = base.max(config.minimum).saturating_mul(backoff);
    rto.min(config.maximum).max(config.granularity * 2)
}
