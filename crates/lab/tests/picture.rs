//! Pictures of runs against the full records of the same runs.

use goodqueue_lab::{Bounds, Experiment, LabError, View};
use goodqueue_scenario::Scenario;
use goodqueue_sim::{Outcome, Record};
use goodqueue_types::{Direction, PacketEventKind, Time};
use serde_json::Value;

const TEXT: &str = r#"
schema_version = 1
duration = "12s"
warmup = "2s"

[topology]
shape = "dumbbell"
access = { rate = "100Mbps", delay = "1ms" }
bottleneck = { rate = "5Mbps", delay = "10ms", queue = { kind = "red", limit = "40p" } }

[[flow]]
name = "bulk"
count = 3
workload = { kind = "bulk" }

[[flow]]
name = "ping"
workload = { kind = "ping", interval = "100ms" }
"#;

fn experiment(text: &str) -> Experiment {
    Experiment::read(text, &[], Bounds::default()).expect("the scenario is valid")
}

fn recorded() -> Outcome {
    let scenario = Scenario::parse(TEXT.as_bytes(), "test", &[]).expect("valid");
    let record = Record {
        series: true,
        packets: true,
        ..Record::default()
    };
    goodqueue_sim::run(&scenario.with_record(record).network())
}

fn picture(columns: usize) -> Value {
    let view = View { columns, flows: 4 };
    experiment(TEXT).run(view, |_| true).expect("not stopped")
}

fn numbers(value: &Value) -> Vec<f64> {
    let items = value.as_array().expect("a series");
    items
        .iter()
        .map(|v| v.as_f64().unwrap_or(f64::NAN))
        .collect()
}

/// Returns the seconds from the start of the run.
fn seconds(time: Time) -> f64 {
    (time - Time::ZERO).as_secs_f64()
}

#[test]
fn columns_have_the_lowest_mean_and_highest_backlog_of_the_full_record() {
    let columns = 37;
    let picture = picture(columns);
    let outcome = recorded();
    let link = &picture["links"][0];
    assert_eq!(link["name"], "bottleneck");
    let (low, mean, high) = (
        numbers(&link["low_packets"]),
        numbers(&link["mean_packets"]),
        numbers(&link["high_packets"]),
    );
    let steps: Vec<(f64, f64)> = std::iter::once((0.0, 0.0))
        .chain(
            outcome
                .series
                .backlog
                .iter()
                .filter(|(link, ..)| *link == 0)
                .map(|(_, time, packets, _)| (seconds(*time), *packets as f64)),
        )
        .collect();
    let width = 12.0 / columns as f64;
    for column in 0..columns {
        let (from, to) = (width * column as f64, width * (column + 1) as f64);
        let mut lowest = f64::INFINITY;
        let (mut highest, mut area) = (0.0_f64, 0.0);
        for (i, (start, packets)) in steps.iter().enumerate() {
            let end = steps.get(i + 1).map_or(12.0, |next| next.0);
            let (start, end) = (start.max(from), end.min(to));
            if end > start {
                lowest = lowest.min(*packets);
                highest = highest.max(*packets);
                area += packets * (end - start);
            }
        }
        // Levels that last no time may count besides.
        assert!(low[column] <= lowest && high[column] >= highest, "{column}");
        assert!((mean[column] - area / width).abs() < 1e-6, "{column}");
    }
    assert!(high.iter().any(|packets| *packets > 10.0), "nothing queued");
}

#[test]
fn drops_and_delivered_bytes_add_up_to_those_of_the_full_record() {
    let picture = picture(50);
    let outcome = recorded();
    let dropped = |event: &&goodqueue_types::PacketEvent| matches!(event.kind, PacketEventKind::Dropped(link, _) if link.0 == 0);
    let drops: f64 = numbers(&picture["links"][0]["drops"]).iter().sum();
    assert_eq!(
        drops as usize,
        outcome.packets.iter().filter(dropped).count()
    );
    assert!(drops > 0.0);
    for flow in 0..4 {
        let delivered: u64 = outcome
            .packets
            .iter()
            .filter(|event| event.kind == PacketEventKind::Delivered)
            .filter(|event| event.packet.flow.0 == flow)
            .filter(|event| event.packet.direction == Direction::Forward)
            .map(|event| u64::from(event.packet.size))
            .sum();
        let rates = numbers(&picture["flows"][flow as usize]["throughput_bps"]);
        let bytes = rates.iter().sum::<f64>() * 12.0 / 50.0 / 8.0;
        assert!((bytes - delivered as f64).abs() < 1.0, "flow {flow}");
    }
}

#[test]
fn a_picture_says_the_same_as_the_summary_of_a_plain_run() {
    let scenario = Scenario::parse(TEXT.as_bytes(), "test", &[]).expect("valid");
    let network = scenario.network();
    let outcome = goodqueue_sim::run(&network);
    let summary = goodqueue_scenario::summary_json(&scenario, &network, &outcome);
    assert_eq!(picture(10)["summary"], summary);
}

#[test]
fn the_size_of_a_picture_does_not_depend_on_the_duration() {
    let size = |duration: &str| {
        let text = TEXT.replace("12s", duration);
        let run = experiment(&text).run(View::default(), |_| true);
        run.expect("not stopped").to_string().len() as f64
    };
    let ratio = size("600s") / size("60s");
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
}

#[test]
fn a_run_that_is_stopped_has_no_picture_and_progress_grows() {
    let mut shares = Vec::new();
    let stopped = experiment(TEXT).run(View::default(), |share| {
        shares.push(share);
        share < 0.3
    });
    assert!(stopped.is_none());
    assert!(shares.len() > 1 && shares.is_sorted());
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
}

#[test]
fn a_first_picture_covers_a_shorter_time_with_the_same_proportions() {
    let short = experiment(TEXT)
        .shortened(TEXT, 2_000)
        .expect("5,000 packets fit");
    let picture = short.run(View::default(), |_| true).expect("not stopped");
    let (duration, warmup) = (&picture["duration_s"], &picture["warmup_s"]);
    let (duration, warmup) = (duration.as_f64().unwrap(), warmup.as_f64().unwrap());
    assert!((duration - 4.8).abs() < 0.01, "{duration}");
    assert!((warmup / duration - 2.0 / 12.0).abs() < 0.001, "{warmup}");
    assert!(experiment(TEXT).shortened(TEXT, 1_000_000).is_none());
}

#[test]
fn scenarios_beyond_a_bound_are_refused_with_the_bound_and_a_remedy() {
    let refused = |text: &str, bounds| match Experiment::read(text, &[], bounds) {
        Err(LabError::TooLarge(text)) => text,
        other => panic!("{other:?}"),
    };
    let usual = Bounds::default();
    let packets = refused(&TEXT.replace("5Mbps", "50Gbps"), usual);
    assert!(
        packets.contains("at most 5000000: set duration to"),
        "{packets}"
    );
    let flows = refused(&TEXT.replace("count = 3", "count = 6_000"), usual);
    assert!(flows.contains("6001 flows"), "{flows}");
    let memory = Bounds {
        memory: 1_000,
        ..usual
    };
    assert!(refused(TEXT, memory).contains("memory"));
    let mistake = Experiment::read("[topolgy]", &[], usual).expect_err("a mistake");
    assert!(matches!(&mistake, LabError::Scenario(_)));
    assert!(mistake.to_string().contains("topology"), "{mistake}");
}
