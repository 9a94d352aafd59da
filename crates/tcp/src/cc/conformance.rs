//! The rules that every congestion control keeps, and a driver that tests any control against them:
//! the built-in ones and a user's own.
//!
//! ```
//! use goodqueue_tcp::cc::{built_in, conformance};
//! assert!(conformance::check(built_in, conformance::Claims::default(), 1).is_ok());
//! ```

use super::{AckSample, CongestionControl, CongestionEvent, CongestionSignal, SegmentSample};
use crate::{Profile, TcpConfig};
use goodqueue_types::parameters::Words;
use goodqueue_types::{RandomStream, Span, Time};
use std::fmt;

/// Rule that a control broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The window is finite and at least a byte.
    Window,
    /// A loss event leaves a smaller window or threshold.
    Loss,
    /// A timeout leaves a window of at most one segment.
    Timeout,
    /// ACKs do not enlarge a window that was not used.
    Unused,
    /// The control keeps a window that the sender sets.
    Setting,
    /// Two controls with equal inputs behave alike, whatever a third one gets.
    Replay,
}

/// Properties that a control claims to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// True if a loss event leaves a smaller window.
    pub reacts_to_loss: bool,
    /// True if a timeout leaves one segment.
    pub restarts_after_timeout: bool,
    /// True if the window does not grow while the application limits sending.
    pub waits_when_unused: bool,
}

impl Default for Claims {
    fn default() -> Self {
        Self {
            reacts_to_loss: true,
            restarts_after_timeout: true,
            waits_when_unused: true,
        }
    }
}

/// Breach of a rule by a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Rule that was broken.
    pub rule: Rule,
    /// Profile under which it was broken.
    pub profile: &'static str,
    /// Number of the call at which the breach was seen, counted from 1.
    pub call: usize,
    /// Description of the breach.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule,
            profile,
            call,
            message,
        } = self;
        write!(
            formatter,
            "{rule:?} (profile {profile}, call {call}): {message}"
        )
    }
}

impl std::error::Error for Violation {}

/// Number of events of a trial.
const EVENTS: usize = 3_000;
/// ACKs between two losses.
const ACKS_PER_LOSS: usize = 150;
/// Losses, after each of which the next signal is a timeout.
const LOSSES_PER_TIMEOUT: usize = 5;
/// Round-trip time without queueing delay.
const ROUND_TRIP: Span = Span::from_millis(40);

/// Tests a control under every profile with some thousand ACKs, losses and timeouts each. `make`
/// creates a control for a connection. Returns the number of calls.
///
/// # Errors
/// Returns the first rule that the control broke.
pub fn check(
    make: impl Fn(&TcpConfig) -> Box<dyn CongestionControl + Send>,
    claims: Claims,
    seed: u64,
) -> Result<u64, Violation> {
    let mut calls = 0;
    for profile in Profile::ALL {
        let config = TcpConfig::profile(*profile);
        let mut first = Trial::new(&make, &config, profile.word(), claims, seed);
        let mut disturbed = Trial::new(&make, &config, profile.word(), claims, seed + 1);
        let mut again = Trial::new(&make, &config, profile.word(), claims, seed);
        for _ in 0..EVENTS {
            let left = first.step()?;
            disturbed.step()?;
            let right = again.step()?;
            if left.to_bits() != right.to_bits() {
                let message = format!("equal inputs gave windows of {left} and {right} bytes");
                return Err(first.violation(Rule::Replay, message));
            }
        }
        calls += (first.calls + disturbed.calls + again.calls) as u64;
    }
    Ok(calls)
}

/// A control with the inputs that a sender would give it.
struct Trial {
    control: Box<dyn CongestionControl + Send>,
    profile: &'static str,
    claims: Claims,
    random: RandomStream,
    mss: u64,
    now: Time,
    acked_to: u64,
    sent_to: u64,
    events: usize,
    calls: usize,
}

impl Trial {
    fn new(
        make: &impl Fn(&TcpConfig) -> Box<dyn CongestionControl + Send>,
        config: &TcpConfig,
        profile: &'static str,
        claims: Claims,
        seed: u64,
    ) -> Self {
        let mss = u64::from(config.mss);
        Self {
            control: make(config),
            profile,
            claims,
            random: RandomStream::new(seed, "control", 0),
            mss,
            now: Time::ZERO + ROUND_TRIP,
            acked_to: 0,
            sent_to: config.initial_window.bytes(config.mss),
            events: 0,
            calls: 0,
        }
    }

    fn violation(&self, rule: Rule, message: String) -> Violation {
        Violation {
            rule,
            profile: self.profile,
            call: self.calls,
            message,
        }
    }

    /// Gives the control its next input and returns its window.
    fn step(&mut self) -> Result<f64, Violation> {
        self.events += 1;
        if !self.events.is_multiple_of(ACKS_PER_LOSS) {
            let unused = self.events % ACKS_PER_LOSS < ACKS_PER_LOSS / 10;
            self.ack(unused)?;
        } else if (self.events / ACKS_PER_LOSS).is_multiple_of(LOSSES_PER_TIMEOUT) {
            self.time_out()?;
        } else {
            self.lose()?;
        }
        let window = self.control.window();
        if window.is_finite() && window >= 1.0 {
            return Ok(window);
        }
        Err(self.violation(Rule::Window, format!("the window is {window} bytes")))
    }

    fn ack(&mut self, unused: bool) -> Result<(), Violation> {
        let before = self.control.window();
        let sample = self.sample(unused);
        self.calls += 1;
        if !unused {
            self.control.on_ack(&sample);
            self.control.on_send(self.now, false);
            return Ok(());
        }
        self.control.observe(&sample);
        let after = self.control.window();
        if self.claims.waits_when_unused && after > before {
            let message = format!("an ACK for an unused window raised it from {before} to {after}");
            return Err(self.violation(Rule::Unused, message));
        }
        Ok(())
    }

