//! Responsiveness under load, compared with the queue that a window of known size leaves.

use goodqueue_queue::{FqCodelConfig, Limit, QueueConfig};
use goodqueue_sim::{
    FlowOutcome, Metric, ResponsivenessConfig, SessionConfig, TransferWay, WorkloadConfig, run,
};
use goodqueue_tcp::{Profile, TcpConfig};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::parameters::{Parameters, Value, Words};
use goodqueue_types::{Rate, Span, Time};
use std::sync::Arc;

const RATE: f64 = 10e6;
const BASE_S: f64 = 0.04;

/// Returns a measurement with one loaded connection whose window is this many full segments.
fn measured(segments: u64, way: TransferWay, queue: Option<QueueConfig>) -> FlowOutcome {
    let dumbbell = Dumbbell {
        seed: 1,
        rate: Rate(RATE as u64),
        access_rate: Rate(1_000_000_000),
        limit: Limit::Unlimited,
        round_trip: Span::from_secs_f64(BASE_S),
        warmup: Time::ZERO + Span::from_secs(10),
        end: Time::ZERO + Span::from_secs(110),
    };
    let linux = TcpConfig::profile(Profile::Linux);
    let tcp = TcpConfig {
        receive_window: segments * u64::from(linux.mss),
        nagle: false,
        ..linux
    };
    let config = ResponsivenessConfig {
        connections: 1,
        direction: way,
        ..ResponsivenessConfig::default()
    };
    let session = WorkloadConfig::Session {
        tcp: Arc::new(tcp),
        session: Arc::new(SessionConfig::Responsiveness(config)),
    };
    let mut network = dumbbell.network(vec![(Time::ZERO, session)]);
    if let Some(queue) = queue {
        for link in &mut network.links[..2] {
            link.queue = queue.clone();
        }
    }
    run(&network).flows.remove(0)
}

fn figure(flow: &FlowOutcome, name: &str) -> f64 {
    let found = flow.app.metrics.iter().find(|(other, _)| *other == name);
    match found.unwrap_or_else(|| panic!("no {name}")).1 {
        Metric::Count(count) => count as f64,
        Metric::Number(number) => number.expect("a sample"),
        Metric::Seconds(values) | Metric::Ratio(values) => values.mean.expect("a sample"),
    }
}

const STEPS: [&str; 4] = [
    "foreign_tcp_time_s",
    "foreign_tls_time_s",
    "foreign_http_time_s",
    "self_probe_time_s",
];

/// Returns the time in which the bottleneck sends this many full packets.
fn sending(packets: f64) -> f64 {
    packets * 1_500.0 * 8.0 / RATE
}

/// A window of ten packets takes 12 ms of the base round trip of 40 ms and never waits. Each probe
/// takes a round trip, and the transmission of the packets of its own and of those before it.
#[test]
fn probes_on_a_path_without_a_queue_take_a_round_trip() {
    for way in TransferWay::ALL {
        let flow = measured(10, *way, None);
        for step in STEPS {
            let time = figure(&flow, step);
            // A probe waits at most for the window, which is sent at once.
            assert!(
                time > BASE_S && time < BASE_S + sending(15.0),
                "{way:?}, {step}: {time}"
            );
        }
        // Two probes each 96 ms in 100 s, of which some are under way at the end.
        for probes in ["foreign_probes", "self_probes"] {
            assert!((figure(&flow, probes) - 1_041.0).abs() < 3.0, "{probes}");
        }
    }
}

/// A window of 200 packets is 240 ms at 10 Mb/s, 40 ms of which the path holds. All packets of the
/// loaded direction wait for the rest. A request on the loaded connection enters the stream behind
/// the window, too, as do probes on connections of their own in a queue that all share.
#[test]
fn a_standing_queue_is_part_of_every_round_trip() {
    let filled = sending(200.0);
    for way in TransferWay::ALL {
        let flow = measured(200, *way, None);
        for step in STEPS {
            let time = figure(&flow, step);
            // Packets of other probes, and of the probe itself, add to the window.
            assert!(
                time > filled - sending(3.0) && time < filled + sending(8.0),
                "{way:?}, {step}: {time}"
            );
        }
        let rpm = figure(&flow, "responsiveness_rpm");
        assert!((rpm / (60.0 / filled) - 1.0).abs() < 0.05, "{way:?}: {rpm}");
    }
}

/// Flow queues let the packets of new connections pass. Only the loaded connection waits for its own
/// window: CoDel cannot shorten it, because a limit of the receiver holds it.
#[test]
fn flow_queues_answer_beside_the_load_at_once() {
    let mut never = FqCodelConfig::default();
    never.set("target", Value::Span(Span::from_secs(10)));
    never.set("interval", Value::Span(Span::from_secs(100)));
    let flow = measured(200, TransferWay::Down, Some(QueueConfig::FqCodel(never)));
    for step in &STEPS[..3] {
        let time = figure(&flow, step);
        assert!(
            time > BASE_S && time < BASE_S + sending(8.0),
            "{step}: {time}"
        );
    }
    let on_load = figure(&flow, "self_probe_time_s");
    assert!((on_load / sending(200.0) - 1.0).abs() < 0.05, "{on_load}");
    // The mean of both rates, not the rate of the mean duration: 60 / 40 ms and 60 / 240 ms.
    let rpm = figure(&flow, "responsiveness_rpm");
    assert!(rpm > 800.0 && rpm < 880.0, "{rpm}");
}
