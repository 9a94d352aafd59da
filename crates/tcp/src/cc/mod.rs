//! Congestion control: decides numbers, and nothing else. Loss detection and repair are the
//! sender's.

mod bbr;
mod bbr3;
mod cubic;
mod dctcp;
mod gaimd;
mod ledbat;
mod max_filter;
mod policer;
mod reno;
mod scalable;
mod slow_start;
#[cfg(test)]
mod testbed;
mod vegas;
mod westwood;
mod window;

use goodqueue_types::{Rate, Span, Time};

pub use bbr::{Bbr, BbrConfig};
pub use bbr3::{Bbr3, Bbr3Config};
pub use cubic::{Cubic, CubicConfig};
pub use dctcp::{Dctcp, DctcpConfig};
pub use gaimd::Gaimd;
pub use ledbat::{Ledbat, LedbatConfig};
pub use reno::Reno;
pub use scalable::{Scalable, ScalableConfig};
pub use vegas::{Vegas, VegasConfig};
pub use westwood::{Westwood, WestwoodConfig};
pub use window::Window;

use crate::config::{CongestionControlConfig, SlowStart, TcpConfig};

/// What an ACK tells a congestion control. Byte counts are of payload.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSample {
    /// When it arrived.
    pub now: Time,
    /// Bytes newly acknowledged in order.
    pub acked: u64,
    /// The newest round-trip time, if this ACK completed a measurement.
    pub rtt: Option<Span>,
    /// Whether the sender is repairing losses by go-back-N (byte counting then takes L = 1).
    pub after_timeout: bool,
    /// Whether the sender is in fast recovery. Only controls that
    /// [set the window in recovery](CongestionControl::sets_window_in_recovery) see such ACKs.
    pub in_recovery: bool,
    /// Bytes this ACK shows delivered, in order or selectively.
    pub delivered: u64,
    /// Bytes this ACK shows lost.
    pub lost: u64,
    /// Bytes in flight before this ACK, and after it.
    pub prior_in_flight: u64,
    /// Bytes in flight after this ACK.
    pub in_flight: u64,
    /// For how long the pace forbids to send: what left last still takes so much of it.
    pub pace_ahead: Span,
    /// The acknowledgement number, and the highest sequence number sent: a round trip has passed
    /// when the first reaches what the second was.
    pub acked_to: u64,
    /// The highest sequence number sent.
    pub sent_to: u64,
    /// Whether the window, and not the application, limited what was sent.
    pub is_window_limited: bool,
    /// The delivery rate, where the sender keeps track of it.
    pub rate: Option<RateSample>,
    /// Change of the one-way delay against an unknown offset, from timestamps, in seconds.
    pub one_way_delay_s: Option<f64>,
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr section 4.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Bytes delivered over the interval.
    pub delivered: u64,
    /// The longer of the send and the ACK interval.
    pub interval: Span,
    /// Total bytes delivered when the packet just acknowledged was sent.
    pub prior_delivered: u64,
    /// Total bytes delivered now.
    pub total_delivered: u64,
    /// Bytes in flight when that packet was sent.
    pub in_flight_at_send: u64,
    /// Bytes lost in total between that packet's sending and now.
    pub lost: u64,
    /// Whether the application, not the window, limited sending over the interval.
    pub is_app_limited: bool,
}

impl RateSample {
    /// Bytes per second, 0 over no time at all.
    pub fn bandwidth(&self) -> f64 {
        if self.interval == Span::ZERO {
            return 0.0;
        }
        self.delivered as f64 / self.interval.as_secs_f64()
    }
}

/// What an ACK of a connection with ECN says about marks (RFC 8257 section 3.3). Byte counts are of
/// payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkSample {
    /// Bytes newly acknowledged in order.
    pub acked: u64,
    /// Bytes that the receiver reports as marked with congestion experienced (DCTCP, `AccECN`).
    pub marked: u64,
    /// The acknowledgement number.
    pub acked_to: u64,
    /// The highest sequence number sent.
    pub sent_to: u64,
}

