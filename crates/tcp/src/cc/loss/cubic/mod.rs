//! CUBIC (RFC 9438): the window is a cubic function of the time since the last decrease, or Reno's
//! window if that is larger.

mod steps;

use goodqueue_types::parameters::{flag, number};
use goodqueue_types::{Span, Time, parameters};

use self::steps::{Steps, Surroundings};

use crate::cc::window::serve_by_window;
use crate::cc::{AckSample, CongestionControl, CongestionEvent, SHARE, Window};
use crate::config::{CubicVariant, SlowStart, TcpConfig};
use crate::maybe::MaybeSpan;

parameters! {
    /// Parameters of CUBIC.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CubicConfig("cubic") {
        /// C: segments per cubic second.
        c: f64 = 0.4 => number(0.000_1, 1_000.0).example("0.4");
        /// Share of the window kept at a loss.
        beta: f64 = 0.7 => SHARE.example("0.7");
        /// Remember less than the window at a loss if it was below the window at the previous loss
        /// (RFC 9438 section 4.7).
        ///
        /// A flow thus gives way to new flows.
        fast_convergence: bool = true => flag().example("false");
        /// The window is at least that of Reno (RFC 9438 section 4.3).
        reno_friendly: bool = true => flag().example("false");
    }
}

/// State of CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    window: Window,
    config: CubicConfig,
    curve: Curve,
    growth: Growth,
    /// Smoothed round-trip time, or the shortest one with Linux.
    rtt: MaybeSpan,
    last_ack: Time,
}

/// Windows of the cubic function, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Curve {
    /// Window of the plateau, or 0 before the first loss.
    w_max: f64,
    /// Window at the last loss.
    prior: f64,
}

/// Algorithm by which the window follows the curve.
#[derive(Clone, Copy, Debug)]
enum Growth {
    /// RFC 9438: the window grows with each acknowledgement.
    Rfc9438 {
        epoch: Option<Epoch>,
        /// Curve and epoch before the last decrease, to be restored if that was spurious.
        before: (Curve, Option<Epoch>),
    },
    /// Linux: the window grows in whole segments. Linux does not restore the curve.
    Linux(Steps),
}

/// An epoch of congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    start: Time,
    /// Time from its start to the plateau, in seconds.
    k: f64,
    plateau: f64,
    /// Window that Reno would have.
    w_est: f64,
}

impl Cubic {
    /// Creates the state for a connection with `config`.
    pub fn new(config: &TcpConfig, cubic: CubicConfig) -> Self {
        Self {
            window: Window::new(config, SlowStart::HyStart),
            config: cubic,
            curve: Curve::default(),
            growth: match config.details.cubic_variant {
                CubicVariant::Rfc9438 => Growth::Rfc9438 {
                    epoch: None,
                    before: (Curve::default(), None),
                },
                CubicVariant::Linux => Growth::Linux(Steps::default()),
            },
            rtt: MaybeSpan::UNKNOWN,
            last_ack: Time::ZERO,
        }
    }

    fn take_rtt(&mut self, sample: Span) {
        self.rtt = MaybeSpan::known(match (self.rtt.get(), &self.growth) {
            (None, _) => sample,
            (Some(rtt), Growth::Linux(_)) => rtt.min(sample),
            (Some(rtt), Growth::Rfc9438 { .. }) => (rtt * 7 + sample) / 8,
        });
    }

    /// Begins congestion avoidance with a window of `cwnd` segments (section 4.2).
    fn begin(&self, now: Time, cwnd: f64) -> Epoch {
        let w_max = self.curve.w_max;
        let (k, plateau) = if w_max > cwnd {
            (libm::cbrt((w_max - cwnd) / self.config.c), w_max)
        } else {
            (0.0, cwnd)
        };
        Epoch {
            start: now,
            k,
            plateau,
            w_est: cwnd,
        }
    }

    /// Returns Reno's additive increase, in segments, that gives Reno's mean window with CUBIC's
    /// decrease (section 4.3).
    fn reno_alpha(&self, w_est: f64) -> f64 {
        let beta = self.config.beta;
        if w_est >= self.curve.prior {
            1.0
        } else {
            3.0 * (1.0 - beta) / (1.0 + beta)
        }
    }

    /// Ends the epoch and returns it.
    fn end_epoch(&mut self) -> Option<Epoch> {
        match &mut self.growth {
            Growth::Rfc9438 { epoch, .. } => epoch.take(),
            Growth::Linux(steps) => {
                steps.end_epoch();
                None
            }
        }
    }

