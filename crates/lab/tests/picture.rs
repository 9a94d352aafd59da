//! Pictures of runs against the full records of the same runs.

use goodqueue_lab::{Bounds, Experiment, Job, LabError, Setting, View};
use goodqueue_scenario::Scenario;
use goodqueue_sim::{Outcome, Record};
use goodqueue_types::{Direction, PacketEventKind, Time};
use serde_json::{Value, json};

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
    let setting = Setting {
        text: TEXT.to_owned(),
        ..Setting::default()
    };
    let short = experiment(TEXT)
        .shortened(&setting, 2_000)
        .expect("5,000 packets fit");
    let picture = short.run(View::default(), |_| true).expect("not stopped");
    let (duration, warmup) = (&picture["duration_s"], &picture["warmup_s"]);
    let (duration, warmup) = (duration.as_f64().unwrap(), warmup.as_f64().unwrap());
    // The ping sends 121 requests and gets as many replies of 84 bytes. The link can send 4,986 full
    // packets besides.
    assert!(
        (duration - 12.0 * 2_000.0 / 5_228.0).abs() < 0.01,
        "{duration}"
    );
    assert!((warmup / duration - 2.0 / 12.0).abs() < 0.001, "{warmup}");
    assert!(experiment(TEXT).shortened(&setting, 1_000_000).is_none());
}

