//! Controls in Python are named by scenarios, and only a caller with leave accepts them.

use goodqueue_scenario::{Scenario, Study, UnitError};

const SCENARIO: &str = r#"
schema_version = 1
duration = "2s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "2Mbps", delay = "10ms", queue = { limit = "10p" } }
[[flow]]
name = "mine"
workload = { kind = "bulk" }
tcp = { congestion_control = { kind = "python", class = "controls:Aimd" } }
[[flow]]
name = "theirs"
workload = { kind = "bulk" }
"#;

fn found(class: &str) -> Result<String, UnitError> {
    match class {
        "controls:Aimd" => Ok("00ff".to_owned()),
        _ => Err(UnitError {
            message: format!("{class} cannot be imported"),
            help: "name another".to_owned(),
        }),
    }
}

fn read(text: &str) -> Result<Scenario, goodqueue_scenario::ScenarioError> {
    Scenario::parse_with_python(text.as_bytes(), "own.toml", &[], &found)
}

#[test]
fn a_file_cannot_name_code_by_itself() {
    let error = Scenario::parse(SCENARIO.as_bytes(), "own.toml", &[]).unwrap_err();
    assert_eq!((error.file.as_str(), error.line), ("own.toml", Some(10)));
    assert!(error.message.contains("controls:Aimd"), "{error}");
    assert!(error.help.contains("--allow-python"), "{error}");
    let common = SCENARIO.replace("tcp = {", "# tcp = {")
        + "[tcp]\ncongestion_control = { kind = \"python\", class = \"controls:Aimd\" }\n";
    let error = Scenario::parse(common.as_bytes(), "own.toml", &[]).unwrap_err();
    assert_eq!(error.line, Some(15));
}

#[test]
fn a_study_needs_the_same_leave() {
    let base = SCENARIO
        .replace("[topology]", "[scenario.topology]")
        .replace("[[flow]]", "[[scenario.flow]]");
    let study = format!(
        "schema_version = 1\nseeds = [1]\n[sweep]\nflow.theirs.start = [\"0s\", \"1s\"]\n\
         [scenario]\n{base}"
    );
    let study = Study::parse(study.as_bytes(), "study.toml", &[]).unwrap();
    assert_eq!(study.variants(), 2);
    let error = study.scenario(1).unwrap_err();
    assert!(error.help.contains("--allow-python"), "{error}");
    assert!(study.scenario_with(1, Some(&found)).is_ok());
}

#[test]
fn the_checksum_of_the_source_is_a_part_of_the_scenario() {
    let scenario = read(SCENARIO).unwrap();
    let [(group, named)] = &scenario.python_controls()[..] else {
        panic!("one control is in Python")
    };
    assert_eq!(
        [group, &named.class, &named.checksum],
        ["mine", "controls:Aimd", "00ff"]
    );
    assert!(scenario.canonical_toml().contains("checksum = \"00ff\""));
    let written = scenario.resolved_toml();
    assert_eq!(read(&written).unwrap().resolved_toml(), written);
    let other = written.replace("00ff", "00fe");
    let error = read(&other).unwrap_err();
    assert!(error.message.contains("has changed"), "{error}");
}

#[test]
fn a_name_that_is_no_class_is_refused() {
    for (name, part) in [
        ("controls", "names no class"),
        ("controls:Aimd()", "names no class"),
        ("a b:C", "names no class"),
        ("controls:Other", "cannot be imported"),
    ] {
        let text = SCENARIO.replace("controls:Aimd", name);
        let error = read(&text).unwrap_err();
        assert!(error.message.contains(part), "{name}: {error}");
        assert_eq!(error.line, Some(10));
    }
    let bare = SCENARIO.replace(
        "{ kind = \"python\", class = \"controls:Aimd\" }",
        "\"python\"",
    );
    assert!(read(&bare).is_err());
}

#[test]
fn a_control_of_the_caller_replaces_that_of_a_group() {
    use goodqueue_tcp::cc::{CustomControl, built_in};
    let scenario = read(SCENARIO).unwrap();
    let own = CustomControl::new("own", |config| {
        let mut config = config.clone();
        config.congestion_control = goodqueue_tcp::CongestionControlConfig::Reno;
        built_in(&config)
    });
    let error = scenario.with_control("min", &own).unwrap_err();
    assert!(error.help.contains("mine"), "{error:?}");
    let with = scenario.with_control("mine", &own).unwrap();
    assert!(with.python_controls().is_empty());
    let plain = SCENARIO.replace(
        "{ kind = \"python\", class = \"controls:Aimd\" }",
        "\"reno\"",
    );
    let plain = Scenario::parse(plain.as_bytes(), "reno.toml", &[]).unwrap();
    let [left, right] = [with, plain].map(|scenario| goodqueue_sim::run(&scenario.network()));
    assert!(left.totals.dropped > 0);
    assert_eq!(format!("{:?}", left.flows), format!("{:?}", right.flows));
}

