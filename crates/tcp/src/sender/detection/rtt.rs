//! Round-trip estimation and the retransmission timeout (RFC 6298 and variants of Linux, INET and
//! ns-2).

use goodqueue_types::{Span, Time};

use crate::config::{RtoConfig, RttEstimatorConfig};
use crate::maybe::MaybeSpan;

/// Fraction bits of the mean (`T_SRTT_BITS` of ns-2).
const TICK_SRTT_BITS: u32 = 3;
/// Fraction bits of the deviation (`T_RTTVAR_BITS` of ns-2).
const TICK_RTTVAR_BITS: u32 = 2;

/// Estimator that computes a timeout from samples. The sender decides which segments are measured
/// (Karn's rule).
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    estimate: Estimate,
    /// Timeout in force, including backoff.
    rto: Span,
    /// True if a sample was taken.
    sampled: bool,
}

#[derive(Clone, Debug)]
enum Estimate {
    /// Mean and deviation in seconds.
    Smooth { srtt: f64, rttvar: f64 },
    /// Linux's scaled integers, in microseconds: eight times the mean, four times the deviation and
    /// its largest value in this round trip, and the margin that the timeout adds.
    Linux {
        srtt: i64,
        mdev: i64,
        mdev_max: i64,
        margin: i64,
        /// Sequence number whose acknowledgement ends the round trip.
        round_end: u64,
    },
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
            RttEstimatorConfig::Rfc6298 => Estimate::Smooth {
                srtt: 0.0,
                rttvar: 0.0,
            },
            RttEstimatorConfig::Linux => Estimate::Linux {
                srtt: 0,
                mdev: 0,
                mdev_max: 0,
                margin: 0,
                round_end: 0,
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
            Estimate::Linux { srtt, .. } => Span::from_micros(srtt as u64 / 8),
            Estimate::Ticks { srtt, .. } => {
                Span((config.granularity.0 * srtt as u64) >> TICK_SRTT_BITS)
            }
        })
    }

    pub fn rttvar(&self, config: &RtoConfig) -> Option<Span> {
        self.sampled.then(|| match self.estimate {
            Estimate::Smooth { rttvar, .. } => Span::from_secs_f64(rttvar),
            Estimate::Linux { mdev, .. } => Span::from_micros(mdev as u64 / 4),
            Estimate::Ticks { rttvar, .. } => {
                Span((config.granularity.0 * rttvar as u64) >> TICK_RTTVAR_BITS)
            }
        })
    }

    /// Takes the round-trip time of a segment sent at `sent` and acknowledged at `now`. Ends any
    /// backoff.
    pub fn sample(&mut self, config: &RtoConfig, sent: Time, now: Time) {
        let first = !self.sampled;
        self.sampled = true;
        match &mut self.estimate {
            Estimate::Smooth { srtt, rttvar } => {
                let rtt = (now - sent).as_secs_f64();
                match config.estimator {
                    RttEstimatorConfig::Rfc6298 if first => {
                        // RFC 6298 (2.2).
                        *srtt = rtt;
                        *rttvar = rtt / 2.0;
                    }
                    RttEstimatorConfig::Rfc6298 => {
                        // RFC 6298 (2.3) updates the deviation first, from the old mean.
                        *rttvar += config.rttvar_gain * ((*srtt - rtt).abs() - *rttvar);
                        *srtt += config.srtt_gain * (rtt - *srtt);
                    }
                    _ => {
                        let error = rtt - *srtt;
                        *srtt += 0.125 * error;
                        *rttvar += 0.125 * (error.abs() - *rttvar);
                    }
                }
                let margin = Span::from_secs_f64(4.0 * *rttvar).max(config.granularity);
                let rto = Span::from_secs_f64(*srtt) + margin;
                // RFC 6298 (2.4) and (2.5) bound the timeout.
                self.rto = rto.max(config.minimum).min(config.maximum);
            }
            Estimate::Linux {
                srtt,
                mdev,
                mdev_max,
                margin,
                ..
            } => {
                let least = (config.minimum.0 / 1_000_000) as i64;
                let rtt = (((now - sent).0 / 1_000_000) as i64).max(1);
                if first {
                    *srtt = rtt << 3;
                    *mdev = rtt << 1;
                    *margin = (*mdev).max(least);
                    *mdev_max = *margin;
                } else {
                    let error = rtt - (*srtt >> 3);
                    *srtt += error;
                    let mut change = error.abs() - (*mdev >> 2);
                    if error < 0 && change > 0 {
                        // A falling round-trip time should not raise the timeout.
                        change >>= 3;
                    }
                    *mdev += change;
                    *mdev_max = (*mdev_max).max(*mdev);
                    *margin = (*margin).max(*mdev_max);
                }
                self.rto = linux_rto(config, *srtt, *margin);
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

    /// Ends a round trip of Linux's estimator after a sample. The margin falls a quarter of the
    /// distance to the largest deviation in the round, but not below the minimum.
    pub fn end_round(&mut self, config: &RtoConfig, una: u64, next: u64) {
        let Estimate::Linux {
            srtt,
            mdev_max,
            margin,
            round_end,
            ..
        } = &mut self.estimate
        else {
            return;
        };
        if una <= *round_end {
            return;
        }
        if *mdev_max < *margin {
            *margin -= (*margin - *mdev_max) >> 2;
        }
        *round_end = next;
        *mdev_max = (config.minimum.0 / 1_000_000) as i64;
        self.rto = linux_rto(config, *srtt, *margin);
    }

    /// Doubles the timeout after it expired (RFC 6298 (5.5)).
    pub fn back_off(&mut self, config: &RtoConfig) {
        match &mut self.estimate {
            Estimate::Smooth { .. } | Estimate::Linux { .. } => {
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
                    // The next sample resets the filter.
                    *rttvar += *srtt >> TICK_SRTT_BITS;
                    *srtt = 0;
                }
            }
        }
    }

    /// Ends the backoff without a sample, as ns-2 does on some partial ACKs.
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

/// Returns Linux's timeout. Its minimum bounds the margin, not the sum.
fn linux_rto(config: &RtoConfig, srtt: i64, margin: i64) -> Span {
    Span::from_micros(((srtt >> 3) + margin) as u64).min(config.maximum)
}

/// Shortest round-trip time of the last five minutes (Linux's `tcp_min_rtt_wlen`).
#[derive(Clone, Debug)]
pub(crate) struct MinRtt {
    /// The shortest, and the time when it was measured.
    least: MaybeSpan,
    at: Time,
}

impl Default for MinRtt {
    fn default() -> Self {
        Self {
            least: MaybeSpan::UNKNOWN,
            at: Time::ZERO,
        }
    }
}

impl MinRtt {
    const MEMORY: Span = Span::from_secs(300);

    pub fn get(&self) -> Option<Span> {
        self.least.get()
    }

    pub fn update(&mut self, now: Time, rtt: Span) {
        let keep = self.get().is_some_and(|least| least < rtt)
            && now.saturating_since(self.at) <= Self::MEMORY;
        if !keep {
            (self.least, self.at) = (MaybeSpan::known(rtt), now);
        }
    }
}

/// Returns ns-2's timeout. The minimum applies before the backoff and the maximum after it, and the
/// result is never below two ticks.
fn tick_rto(config: &RtoConfig, base: Span, backoff: u64) -> Span {
    let rto = base.max(config.minimum).saturating_mul(backoff);
    rto.min(config.maximum).max(config.granularity * 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpConfig;
    use crate::config::profiles::Profile;

    fn config(alpha: f64, beta: f64) -> RtoConfig {
        RtoConfig {
            minimum: Span::ZERO,
            srtt_gain: alpha,
            rttvar_gain: beta,
            ..TcpConfig::profile(Profile::Rfc).rto
        }
    }

    /// Returns (SRTT, RTTVAR, RTO) in seconds after each sample.
    fn run(config: &RtoConfig, samples: &[f64]) -> Vec<(f64, f64, f64)> {
        let mut rtt = RttEstimator::new(config);
        let step = |seconds: &f64| {
            rtt.sample(
                config,
                Time::ZERO,
                Time::ZERO + Span::from_secs_f64(*seconds),
            );
            let seconds = |span: Option<Span>| span.unwrap().as_secs_f64();
            (
                seconds(rtt.srtt(config)),
                seconds(rtt.rttvar(config)),
                rtt.rto().as_secs_f64(),
            )
        };
        samples.iter().map(step).collect()
    }

    #[test]
    fn rfc6298_arithmetic() {
        let rto = |samples: &[f64]| -> Vec<f64> {
            run(&config(0.125, 0.25), samples)
                .iter()
                .map(|step| step.2)
                .collect()
        };
        assert_eq!(rto(&[1.0, 1.2, 0.9]), [3.0, 2.725, 2.409_375]);
        assert_eq!(rto(&[0.1, 0.1, 0.1, 0.2]), [0.3, 0.25, 0.2125, 0.296_875]);
    }

    /// The samples and gains are those of ns-3's `rtt-test`.
    #[test]
    fn means_and_deviations_of_ns3() {
        let check = |alpha, beta, samples: [f64; 3], expected: [(f64, f64); 3]| {
            for (step, (srtt, rttvar)) in run(&config(alpha, beta), &samples).iter().zip(expected) {
                assert!((step.0 - srtt).abs() < 1e-9 && (step.1 - rttvar).abs() < 1e-9);
            }
        };
        check(
            0.125,
            0.25,
            [1.0, 1.2, 0.9],
            [(1.0, 0.5), (1.025, 0.425), (1.009_375, 0.35)],
        );
        check(
            0.1,
            0.1,
            [1.2, 0.95, 1.4],
            [(1.2, 0.6), (1.175, 0.565), (1.1975, 0.531)],
        );
        check(0.0, 0.0, [1.0, 2.5, 7.0], [(1.0, 0.5); 3]);
        check(
            1.0,
            1.0,
            [1.0, 2.5, 7.0],
            [(1.0, 0.5), (2.5, 1.5), (7.0, 4.5)],
        );
    }

    #[test]
    fn bounds_granularity_and_backoff() {
        let rto = RtoConfig {
            minimum: Span::from_secs(1),
            maximum: Span::from_secs(60),
            granularity: Span::from_millis(500),
            ..config(0.125, 0.25)
        };
        // SRTT + max(G, 4·RTTVAR) = 0.01 + 0.5 is below the minimum.
        assert!((run(&rto, &[0.01])[0].2 - 1.0).abs() < 1e-12);
        let mut rtt = RttEstimator::new(&rto);
        let doubled: Vec<u64> = (0..7)
            .map(|_| {
                rtt.back_off(&rto);
                rtt.rto().0 / Span::from_secs(1).0
            })
            .collect();
        assert_eq!(doubled, [2, 4, 8, 16, 32, 60, 60]);
    }

    #[test]
    fn inet_has_no_special_first_sample() {
        let rto = TcpConfig::profile(Profile::Inet2011).rto;
        // The timeout is 2.625 + 0.625·R.
        assert!((run(&rto, &[0.4])[0].2 - 2.875).abs() < 1e-12);
    }

    #[test]
    fn ns2_counts_ticks_and_takes_the_minimum_before_the_backoff() {
        let rto = TcpConfig::profile(Profile::Ns2).rto;
        let mut rtt = RttEstimator::new(&rto);
        assert_eq!(rtt.rto(), Span::from_secs(3));
        // 40.1 ms are four ticks of 10 ms, which give 3 · 4 ticks, but at least 200 ms.
        rtt.sample(&rto, Time::ZERO, Time::ZERO + Span::from_micros(40_100));
        assert_eq!(rtt.rto(), Span::from_millis(200));
        rtt.back_off(&rto);
        assert_eq!(rtt.rto(), Span::from_millis(400));
        // 50 ticks give s8 = 32 + 46 = 78, v4 = 8 + 46 − 2 = 52 and RTO = 52 + 78/8 = 61 ticks.
        rtt.sample(&rto, Time::ZERO, Time::ZERO + Span::from_millis(500));
        assert_eq!(rtt.rto(), Span::from_millis(610));
    }

    /// Linux has RTO = SRTT + max(4 · RTTVAR, 200 ms). The margin keeps three quarters of itself
    /// after a round trip, and a falling round-trip time raises the deviation by only an eighth.
    #[test]
    fn the_margin_of_linux() {
        let config = TcpConfig::profile(Profile::Linux).rto;
        let mut rtt = RttEstimator::new(&config);
        let mut step = |millis: u64, una, next| {
            rtt.sample(&config, Time::ZERO, Time::ZERO + Span::from_millis(millis));
            rtt.end_round(&config, una, next);
            (
                rtt.srtt(&config).unwrap().0 / 1_000_000,
                rtt.rttvar(&config).unwrap().0 / 1_000_000,
                rtt.rto().0 / 1_000_000,
            )
        };
        assert_eq!(step(100, 1, 1), (100_000, 50_000, 300_000));
        // The mean is 112.5 ms and the deviation 50 + (100 − 50) / 4 ms.
        assert_eq!(step(200, 1, 1), (112_500, 62_500, 362_500));
        // The error of −82.5 ms gives a deviation of 62.5 + 20 / 4 / 8 ms, and the margin follows.
        assert_eq!(step(30, 1, 1), (102_187, 63_125, 354_687));
        // The error is −2.187 ms, one round later. The margin is that of the round.
        let (srtt, deviation, rto) = step(100, 2, 3);
        assert_eq!((srtt, deviation), (101_914, 47_890));
        assert_eq!(rto, 101_914 + 252_500);
    }
}