#[test]
fn scenarios_beyond_a_bound_are_refused_with_the_bound_and_a_remedy() {
    let refused = |text: &str, bounds| match Experiment::read(text, &[], bounds) {
        Err(LabError::TooLarge(text)) => text,
        other => panic!("{other:?}"),
    };
    let usual = Bounds::default();
    let packets = refused(
        &TEXT.replace("5Mbps", "50Gbps").replace("100Mbps", "50Gbps"),
        usual,
    );
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

/// Returns the answer to a question of the page.
fn asked(action: &str, body: &Value) -> Result<Value, LabError> {
    let mut job = Job::start(action, &body.to_string())?;
    while job.advance().is_some() {}
    Ok(serde_json::from_str(&job.answer()).expect("valid JSON"))
}

#[test]
fn files_are_read_from_the_question_and_never_from_the_disk() {
    let text = TEXT.replace(
        r#"workload = { kind = "bulk" }"#,
        r#"workload = { kind = "transfers", size = { law = "empirical", file = "sizes.csv" }, interval = "1s" }"#,
    );
    let files = json!({"sizes.csv": "size,share\n1kB,50%\n20kB,100%\n"});
    let body = json!({"text": text, "files": files, "columns": 4, "flows": 1});
    let picture = asked("picture", &body).expect("the file is given");
    assert!(picture["summary"]["flows"]["bulk.0"]["goodput_bps"].is_number());
    let resolved = asked("open", &body).expect("valid")["resolved"].clone();
    assert!(resolved.as_str().unwrap().contains(r#"file = "sizes.csv""#));
    for name in ["sizes.csv", "/etc/hostname", "../sizes.csv"] {
        let body = json!({"text": text.replace("sizes.csv", name), "columns": 4, "flows": 1});
        let refusal = asked("picture", &body).expect_err("the file is not given");
        assert!(
            refusal.to_string().contains("not among the 0 given files"),
            "{refusal}"
        );
        assert_eq!(refusal.json()["key"], "flow.0.workload.size.file");
    }
}

#[test]
fn the_limit_and_the_seed_of_a_question_replace_those_of_the_text() {
    let body = json!({
        "text": TEXT,
        "columns": 1,
        "flows": 0,
        "seed": 7,
        "overrides": {"topology.bottleneck.queue.kind": "drop_tail"},
        "limit": {"link": "bottleneck", "limit": "7p"},
    });
    let picture = asked("picture", &body).expect("valid");
    let link = &picture["summary"]["links"]["bottleneck"];
    assert_eq!(link["limit"]["packets"], 7);
    assert_eq!(link["queue"], "drop_tail");
    assert_eq!(picture["summary"]["seed"], 7);
    assert_eq!(
        picture["figures"]["links"]["bottleneck"]["loss_rate"],
        link["loss_rate"]
    );
}

#[test]
fn the_controls_of_a_file_name_keys_that_change_it() {
    let text = TEXT.split("[[flow]]\nname = \"ping\"").next().unwrap();
    let opened = asked("open", &json!({ "text": text })).expect("valid");
    let controls = &opened["controls"];
    assert_eq!(controls["rate"]["value"], "5Mbps");
    assert_eq!(controls["buffer"]["value"], "40p");
    assert_eq!(controls["flows"]["value"], 3);
    let mut overrides = json!({});
    for (name, value) in [
        ("rate", "8Mbps"),
        ("buffer", "30p"),
        ("flows", "5"),
        ("control", "reno"),
    ] {
        overrides[controls[name]["key"].as_str().expect(name)] = value.into();
    }
    let body = json!({"text": text, "overrides": overrides});
    let changed = asked("open", &body).expect("valid");
    assert_eq!(changed["controls"]["rate"]["value"], "8Mbps");
    assert_eq!(changed["controls"]["buffer"]["value"], "30p");
    assert_eq!(changed["controls"]["flows"]["value"], 5);
    assert_eq!(changed["controls"]["control"]["value"], "reno");
}

#[test]
fn the_interval_of_three_runs_is_that_of_students_t() {
    // t = 4.302652729911275 for two degrees of freedom (Abramowitz and Stegun, table 26.10).
    let run = |value: f64| json!({"links": {"a": {"throughput_bps": value}}});
    let figures = [run(1.0), run(2.0), run(6.0)];
    let found = asked("intervals", &json!({ "figures": figures })).expect("three runs");
    let interval = &found["links"]["a"]["throughput_bps"];
    assert_eq!(interval["mean"], 3.0);
    let half = 4.302_652_729_911_275 * 7.0_f64.sqrt() / 3.0_f64.sqrt();
    assert!((interval["high"].as_f64().unwrap() - 3.0 - half).abs() < 1e-9);
    assert_eq!(interval["low"], 0.0);
}

#[test]
fn the_queue_of_a_link_is_given_as_commands_of_tc() {
    let codel = TEXT.replace("red", "codel");
    let found = asked("tc", &json!({"text": codel, "link": "bottleneck"})).expect("valid");
    let line = found["commands"][0].as_str().expect("a command");
    assert!(
        line.starts_with("tc qdisc replace dev DEV root codel limit 40"),
        "{line}"
    );
    let blue = TEXT.replace("red", "blue");
    let found = asked("tc", &json!({"text": blue, "link": "bottleneck"})).expect("valid");
    assert_eq!(found["commands"], json!([]));
    assert!(
        found["reason"]
            .as_str()
            .is_some_and(|reason| !reason.is_empty())
    );
    let refusal =
        asked("tc", &json!({"text": TEXT, "link": "botleneck"})).expect_err("no such link");
    assert!(
        refusal.json()["help"]
            .as_str()
            .unwrap()
            .contains("did you mean")
    );
}

#[test]
fn damaged_questions_are_refused() {
    let refused = |action: &str, body: &str| {
        let refusal = Job::start(action, body).expect_err("damaged");
        assert_eq!(refusal.status(), 400, "{refusal}");
    };
    refused("picture", "");
    refused("picture", "[]");
    refused("picture", "{}");
    refused("picture", r#"{"text": "x", "columns": "many", "flows": 1}"#);
    refused("picture", r#"{"text": 5, "columns": 1, "flows": 1}"#);
    refused("intervals", r#"{"figures": []}"#);
    refused("unknown", "{}");
}

#[test]
fn the_names_of_the_page_are_those_of_the_schema() {
    let schema: Value = serde_json::from_str(&goodqueue_scenario::schema()).expect("JSON");
    let definitions = &schema["$defs"];
    let names = asked("start", &json!({})).expect("no question");
    let tcp = &definitions["tcp"]["properties"];
    assert_eq!(
        names["controls"],
        tcp["congestion_control"]["anyOf"][0]["enum"]
    );
    assert_eq!(names["profiles"], tcp["profile"]["enum"]);
    let choices = &definitions["bottleneck"]["properties"]["queue"]["oneOf"];
    let simple = |choice: &&Value| {
        let reference = choice["allOf"][0]["$ref"].as_str().expect("a reference");
        let keys = &definitions[reference.rsplit('/').next().expect("a name")];
        let required = keys["required"].as_array().expect("a list");
        keys["properties"].get("limit").is_some()
            && required.iter().all(|key| key == "kind" || key == "limit")
    };
    let queues = choices.as_array().expect("a list").iter().filter(simple);
    let queues = queues.map(|choice| choice["allOf"][1]["properties"]["kind"]["const"].clone());
    assert_eq!(names["queues"], Value::Array(queues.collect()));
}