const QUEUE: &str = r#"{ kind = "python", class = "controls:Aimd", limit = "10p" }"#;

fn with_queue(queue: &str) -> String {
    SCENARIO
        .replace("{ limit = \"10p\" }", queue)
        .replace("tcp = {", "# tcp = {")
}

#[test]
fn a_queue_in_python_needs_the_same_leave() {
    let text = with_queue(QUEUE);
    let error = Scenario::parse(text.as_bytes(), "own.toml", &[]).unwrap_err();
    assert_eq!((error.file.as_str(), error.line), ("own.toml", Some(6)));
    assert!(
        error.message.contains("the queue \"controls:Aimd\""),
        "{error}"
    );
    assert!(error.help.contains("--allow-python"), "{error}");
    let common = with_queue("{ limit = \"10p\" }").replace(", queue = { limit = \"10p\" }", "")
        + &format!("[topology.access]\nrate = \"1Gbps\"\nqueue = {QUEUE}\n");
    let common = common.replace(
        "bottleneck = {",
        "queue = { limit = \"9p\" }\nbottleneck = {",
    );
    let error = Scenario::parse(common.as_bytes(), "own.toml", &[]).unwrap_err();
    assert!(error.help.contains("--allow-python"), "{error}");
    assert_eq!(read(&common).unwrap().python_queues()[0].0, "access");
}

#[test]
fn the_checksum_of_a_queue_is_a_part_of_the_scenario() {
    let scenario = read(&with_queue(QUEUE)).unwrap();
    let [(link, named)] = &scenario.python_queues()[..] else {
        panic!("one queue is in Python")
    };
    assert_eq!(
        [link, &named.class, &named.checksum],
        ["bottleneck", "controls:Aimd", "00ff"]
    );
    assert!(scenario.canonical_toml().contains("checksum = \"00ff\""));
    let written = scenario.resolved_toml();
    assert_eq!(read(&written).unwrap().resolved_toml(), written);
    let error = read(&written.replace("00ff", "00fe")).unwrap_err();
    assert!(error.message.contains("has changed"), "{error}");
    assert_eq!(
        scenario.limit("bottleneck").unwrap(),
        goodqueue_queue::Limit::Packets(10)
    );
    let plain = read(&with_queue("{ limit = \"10p\" }")).unwrap();
    let set = plain
        .with_python_queue("bottleneck", "controls:Aimd", "00ff")
        .unwrap();
    assert_eq!(set.canonical_toml(), scenario.canonical_toml());
}

#[test]
fn a_queue_that_names_no_class_or_is_inside_of_another_is_refused() {
    let text = with_queue(QUEUE).replace("controls:Aimd", "controls");
    let error = read(&text).unwrap_err();
    assert_eq!(error.line, Some(6));
    assert!(error.message.contains("names no class"), "{error}");
    assert!(error.help.contains("queues:DropTail"), "{error}");
    let error = read(&with_queue("{ kind = \"python\" }")).unwrap_err();
    assert!(error.message.contains("class"), "{error}");
    let inner =
        format!("{{ kind = \"tbf\", rate = \"1Mbps\", burst = \"10kB\", queue = {QUEUE} }}");
    let error = read(&with_queue(&inner)).unwrap_err();
    assert!(error.message.contains("inside of another"), "{error}");
}

/// A limit of 30 kB holds nineteen Ethernet frames of 1538 bytes.
#[test]
fn a_queue_of_the_caller_replaces_the_named_one_and_gets_its_limit() {
    use goodqueue_queue::{Configuration, CustomQueue, QueueConfig};
    use goodqueue_types::RandomStream;
    use std::convert::Infallible;
    use std::sync::Arc;
    let text = with_queue(&QUEUE.replace("10p", "30kB"))
        .replace("delay =", "framing = \"ethernet\", delay =");
    let mut limits = Vec::new();
    let replaced = read(&text)
        .unwrap()
        .with_python_queues(|python, limit| {
            limits.push((python.class.clone(), limit));
            let fifo = QueueConfig::drop_tail(goodqueue_queue::Limit::Packets(10));
            Ok::<_, Infallible>(CustomQueue {
                name: "own",
                make: Arc::new(move || Box::new(fifo.build(&mut RandomStream::new(1, "own", 0)))),
                limit: goodqueue_queue::Limit::Unlimited,
            })
        })
        .unwrap();
    assert_eq!(limits, [("controls:Aimd".to_owned(), Some(19))]);
    assert!(replaced.python_queues().is_empty());
    let plain = read(&text.replace(&QUEUE.replace("10p", "30kB"), "{ limit = \"10p\" }")).unwrap();
    let [left, right] = [replaced, plain].map(|scenario| goodqueue_sim::run(&scenario.network()));
    assert!(left.totals.dropped > 0);
    assert_eq!(format!("{:?}", left.flows), format!("{:?}", right.flows));
}
