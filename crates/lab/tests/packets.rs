//! Packets of a part of a run against the full record of the same run.

use goodqueue_lab::{Bounds, Experiment, Watch};
use goodqueue_scenario::Scenario;
use goodqueue_sim::Record;
use goodqueue_types::{Direction, PacketEvent, PacketEventKind, Span, Time};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const TEXT: &str = r#"
schema_version = 1
duration = "9s"

[topology]
shape = "dumbbell"
access = { rate = "100Mbps", delay = "1ms" }
bottleneck = { rate = "3Mbps", delay = "10ms", queue = { kind = "codel", limit = "40p" } }

[[flow]]
name = "bulk"
count = 3
workload = { kind = "bulk" }
"#;

fn watch(from: u64, to: u64, most: usize) -> Value {
    let experiment = Experiment::read(TEXT, &[], Bounds::default()).expect("valid");
    let at = |ms| Time::ZERO + Span::from_millis(ms);
    let part = Watch {
        from: at(from),
        to: at(to),
        most,
    };
    experiment.packets(part, |_| true).expect("not stopped")
}

/// Sent, arrived, started, delivered and dropped in nanoseconds.
type Times = [Option<u64>; 5];

/// Flow, direction and times of packets. Those of one burst differ in their times at the link.
type Packets = BTreeSet<(u64, u64, Times)>;

/// Returns the packets as the full record has them.
fn recorded(from: u64, to: u64) -> Packets {
    let scenario = Scenario::parse(TEXT.as_bytes(), "test", &[]).expect("valid");
    let record = Record {
        packets: true,
        ..Record::default()
    };
    let outcome = goodqueue_sim::run(&scenario.with_record(record).network());
    let mut lives: BTreeMap<(u32, Direction, u64), Times> = BTreeMap::new();
    for PacketEvent { time, kind, packet } in outcome.packets {
        let place = match kind {
            PacketEventKind::Sent => 0,
            PacketEventKind::Arrived(link) if link.0 == 0 => 1,
            PacketEventKind::ServiceStarted(link, _) if link.0 == 0 => 2,
            PacketEventKind::Delivered => 3,
            PacketEventKind::Dropped(..) => 4,
            _ => continue,
        };
        let key = (packet.flow.0, packet.direction, packet.number);
        lives.entry(key).or_default()[place] = Some((time - Time::ZERO).0 / 1_000);
    }
    let (from, to) = (from * 1_000_000, to * 1_000_000);
    lives
        .into_iter()
        .filter(|(_, times)| {
            let end = times[3].or(times[4]).unwrap_or(u64::MAX);
            times[0].expect("sent") < to && end >= from
        })
        .map(|((flow, direction, _), times)| (u64::from(flow), direction as u64, times))
        .collect()
}

fn seen(packets: &Value) -> Packets {
    let column = |name: &str| -> Vec<Option<u64>> {
        let values = packets[name].as_array().expect("a column");
        values.iter().map(Value::as_u64).collect()
    };
    let names = [
        "sent_ns",
        "arrived_ns",
        "started_ns",
        "delivered_ns",
        "dropped_ns",
    ];
    let times = names.map(column);
    let (flow, reverse) = (column("flow"), column("reverse"));
    (0..flow.len())
        .map(|i| {
            let times = [0, 1, 2, 3, 4].map(|place| times[place][i]);
            (flow[i].unwrap(), reverse[i].unwrap(), times)
        })
        .collect()
}

#[test]
fn packets_and_their_times_are_those_of_the_full_record() {
    for (from, to) in [(0, 900), (3_000, 4_500)] {
        let packets = watch(from, to, 20_000);
        assert_eq!(packets["to_ns"], to * 1_000_000);
        let (ours, theirs) = (seen(&packets), recorded(from, to));
        assert!(theirs.len() > 100, "{}", theirs.len());
        assert!(
            theirs.iter().any(|(.., times)| times[4].is_some()),
            "no drops"
        );
        assert_eq!(ours.symmetric_difference(&theirs).next(), None);
    }
}

#[test]
fn the_number_of_packets_is_bounded_and_the_part_ends_earlier() {
    let packets = watch(3_000, 8_000, 50);
    let (few, all) = (seen(&packets), recorded(3_000, 8_000));
    assert!(few.len() <= 50);
    let end = packets["to_ns"].as_u64().expect("a time");
    assert!((3_000_000_000..8_000_000_000).contains(&end), "{end}");
    let within: Packets = all
        .into_iter()
        .filter(|(.., times)| times[0].expect("sent") < end)
        .collect();
    assert_eq!(few, within);
}

#[test]
fn marks_are_known_and_a_stopped_run_has_no_packets() {
    let text = TEXT.replace(r#"limit = "40p" }"#, r#"limit = "40p", ecn = true }"#);
    let text = text.replace(
        r#"workload = { kind = "bulk" }"#,
        "workload = { kind = \"bulk\" }\ntcp = { ecn = \"rfc3168\" }",
    );
    let experiment = Experiment::read(&text, &[], Bounds::default()).expect("valid");
    let part = Watch {
        from: Time::ZERO,
        to: Time::ZERO + Span::from_millis(5_000),
        most: 20_000,
    };
    let packets = experiment.packets(part, |_| true).expect("not stopped");
    let marked = packets["marked"].as_array().expect("a column");
    assert!(marked.iter().any(|mark| mark == 1));
    assert!(experiment.packets(part, |_| false).is_none());
}
