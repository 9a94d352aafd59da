//! Networks as simple as formulas assume, which drive a control without a sender.

use std::collections::VecDeque;

use goodqueue_types::{Bytes, RandomStream, Rate, Span, Time};

use super::{
    AckSample, CongestionControl, CongestionEvent, CongestionSignal, Controller, LostSegment,
    MarkSample, RateSample, SegmentSample,
};
use crate::config::{CongestionControlConfig, InitialSsthresh, TcpConfig};

/// A control on a path with a constant round-trip time.
pub struct Path {
    pub control: Controller,
    pub now: Time,
    mss: u64,
    rtt: Span,
}

impl Path {
    /// Creates a path whose control is in congestion avoidance.
    pub fn new(config: &TcpConfig, rtt: Span) -> Self {
        let mut config = config.clone();
        config.initial_ssthresh = InitialSsthresh::Segments(1);
        Self::beginning(&config, rtt)
    }

    /// Creates a control in its initial state.
    pub fn beginning(config: &TcpConfig, rtt: Span) -> Self {
        Self {
            control: Controller::new(config),
            now: Time::ZERO,
            mss: u64::from(config.mss),
            rtt,
        }
    }

    /// Sends `packets`, spread over each round trip. Returns the number of round trips.
    pub fn send(&mut self, packets: u64) -> f64 {
        let (mut left, mut rounds) = (packets, 0.0);
        while left > 0 {
            let window = (self.control.cwnd() / self.mss).max(1);
            let this = window.min(left);
            let gap = self.rtt / window;
            for _ in 0..this {
                self.now += gap;
                self.control.on_ack(&AckSample {
                    now: self.now,
                    acked: self.mss,
                    rtt: Some(self.rtt),
                    is_window_limited: true,
                    segments: Some(SegmentSample {
                        rtt: Some(self.rtt),
                        delivered: self.mss,
                        ..SegmentSample::default()
                    }),
                    ..AckSample::default()
                });
            }
            // A round that the loss cuts short counts by the share of it that was sent.
            rounds += this as f64 / window as f64;
            left -= this;
        }
        rounds
    }

    pub fn lose(&mut self) {
        self.control.on_congestion_event(&CongestionEvent {
            now: self.now,
            basis: self.control.window(),
            ..CongestionEvent::default()
        });
    }

    /// Returns the window in segments.
    pub fn window(&self) -> f64 {
        self.control.window() / self.mss as f64
    }
}

/// Returns the mean window, in segments, of the periodic cycle in which one of `packets` packets is
/// lost. It uses bisection, because the sequence of cycles converges slowly if the curve is flat.
pub fn periodic_loss(config: &TcpConfig, packets: u64, rtt: Span) -> f64 {
    let cycle = |peak: f64| {
        let mut path = Path::new(config, rtt);
        path.control.set_window(peak * f64::from(config.mss));
        path.lose();
        let rounds = path.send(packets);
        (path.window(), packets as f64 / rounds)
    };
    let (mut low, mut high) = (2.0, 1e6);
    while high / low > 1.0 + 1e-6 {
        let middle = f64::midpoint(low, high);
        if cycle(middle).0 > middle {
            low = middle;
        } else {
            high = middle;
        }
    }
    cycle(low).1
}

/// Returns the mean window, in segments, over `losses` losses if each packet is lost with
/// probability `chance`.
pub fn random_loss(config: &TcpConfig, chance: f64, rtt: Span, losses: u32) -> f64 {
    let mut random = RandomStream::new(1, "loss", 0);
    let mut path = Path::new(config, rtt);
    let (mut sent, mut rounds) = (0, 0.0);
    for n in 0..losses + 20 {
        let packets = random.exponential(1.0 / chance) as u64 + 1;
        let took = path.send(packets);
        path.lose();
        if n >= 20 {
            sent += packets;
            rounds += took;
        }
    }
    sent as f64 / rounds
}