    fn lose(&mut self) -> Result<(), Violation> {
        let event = self.event();
        let before = self.control.window();
        self.calls += 1;
        self.control.on_congestion_event(&event);
        let mut after = self.control.window();
        if self.control.sets_window_in_recovery() {
            // Such a window may follow the threshold with the next ACKs.
            after = after.min(self.control.ssthresh() as f64);
        }
        let large = before >= 4.0 * self.mss as f64;
        if self.claims.reacts_to_loss && large && after >= before {
            let message = format!("a loss event left {after} bytes of a window of {before}");
            return Err(self.violation(Rule::Loss, message));
        }
        // The end of recovery: the sender sets the window to the threshold.
        if !self.control.sets_window_in_recovery() {
            let target = self.control.ssthresh() as f64;
            self.calls += 1;
            self.control.set_window(target);
            let found = self.control.window();
            if (found - target).abs() > 1.0 {
                let message = format!("the sender set {target} bytes and the window is {found}");
                return Err(self.violation(Rule::Setting, message));
            }
        }
        self.control.on_recovery_exit(self.now);
        Ok(())
    }

    fn time_out(&mut self) -> Result<(), Violation> {
        let event = self.event();
        self.calls += 1;
        self.control.on_retransmission_timeout(Some(&event));
        let after = self.control.window();
        if self.claims.restarts_after_timeout && after > self.mss as f64 {
            let message = format!("a timeout left a window of {after} bytes");
            return Err(self.violation(Rule::Timeout, message));
        }
        Ok(())
    }

    fn event(&mut self) -> CongestionEvent {
        self.now += Span::from_millis(1);
        CongestionEvent {
            now: self.now,
            basis: self.control.window(),
            signal: CongestionSignal::Loss,
            kept: None,
        }
    }

    /// Returns an ACK of one or two segments after a round trip with a random queueing delay.
    fn sample(&mut self, unused: bool) -> AckSample {
        let acked = self.mss * (1 + u64::from(self.random.unit() < 0.5));
        let in_flight = (self.control.window() as u64).clamp(self.mss, 1 << 30);
        let rtt = ROUND_TRIP + Span::from_secs_f64(0.02 * self.random.unit());
        self.now += Span(rtt.0 / (in_flight / acked).max(1));
        self.acked_to += acked;
        self.sent_to = self.sent_to.max(self.acked_to + in_flight);
        AckSample {
            now: self.now,
            acked: if unused { 0 } else { acked },
            rtt: Some(rtt),
            acked_to: self.acked_to,
            sent_to: self.sent_to,
            is_window_limited: !unused,
            segments: Some(SegmentSample {
                rtt: Some(rtt),
                delivered: acked,
                prior_in_flight: in_flight,
                in_flight: in_flight - acked.min(in_flight),
                ..SegmentSample::default()
            }),
            ..AckSample::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{CongestionControlConfig, CubicConfig, GaimdConfig, built_in};

    fn with(config: &TcpConfig, control: CongestionControlConfig) -> TcpConfig {
        TcpConfig {
            congestion_control: control,
            ..config.clone()
        }
    }

    #[test]
    fn controls_that_follow_losses_keep_every_rule() {
        let controls = [
            CongestionControlConfig::Reno,
            CongestionControlConfig::Cubic(CubicConfig::default()),
            CongestionControlConfig::Gaimd(GaimdConfig::default()),
        ];
        for control in controls {
            let make = |config: &TcpConfig| built_in(&with(config, control.clone()));
            assert!(
                check(make, Claims::default(), 1).unwrap() > 30_000,
                "{control:?}"
            );
        }
    }

    /// A window with one fault.
    #[derive(Debug)]
    struct Faulty {
        window: f64,
        fault: Rule,
    }

    impl CongestionControl for Faulty {
        fn on_ack(&mut self, sample: &AckSample) {
            self.window += sample.acked as f64;
            if self.fault == Rule::Window {
                self.window = f64::NAN;
            }
            if self.fault == Rule::Replay {
                use std::sync::atomic::{AtomicU64, Ordering};
                static CALLS: AtomicU64 = AtomicU64::new(0);
                self.window += CALLS.fetch_add(1, Ordering::Relaxed) as f64;
            }
        }
        fn observe(&mut self, _sample: &AckSample) {
            if self.fault == Rule::Unused {
                self.window += 1.0;
            }
        }
        fn on_congestion_event(&mut self, _event: &CongestionEvent) {
            if self.fault != Rule::Loss {
                self.window /= 2.0;
            }
        }
        fn on_retransmission_timeout(&mut self, _event: Option<&CongestionEvent>) {
            if self.fault != Rule::Timeout {
                self.window = 536.0;
            }
        }
        fn window(&self) -> f64 {
            self.window
        }
        fn set_window(&mut self, bytes: f64) {
            if self.fault != Rule::Setting {
                self.window = bytes;
            }
        }
        fn ssthresh(&self) -> u64 {
            (self.window as u64).max(3_000) + 100
        }
        fn set_ssthresh(&mut self, _bytes: u64) {}
    }

    #[test]
    fn each_fault_breaks_its_rule() {
        let faults = [
            Rule::Window,
            Rule::Loss,
            Rule::Timeout,
            Rule::Unused,
            Rule::Setting,
            Rule::Replay,
        ];
        for fault in faults {
            let make = |_: &TcpConfig| -> Box<dyn CongestionControl + Send> {
                Box::new(Faulty {
                    window: 14_600.0,
                    fault,
                })
            };
            let broken = check(make, Claims::default(), 1).unwrap_err();
            assert_eq!(broken.rule, fault, "{broken}");
        }
    }
}
