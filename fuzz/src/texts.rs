//! Scenario files, study files, lines of `tc`, scripts of ns-2, flow records and traces of rates: refused with a message, or accepted and
//! then the same after they are written out and read again.

use crate::mutate;
use goodqueue_lab::{Bounds, Experiment, View};
use goodqueue_queue::QueueConfig;
use goodqueue_scenario::{
    Scenario, ScenarioError, Study, parse_mahimahi, parse_rate_csv, queue_toml,
};
use goodqueue_tc::{parse_qdisc, qdisc_commands};
use goodqueue_types::RandomStream;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// An input that takes longer than this is taken to hang, even on a busy machine.
const SLOWEST: Duration = Duration::from_secs(10);
/// An input that takes more bytes of memory than this is at fault.
const MAX_BYTES: u64 = 600_000_000;
/// Bounds of a run of an accepted scenario.
const BOUNDS: Bounds = Bounds {
    packets: 10_000,
    flows: 500,
    memory: 50_000_000,
};
/// Number of variants of a study that are read, from the first one on.
const VARIANTS: usize = 8;

/// Networks of more flows are not compared: printing them takes longer than reading the file.
const COMPARED: usize = 1000;

/// A target and its inputs.
pub struct Target {
    name: &'static str,
    corpus: Vec<Vec<u8>>,
    /// Returns true if the input is accepted, panics if it is at fault.
    check: fn(&[u8]) -> bool,
}

/// Tries changed texts for this number of seconds.
pub fn run_for(target: &Target, seconds: u64, seed: u64) -> Result<(), Box<dyn Error>> {
    let mut random = RandomStream::new(seed, target.name, 0);
    let begin = Instant::now();
    let (mut inputs, mut refused, mut slowest) = (0_u64, 0_u64, Duration::ZERO);
    let (mut worst, mut most_bytes) = (Vec::new(), 0);
    while begin.elapsed().as_secs() < seconds {
        let text = mutate::text(&target.corpus, &mut random);
        let started = Instant::now();
        let mut outcome = Ok(false);
        let memory = allocation_counter::measure(|| {
            outcome = catch_unwind(AssertUnwindSafe(|| (target.check)(&text)));
        });
        let bytes = memory.bytes_max;
        most_bytes = bytes.max(most_bytes);
        let took = started.elapsed();
        inputs += 1;
        refused += u64::from(matches!(outcome, Ok(false)));
        if took > slowest {
            slowest = took;
            worst.clone_from(&text);
        }
        if outcome.is_err() || took > SLOWEST || bytes > MAX_BYTES {
            let file = format!("fuzz/crash-{}-{seed}-{inputs}", target.name);
            std::fs::write(&file, &text)?;
            return Err(format!(
                "{file} panics, changes by being written out, took {took:?}, or {bytes} bytes"
            )
            .into());
        }
    }
    if let Ok(file) = std::env::var("FUZZ_SLOWEST") {
        std::fs::write(file, worst)?;
    }
    println!(
        "{}: {seconds} s: {inputs} inputs, {refused} refused, slowest {:.3} s, at most {} MB: no fault",
        target.name,
        slowest.as_secs_f64(),
        most_bytes / 1_000_000
    );
    Ok(())
}

/// Every file of a folder with this ending.
fn files(folder: &str, ending: &str) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|found| found == ending));
    paths.sort();
    let texts = paths
        .iter()
        .map(std::fs::read)
        .collect::<Result<Vec<_>, _>>()?;
    if texts.is_empty() {
        return Err(format!("{folder} has no .{ending} files; call this from the root").into());
    }
    Ok(texts)
}

/// Scenario files.
pub fn scenario() -> Result<Target, Box<dyn Error>> {
    Ok(Target {
        name: "scenario",
        corpus: files("scenarios", "toml")?,
        check: check_scenario,
    })
}

