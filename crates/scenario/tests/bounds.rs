//! Small files that ask for much: each is refused at the key that asks for it, with the limit, before
//! its memory is taken.

use goodqueue_scenario::{Scenario, ScenarioError, Study};
use std::fmt::Write;

/// Most bytes that the refusal of a file may take.
const MAX_BYTES: u64 = 250_000_000;

fn dumbbell(topology: &str, flow: &str) -> String {
    format!(
        "schema_version = 1\nduration = \"1s\"\n[topology]\nshape = \"dumbbell\"\n{topology}\n\
         bottleneck = {{ rate = \"10Mbps\", delay = \"5ms\", queue = {{ limit = \"50p\" }} }}\n\
         [[flow]]\nname = \"f\"\nworkload = {{ kind = \"bulk\" }}\n{flow}\n"
    )
}

/// Returns a chain of a thousand links with a group of flows that has these keys.
fn chain(flow: &str) -> String {
    let link = "[[topology.link]]\nrate = \"1Mbps\"\ndelay = \"1ms\"\nqueue = { limit = \"9p\" }\n";
    format!(
        "schema_version = 1\nduration = \"1s\"\n[topology]\nshape = \"chain\"\n{}[[flow]]\n\
         name = \"f\"\nworkload = {{ kind = \"bulk\" }}\n{flow}\n",
        link.repeat(1_000)
    )
}

/// Returns a star of 999 hosts whose links have these keys, and flows with those.
fn star(port: &str, flow: &str) -> String {
    format!(
        "schema_version = 1\nduration = \"1s\"\n[topology]\nshape = \"star\"\nports = 999\n\
         port = {{ rate = \"1Mbps\", delay = \"1ms\", queue = {{ limit = \"9p\" }}{port} }}\n\
         [[flow]]\nname = \"f\"\nworkload = {{ kind = \"bulk\" }}\n{flow}\n"
    )
}

fn list(numbers: std::ops::Range<u32>) -> String {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    numbers.join(", ")
}

/// Returns the refusal of what `read` reads, which must take little memory.
fn refusal<T>(name: &str, read: impl Fn() -> Result<T, ScenarioError>) -> ScenarioError {
    let mut found = None;
    let cost = allocation_counter::measure(|| found = read().err());
    println!("{name}: {} B", cost.bytes_max);
    assert!(
        cost.bytes_max < MAX_BYTES,
        "{name}: {} bytes",
        cost.bytes_max
    );
    found.unwrap_or_else(|| panic!("{name} is accepted"))
}

#[test]
fn a_scenario_that_asks_for_much_is_refused_at_the_key_with_the_limit() {
    let groups: String = (0..20).fold(String::new(), |mut text, n| {
        let _ = writeln!(
            text,
            "[[flow]]\nname = \"g{n}\"\ncount = 60000\nworkload = {{ kind = \"bulk\" }}"
        );
        text
    });
    let patterns = vec!["\"host*\""; 50_000].join(", ");
    let all_pairs = format!(
        "count = 1000000\nfrom = [{}]\nto = [{}]",
        list(0..500),
        list(500..1_001)
    );
    for (name, text, key, limit) in [
        (
            "one count",
            dumbbell("", "count = 10000000"),
            "flow.0.count",
            "1000000",
        ),
        (
            "many counts",
            dumbbell("", &groups),
            "flow.17.count",
            "1000000",
        ),
        (
            "patterns of ends",
            star("", &format!("to = \"host1\"\nfrom = [{patterns}]")),
            "flow.0.from.1001",
            "1000000",
        ),
        ("all pairs", chain(&all_pairs), "flow.0.to", "5000000"),
        (
            "long routes",
            chain("count = 1000000"),
            "flow.0.count",
            "100000000",
        ),
        (
            "copies of a list",
            star(
                &format!(", drop_list = [{}]", list(1..100_000)),
                "from = \"host0\"\nto = \"host1\"",
            ),
            "topology.port",
            "1000000",
        ),
    ] {
        let error = refusal(name, || Scenario::parse(text.as_bytes(), "large.toml", &[]));
        assert_eq!((&*error.file, &*error.key), ("large.toml", key), "{error}");
        assert!(error.line.is_some(), "{error}");
        assert!(error.help.contains(limit), "{error}");
    }
}

/// An override has no line, but its key and the limit.
#[test]
fn an_override_that_asks_for_much_is_refused_with_the_limit() {
    let overrides = [("flow.f.count".to_owned(), "10000000".to_owned())];
    let text = dumbbell("", "");
    let error = refusal("override", || {
        Scenario::parse(text.as_bytes(), "file.toml", &overrides)
    });
    assert!(error.to_string().contains("1000000"), "{error}");
}

/// Returns a study of the small scenario with these lines.
fn study(sweep: &str) -> String {
    let scenario = dumbbell("", "").replace("[topology]", "[scenario.topology]");
    let scenario = scenario.replace("[[flow]]", "[[scenario.flow]]");
    format!("schema_version = 1\nseeds = 2\n{sweep}\n[scenario]\n{scenario}")
}

#[test]
fn a_study_that_asks_for_much_is_refused_with_the_limit() {
    let range = "{ from = 1, to = 90000, step = 1 }";
    let axes: String = (0..2_000).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "key{n} = {range}");
        text
    });
    let keys: String = (0..5_000).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "key{n} = [1]");
        text
    });
    let excluded = format!("a = {range}\n[[sweep.exclude]]\na = [{}]", list(1..20_000));
    let many = vec!["[[sweep.exclude]]\na = 3\n"; 2_000].concat();
    let tested = format!(
        "a = {{ from = 1, to = 2000, step = 1 }}\nb = {{ from = 1, to = 2000, step = 1 }}\n{many}"
    );
    for (name, sweep, limit) in [
        ("long axes", axes.clone(), "500000"),
        (
            "long zipped axes",
            format!("[[sweep.zip]]\n{axes}"),
            "500000",
        ),
        ("many axes", keys, "1000"),
        (
            "a large grid",
            format!("a = {range}\nb = {range}"),
            "100,000",
        ),
        (
            "a grid beyond the variants",
            "a = { from = 1, to = 3000, step = 1 }\nb = { from = 1, to = 3000, step = 1 }"
                .to_owned(),
            "100,000",
        ),
        ("many excluded values", excluded, "5000000"),
        ("many tests", tested, "1,000,000,000"),
    ] {
        let text = study(&format!("[sweep]\n{sweep}"));
        let error = refusal(name, || Study::parse(text.as_bytes(), "study.toml", &[]));
        assert!(error.line.is_some(), "{error}");
        assert!(error.to_string().contains(limit), "{error}");
    }
}

/// A million flows take little memory before a run, because no command builds their network first.
#[test]
fn a_million_flows_are_read_and_their_queue_is_printed_in_little_memory() {
    let text = dumbbell("access = { rate = \"1Gbps\" }", "count = 1000000");
    let text = text.replace("10Mbps", "10Gbps");
    let cost = allocation_counter::measure(|| {
        let scenario = Scenario::parse(text.as_bytes(), "file.toml", &[]).expect("valid");
        assert_eq!(scenario.flow_count(), 1_000_000);
        assert!(!scenario.resolved_toml().is_empty() && scenario.packets() > 0);
        let commands = scenario
            .qdisc_commands("bottleneck", false)
            .expect("a queue");
        assert!(commands[0].contains("limit"), "{commands:?}");
    });
    println!("{} B", cost.bytes_max);
    assert!(cost.bytes_max < 150_000_000, "{}", cost.bytes_max);
}
