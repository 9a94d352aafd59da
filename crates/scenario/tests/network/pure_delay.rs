//! Links of unlimited rate in scenario files: they only delay, and their other keys are refused
//! (`links-refused.txt`).

use goodqueue_queue::Limit;
use goodqueue_scenario::{Scenario, ScenarioError, StatedLimit, summary_json};
use goodqueue_sim::{LinkConfig, run};
use goodqueue_types::{Rate, Span};
use serde_json::Value;

fn read(text: &str) -> Result<Scenario, ScenarioError> {
    let head = "schema_version = 1\nduration = \"5s\"\n[topology]\n";
    Scenario::parse(format!("{head}{text}").as_bytes(), "scenario.toml", &[])
}

fn good(text: &str) -> Scenario {
    let scenario = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    // A resolved scenario reads back to the same text.
    let written = scenario.resolved_toml();
    let again = Scenario::parse(written.as_bytes(), "resolved.toml", &[]);
    let again = again.unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(again.resolved_toml(), written);
    let (one, other) = (scenario.network(), again.network());
    assert_eq!(format!("{one:?}"), format!("{other:?}"), "{written}");
    scenario
}

fn link(scenario: &Scenario, name: &str) -> LinkConfig {
    let mut links = scenario.network().links.into_iter();
    let found = links.find(|link| link.name == name);
    found.unwrap_or_else(|| panic!("no link {name}"))
}

fn summary(scenario: &Scenario) -> Value {
    let network = scenario.network();
    summary_json(scenario, &network, &run(&network))
}

