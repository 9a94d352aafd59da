//! Mistakes: each gives one message with its line, its key and a remedy, and never a panic.

use goodqueue_scenario::{Scenario, ScenarioError};

/// A scenario with many features. Line numbers below count from its first line.
const GOOD: &str = r#"schema_version = 1
title = "t"
duration = "180s"
warmup = "10s"
seed = 1
[topology]
shape = "dumbbell"
framing = "7B"
access = { rate = "2Mbps", delay = "1ms" }
[topology.bottleneck]
rate = "1Mbps"
delay = "10ms"
drop_list = [16, 17]
queue = { kind = "drop_tail", limit = "100p" }
[[flow]]
name = "upload"
count = 2
start = "1s"
rtt = { from = "30ms", to = "40ms", classes = 2 }
workload = { kind = "bulk" }
tcp = { congestion_control = "gaimd", alpha = 1.0, recovery = "sack", mss = "536B" }
[[flow]]
name = "probe"
workload = { kind = "ping", interval = "10ms" }
[[flow]]
name = "noise"
workload = { kind = "cbr", rate = "10kbps", packet = "200B" }
[record]
series = false
"#;

/// Cases, one per line: text to replace, replacement, line, key, part of the message, part of the
/// help.
const CASES: &str = include_str!("malformed.txt");

fn parse(text: &[u8]) -> ScenarioError {
    Scenario::parse(text, "scenario.toml", &[]).expect_err("the file has a mistake")
}