/// What asks for a smaller window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CongestionSignal {
    /// A lost segment.
    #[default]
    Loss,
    /// An ECN echo (RFC 3168).
    EcnEcho,
}

/// A loss or mark that asks for a smaller window.
#[derive(Clone, Copy, Debug, Default)]
pub struct CongestionEvent {
    /// When it was noticed.
    pub now: Time,
    /// What the decrease starts from, in bytes (see `DecreaseBasis`).
    pub basis: f64,
    /// What asks for it.
    pub signal: CongestionSignal,
    /// Bytes in flight.
    pub in_flight: u64,
}

/// A congestion control. Windows are in bytes.
pub trait CongestionControl: std::fmt::Debug {
    /// New data were acknowledged outside fast recovery.
    fn on_ack(&mut self, sample: &AckSample);
    /// Duplicate or selective ACKs showed a loss: sets ssthresh, and the window to it.
    fn on_congestion_event(&mut self, event: &CongestionEvent);
    /// The retransmission timer expired. With an event, ssthresh falls; without (the same data
    /// timed out again), it stays. The window becomes one segment.
    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>);
    /// The congestion window without recovery's inflation; a real number in some profiles.
    fn window(&self) -> f64;
    /// Sets the window: recovery's exit, idle restart, the initial window.
    fn set_window(&mut self, bytes: f64);
    /// The slow-start threshold, `u64::MAX` while unlimited.
    fn ssthresh(&self) -> u64;
    /// Sets the slow-start threshold.
    fn set_ssthresh(&mut self, bytes: u64);
    /// Before the first data: the flow begins as if its last loss had come at a window of `peak` bytes,
    /// and the share `phase` of the time until the window is back there had passed since. A control that
    /// keeps no share of its window at a loss begins as ever.
    fn begin_between_losses(&mut self, _peak: f64, _phase: f64) {}
    /// The window in whole bytes.
    fn cwnd(&self) -> u64 {
        self.window() as u64
    }
    /// The pace of sending, if the control wants one.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// Fewest segments that leave back to back if sending is paced (Linux: `min_tso_segs`).
    fn least_burst(&self) -> u32 {
        2
    }
    /// An ACK that cannot change the window because recovery or a reduction sets it: only for
    /// what a control measures.
    fn observe(&mut self, _sample: &AckSample) {}
    /// An ACK of a connection with ECN, in whatever state the sender is and before anything else is made
    /// of it: a reduction that it asks for goes by what it says.
    fn on_marks(&mut self, _sample: &MarkSample) {}
    /// Recovery ended: all that was outstanding when it began is acknowledged.
    fn on_recovery_exit(&mut self, _now: Time) {}
    /// The last congestion event or timeout was spurious: go back to the numbers before it.
    fn on_undo(&mut self, _now: Time) {}
    /// A segment is about to be sent with so many bytes in flight; `idle` if none and the
    /// application had nothing to send for a while.
    fn on_send(&mut self, _now: Time, _in_flight: u64, _idle: bool) {}
    /// Whether the control sets the window in fast recovery too, and sees every ACK there (BBR).
    /// Otherwise recovery decides what may be sent until it ends.
    fn sets_window_in_recovery(&self) -> bool {
        false
    }
    /// Whether the sender must take delivery-rate samples.
    fn needs_rate_samples(&self) -> bool {
        false
    }
    /// Whether one round-trip sample per round trip is too few (Vegas).
    fn needs_every_round_trip(&self) -> bool {
        false
    }
}

/// The built-in controls, dispatched by match so that the per-ACK path inlines, and any other.
#[derive(Debug)]
pub(crate) enum Controller {
    Reno(Reno),
    Gaimd(Box<Gaimd>),
    Cubic(Box<Cubic>),
    Bbr(Box<Bbr>),
    Vegas(Box<Vegas>),
    Westwood(Box<Westwood>),
    Dctcp(Box<Dctcp>),
    Scalable(Box<Scalable>),
    Ledbat(Box<Ledbat>),
    Bbr3(Box<Bbr3>),
    Custom(Box<dyn CongestionControl + Send>),
}

