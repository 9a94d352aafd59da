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
    assert_eq!(
        scenario.python_controls(),
        [("mine".to_owned(), "controls:Aimd".to_owned())]
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