/// Study files.
pub fn study() -> Result<Target, Box<dyn Error>> {
    let mut corpus = files("studies", "toml")?;
    corpus.extend(STUDIES.map(|text| text.as_bytes().to_vec()));
    Ok(Target {
        name: "study",
        corpus,
        check: check_study,
    })
}

/// Lines of `tc`, shown, in JSON, and as commands.
pub fn tc() -> Result<Target, Box<dyn Error>> {
    let mut corpus = Vec::new();
    for file in ["shown.txt", "refused.txt", "shown-json.txt"] {
        let text = std::fs::read_to_string(format!("crates/tc/tests/{file}"))?;
        let lines = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty());
        corpus.extend(lines.filter_map(|line| Some(line.split('|').next()?.as_bytes().to_vec())));
    }
    let queues = goodqueue_queue::examples().into_iter();
    let commands = queues.filter_map(|(_, queue)| qdisc_commands(&queue, 1514, 1500).ok());
    corpus.extend(commands.map(|lines| lines.join("\n").into_bytes()));
    corpus.push(include_bytes!("../../crates/tc/tests/config_db.json").to_vec());
    Ok(Target {
        name: "tc",
        corpus,
        check: check_tc,
    })
}

/// Scripts of ns-2.
pub fn ns2() -> Result<Target, Box<dyn Error>> {
    let mut corpus = files("tools/ns2", "tcl")?;
    corpus.extend(files("crates/ns2/tests/scripts", "tcl")?);
    Ok(Target {
        name: "ns2",
        corpus,
        check: check_ns2,
    })
}

/// Flow records of nfdump.
pub fn records() -> Result<Target, Box<dyn Error>> {
    let folder = "crates/passive/tests/records";
    let mut corpus = files(folder, "csv")?;
    corpus.extend(files(folder, "json")?);
    Ok(Target {
        name: "records",
        corpus,
        check: check_records,
    })
}

/// Traces of a link's rate over time, as CSV and as mahimahi has them.
pub fn rates() -> Target {
    let corpus = [
        "0,10Mbps\n1,2Mbps\n1.5s,0bps\n",
        "time_s,rate_bps\n0,1000\n",
        "0\n1\n1\n7\n12\n",
    ];
    let corpus = corpus.map(|text| text.as_bytes().to_vec()).to_vec();
    Target {
        name: "rates",
        corpus,
        check: check_rates,
    }
}

/// Studies that use what the ready ones do not.
const STUDIES: [&str; 2] = [
    r#"schema_version = 1
scenario = "scenarios/s3.toml"
seeds = [3, 7]
[sweep]
flow.bulk.count = { from = 1, to = 8, factor = 2 }
topology.bottleneck.queue.limit = { from = "0.05bdp", to = "1.6bdp", points = 3, scale = "log" }
[[sweep.zip]]
duration = ["20s", "30s"]
warmup = ["1s", "2s"]
[[sweep.exclude]]
flow.bulk.count = { above = 4 }
[stop]
width.bottleneck.utilization = 0.01
max_replicates = 20
max_time = "1min"
[keep]
flows = true
[[plot]]
x = "topology.bottleneck.queue.limit"
y = ["bottleneck.utilization", "bottleneck.loss_rate"]
series = "flow.bulk.count"
x_scale = "log"
band = "range"
"#,
    r#"schema_version = 1
title = "A table"
seeds = 2
[sweep]
topology.bottleneck.queue = [{ kind = "codel" }, { label = "small", value = { limit = "5p" } }]
flow.up.tcp.congestion_control = ["reno", "cubic"]
topology.bottleneck.delay = { from = "10ms", to = "30ms", step = "10ms" }
[stop]
width.up.goodput_bps = "2%"
compare_to.flow.up.tcp.congestion_control = "reno"
[[plot]]
kind = "pareto"
x = "bottleneck.p99_queueing_delay_s"
y = "bottleneck.utilization"
[scenario]
schema_version = 1
duration = "5s"
[scenario.topology]
shape = "dumbbell"
access = { rate = "100Mbps", delay = "5ms" }
bottleneck = { rate = "2Mbps", delay = "20ms" }
[[scenario.flow]]
name = "up"
count = 3
workload = { kind = "bulk" }
"#,
];

