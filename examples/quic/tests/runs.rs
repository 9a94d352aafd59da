//! Runs of quinn behind simulated links.

use goodqueue_quinn::{Control, Fault, Logs, Quinn, Workload};
use goodqueue_scenario::Scenario;
use goodqueue_sim::{Metric, Outcome, Stack, WorkloadConfig, run};
use goodqueue_types::{Direction, PacketEventKind, Span};
use serde_json::Value;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// One flow over 10 Mbit/s and 40 ms, with a buffer of one BDP. The second flow belongs to TCP.
const LINK: &str = r#"
schema_version = 2
duration = "20s"
warmup = "2s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "10Mbps", delay = "20ms", queue = { limit = "33p" } }
[[flow]]
name = "quic"
workload = { kind = "bulk" }
"#;

fn scenario(text: &str, settings: &[(&str, &str)], seed: u64) -> Scenario {
    let settings: Vec<_> = settings
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let parsed = Scenario::parse(text.as_bytes(), "link", &settings);
    parsed.expect("a scenario").with_seed(seed)
}

fn outcome(scenario: &Scenario, quinn: Quinn, packets: bool) -> Outcome {
    let stack: Arc<dyn Stack> = Arc::new(quinn);
    let mut network = scenario.network();
    network.record.packets = packets;
    assert!(network.set_stack("quic", &stack) > 0);
    run(&network)
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    for control in [Control::NewReno, Control::Cubic, Control::Bbr] {
        let of = |seed| {
            let scenario = scenario(LINK, &[("flow.quic.count", "2")], seed);
            let outcome = outcome(&scenario, Quinn::bulk(control), true);
            format!("{:?} {:?}", outcome.flows, outcome.packets)
        };
        let first = of(1);
        assert!(first == of(1), "{control:?} differs between two runs");
        assert!(first != of(2), "{control:?} does not depend on the seed");
    }
}

#[test]
fn every_control_fills_a_link_with_a_buffer_of_one_bdp() {
    for (control, least) in [
        (Control::NewReno, 0.95),
        (Control::Cubic, 0.95),
        (Control::Bbr, 0.80),
    ] {
        let outcome = outcome(&scenario(LINK, &[], 1), Quinn::bulk(control), false);
        let utilization = outcome.links[0].utilization;
        assert!(utilization > least, "{control:?}: {utilization}");
        // IP and UDP take 28 bytes of 1,480, QUIC some thirty.
        let share = outcome.flows[0].goodput_bps / outcome.flows[0].throughput_bps;
        assert!((0.93..0.98).contains(&share), "{control:?}: {share}");
        assert!(outcome.flows[0].rtt_s.p50 > Some(0.04), "{control:?}");
    }
}

/// RFC 9000 section 14.1: the first datagrams have at least 1,200 bytes. Section 8.1: before the
/// client's address is validated, the server sends at most three times what it received.
#[test]
fn the_handshake_has_the_sizes_of_the_protocol() {
    let outcome = outcome(&scenario(LINK, &[], 1), Quinn::bulk(Control::Cubic), true);
    let sent = |direction| {
        let events = outcome.packets.iter();
        events.filter(move |event| {
            event.kind == PacketEventKind::Sent && event.packet.direction == direction
        })
    };
    let first = sent(Direction::Forward).next().expect("a first packet");
    assert!(first.packet.size >= 1_228, "{first:?}");
    let second = sent(Direction::Forward).nth(1).expect("a second packet");
    let flight = sent(Direction::Reverse).take_while(|event| event.time < second.time);
    let bytes: u32 = flight.map(|event| event.packet.size - 28).sum();
    assert!((1_200..=3 * 1_200).contains(&bytes), "{bytes}");
    // The client goes on when the flight has crossed the link and come back.
    let waited = (second.time - first.time).as_secs_f64();
    assert!((0.04..0.05).contains(&waited), "{waited}");
    let largest = sent(Direction::Forward).map(|event| event.packet.size);
    assert_eq!(
        largest.max(),
        Some(1_480),
        "path MTU discovery ends at 1,452 bytes"
    );
}

#[test]
fn a_transfer_on_several_streams_arrives_whole() {
    for streams in [1, 7] {
        let quinn = Quinn {
            workload: Workload::Bulk {
                bytes: Some(2_000_003),
                streams,
            },
            ..Quinn::bulk(Control::Cubic)
        };
        let scenario = scenario(LINK, &[("warmup", "0s")], 1);
        let flow = &outcome(&scenario, quinn, false).flows[0];
        let bytes = flow.goodput_bps / 8.0 * 20.0;
        assert!(
            (bytes - 2_000_003.0).abs() < 0.5,
            "{streams} streams: {bytes}"
        );
        // The handshake takes a round trip, the bytes and their headers 1.66 s at least.
        let time = flow.completion_time_s.expect("an end");
        assert!((1.74..3.0).contains(&time), "{streams} streams: {time}");
    }
}