/// A bottleneck with a finite queue, and one control that always has data to send.
pub struct Bottleneck {
    pub control: Controller,
    pub now: Time,
    mss: u64,
    rate: Rate,
    rtt: Span,
    /// Largest number of packets that may wait.
    limit: u64,
    busy_until: Time,
    next_send: Time,
    flying: VecDeque<Flying>,
    sent: u64,
    in_flight: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    recover: Option<u64>,
    base_delay: Span,
    /// Number of waiting packets above which an arrival is marked.
    pub mark_above: Option<u64>,
}

/// A packet with the values that the sender recorded when it left.
#[derive(Clone, Copy)]
struct Flying {
    known_at: Time,
    sent_at: Time,
    end: u64,
    is_lost: bool,
    is_marked: bool,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    in_flight: u64,
    lost: u64,
}

/// Results of a run.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Share of the link's rate that was used.
    pub utilization: f64,
    /// Mean queueing delay of the packets acknowledged, in seconds.
    pub delay: f64,
    /// Share of the packets that was lost.
    pub loss: f64,
}

impl Bottleneck {
    pub fn new(config: &TcpConfig, rate: Rate, rtt: Span, limit: u64) -> Self {
        Self {
            control: Controller::new(config),
            now: Time::ZERO,
            mss: u64::from(config.mss),
            rate,
            rtt,
            limit,
            busy_until: Time::ZERO,
            next_send: Time::ZERO,
            flying: VecDeque::new(),
            sent: 0,
            in_flight: 0,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            recover: None,
            base_delay: rtt,
            mark_above: None,
        }
    }

    pub fn run(&mut self, span: Span) -> Outcome {
        let end = self.now + span;
        let (delivered, lost, sent) = (self.delivered, self.lost, self.sent);
        let (mut delay, mut count) = (0.0, 0u64);
        while self.now < end {
            if let Some(waited) = self.step() {
                delay += waited.as_secs_f64();
                count += 1;
            }
        }
        let capacity = self.rate.bytes_in(span).0 as f64;
        let count = count.max(1) as f64;
        Outcome {
            utilization: (self.delivered - delivered) as f64 / capacity,
            delay: delay / count,
            loss: (self.lost - lost) as f64 / (self.sent - sent).max(1) as f64,
        }
    }

    /// Sends a packet or handles an ACK, whichever comes first. Returns the queueing delay of the
    /// ACK's packet.
    fn step(&mut self) -> Option<Span> {
        let window = self.control.cwnd().max(self.mss);
        let next_known = self
            .flying
            .front()
            .map_or(Time::MAX, |packet| packet.known_at);
        let send_at = self.next_send.max(self.now);
        if self.in_flight + self.mss <= window && send_at <= next_known {
            self.now = send_at;
            self.send();
            return None;
        }
        self.now = next_known;
        self.take()
    }

    fn send(&mut self) {
        let waiting = self
            .rate
            .bytes_in(self.busy_until.saturating_since(self.now))
            .0
            / self.mss;
        let is_lost = waiting > self.limit;
        if !is_lost {
            self.busy_until =
                self.busy_until.max(self.now) + self.rate.transmission_time(Bytes(self.mss));
        }
        if self.in_flight == 0 {
            self.first_sent = self.now;
            self.delivered_at = self.now;
        }
        self.sent += self.mss;
        self.flying.push_back(Flying {
            known_at: self.busy_until + self.rtt,
            sent_at: self.now,
            end: self.sent,
            is_lost,
            is_marked: self.mark_above.is_some_and(|limit| waiting > limit),
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            in_flight: self.in_flight + self.mss,
            lost: self.lost,
        });
        self.in_flight += self.mss;
        if let Some(pace) = self.control.pacing_rate() {
            self.next_send = self.now + pace.transmission_time(Bytes(self.mss));
        }
    }

