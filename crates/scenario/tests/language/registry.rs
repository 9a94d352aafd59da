//! Everything that is registered is documented, runs, and is read as it is written. The lists come
//! from the registries of queue disciplines, congestion controls, workloads, and laws of loss, of
//! rates and of chance.

use goodqueue_queue::{Configuration, Limit, QueueConfig};
use goodqueue_scenario::{Scenario, queue_toml};
use goodqueue_sim::{
    Drawn, LossConfig, ServiceConfig, SessionConfig, SourceConfig, StreamConfig, WORKLOADS, run,
};
use goodqueue_tc::{parse_qdisc, qdisc_commands};
use goodqueue_tcp::CongestionControlConfig;
use goodqueue_types::RandomStream;
use goodqueue_types::parameters::{Kind, Role, vary};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Frames of up to 1514 bytes on a link of 10 Mb/s.
const PLAIN: &str = "schema_version = 1\nduration = \"5s\"\n[topology]\nshape = \"dumbbell\"\n\
    [topology.bottleneck]\nrate = \"10Mbps\"\ndelay = \"20ms\"\nframing = \"14B\"\n\
    queue = { limit = \"100p\" }\n[[flow]]\nworkload = { kind = \"bulk\" }\n\
    tcp = { mss = \"1460B\", recovery = \"sack\" }\n";