#[test]
fn an_answer_takes_a_round_trip_and_its_transmission() {
    let quinn = Quinn {
        workload: Workload::Requests {
            request: 200,
            answer: 5_000,
            pause: Span::from_millis(100),
            parallel: 2,
        },
        ..Quinn::bulk(Control::Cubic)
    };
    let outcome = outcome(&scenario(LINK, &[], 1), quinn, false);
    let metrics = &outcome.flows[0].app.metrics;
    let [
        ("handshake_time_s", Metric::Seconds(handshake)),
        ("answers", Metric::Count(count)),
        ("answer_s", Metric::Seconds(times)),
    ] = &metrics[..]
    else {
        panic!("{metrics:?}");
    };
    // TLS 1.3 takes a round trip.
    let handshake = handshake.p50.expect("a handshake");
    assert!((0.040..0.045).contains(&handshake), "{handshake}");
    // Two requests every 145 ms for 18 s.
    assert!((200..=260).contains(count), "{count}");
    let median = times.p50.expect("answers");
    assert!((0.040..0.050).contains(&median), "{median}");
}

#[test]
fn quinn_and_tcp_share_a_link() {
    let both = format!("{LINK}[[flow]]\nname = \"tcp\"\nworkload = {{ kind = \"bulk\" }}\n");
    let scenario = scenario(&both, &[("duration", "60s")], 1);
    let stack: Arc<dyn Stack> = Arc::new(Quinn::bulk(Control::Cubic));
    let mut network = scenario.network();
    assert_eq!(network.set_stack("quic", &stack), 1);
    assert!(matches!(
        network.flows[1].workload,
        WorkloadConfig::Stream { .. }
    ));
    let outcome = run(&network);
    for flow in &outcome.flows {
        assert!(
            flow.goodput_bps > 2e6,
            "{}: {}",
            flow.name,
            flow.goodput_bps
        );
    }
    assert!(outcome.links[0].fairness.index > Some(0.7));
}

/// Behind a queue that marks, quinn's windows shrink without losses, unless it ignores the marks.
#[test]
fn marks_reduce_the_window_unless_a_fault_ignores_them() {
    let queue = (
        "topology.bottleneck.queue",
        "{ kind = \"codel\", limit = \"1000p\", ecn = true }",
    );
    let of = |fault| {
        let quinn = Quinn {
            fault,
            ..Quinn::bulk(Control::NewReno)
        };
        let outcome = outcome(&scenario(LINK, &[queue], 1), quinn, false);
        let link = &outcome.links[0];
        let marks: u64 = outcome.flows[0]
            .signals
            .iter()
            .map(|signal| u64::from(signal.marks))
            .sum();
        (
            marks,
            link.drops,
            link.queueing_delay_s.mean.expect("packets"),
        )
    };
    let (marks, drops, delay) = of(None);
    assert!(
        marks > 5 && drops == 0 && delay < 0.02,
        "{marks} {drops} {delay}"
    );
    let (ignored, _, deeper) = of(Some(Fault::EcnIgnored));
    assert!(
        ignored > 100 * marks && deeper > 10.0 * delay,
        "{ignored} {deeper}"
    );
}

#[test]
fn a_control_that_never_reduces_loses_far_more() {
    let of = |fault| {
        let quinn = Quinn {
            fault,
            ..Quinn::bulk(Control::NewReno)
        };
        outcome(&scenario(LINK, &[], 1), quinn, false).links[0].loss_rate
    };
    let (sound, faulty) = (of(None), of(Some(Fault::NoReduction)));
    assert!(sound < 0.01 && faulty > 0.2, "{sound} {faulty}");
}

/// Bytes that a log writes.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("one thread").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn log(seed: u64) -> (Vec<u8>, Outcome) {
    let written = Written::default();
    let sink = written.clone();
    let quinn = Quinn {
        logs: Some(Logs::new(move |_| Ok(Box::new(sink.clone())))),
        ..Quinn::bulk(Control::Cubic)
    };
    let scenario = scenario(LINK, &[("warmup", "0s")], seed);
    let outcome = outcome(&scenario, quinn, false);
    let bytes = written.0.lock().expect("one thread").clone();
    (bytes, outcome)
}

#[test]
fn the_log_is_the_same_for_the_same_seed_and_follows_the_draft() {
    let (bytes, outcome) = log(1);
    assert!(bytes == log(1).0, "the log differs between two runs");
    let text = String::from_utf8(bytes).expect("text");
    let mut records = text.split('\u{1e}').skip(1).map(|record| {
        assert!(record.ends_with('\n'));
        serde_json::from_str::<Value>(record).expect("a record")
    });
    let head = records.next().expect("a head");
    assert_eq!(head["file_schema"], "urn:ietf:params:qlog:file:sequential");
    let (mut sent, mut lost, mut metrics, mut latest) = (0, 0, 0, 0.0);
    for event in records {
        let time = event["time"].as_f64().expect("a time");
        assert!(time >= latest, "{event}");
        latest = time;
        match event["name"].as_str() {
            Some("quic:packet_sent") => {
                assert!(event["data"]["raw"]["length"].is_u64(), "{event}");
                sent += 1;
            }
            Some("quic:packet_lost") => lost += 1,
            Some("quic:recovery_metrics_updated") => {
                metrics += 1;
                if let Some(rtt) = event["data"]["min_rtt"].as_f64()
                    && time > 50.0
                {
                    assert!((40.0..45.0).contains(&rtt), "{event}");
                }
            }
            Some("quic:packet_received") => {}
            other => panic!("{other:?}"),
        }
    }
    let flow = &outcome.flows[0];
    // A datagram of the handshake holds more than one packet.
    assert!(
        (flow.packets_sent..flow.packets_sent + 5).contains(&sent),
        "{sent}"
    );
    assert_eq!(lost, flow.retransmissions);
    assert!(lost > 0 && metrics > 1_000);
}