    fn take(&mut self) -> Option<Span> {
        let packet = self.flying.pop_front()?;
        let prior_in_flight = self.in_flight;
        self.in_flight -= self.mss;
        if self.recover.is_some_and(|recover| packet.end > recover) {
            self.recover = None;
            self.control.on_recovery_exit(self.now);
        }
        self.control.on_marks(&MarkSample {
            acked: if packet.is_lost { 0 } else { self.mss },
            marked: if packet.is_marked { self.mss } else { 0 },
            acked_to: packet.end,
            sent_to: self.sent,
        });
        let asks = if packet.is_lost {
            self.lost += self.mss;
            self.control.on_lost(&LostSegment {
                now: self.now,
                seq: packet.end - self.mss,
                end: packet.end,
                bytes: self.mss,
                in_flight_at_send: packet.in_flight,
                lost: self.lost - packet.lost,
                total_delivered: self.delivered,
                is_app_limited: false,
            });
            Some(CongestionSignal::Loss)
        } else {
            packet.is_marked.then_some(CongestionSignal::EcnEcho)
        };
        if let Some(signal) = asks
            && self.recover.is_none()
        {
            self.control.on_congestion_event(&CongestionEvent {
                now: self.now,
                basis: self.control.window().min(prior_in_flight as f64),
                signal,
                kept: None,
            });
            self.recover = Some(self.sent);
        }
        let in_recovery = self.recover.is_some();
        let rtt = self.now - packet.sent_at;
        let mut sample = AckSample {
            now: self.now,
            acked_to: packet.end,
            sent_to: self.sent,
            is_window_limited: true,
            in_recovery,
            ..AckSample::default()
        };
        let mut segments = SegmentSample {
            prior_in_flight,
            in_flight: self.in_flight,
            lost: if packet.is_lost { self.mss } else { 0 },
            ..SegmentSample::default()
        };
        if !packet.is_lost {
            self.delivered += self.mss;
            self.delivered_at = self.now;
            self.first_sent = packet.sent_at;
            sample.acked = self.mss;
            sample.rtt = Some(rtt);
            segments.delivered = self.mss;
            segments.rtt = Some(rtt);
            segments.one_way_delay_s =
                Some(rtt.as_secs_f64() - 1.5 * self.base_delay.as_secs_f64());
            let interval = (self.now - packet.delivered_at)
                .max(packet.sent_at.saturating_since(packet.first_sent));
            segments.rate = Some(RateSample {
                delivered: self.delivered - packet.delivered,
                interval,
                prior_delivered: packet.delivered,
                total_delivered: self.delivered,
                in_flight_at_send: packet.in_flight,
                lost: self.lost - packet.lost,
                is_app_limited: false,
            });
        }
        sample.segments = Some(segments);
        if !in_recovery || self.control.sets_window_in_recovery() {
            self.control.on_ack(&sample);
        } else {
            self.control.observe(&sample);
        }
        (!packet.is_lost).then(|| rtt.saturating_sub(self.rtt))
    }
}

/// Returns every control with its defaults.
pub fn all_controls() -> Vec<CongestionControlConfig> {
    let words = CongestionControlConfig::NAMES.iter();
    words
        .map(|word| CongestionControlConfig::defaults(word))
        .collect()
}

mod anything {
    use proptest::prelude::*;

    use super::*;
    use crate::Profile;
    use crate::config::{CubicVariant, SlowStart};

    fn rate() -> impl Strategy<Value = Option<RateSample>> {
        let numbers = (
            0..1u64 << 40,
            0..1u64 << 50,
            0..1u64 << 40,
            0..1u64 << 40,
            0..1u64 << 40,
        );
        proptest::option::of(
            (numbers, any::<bool>()).prop_map(|(n, is_app_limited)| RateSample {
                delivered: n.0,
                interval: Span(n.1),
                prior_delivered: n.2,
                total_delivered: n.2 + n.0,
                in_flight_at_send: n.3,
                lost: n.4,
                is_app_limited,
            }),
        )
    }

    #[derive(Clone, Debug)]
    enum Call {
        Ack(AckSample),
        Loss(CongestionEvent),
        Timeout(Option<CongestionEvent>),
        Undo,
        Exit,
        Send(bool),
        Window(u64),
    }

