//! TCP Fast Open saves a round trip of each short connection, in both engines.

use goodqueue_queue::Limit;
use goodqueue_sim::{
    Distribution, Intervals, Law, Metric, Network, Outcome, SessionConfig, TransferWay,
    TransfersConfig, WorkloadConfig, run,
};
use goodqueue_tcp::{FastOpen, Profile, TcpConfig};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_testkit::{compare, run_reference};
use goodqueue_types::{Rate, Span, Time};
use std::sync::Arc;

const RTT_S: f64 = 0.1;
const TRANSFERS: u64 = 20;

/// Returns a network in which a client fetches `TRANSFERS` objects of five segments, one per second,
/// each over a connection of its own.
fn network(profile: Profile, fast_open: FastOpen) -> Network {
    let tcp = TcpConfig {
        fast_open,
        ..TcpConfig::profile(profile)
    };
    let dumbbell = Dumbbell {
        seed: 1,
        rate: Rate(10_000_000_000),
        access_rate: Rate(10_000_000_000),
        limit: Limit::Unlimited,
        round_trip: Span::from_secs_f64(RTT_S),
        warmup: Time::ZERO,
        end: Time::ZERO + Span::from_secs(TRANSFERS + 5),
    };
    let session = SessionConfig::Transfers(TransfersConfig {
        size: Law::Fixed(5.0 * f64::from(tcp.mss)),
        interval: Span::from_secs(1),
        intervals: Intervals::Fixed,
        direction: TransferWay::Down,
        most: Some(TRANSFERS),
        ..TransfersConfig::default()
    });
    let workload = WorkloadConfig::Session {
        tcp: Arc::new(tcp),
        session: Arc::new(session),
    };
    dumbbell.network(vec![(Time::ZERO, workload)])
}

/// Returns the mean time of a transfer, in round trips.
fn round_trips(outcome: &Outcome) -> f64 {
    let metrics = &outcome.flows[0].app.metrics;
    let (_, metric) = metrics
        .iter()
        .find(|(name, _)| *name == "transfer_time_s")
        .expect("the metric");
    let Metric::Seconds(Distribution { mean, .. }) = metric else {
        panic!("a duration")
    };
    mean.expect("transfers") / RTT_S
}

/// The first window holds the whole object. A handshake takes one round trip, and the request and
/// the answer another. With a cookie the request is in the SYN. If the first connection requests the
/// cookie, all others have it.
#[test]
fn a_cookie_saves_a_round_trip() {
    let n = TRANSFERS as f64;
    let expected = [
        (FastOpen::Off, 2.0),
        (FastOpen::Request, (2.0 + (n - 1.0)) / n),
        (FastOpen::Cookie, 1.0),
    ];
    for profile in [Profile::Rfc, Profile::Linux] {
        for (fast_open, round_trips_expected) in expected {
            let network = network(profile, fast_open);
            let (fast, reference) = (run(&network), run_reference(&network));
            assert_eq!(
                compare(&fast, &reference),
                Ok(()),
                "{profile:?} {fast_open:?}"
            );
            for outcome in [fast, reference] {
                let found = round_trips(&outcome);
                println!("{profile:?} {fast_open:?}: {found}, expected {round_trips_expected}");
                // The transmission of all packets takes less than a thousandth of a round trip.
                assert!((found - round_trips_expected).abs() < 0.001);
            }
        }
    }
}