impl Controller {
    /// Whether a loss takes a share of the window (Floyd, Handley and Padhye 2000 of `gaimd`, Kelly
    /// 2003 of `scalable`), and not of what is in flight as RFC 5681 and RFC 9438 have it.
    pub fn lowers_window(&self) -> bool {
        matches!(self, Self::Gaimd(_) | Self::Scalable(_))
    }

    /// The smallest control, for an end that never has data to send.
    pub fn smallest(config: &TcpConfig) -> Self {
        Self::Reno(Reno::new(Window::new(config, SlowStart::Classic)))
    }

    pub fn new(config: &TcpConfig) -> Self {
        let window = || Window::new(config, SlowStart::Classic);
        match config.congestion_control {
            CongestionControlConfig::Reno => Self::Reno(Reno::new(window())),
            CongestionControlConfig::Gaimd { alpha, beta } => {
                Self::Gaimd(Box::new(Gaimd::new(window(), alpha, beta)))
            }
            CongestionControlConfig::Cubic(cubic) => {
                Self::Cubic(Box::new(Cubic::new(config, cubic)))
            }
            CongestionControlConfig::Bbr3(bbr3) => Self::Bbr3(Box::new(Bbr3::new(config, bbr3))),
            CongestionControlConfig::Ledbat(ledbat) => {
                Self::Ledbat(Box::new(Ledbat::new(config, ledbat)))
            }
            CongestionControlConfig::Scalable(scalable) => {
                Self::Scalable(Box::new(Scalable::new(config, scalable)))
            }
            CongestionControlConfig::Dctcp(dctcp) => {
                Self::Dctcp(Box::new(Dctcp::new(config, dctcp)))
            }
            CongestionControlConfig::Westwood(westwood) => {
                Self::Westwood(Box::new(Westwood::new(config, westwood)))
            }
            CongestionControlConfig::Vegas(vegas) => {
                Self::Vegas(Box::new(Vegas::new(config, vegas)))
            }
            CongestionControlConfig::Bbr(bbr) => Self::Bbr(Box::new(Bbr::new(config, bbr))),
        }
    }
}

macro_rules! dispatch {
    ($self:ident, $control:ident => $call:expr) => {
        match $self {
            Controller::Reno($control) => $call,
            Controller::Gaimd($control) => $call,
            Controller::Cubic($control) => $call,
            Controller::Bbr($control) => $call,
            Controller::Vegas($control) => $call,
            Controller::Westwood($control) => $call,
            Controller::Dctcp($control) => $call,
            Controller::Scalable($control) => $call,
            Controller::Ledbat($control) => $call,
            Controller::Bbr3($control) => $call,
            Controller::Custom($control) => $call,
        }
    };
}