/// A refusal has a message and a remedy, on two lines.
fn check_error(error: &ScenarioError) {
    assert!(
        !error.message.is_empty() && !error.help.is_empty(),
        "{error}"
    );
    assert_eq!(error.to_string().lines().count(), 2, "{error}");
}

fn check_scenario(text: &[u8]) -> bool {
    match Scenario::parse(text, "scenarios/file.toml", &[]) {
        Ok(scenario) => check_resolved(&scenario) && run(text),
        Err(error) => {
            check_error(&error);
            false
        }
    }
}

/// Runs a scenario within bounds. It ends or is stopped; a refusal has a reason.
fn run(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    match Experiment::read(&text, &[], BOUNDS) {
        Ok(experiment) => {
            let mut run = experiment.start(View::default());
            while let Ok(Some(_)) = run.advance() {}
        }
        Err(refusal) => assert!(!refusal.to_string().is_empty()),
    }
    true
}

/// Reads what a scenario is written out as. That must ask for the same run, and be written out the same.
fn check_resolved(scenario: &Scenario) -> bool {
    let resolved = scenario.resolved_toml();
    let again = Scenario::parse(resolved.as_bytes(), "resolved", &[])
        .unwrap_or_else(|error| panic!("{error}\n{resolved}"));
    assert_eq!(again.resolved_toml(), resolved);
    assert_eq!(again.canonical_toml(), scenario.canonical_toml());
    if scenario.flow_count() <= COMPARED {
        let networks = [scenario, &again].map(|one| format!("{:?}", one.network()));
        assert_eq!(networks[0], networks[1]);
    }
    assert_eq!(scenario.buffers().len(), scenario.link_names().len());
    for link in &scenario.link_names() {
        let _ = scenario.qdisc_commands(link, false);
    }
    true
}

fn check_study(text: &[u8]) -> bool {
    let study = match Study::parse(text, "studies/file.toml", &[]) {
        Ok(study) => study,
        Err(error) => {
            check_error(&error);
            return false;
        }
    };
    let resolved = study.resolved_toml();
    let again = Study::parse(resolved.as_bytes(), "resolved", &[])
        .unwrap_or_else(|error| panic!("{error}\n{resolved}"));
    assert_eq!(again.resolved_toml(), resolved);
    assert_eq!(again.outline_json(), study.outline_json());
    assert_eq!(again.variants(), study.variants());
    for variant in 0..study.variants().min(VARIANTS) {
        assert_eq!(
            again.parameters_json(variant),
            study.parameters_json(variant)
        );
        match (study.scenario(variant), again.scenario(variant)) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(ours.resolved_toml(), theirs.resolved_toml());
            }
            (Err(error), Err(_)) => check_error(&error),
            (Ok(_), Err(error)) => panic!("{error}\n{resolved}"),
            (Err(error), Ok(_)) => panic!("only the study as written is refused: {error}"),
        }
    }
    true
}

fn check_tc(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    check_device(&text);
    check_box(&text);
    if text.trim_start().starts_with('{') {
        return check_switch(&text);
    }
    let qdisc = match parse_qdisc(&text) {
        Ok(qdisc) => qdisc,
        Err(error) => {
            assert!(
                !error.message.is_empty() && !error.help.is_empty(),
                "{error}"
            );
            return false;
        }
    };
    check_table(&qdisc.queue);
    if let Ok(commands) = qdisc_commands(&qdisc.queue, 1514, 1500) {
        let commands = commands.join("\n");
        let again = parse_qdisc(&commands).unwrap_or_else(|error| panic!("{error}\n{commands}"));
        assert_eq!(again.queue, qdisc.queue, "{commands}");
    }
    true
}