    fn avoid_by_curve(&mut self, now: Time, acked: u64) {
        let Growth::Rfc9438 { epoch, .. } = self.growth else {
            return;
        };
        let mss = self.window.mss();
        let cwnd = self.window.segments();
        let segments = acked as f64 / mss;
        let mut epoch = epoch.unwrap_or_else(|| self.begin(now, cwnd));
        epoch.w_est += self.reno_alpha(epoch.w_est) * segments / cwnd;
        if let Growth::Rfc9438 { epoch: kept, .. } = &mut self.growth {
            *kept = Some(epoch);
        }

        let rtt = self.rtt.get().unwrap_or(Span::ZERO);
        let t = (now.saturating_since(epoch.start) + rtt).as_secs_f64() - epoch.k;
        let target = self.config.c * t * t * t + epoch.plateau;
        // Section 4.2 has the target between the window and 1.5 times the window.
        let step = (target.clamp(cwnd, 1.5 * cwnd) - cwnd) / cwnd * segments;
        let mut grown = cwnd + step;
        if self.config.reno_friendly {
            grown = grown.max(epoch.w_est.min(cwnd + segments));
        }
        self.window.set_cwnd(grown * mss);
    }

    fn avoid_as_linux(&mut self, now: Time, acked: u64) {
        let Growth::Linux(steps) = &mut self.growth else {
            return;
        };
        let mss = self.window.mss();
        let around = Surroundings {
            now,
            config: self.config,
            w_max: self.curve.w_max as u32,
            min_rtt: self.rtt.get().unwrap_or(Span::ZERO),
        };
        let cwnd = (self.window.segments() as u32).max(1);
        let acked = (acked as f64 / mss) as u32;
        let grown = steps.advance(cwnd, acked, &around) - cwnd;
        // A fraction of a segment stays. Without it the window would fall below a threshold that has
        // one, back into slow start.
        self.window
            .set_cwnd(self.window.cwnd() + f64::from(grown) * mss);
    }

    /// Ends the epoch after a congestion event (sections 4.6 and 4.7). Returns the new threshold.
    fn lower(&mut self, event: &CongestionEvent) -> f64 {
        let cwnd = self.window.segments();
        let beta = self.config.beta;
        let (curve, epoch) = (self.curve, self.end_epoch());
        if let Growth::Rfc9438 { before, .. } = &mut self.growth {
            *before = (curve, epoch);
        }
        self.curve.w_max = if self.config.fast_convergence && cwnd < self.curve.w_max {
            cwnd * (1.0 + beta) / 2.0
        } else {
            cwnd
        };
        self.curve.prior = cwnd;
        libm::round(event.decreased(beta))
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, sample: &AckSample) {
        self.last_ack = sample.now;
        if let Some(rtt) = sample.rtt {
            self.take_rtt(rtt);
        }
        let rest = self.window.slow_start(sample);
        match &self.growth {
            _ if rest == 0 => {}
            Growth::Rfc9438 { .. } => self.avoid_by_curve(sample.now, rest),
            Growth::Linux(_) => self.avoid_as_linux(sample.now, rest),
        }
    }

    /// Takes the round-trip times of ACKs in recovery too, as Linux does.
    fn observe(&mut self, sample: &AckSample) {
        if let (Some(rtt), Growth::Linux(_)) = (sample.rtt, &self.growth) {
            self.take_rtt(rtt);
        }
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        let threshold = self.lower(event);
        self.window.decrease_to(threshold);
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        let threshold = event.map(|event| self.lower(event));
        self.window.collapse(threshold);
        // After a timeout, the curve starts from the window at that time (section 4.8).
        self.curve.w_max = 0.0;
        self.end_epoch();
    }

    serve_by_window!();

    /// Begins between two losses. The curve then continues as after a real loss, because it depends
    /// only on how far the window lies below the plateau (section 4.2).
    fn begin_between_losses(&mut self, peak: f64, phase: f64) {
        let left = 1.0 - phase;
        let below = (1.0 - self.config.beta) * left * left * left;
        self.window.begin_at(peak * (1.0 - below));
        self.curve.w_max = peak / self.window.mss();
        self.curve.prior = self.curve.w_max;
    }

    /// Restores the window and the curve after a spurious decrease (section 4.9).
    fn on_undo(&mut self, _now: Time) {
        // Linux only restores the window.
        if self.window.undo()
            && let Growth::Rfc9438 { epoch, before } = &mut self.growth
        {
            (self.curve, *epoch) = *before;
        }
    }