fn link(overrides: &[(&str, String)]) -> Scenario {
    let overrides: Vec<_> = overrides
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect();
    Scenario::parse(PLAIN.as_bytes(), "test", &overrides)
        .unwrap_or_else(|error| panic!("{error}\n{overrides:?}"))
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_queue_discipline_has_a_page() {
    let pages = std::fs::read_dir(docs().join("queues")).expect("the folder exists");
    let pages: String = pages
        .map(|page| text(&page.expect("it can be listed").path()))
        .collect();
    for word in QueueConfig::NAMES {
        let named = format!("`{word}`");
        assert!(
            pages.contains(&named),
            "docs/queues has nothing about {named}"
        );
    }
}

#[test]
fn every_congestion_control_has_a_section() {
    let page = text(&docs().join("congestion-controls.md"));
    for word in CongestionControlConfig::NAMES {
        let heading = format!("\n### `{word}`\n");
        assert!(
            page.contains(&heading),
            "docs/congestion-controls.md lacks {heading}"
        );
    }
}

#[test]
fn every_law_of_a_link_is_documented() {
    let laws = [
        ("fifo.md", LossConfig::WORDS),
        ("service.md", ServiceConfig::WORDS),
    ];
    for (page, words) in laws {
        let text = text(&docs().join("queues").join(page));
        for word in words {
            assert!(text.contains(&format!("`{word}`")), "{page} lacks {word}");
        }
    }
}

#[test]
fn every_workload_and_law_of_chance_is_documented() {
    let page = text(&docs().join("scenario.md"));
    for word in WORKLOADS.iter().chain(Drawn::WORDS) {
        assert!(
            page.contains(&format!("`{word}`")),
            "scenario.md lacks {word}"
        );
    }
}

/// Returns the resolved scenario with this workload, which reads back the same.
fn resolved_with(workload: &str) -> String {
    let text = PLAIN.replace("{ kind = \"bulk\" }", workload);
    let text = text.replace("tcp = { mss = \"1460B\", recovery = \"sack\" }\n", "");
    let read = Scenario::parse(text.as_bytes(), "test", &[]);
    let written = read
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
        .resolved_toml();
    let again = Scenario::parse(written.as_bytes(), "again", &[]);
    let again = again.unwrap_or_else(|error| panic!("{workload}: {error}"));
    assert_eq!(again.resolved_toml(), written);
    written
}

/// The examples of all keys together are a valid table. Keys that say the interval in other words
/// are left out.
#[test]
fn every_workload_is_read_as_it_is_written() {
    let declared = [
        StreamConfig::VARIANTS,
        SessionConfig::VARIANTS,
        SourceConfig::VARIANTS,
    ]
    .concat();
    for (word, spec) in declared {
        let others = ["kind", "rate", "load", "of"];
        let keys = spec.keys.iter().filter(|key| !others.contains(&key.name));
        let given = keys.map(|key| format!(", {} = {}", key.name, key.toml_example()));
        let given: Vec<String> = given.collect();
        let written = resolved_with(&format!("{{ kind = \"{word}\"{} }}", given.concat()));
        for example in given {
            // Some examples are written in another unit, or with all keys of a table.
            let key = example.split(" =").next().unwrap_or_default();
            assert!(written.contains(key), "{word}: {written} lacks {key}");
        }
    }
}

/// The packets of a codec are its usual frames and 40 bytes of headers, unless they are given.
#[test]
fn a_call_has_the_packets_of_its_codec() {
    for (codec, interval, packet) in [
        ("g711", "20ms", "200B"),
        ("g729a", "20ms", "60B"),
        ("g723", "30ms", "64B"),
        ("gsm_efr", "20ms", "71B"),
    ] {
        let written = resolved_with(&format!("{{ kind = \"voice\", codec = \"{codec}\" }}"));
        let packets = format!("interval = \"{interval}\", packet = \"{packet}\"");
        assert!(written.contains(&packets), "{written}");
    }
    let own = "{ kind = \"voice\", codec = \"g729a\", interval = \"40ms\", packet = \"80B\" }";
    let written = resolved_with(own);
    assert!(
        written.contains("interval = \"40ms\", packet = \"80B\""),
        "{written}"
    );
}

#[test]
fn a_share_that_an_echo_answers_is_written_as_a_percentage() {
    let written = resolved_with("{ kind = \"echo\", size = \"10MB\", reply = \"12.5%\" }");
    let table = "{ kind = \"echo\", size = \"10MB\", reply = \"12.5%\" }";
    assert!(written.contains(table), "{written}");
}

/// Laws that read a file are left out.
#[test]
fn every_law_of_chance_is_read_as_it_is_written() {
    for (word, spec) in Drawn::VARIANTS {
        let keys = spec.keys.iter().filter(|key| key.name != "law");
        let value = |kind| match kind {
            Kind::Quantity(Role::Middle) => Some("\"50kB\"".to_owned()),
            Kind::Quantity(Role::Least) => Some("\"10kB\"".to_owned()),
            Kind::Quantity(Role::Greatest) => Some("\"100kB\"".to_owned()),
            _ => None,
        };
        let given = keys.map(|key| {
            let value = value(key.kind).unwrap_or_else(|| key.toml_example());
            format!(", {} = {value}", key.name)
        });
        let law = format!("{{ law = \"{word}\"{} }}", given.collect::<String>());
        if !law.contains("file =") {
            let workload = "{ kind = \"transfers\", interval = \"1s\", size = ";
            let written = resolved_with(&format!("{workload}{law} }}"));
            assert!(written.contains(&law), "{written} lacks {law}");
        }
    }
}

/// The examples of all keys together are a valid table. Laws that read a file are left out.
#[test]
fn every_law_of_a_link_is_read_as_it_is_written() {
    let laws = [
        ("loss", "queue =", LossConfig::VARIANTS),
        ("service", "rate = \"10Mbps\"\n", ServiceConfig::VARIANTS),
    ];
    for (key, place, variants) in laws {
        for (word, spec) in variants {
            let keys = spec.keys.iter().filter(|key| key.name != "kind");
            let given = keys.map(|key| format!(", {} = {}", key.name, key.toml_example()));
            let table = format!("{{ kind = \"{word}\"{} }}", given.collect::<String>());
            if table.contains("file =") {
                continue;
            }
            // A law of the rate replaces the rate.
            let rest = if key == "service" { "" } else { place };
            let text = PLAIN.replace(place, &format!("{key} = {table}\n{rest}"));
            let read = Scenario::parse(text.as_bytes(), "test", &[]);
            let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
            let written = read.resolved_toml();
            assert!(written.contains(&format!("kind = \"{word}\"")), "{written}");
            let again = Scenario::parse(written.as_bytes(), "again", &[]);
            let again = again.unwrap_or_else(|error| panic!("{word}: {error}"));
            assert_eq!(again.resolved_toml(), written);
        }
    }
}

/// The example with a limit of 100 packets, and with parameters that the declarations draw at
/// random.
fn variants(example: &QueueConfig) -> impl Iterator<Item = QueueConfig> {
    let is_valid = |config: &QueueConfig| config.check(1514) == Ok(());
    let mut plain = example.clone();
    plain.set_limit(Limit::Packets(100));
    let random = (0..20).map(move |seed| {
        let mut config = example.clone();
        let mut random = RandomStream::new(seed, "parameters", 0);
        vary(&mut config, &mut random, is_valid);
        config
    });
    Some(plain).into_iter().filter(is_valid).chain(random)
}

/// Disciplines of Linux whose classes need commands and filters of their own, which nothing writes.
const NOT_WRITTEN: [&str; 1] = ["htb"];

/// A queue that can be written as commands of `tc` is read from them again. Each other discipline
/// that Linux has is written at least once.
#[test]
fn random_parameters_of_every_discipline_survive_being_written() {
    let mut exported = BTreeSet::new();
    for (name, example) in goodqueue_queue::examples() {
        for config in variants(&example) {
            let toml = queue_toml(&config).unwrap_or_else(|| panic!("{name} has a word"));
            let read = link(&[("topology.bottleneck.queue", toml.clone())]);
            assert_eq!(read.network().links[0].queue, config, "{toml}");
            if let Ok(commands) = qdisc_commands(&config, 1514, 1500) {
                let again = parse_qdisc(&commands.join("\n"));
                let again = again.unwrap_or_else(|error| panic!("{error}\n{commands:?}"));
                assert_eq!(again.queue, config, "{commands:?}");
                exported.extend(config.word());
            }
        }
    }
    for (qdisc, word) in QueueConfig::qdiscs() {
        assert_eq!(
            exported.contains(word),
            !NOT_WRITTEN.contains(&word),
            "{word} becomes a command with {qdisc}, or does not"
        );
    }
}

#[test]
fn every_congestion_control_runs_and_survives_being_written() {
    for word in CongestionControlConfig::NAMES {
        let control = format!("{{ kind = \"{word}\" }}");
        let scenario = link(&[("tcp.congestion_control", control)]);
        let written = scenario.resolved_toml();
        let again = Scenario::parse(written.as_bytes(), "again", &[]);
        let again = again.unwrap_or_else(|error| panic!("{word}: {error}"));
        assert_eq!(again.resolved_toml(), written);
        let goodput = run(&scenario.network()).flows[0].goodput_bps;
        assert!(goodput > 1e6, "{word} sends {goodput} bit/s over 10 Mbit/s");
    }
}