/// An imported script is a scenario, or one with values out of bounds.
fn check_ns2(script: &[u8]) -> bool {
    match goodqueue_ns2::import(
        script,
        "script.tcl",
        Some("crates/ns2/tests/scripts".as_ref()),
        &[],
    ) {
        Ok(imported) => check_scenario(imported.toml.as_bytes()),
        Err(error) => {
            assert_eq!(error.to_string().lines().count(), 2, "{error}");
            false
        }
    }
}

/// Shares of sizes rise to one, and no more flows are long for a larger threshold.
fn check_records(mut text: &[u8]) -> bool {
    use goodqueue_passive::records::{Options, read};
    match read(&mut text, Options::default()) {
        Ok(found) => {
            let rises = |pair: &[(u64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1;
            assert!(found.sizes.windows(2).all(rises), "{:?}", found.sizes);
            let means = found.long.map(|long| long.mean);
            assert!(means.is_sorted_by(|a, b| a >= b), "{means:?}");
            assert!(serde_json::from_str::<serde_json::Value>(&found.json()).is_ok());
            true
        }
        Err(error) => {
            assert!(!error.message.is_empty() && !error.help.is_empty());
            false
        }
    }
}

/// A device has a queue with a limit or the reason why it is unknown, or is refused.
fn check_device(text: &str) {
    match goodqueue_tc::read_device(text, None) {
        Ok(device) => assert!(!device.kind.is_empty() && device.limit != Err(String::new())),
        Err(error) => assert!(!error.message.is_empty() && !error.help.is_empty()),
    }
}

/// A switch has ports with rates and a queue with a dynamic threshold, or is refused.
fn check_box(text: &str) {
    match goodqueue_tc::read_switch(text, None) {
        Ok(switch) => {
            let ports: u64 = switch.ports.iter().map(|(count, _)| count).sum();
            assert!((2..=1_000).contains(&ports), "{switch:?}");
            assert!(
                switch
                    .ports
                    .iter()
                    .all(|&(count, rate)| count > 0 && rate > 0)
            );
            assert!(switch.queue.alpha.is_some_and(|alpha| alpha > 0.0));
        }
        Err(error) => assert!(!error.message.is_empty() && !error.help.is_empty()),
    }
}

/// A switch's queue has no more bytes than its pool.
fn check_switch(text: &str) -> bool {
    match goodqueue_tc::read_switch_queue(text, Some("Ethernet4|3")) {
        Ok(queue) => {
            assert!(queue.bytes <= queue.pool_bytes, "{queue:?}");
            queue.alpha.is_none_or(|alpha| alpha > 0.0)
        }
        Err(error) => {
            assert!(
                !error.message.is_empty() && !error.help.is_empty(),
                "{error}"
            );
            false
        }
    }
}

/// The table that is printed for a scenario reads as the same queue there, or is refused.
fn check_table(queue: &QueueConfig) {
    let Some(table) = queue_toml(queue) else {
        return;
    };
    let path = "topology.bottleneck.queue".to_owned();
    let read = |table: String| {
        let overrides = [(path.clone(), table)];
        Scenario::parse(LINK.as_bytes(), "link", &overrides)
    };
    match read(table.clone()) {
        Ok(scenario) => {
            check_resolved(&scenario);
            let links = scenario.network().links;
            let link = links.iter().find(|link| link.name == "bottleneck");
            assert_eq!(link.map(|link| &link.queue), Some(queue), "{table}");
        }
        Err(error) => check_error(&error),
    }
}

const LINK: &str = r#"schema_version = 1
duration = "1s"
[topology]
shape = "dumbbell"
framing = "14B"
access = { rate = "1Gbps", delay = "1ms" }
bottleneck = { rate = "10Mbps", delay = "10ms" }
[[flow]]
name = "up"
workload = { kind = "bulk" }
"#;

fn check_rates(text: &[u8]) -> bool {
    let read = [parse_rate_csv(text).is_ok(), parse_mahimahi(text).is_ok()];
    read.contains(&true)
}
