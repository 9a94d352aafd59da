//! Conversion of `tc` lines to queues and back.

#[path = "../../scenario/tests/language/any_queue.rs"]
mod any_queue;

use any_queue::{any_queue, queue_of, with_queue};
use goodqueue_queue::{Configuration, QueueConfig};
use goodqueue_scenario::{Scenario, queue_toml};
use goodqueue_tc::{parse_qdisc, qdisc_commands};
use proptest::prelude::*;

/// Cases: output of `tc qdisc show` | the queue | a part of its notes, if there are any. `tc` 6.1
/// and Linux 6.18 printed the lines of pfifo, bfifo, `pfifo_head_drop` and tbf. The other lines are
/// from tc's manual pages and from the kernel's tests of its qdiscs.
const SHOWN: &str = include_str!("shown.txt");
/// Cases: refused line | a part of the message | a part of the help.
const REFUSED: &str = include_str!("refused.txt");

fn cases(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = text.lines();
    let cases = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    cases.map(|line| line.split('|').map(str::trim).collect())
}

fn read(table: &str) -> QueueConfig {
    queue_of(&with_queue(table).unwrap_or_else(|error| panic!("{error}\n{table}")))
}

#[test]
fn lines_of_tc_are_understood() {
    let mut count = 0;
    for case in cases(SHOWN) {
        let [line, table, note] = case[..] else {
            panic!("{case:?}")
        };
        let qdisc = parse_qdisc(line).unwrap_or_else(|error| panic!("{error}\n{line}"));
        let toml = queue_toml(&qdisc.queue).expect("it has a name");
        assert_eq!(qdisc.queue, read(table), "{line}\n{toml}");
        let notes = qdisc.notes.join("; ");
        assert!(notes.contains(note), "{line}\n{notes}");
        assert_eq!(notes.is_empty(), note.is_empty(), "{line}\n{notes}");
        count += 1;
    }
    assert!(count >= 25);
}

#[test]
fn queues_without_equivalent_are_refused_with_the_reason() {
    for case in cases(REFUSED) {
        let [line, message, help] = case[..] else {
            panic!("{case:?}")
        };
        let error = parse_qdisc(line).expect_err(line);
        assert!(error.message.contains(message), "{line}\n{error}");
        assert!(
            error.help.contains(help) && !error.help.is_empty(),
            "{line}\n{error}"
        );
    }
}

