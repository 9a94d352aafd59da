//! A network carries flows with a congestion control that is defined outside `goodqueue-tcp`.

use std::sync::Arc;

use goodqueue_queue::Limit;
use goodqueue_sim::{Outcome, WorkloadConfig, run};
use goodqueue_tcp::cc::{
    AckSample, CongestionControl, CongestionEvent, CubicConfig, CustomControl, built_in,
};
use goodqueue_tcp::{CongestionControlConfig, Profile, TcpConfig};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::{Rate, Span, Time};

const SECONDS: u64 = 20;

fn outcome(profile: Profile, control: CongestionControlConfig) -> Outcome {
    let mut tcp = TcpConfig::profile(profile);
    tcp.congestion_control = control;
    tcp.receive_window = 1 << 20;
    let dumbbell = Dumbbell {
        seed: 1,
        rate: Rate(10_000_000),
        access_rate: Rate(1_000_000_000),
        limit: Limit::Packets(20),
        round_trip: Span::from_millis(40),
        warmup: Time::ZERO,
        end: Time::ZERO + Span::from_secs(SECONDS),
    };
    let bulk = WorkloadConfig::bulk(Arc::new(tcp), None);
    run(&dumbbell.network(vec![(Time::ZERO, bulk.clone()), (Time::ZERO, bulk)]))
}

/// A window of ten segments, whatever happens.
#[derive(Debug)]
struct Fixed(f64);

impl CongestionControl for Fixed {
    fn on_ack(&mut self, _sample: &AckSample) {}
    fn on_congestion_event(&mut self, _event: &CongestionEvent) {}
    fn on_retransmission_timeout(&mut self, _event: Option<&CongestionEvent>) {}
    fn window(&self) -> f64 {
        self.0
    }
    fn set_window(&mut self, _bytes: f64) {}
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
    fn set_ssthresh(&mut self, _bytes: u64) {}
}

/// Two flows with ten segments per round trip of 40 ms and transmission times use less than the
/// link, so each has the goodput of its window.
#[test]
fn a_fixed_window_is_sent_once_per_round_trip() {
    let make = |config: &TcpConfig| -> Box<dyn CongestionControl + Send> {
        Box::new(Fixed(10.0 * f64::from(config.mss)))
    };
    let fixed = CustomControl::new("fixed", make);
    let outcome = outcome(Profile::Rfc, CongestionControlConfig::Custom(fixed));
    let segments = outcome.totals.delivered as f64 / 2.0;
    let rounds = SECONDS as f64 / 0.040;
    // Delivered packets are data and an ACK for every second segment. A round trip lasts from 41 ms
    // (the last segment of an otherwise empty link) to 52 ms (behind all ten of the other flow).
    let data = segments / 1.5;
    assert!(
        (40.0 / 52.0..40.0 / 41.0).contains(&(data / (10.0 * rounds))),
        "{data}"
    );
    assert_eq!(outcome.totals.dropped, 0);
}

/// The engine treats a control of the caller's like a built-in one.
#[test]
fn a_built_in_control_inside_another_sends_the_same() {
    let cubic = CongestionControlConfig::Cubic(CubicConfig::default());
    let wrapped = CustomControl::new("wrapped", |config| {
        let mut config = config.clone();
        config.congestion_control = CongestionControlConfig::Cubic(CubicConfig::default());
        built_in(&config)
    });
    for profile in [Profile::Rfc, Profile::Ns2, Profile::Linux] {
        let own = outcome(profile, cubic.clone());
        let other = outcome(profile, CongestionControlConfig::Custom(wrapped.clone()));
        assert!(own.totals.dropped > 0);
        assert_eq!(format!("{:?}", own.flows), format!("{:?}", other.flows));
    }
}