#[test]
fn the_scenario_without_a_mistake_is_accepted() {
    Scenario::parse(GOOD.as_bytes(), "scenario.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn each_mistake_is_reported_with_line_key_and_remedy() {
    let cases = CASES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut failures = Vec::new();
    let mut count = 0;
    for case in cases {
        let fields: Vec<&str> = case.split(" | ").collect();
        let [what, by, line, key, message, help] = fields[..] else {
            panic!("{case}")
        };
        assert_eq!(
            GOOD.matches(what).count(),
            1,
            "{what} must stand in the file once"
        );
        let text = GOOD.replace(what, &by.replace("\\n", "\n"));
        let Err(error) = Scenario::parse(text.as_bytes(), "scenario.toml", &[]) else {
            failures.push(format!("{case}\naccepted"));
            continue;
        };
        let right = error.line.is_some_and(|found| found.to_string() == line)
            && error.column.is_some_and(|column| column >= 1)
            && error.key == key
            && error.message.contains(message)
            && error.help.contains(help)
            && !error.help.is_empty()
            && error
                .to_string()
                .starts_with(&format!("error: scenario.toml:{line}:"));
        if !right {
            failures.push(format!("{case}\n{error}"));
        }
        count += 1;
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(count >= 100, "{count} cases");
}

#[test]
fn a_message_has_place_key_mistake_and_remedy() {
    let error = parse(GOOD.replace("\"1Mbps\"", "\"1mbps\"").as_bytes());
    assert_eq!(
        error.to_string(),
        "error: scenario.toml:11:8: topology.bottleneck.rate: \"1mbps\" is ambiguous\n  \
         help: write \"1Mbps\" for megabits per second"
    );
    // Columns count characters, not bytes.
    let error = parse("title = \"äöü\" # \nduration = { \"ü\" = 1, x = 2 }".as_bytes());
    assert_eq!((error.line, error.column), (Some(1), Some(1)), "{error}");
}

#[test]
fn files_that_are_no_text_are_refused() {
    let cases: [(Vec<u8>, Option<u32>, &str, &str); 6] = [
        (
            b"title = \"a\"\nb = \"\xff\"".to_vec(),
            Some(2),
            "0xff is not UTF-8",
            "UTF-8",
        ),
        (b"title = \"a\"\n\0".to_vec(), Some(2), "NUL", "plain UTF-8"),
        (
            vec![b'['; 10_000_000],
            None,
            "10000000 bytes",
            "the scenario file you mean",
        ),
        (b"\xff\xfet\0i\0".to_vec(), Some(1), "NUL", "not UTF-16"),
        (
            Vec::new(),
            Some(1),
            "\"schema_version\" is missing",
            "add schema_version = 2",
        ),
        (
            b"\x89PNG\r\n\x1a\n".to_vec(),
            Some(1),
            "0x89 is not UTF-8",
            "UTF-8",
        ),
    ];
    for (text, line, message, help) in cases {
        let error = parse(&text);
        assert_eq!(error.line, line, "{error}");
        assert!(
            error.message.contains(message) && error.help.contains(help),
            "{error}"
        );
    }
}

#[test]
fn deep_nesting_cannot_exhaust_the_stack() {
    let deep = 1 << 18;
    for text in [
        "[".repeat(1 << 20),
        format!("title = {}", "[".repeat(deep)),
        format!("title = {}", "{a=".repeat(deep)),
        format!("title{} = 1", ".a".repeat(deep)),
        format!("[title{}]", ".a".repeat(deep)),
        format!("[[flow{}]]", ".flow".repeat(deep / 2)),
    ] {
        let error = parse(text.as_bytes());
        assert!(
            error.message.contains("TOML") && !error.help.is_empty(),
            "{error}"
        );
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = Scenario::load(std::path::Path::new("no/such.toml"), &[]).expect_err("missing");
    assert!(
        error
            .to_string()
            .starts_with("error: no/such.toml: cannot read the file"),
        "{error}"
    );
    assert!(error.help.contains("path of a scenario file"));
    let error = Scenario::load(std::path::Path::new("."), &[]).expect_err("a folder");
    assert!(error.message.contains("cannot read the file"), "{error}");
}

/// (path, value, key, part of the message, part of the help)
const OVERRIDES: &[(&str, &str, &str, &str, &str)] = &[
    (
        "topology.bottleneck.rate",
        "1mbps",
        "topology.bottleneck.rate",
        "ambiguous",
        "\"1Mbps\"",
    ),
    (
        "topology.bottleneck.rate",
        "5",
        "topology.bottleneck.rate",
        "5 has no unit",
        "\"5Mbps\"",
    ),
    (
        "topology.botleneck.rate",
        "1Mbps",
        "topology.botleneck",
        "not a key",
        "\"bottleneck\"",
    ),
    (
        "flow.upload.tcp.mms",
        "1kB",
        "flow.0.tcp.mms",
        "not a key of tcp",
        "\"mss\"",
    ),
    (
        "flow.7.count",
        "3",
        "flow.7",
        "there is no \"7\"",
        "3 entries",
    ),
    (
        "flow.nobody.count",
        "3",
        "flow.nobody",
        "there is no \"nobody\"",
        "3 entries",
    ),
    (
        "title.x",
        "3",
        "title.x",
        "has no keys below it",
        "one key earlier",
    ),
    ("", "3", "", "not the path of a key", "--set topology"),
    (
        "flow..count",
        "3",
        "flow..count",
        "not the path of a key",
        "--set topology",
    ),
    (
        "topology.bottleneck.drop_list",
        "[1,",
        "",
        "not valid TOML",
        "",
    ),
    ("seed", "-3", "seed", "out of range", "whole number"),
    (
        "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r",
        "1",
        "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r",
        "not the path",
        "--set",
    ),
];

#[test]
fn the_path_to_a_missing_entry_says_which_entries_there_are() {
    let flow = GOOD.find("[[flow]]").expect("it has flows");
    let one = format!(
        "{}[[flow]]\nworkload = {{ kind = \"bulk\" }}\n",
        &GOOD[..flow]
    );
    for (text, entries) in [
        (GOOD, "the list has 3 entries: write a number from 0 to 2"),
        (one.as_str(), "the only entry has the number 0"),
    ] {
        let overrides = [("flow.7.count".to_owned(), "3".to_owned())];
        let error = Scenario::parse(text.as_bytes(), "scenario.toml", &overrides)
            .expect_err("there is no such flow");
        assert!(error.help.contains(entries), "{error}");
    }
}

#[test]
fn mistakes_in_overrides_name_the_override() {
    for (path, value, key, message, help) in OVERRIDES {
        let overrides = [
            ("seed".to_owned(), "4".to_owned()),
            ((*path).to_owned(), (*value).to_owned()),
        ];
        let error = Scenario::parse(GOOD.as_bytes(), "scenario.toml", &overrides)
            .expect_err("the override has a mistake");
        assert_eq!(error.file, format!("--set {path}={value}"), "{error}");
        assert_eq!((error.line, error.key.as_str()), (None, *key), "{error}");
        assert!(
            error.message.contains(message) && error.help.contains(help),
            "{error}"
        );
    }
}