/// Cases: queue | a part of the message | a part of the help.
const NOT_LINUX: &[(&str, &str, &str)] = &[
    (
        r#"{ kind = "ns2_red", limit = "90kB" }"#,
        "gentle RED",
        "kind = \"red\"",
    ),
    (
        r#"{ kind = "ns2_red", limit = "90kB", gentle = false }"#,
        "ns-2's RED",
        "kind = \"red\"",
    ),
    (
        r#"{ kind = "red", limit = "900p" }"#,
        "red counts bytes",
        "in bytes",
    ),
    (
        r#"{ kind = "codel", limit = "90kB" }"#,
        "codel counts packets",
        "in packets",
    ),
    (
        r#"{ kind = "codel", arithmetic = "exact" }"#,
        "\"arithmetic\"",
        "default",
    ),
    (
        r#"{ kind = "codel", target = "5.0005ms" }"#,
        "microseconds",
        "target",
    ),
    (r#"{ kind = "pie", alpha = 0.13 }"#, "1/16", "multiple"),
    (
        r#"{ kind = "pie", flavour = "rfc8033" }"#,
        "\"flavour\"",
        "default",
    ),
    (
        r#"{ kind = "dualpi2", time_shift = "50ms" }"#,
        "time-shifted",
        "classic_protection",
    ),
    (
        r#"{ kind = "drop_tail", limit = "unlimited" }"#,
        "without a limit",
        "1000p",
    ),
    (
        r#"{ kind = "drop_head", limit = "90kB" }"#,
        "pfifo_head_drop counts packets",
        "in packets",
    ),
    (r#"{ kind = "sfq", perturb = "500ms" }"#, "seconds", "whole"),
    (r#"{ kind = "blue", limit = "90p" }"#, "BLUE", "pie"),
    (
        r#"{ kind = "fpq", limit = "90p" }"#,
        "flow-proportional",
        "fq_codel",
    ),
    (
        r#"{ kind = "pi2", limit = "90p" }"#,
        "PI2 on one queue",
        "dualpi2",
    ),
    (
        r#"{ kind = "step", limit = "90p", threshold = "9p" }"#,
        "by delay",
        "ce_threshold",
    ),
    (
        r#"{ kind = "drr", limit = "90p" }"#,
        "classes with filters",
        "sfq",
    ),
    (
        r#"{ kind = "fq_codel", memory_limit = "unlimited" }"#,
        "32 bits",
        "4294967295B",
    ),
    (
        r#"{ kind = "drop_tail", limit = "4294967296B" }"#,
        "limit has 32 bits",
        "4294967295B",
    ),
    (
        r#"{ kind = "tbf", rate = "10Mbps", burst = "4294967296B", limit = "90kB" }"#,
        "burst has 32 bits",
        "4294967295B",
    ),
    (
        r#"{ kind = "tbf", rate = "10Mbps", burst = "10kB", limit = "4294967296B" }"#,
        "limit has 32 bits",
        "4294967295B",
    ),
    (
        r#"{ kind = "cake", memory_limit = "4294967296B" }"#,
        "memory_limit has 32 bits",
        "4294967295B",
    ),
    (
        r#"{ kind = "fq_codel", set_ways = 8 }"#,
        "\"set_ways\"",
        "default",
    ),
];

#[test]
fn queues_that_linux_lacks_are_refused_with_the_reason() {
    for (table, message, help) in NOT_LINUX {
        let error = qdisc_commands(&read(table), 1514, 1500).expect_err(table);
        assert!(error.message.contains(message), "{table}\n{error}");
        assert!(error.help.contains(help), "{table}\n{error}");
    }
}

#[test]
fn sizes_are_scaled_so_that_as_many_frames_fit() {
    let commands = |table: &str, frame, packet| {
        let commands = qdisc_commands(&read(table), frame, packet);
        commands
            .unwrap_or_else(|error| panic!("{error}"))
            .join("\n")
    };
    let hundred = r#"{ limit = "150000B" }"#;
    let line = "tc qdisc replace dev DEV root bfifo limit 151400";
    assert_eq!(commands(hundred, 1500, 1500), line);
    assert_eq!(commands(r#"{ limit = "151400B" }"#, 1514, 1500), line);
    // 1,000,000 bytes are 660 whole frames of 1514 bytes.
    assert_eq!(
        commands(r#"{ limit = "1MB" }"#, 1514, 1500),
        "tc qdisc replace dev DEV root bfifo limit 1000000"
    );
    let shaper = r#"{ kind = "tbf", rate = "10Mbps", burst = "10kB", queue = { kind = "codel" } }"#;
    assert_eq!(
        commands(shaper, 1514, 1500),
        "tc qdisc replace dev DEV root handle 1: tbf rate 10Mbit burst 10000 limit 10000\n\
         tc qdisc replace dev DEV parent 1:1 codel limit 1000 target 5ms interval 100ms"
    );
}

#[test]
fn shapers_pass_as_many_packets_whatever_the_link_counts() {
    let commands = |queue: &str| {
        let overrides = [
            (
                "topology.bottleneck.framing".to_owned(),
                "ethernet".to_owned(),
            ),
            ("topology.bottleneck.queue".to_owned(), queue.to_owned()),
        ];
        let scenario = Scenario::parse(any_queue::LINK.as_bytes(), "test", &overrides);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        let commands = scenario.qdisc_commands("bottleneck", false);
        commands
            .unwrap_or_else(|error| panic!("{error}"))
            .join("\n")
    };
    // Frames of 1538 bytes here and of 1514 in tc: 10 Mb/s are 812.7 in a second.
    let tbf = r#"{ kind = "tbf", rate = "10Mbps", burst = "15380B", limit = "30760B" }"#;
    let line = "tc qdisc replace dev DEV root tbf rate 9843953bit burst 15140 limit 30280";
    assert_eq!(commands(tbf), line);
    // CAKE has an option for framing; its own framing has priority over the link's.
    let cake = commands(r#"{ kind = "cake", bandwidth = "10Mbps" }"#);
    assert!(cake.ends_with("noatm overhead 38 mpu 84"), "{cake}");
    let cake =
        commands(r#"{ kind = "cake", bandwidth = "10Mbps", overhead = "18B", mpu = "64B" }"#);
    assert!(cake.ends_with("noatm overhead 18 mpu 64"), "{cake}");
}

/// `tc` stores gains in 256ths and truncates, so they must be written in full.
#[test]
fn gains_of_dualpi2_are_written_in_full() {
    let commands = qdisc_commands(&read(r#"{ kind = "dualpi2" }"#), 1514, 1500);
    let command = &commands.unwrap_or_else(|error| panic!("{error}"))[0];
    assert!(
        command.contains("alpha 0.16015625 beta 3.19921875"),
        "{command}"
    );
}

#[test]
fn every_example_is_exported_or_refused() {
    for (name, queue) in goodqueue_queue::examples() {
        let Ok(commands) = qdisc_commands(&queue, 1514, 1500) else {
            continue;
        };
        let again = parse_qdisc(&commands.join("\n")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.queue, queue, "{name}: {commands:?}");
        assert_eq!(again.notes, Vec::<String>::new(), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// Every queue that can be written as `tc` commands is read back unchanged.
    #[test]
    fn ours_to_tc_and_back(text in any_queue()) {
        let Ok(scenario) = with_queue(&text) else {
            return Ok(());
        };
        let queue = queue_of(&scenario);
        if let Ok(commands) = qdisc_commands(&queue, 1514, 1500) {
            let again = parse_qdisc(&commands.join("\n"));
            let again = again.unwrap_or_else(|error| panic!("{error}\n{commands:?}"));
            prop_assert_eq!(&again.queue, &queue, "{:?}", commands);
            prop_assert_eq!(again.queue.check(1514), Ok(()));
        }
    }

    #[test]
    fn no_line_makes_the_parser_panic(text in "(qdisc |tc |root |limit |codel |red |tbf |prio |rate |burst |1:? |[0-9.]{1,9}(p|b|Kb|ms|Mbit|%)? |\\PC ){0,14}") {
        if let Err(error) = parse_qdisc(&text) {
            prop_assert!(!error.message.is_empty() && !error.help.is_empty());
        }
    }
}

/// Cases: output of `tc -s -j qdisc show` | the queue | a part of its notes, if there are any.
const SHOWN_JSON: &str = include_str!("shown-json.txt");

#[test]
fn json_of_tc_is_understood() {
    let mut count = 0;
    for case in cases(SHOWN_JSON) {
        let [json, table, note] = case[..] else {
            panic!("{case:?}")
        };
        let qdisc = parse_qdisc(json).unwrap_or_else(|error| panic!("{error}\n{json}"));
        assert_eq!(qdisc.queue, read(table), "{json}");
        let notes = qdisc.notes.join("; ");
        assert!(notes.contains(note), "{json}\n{notes}");
        count += 1;
    }
    assert!(count >= 20);
}