    fn calls() -> impl Strategy<Value = Call> {
        let bytes = || prop_oneof![0..3_000u64, 0..10_000_000u64, 0..1u64 << 40];
        let flags = (any::<bool>(), any::<bool>(), any::<bool>());
        let rtt = proptest::option::of(prop_oneof![0..1_000u64, 0..1u64 << 50]);
        let ack = (
            (bytes(), bytes(), bytes(), bytes(), bytes()),
            (bytes(), bytes(), bytes(), bytes()),
            flags,
            rtt,
            rate(),
            proptest::option::of(-1e3..1e3f64),
        );
        let ack = ack.prop_map(|(a, b, flags, rtt, rate, one_way_delay_s)| {
            Call::Ack(AckSample {
                now: Time::ZERO,
                acked: a.0,
                rtt: rtt.map(Span),
                after_timeout: flags.0,
                in_recovery: flags.1,
                pace_ahead: Span(b.3),
                acked_to: b.0,
                sent_to: b.1,
                is_window_limited: flags.2,
                segments: Some(SegmentSample {
                    rtt: rtt.map(Span),
                    delivered: a.1,
                    lost: a.2,
                    prior_in_flight: a.3,
                    in_flight: a.4,
                    rate,
                    one_way_delay_s,
                }),
            })
        });
        let event = (0.0..1e12f64, any::<bool>()).prop_map(|(basis, echo)| CongestionEvent {
            now: Time::ZERO,
            basis,
            signal: if echo {
                CongestionSignal::EcnEcho
            } else {
                CongestionSignal::Loss
            },
            kept: echo.then_some(0.85),
        });
        prop_oneof![
            10 => ack,
            2 => event.clone().prop_map(Call::Loss),
            1 => proptest::option::of(event).prop_map(Call::Timeout),
            1 => Just(Call::Undo),
            1 => Just(Call::Exit),
            1 => any::<bool>().prop_map(Call::Send),
            1 => (1460..1u64 << 40).prop_map(Call::Window),
        ]
    }

    fn call(control: &mut Controller, call: &Call, now: Time) {
        match call {
            Call::Ack(sample) => control.on_ack(&AckSample { now, ..*sample }),
            Call::Loss(event) => control.on_congestion_event(&CongestionEvent { now, ..*event }),
            Call::Timeout(event) => {
                let event = event.map(|event| CongestionEvent { now, ..event });
                control.on_retransmission_timeout(event.as_ref());
            }
            Call::Undo => control.on_undo(now),
            Call::Exit => control.on_recovery_exit(now),
            Call::Send(idle) => control.on_send(now, *idle),
            Call::Window(bytes) => control.set_window(*bytes as f64),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        /// A control has a finite window of at least one segment, a threshold of at least two and a
        /// positive pace after any calls.
        #[test]
        fn no_sample_breaks_a_control(
            calls in proptest::collection::vec((calls(), 0..1u64 << 46), 1..100),
            rule in 0..5usize,
            linux in any::<bool>(),
        ) {
            for congestion_control in all_controls() {
                let mut config = TcpConfig::profile(Profile::Rfc);
                config.congestion_control = congestion_control;
                config.slow_start = [
                    SlowStart::Auto,
                    SlowStart::Classic,
                    SlowStart::HyStart,
                    SlowStart::HyStartPaced,
                    SlowStart::HyStartPlusPlus,
                ][rule];
                if linux {
                    config.details.slow_start_limit = None;
                    config.details.cubic_variant = CubicVariant::Linux;
                }
                let mut control = Controller::new(&config);
                let mut now = Time::ZERO;
                for (made, gap) in &calls {
                    now += Span(*gap);
                    call(&mut control, made, now);
                    let window = control.window();
                    prop_assert!(window.is_finite() && window >= 1460.0, "{window} {control:?} {made:?}");
                    prop_assert!(control.ssthresh() >= 2 * 1460, "{control:?}");
                    prop_assert!(control.pacing_rate().is_none_or(|pace| pace.0 > 0), "{control:?}");
                }
            }
        }
    }
}