    /// Excludes time in which the application sent nothing from the epoch (section 5.8).
    fn on_send(&mut self, now: Time, idle: bool) {
        match &mut self.growth {
            Growth::Linux(steps) => steps.on_send(now, idle),
            Growth::Rfc9438 {
                epoch: Some(epoch), ..
            } if idle => {
                let silence = now.saturating_since(self.last_ack);
                epoch.start = epoch.start.saturating_add(silence).min(now);
            }
            Growth::Rfc9438 { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testbed::periodic_loss;
    use crate::config::CongestionControlConfig;
    use crate::{InitialSsthresh, InitialWindow, Profile};

    const RTT: Span = Span::from_millis(100);

    fn cubic(window: u32, cubic: CubicConfig) -> Cubic {
        let mut config = TcpConfig::profile(Profile::Rfc);
        config.mss = 1000;
        config.initial_window = InitialWindow::Segments(window);
        config.initial_ssthresh = InitialSsthresh::Segments(1);
        Cubic::new(&config, cubic)
    }

    fn loss(control: &mut Cubic) {
        control.on_congestion_event(&CongestionEvent {
            basis: control.window(),
            ..CongestionEvent::default()
        });
    }

    fn epoch(control: &Cubic) -> Option<Epoch> {
        match control.growth {
            Growth::Rfc9438 { epoch, .. } => epoch,
            Growth::Linux(_) => None,
        }
    }

    fn round(control: &mut Cubic, now: Time) {
        let window = control.cwnd();
        for _ in 0..window / 1000 {
            control.on_ack(&AckSample {
                now,
                acked: 1000,
                rtt: Some(RTT),
                ..AckSample::default()
            });
        }
    }

    /// A window cut from 100 to 70 has K = ∛(30 / 0.4) = 4.217 s. The curve is back at 100 then.
    #[test]
    fn the_plateau_is_reached_after_k() {
        let mut control = cubic(
            100,
            CubicConfig {
                reno_friendly: false,
                ..CubicConfig::default()
            },
        );
        loss(&mut control);
        assert_eq!((control.cwnd(), control.ssthresh()), (70_000, 70_000));
        round(&mut control, Time::ZERO);
        let epoch = epoch(&control).expect("it has begun");
        assert!((epoch.k - 4.217).abs() < 0.0005, "{}", epoch.k);
        let mut at = Vec::new();
        for n in 1..70u64 {
            round(&mut control, Time::ZERO + RTT * n);
            at.push(control.window() / 1000.0);
        }
        // Each round trip moves the window from W(t) towards W(t + RTT).
        for n in [5, 10, 20, 41, 60] {
            let w = |t: f64| 0.4 * (t - 4.217) * (t - 4.217) * (t - 4.217) + 100.0;
            let (least, most) = (w(n as f64 / 10.0), w(n as f64 / 10.0 + 0.1));
            let window = at[n - 1];
            assert!(
                window > least - 0.05 && window < most + 0.05,
                "{n}: {window} in {least}..{most}"
            );
        }
    }

    /// Linux's window of 9 segments is cut to 6.3, and the threshold keeps the fraction. Each ACK covers
    /// one segment. The window does not fall below the threshold again, which would be slow start,
    /// and is back at 9 after K = ∛(2.7 / 0.4) = 1.89 s.
    #[test]
    fn a_threshold_between_whole_segments_does_not_stop_growth() {
        let mut config = TcpConfig::profile(Profile::Linux);
        config.mss = 1000;
        config.initial_window = InitialWindow::Segments(9);
        config.details.whole_segment_ssthresh = false;
        let mut control = Cubic::new(&config, CubicConfig::default());
        loss(&mut control);
        assert_eq!((control.cwnd(), control.ssthresh()), (6300, 6300));
        for n in 0..22 {
            round(&mut control, Time::ZERO + RTT * n);
            assert!(control.cwnd() >= 6300, "{n}: {}", control.cwnd());
        }
        assert!(control.cwnd() >= 9000, "{}", control.cwnd());
    }

    /// Section 4.7: the window falls from 100 to 70, and again at 80. The plateau is then 80 × 0.85
    /// = 68.
    #[test]
    fn fast_convergence_lowers_the_plateau() {
        for (fast_convergence, plateau) in [(true, 68.0), (false, 80.0)] {
            let mut control = cubic(
                100,
                CubicConfig {
                    fast_convergence,
                    ..CubicConfig::default()
                },
            );
            loss(&mut control);
            control.set_window(80_000.0);
            loss(&mut control);
            assert!((control.curve.w_max - plateau).abs() < 1e-9);
            assert_eq!(control.cwnd(), 56_000);
        }
    }

    #[test]
    fn a_spurious_decrease_leaves_no_trace() {
        let mut control = cubic(100, CubicConfig::default());
        loss(&mut control);
        for n in 0..20 {
            round(&mut control, Time::ZERO + RTT * n);
        }
        let (window, curve) = (control.window(), (control.curve, epoch(&control)));
        loss(&mut control);
        assert!(control.window() < 0.71 * window);
        control.on_undo(Time::ZERO + RTT * 20);
        assert_eq!((control.window(), control.ssthresh()), (window, 70_000));
        assert_eq!((control.curve, epoch(&control)), curve);
    }

    /// RFC 9438 section 5.1: RTT 0.1 s, C = 0.4, one loss every 1/p packets, each cycle like the
    /// last. In the Reno-friendly region, at 10⁻² and 10⁻³, the window is 1.2 / √p.
    #[test]
    fn response_function() {
        for (p, packets, wanted) in [
            (1e-2, 100, 12.0),
            (1e-3, 1_000, 38.0),
            (1e-4, 10_000, 187.0),
            (1e-5, 100_000, 1054.0),
        ] {
            let mut config = TcpConfig::profile(Profile::Rfc);
            config.congestion_control = CongestionControlConfig::Cubic(CubicConfig::default());
            let mean = periodic_loss(&config, packets, RTT);
            println!(
                "{p}: {mean} {}",
                crate::cc::testbed::random_loss(&config, p, RTT, 400)
            );
            assert!(
                (mean / wanted - 1.0).abs() < 0.05,
                "{p}: {mean} instead of {wanted}"
            );
        }
    }
}