impl CongestionControl for Controller {
    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        dispatch!(self, control => control.on_ack(sample));
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        dispatch!(self, control => control.on_congestion_event(event));
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        dispatch!(self, control => control.on_retransmission_timeout(event));
    }

    #[inline]
    fn window(&self) -> f64 {
        dispatch!(self, control => control.window())
    }

    fn set_window(&mut self, bytes: f64) {
        dispatch!(self, control => control.set_window(bytes));
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        dispatch!(self, control => control.ssthresh())
    }

    fn set_ssthresh(&mut self, bytes: u64) {
        dispatch!(self, control => control.set_ssthresh(bytes));
    }

    fn begin_between_losses(&mut self, peak: f64, phase: f64) {
        dispatch!(self, control => control.begin_between_losses(peak, phase));
    }

    fn pacing_rate(&self) -> Option<Rate> {
        dispatch!(self, control => control.pacing_rate())
    }

    fn least_burst(&self) -> u32 {
        dispatch!(self, control => control.least_burst())
    }

    fn observe(&mut self, sample: &AckSample) {
        dispatch!(self, control => control.observe(sample));
    }

    fn on_marks(&mut self, sample: &MarkSample) {
        dispatch!(self, control => control.on_marks(sample));
    }

    fn on_recovery_exit(&mut self, now: Time) {
        dispatch!(self, control => control.on_recovery_exit(now));
    }

    fn on_undo(&mut self, now: Time) {
        dispatch!(self, control => control.on_undo(now));
    }

    fn on_send(&mut self, now: Time, in_flight: u64, idle: bool) {
        dispatch!(self, control => control.on_send(now, in_flight, idle));
    }

    #[inline]
    fn sets_window_in_recovery(&self) -> bool {
        dispatch!(self, control => control.sets_window_in_recovery())
    }

    fn needs_rate_samples(&self) -> bool {
        dispatch!(self, control => control.needs_rate_samples())
    }

    fn needs_every_round_trip(&self) -> bool {
        dispatch!(self, control => control.needs_every_round_trip())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::InitialSsthresh;
    use crate::{InitialWindow, Profile};

    fn config(mss: u32, window: u32, ssthresh: InitialSsthresh) -> TcpConfig {
        let mut config = TcpConfig::profile(Profile::Rfc);
        config.mss = mss;
        config.initial_window = InitialWindow::Segments(window);
        config.initial_ssthresh = ssthresh;
        config
    }

    fn acknowledge(control: &mut Controller, times: u32, acked: u64) {
        for _ in 0..times {
            let after_timeout = false;
            control.on_ack(&AckSample {
                now: Time::ZERO,
                acked,
                rtt: None,
                after_timeout,
                ..AckSample::default()
            });
        }
    }

    /// ns-3's `tcp-linux-reno`: seven segments from an initial window of two end at nine, with or
    /// without delayed ACKs; congestion avoidance from one with ssthresh two ends at four.
    #[test]
    fn byte_counting_does_not_care_for_delayed_acks() {
        for mss in [524, 1500] {
            let segment = u64::from(mss);
            let config = config(mss, 2, InitialSsthresh::Unlimited);
            let mut each = Controller::new(&config);
            acknowledge(&mut each, 7, segment);
            assert_eq!(each.cwnd(), 9 * segment);
            let mut second = Controller::new(&config);
            acknowledge(&mut second, 3, 2 * segment);
            acknowledge(&mut second, 1, segment);
            assert_eq!(second.cwnd(), 9 * segment);
        }
        let mut avoidance = Controller::new(&config(524, 1, InitialSsthresh::Segments(2)));
        acknowledge(&mut avoidance, 1 + 2 + 3, 524);
        assert_eq!(avoidance.cwnd(), 4 * 524);
    }

    /// RFC 5681 equation 3 in whole bytes: 536²/W per ACK, at least one byte.
    #[test]
    fn whole_byte_growth() {
        let mut config = config(536, 100, InitialSsthresh::Bytes(536));
        config.byte_counting = false;
        let mut control = Controller::new(&config);
        acknowledge(&mut control, 1, 536);
        assert_eq!(control.cwnd(), 53_600 + 5);
        control.set_window(1e9);
        acknowledge(&mut control, 1, 536);
        assert_eq!(control.cwnd(), 1_000_000_001);
    }

    /// Growth back to the window of the last loss takes W/2 round trips for Reno, βW/α for GAIMD,
    /// log(0.875)/log(1.01) for Scalable TCP, K = ∛(0.3 W/0.4) s for CUBIC. 99 % of it are reached
    /// after the share of that time which the laws' inverses give.
    #[test]
    fn a_flow_may_begin_between_two_losses() {
        let rtt = Span::from_millis(50);
        let peak = 800.0;
        let reno = (CongestionControlConfig::Reno, peak / 2.0, 0.98);
        let gaimd = CongestionControlConfig::Gaimd {
            alpha: 1.0,
            beta: 0.15,
        };
        let gaimd = (gaimd, 0.15 * peak, 1.0 - 0.01 / 0.15);
        let scalable = CongestionControlConfig::Scalable(ScalableConfig::default());
        let scalable = (scalable, 13.42, 1.0 - libm::log(0.99) / libm::log(0.875));
        let cubic = CongestionControlConfig::Cubic(CubicConfig::default());
        let k_rounds = libm::cbrt(0.3 * peak / 0.4) / rtt.as_secs_f64();
        let cubic = (cubic, k_rounds, 1.0 - libm::cbrt(0.01 / 0.3));
        for (profile, (control, epoch, nearly_all)) in [
            (Profile::Rfc, reno),
            (Profile::Linux, reno),
            (Profile::Rfc, gaimd),
            (Profile::Rfc, scalable),
            (Profile::Rfc, cubic),
            (Profile::Linux, cubic),
        ] {
            for phase in [0.0, 0.3, 0.6] {
                let mut config = TcpConfig::profile(profile);
                config.congestion_control = control;
                let mut path = testbed::Path::beginning(&config, rtt);
                let mss = f64::from(config.mss);
                path.control.begin_between_losses(peak * mss, phase);
                assert_eq!(path.control.cwnd(), path.control.ssthresh());
                let mut back = 0.0;
                while path.window() < 0.99 * peak {
                    back += path.send(50);
                }
                let left = (nearly_all - phase) * epoch;
                assert!(
                    (back - left).abs() < 0.05 * left + 1.5,
                    "{profile:?} {control:?} {phase}: {back} instead of {left}"
                );
            }
        }
    }

    #[test]
    fn between_two_losses_of_small_windows() {
        let mut control = Controller::new(&config(1000, 10, InitialSsthresh::Unlimited));
        control.begin_between_losses(6000.0, 0.5);
        assert_eq!((control.cwnd(), control.ssthresh()), (4000, 4000));
        control.begin_between_losses(1000.0, 0.5);
        assert_eq!((control.cwnd(), control.ssthresh()), (2000, 2000));
    }

    #[test]
    fn reno_halves_and_never_below_two_segments() {
        let mut control = Controller::new(&config(1000, 10, InitialSsthresh::Unlimited));
        let event = |basis| CongestionEvent {
            now: Time::ZERO,
            basis,
            ..CongestionEvent::default()
        };
        control.on_congestion_event(&event(10_000.0));
        assert_eq!((control.ssthresh(), control.cwnd()), (5000, 5000));
        control.on_retransmission_timeout(None);
        assert_eq!((control.ssthresh(), control.cwnd()), (5000, 1000));
        control.on_retransmission_timeout(Some(&event(1000.0)));
        assert_eq!((control.ssthresh(), control.cwnd()), (2000, 1000));
    }

    #[test]
    fn gaimd_adds_alpha_and_leaves_one_minus_beta() {
        let mut config = config(1000, 20, InitialSsthresh::Bytes(1000));
        config.congestion_control = CongestionControlConfig::Gaimd {
            alpha: 0.31,
            beta: 0.125,
        };
        let mut control = Controller::new(&config);
        // A window's worth of ACKs adds α segments.
        acknowledge(&mut control, 20, 1000);
        assert_eq!(control.cwnd(), 20_310);
        control.on_congestion_event(&CongestionEvent {
            now: Time::ZERO,
            basis: 20_000.0,
            ..CongestionEvent::default()
        });
        assert_eq!((control.ssthresh(), control.cwnd()), (17_500, 17_500));
    }

    /// ns-2 halves the real window, and only the threshold is whole.
    #[test]
    fn ns2_arithmetic() {
        let mut config = TcpConfig::profile(Profile::Ns2);
        config.initial_ssthresh = InitialSsthresh::Segments(2);
        let mut control = Controller::new(&config);
        acknowledge(&mut control, 2, 1000);
        let window: f64 = 2.5 + 1.0 / 2.5;
        assert!((control.window() - 1000.0 * window).abs() < 1e-9);
        control.set_window(9500.0);
        control.on_congestion_event(&CongestionEvent {
            now: Time::ZERO,
            basis: 9500.0,
            ..CongestionEvent::default()
        });
        assert!((control.window() - 4750.0).abs() < 1e-9);
        assert_eq!(control.ssthresh(), 4000);
    }

    /// RFC 5681 section 3.1.
    #[test]
    fn initial_windows() {
        let bytes = |mss| InitialWindow::Rfc5681.bytes(mss);
        assert_eq!(
            (bytes(2191), bytes(2190), bytes(1096)),
            (2 * 2191, 3 * 2190, 3 * 1096)
        );
        assert_eq!((bytes(1095), bytes(536)), (4 * 1095, 4 * 536));
    }
}