/// A chain of a bottleneck with this delay and further links.
fn chain(delay: &str, more: &[&str]) -> String {
    let more = more.iter().enumerate().map(|(index, delay)| {
        format!(
            "[[topology.link]]\nname = \"far{index}\"\nrate = \"unlimited\"\ndelay = \"{delay}\"\n"
        )
    });
    let more: String = more.collect();
    format!(
        "shape = \"chain\"
[[topology.link]]
name = \"slow\"
rate = \"5Mbps\"
delay = \"{delay}\"
queue = {{ limit = \"20p\" }}
{more}
[[flow]]
name = \"up\"
count = 3
workload = {{ kind = \"bulk\" }}
[[flow]]
name = \"ping\"
workload = {{ kind = \"ping\", interval = \"50ms\" }}
"
    )
}

#[test]
fn a_stretch_is_the_same_run_as_a_longer_link() {
    let long = good(&chain("35ms", &[]));
    let reference = summary(&long);
    assert!(reference["links"]["slow"]["drops"].as_u64() > Some(0));
    let stretch = |more: &[&str]| summary(&good(&chain("5ms", more)));
    let (one, several) = (stretch(&["30ms"]), stretch(&["10ms", "0s", "20ms"]));
    for other in [&one, &several] {
        assert_eq!(reference["flows"], other["flows"]);
        let mut expected = reference["links"]["slow"].clone();
        expected["delay_s"] = other["links"]["slow"]["delay_s"].clone();
        assert_eq!(expected, other["links"]["slow"]);
    }
    assert_eq!(one["totals"], several["totals"]);
}

#[test]
fn such_a_link_has_no_rate_and_no_queue() {
    let scenario = good(&chain("5ms", &["30ms"]));
    let (far, back) = (link(&scenario, "far0"), link(&scenario, "far0.reverse"));
    assert!(far.only_delays() && back.only_delays());
    assert_eq!(
        (far.delay, back.delay),
        (Span::from_millis(30), Span::from_millis(30))
    );
    let link = &summary(&scenario)["links"]["far0"];
    assert!(link["rate_bps"].is_null() && link["limit"]["bytes"].is_null());
    assert!(link["departures"].as_u64() > Some(1_000));
    assert_eq!(
        (&link["drops"], &link["max_backlog_packets"]),
        (&0.into(), &0.0.into())
    );
    let buffer = scenario.buffer("far0").expect("it is reported");
    assert_eq!((buffer.rate, buffer.ms, buffer.bdp), (None, None, None));
    // No limit can be given to it.
    let limit = Limit::Packets(5);
    for refused in [
        scenario.with_limit("far0", limit).err(),
        scenario
            .resolve_limit("far0.reverse", StatedLimit::Bdp(1_000_000))
            .err(),
        scenario.qdisc_commands("far0", false).err(),
    ] {
        let error = refused.expect("there is no queue");
        assert!(error.message.contains("has no queue"), "{}", error.message);
    }
    assert!(scenario.with_limit("slow", limit).is_ok());
    assert!(scenario.weight() < 1e9);
}

const FLOW: &str = "[[flow]]\nname = \"up\"\nworkload = { kind = \"bulk\" }\n";

#[test]
fn any_link_and_direction_can_be_one() {
    let bottleneck = "[topology.bottleneck]\nrate = \"5Mbps\"\ndelay = \"5ms\"\n";
    let queue = "queue = { limit = \"9p\" }\n";
    let hosts = |access: &str| format!("shape = \"dumbbell\"\n{queue}{access}\n{bottleneck}{FLOW}");
    // The common queue does not mean them, and what they are not given they do not inherit.
    let scenario = good(&hosts("access = { rate = \"unlimited\", delay = \"1ms\" }"));
    for name in [
        "access",
        "access.reverse",
        "far_access",
        "far_access.reverse",
    ] {
        assert!(
            link(&scenario, &format!("up.{name}")).only_delays(),
            "{name}"
        );
    }
    let scenario = good(&hosts(
        "access = { rate = \"1Gbps\", delay = \"1ms\", queue = { limit = \"7p\" }, pool = \"a\" }
far_access = { rate = \"unlimited\" }
pool = [{ name = \"a\", capacity = \"1MB\" }]",
    ));
    assert!(link(&scenario, "up.far_access").only_delays());
    assert_eq!(link(&scenario, "up.access").rate, Rate(1_000_000_000));
    // One direction of a dumbbell.
    let back = format!("{bottleneck}reverse = {{ rate = \"unlimited\" }}\n");
    let scenario = good(&format!("shape = \"dumbbell\"\n{queue}{back}{FLOW}"));
    assert!(link(&scenario, "bottleneck.reverse").only_delays());
    assert!(!link(&scenario, "bottleneck").only_delays());
    let scenario = good(&format!(
        "shape = \"dumbbell\"\n[topology.bottleneck]\nrate = \"unlimited\"\ndelay = \"5ms\"
reverse = {{ rate = \"1Mbps\", queue = {{ limit = \"9p\" }} }}\n{FLOW}"
    ));
    assert!(link(&scenario, "bottleneck").only_delays());
    assert!(summary(&scenario)["flows"]["up"]["goodput_bps"].as_f64() > Some(0.0));
    // Ports of a star, leaves of a tree.
    let scenario = good(&format!(
        "shape = \"star\"\nports = 3\nport = {{ rate = \"1Gbps\", delay = \"1us\", queue = {{ limit = \"9p\" }}, \
         reverse = {{ rate = \"unlimited\" }} }}\n{}",
        FLOW.replace("workload", "from = \"host1\"\nto = \"host0\"\nworkload"),
    ));
    assert!(link(&scenario, "port1.reverse").only_delays());
    let tree = "shape = \"tree\"\ntarget = { rate = \"5Mbps\", delay = \"5ms\", queue = { limit = \"9p\" } }\n";
    let leaves = good(&format!("{tree}{FLOW}"));
    assert!(link(&leaves, "leaf0").only_delays() && link(&leaves, "leaf17.reverse").only_delays());
    let slower = good(&format!("{tree}leaf = {{ rate = \"1Gbps\" }}\n{FLOW}"));
    assert_eq!(link(&slower, "leaf0").rate, Rate(1_000_000_000));
}

#[test]
fn each_flow_crosses_a_link_with_a_rate() {
    let unlimited =
        "shape = \"chain\"\n[[topology.link]]\nname = \"a\"\nrate = \"unlimited\"\ndelay = \"1ms\"
[[topology.link]]\nname = \"b\"\nrate = \"1Mbps\"\ndelay = \"1ms\"\nqueue = { limit = \"9p\" }\n";
    let short = FLOW
        .replace("workload", "to = 1\nworkload")
        .replace("up", "short");
    let error = read(&format!("{unlimited}{FLOW}{short}")).expect_err("nothing slows it down");
    assert_eq!((&*error.key, error.line), ("flow.1.to", Some(19)));
    assert!(
        error
            .message
            .contains("\"short\" crosses no link with a rate"),
        "{error}"
    );
    assert!(error.help.contains("rate = \"10Gbps\""), "{error}");
    // The hosts' own will do.
    let access = unlimited.replace("\n[[topology.link]]\nname = \"a\"", "\naccess = { rate = \"1Gbps\", queue = { limit = \"9p\" } }\n[[topology.link]]\nname = \"a\"");
    let scenario = good(&format!("{access}{FLOW}{short}"));
    assert!(summary(&scenario)["flows"]["short"]["goodput_bps"].as_f64() > Some(1e8));
}

#[test]
fn a_load_is_a_share_of_a_rate() {
    let with = |rate: &str, of: &str| {
        format!(
            "shape = \"chain\"\naccess = {{ rate = \"1Gbps\" }}\n[[topology.link]]\nname = \"a\"\nrate = \"unlimited\"\ndelay = \"1ms\"
[[topology.link]]\nname = \"b\"\nrate = \"{rate}\"\ndelay = \"1ms\"\nqueue = {{ limit = \"unlimited\" }}
[[flow]]\nname = \"t\"\nworkload = {{ kind = \"transfers\", size = \"10kB\", load = \"50%\"{of} }}\n"
        )
    };
    good(&with("1Mbps", ""));
    good(&with("1Mbps", ", of = \"b\""));
    let refused = [("1Mbps", ", of = \"a\"", "of"), ("unlimited", "", "load")];
    for (rate, of, key) in refused {
        let error = read(&with(rate, of)).expect_err("a share of what?");
        assert_eq!(error.key, format!("flow.0.workload.{key}"));
        assert!(error.message.contains("unlimited rate"), "{error}");
    }
}
