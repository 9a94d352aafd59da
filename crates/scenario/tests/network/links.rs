//! Properties of links besides rate and queue: framing, shared buffers, variable rates.

use goodqueue_queue::{Limit, Sharing};
use goodqueue_scenario::{Scenario, ScenarioError, parse_mahimahi, parse_rate_csv, summary_json};
use goodqueue_sim::{
    Impairments, Jitter, Law, LinkConfig, MarkovRates, Reorder, ServiceConfig, run,
};
use goodqueue_types::{Cells, Rate, Span};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

/// Returns a dumbbell with these lines of the topology and of the bottleneck.
fn text(topology: &str, bottleneck: &str) -> String {
    format!(
        "schema_version = 1
duration = \"2s\"
[topology]
shape = \"dumbbell\"
access = {{ rate = \"1Gbps\" }}
{topology}
[topology.bottleneck]
delay = \"10ms\"
queue = {{ limit = \"100p\" }}
{bottleneck}
[[flow]]
count = 2
workload = {{ kind = \"bulk\" }}
tcp = {{ mss = \"1460B\" }}
"
    )
}

fn read(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse(text.as_bytes(), "scenario.toml", &[])
}

fn good(text: &str) -> Scenario {
    read(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn bottleneck(scenario: &Scenario) -> LinkConfig {
    scenario.network().links[0].clone()
}

/// Checks that the resolved file parses to the same scenario.
fn check_round_trip(scenario: &Scenario) {
    let written = scenario.resolved_toml();
    let again = good(&written);
    assert_eq!(again.resolved_toml(), written);
    let (one, other) = (scenario.network(), again.network());
    assert_eq!(format!("{one:?}"), format!("{other:?}"), "{written}");
}

/// A program needs a shaper to set, pings of a flow, and rates in rising order.
#[test]
fn a_program_that_sets_a_shaper_is_refused_without_shaper_or_pings() {
    let text = |link: &str| {
        format!(
            r#"
            schema_version = 2
            duration = "3s"
            topology = {{ shape = "dumbbell", bottleneck = {{ rate = "10Mbps", delay = "10ms", {link} }} }}
            [[flow]]
            name = "bulk"
            workload = {{ kind = "bulk" }}
            [[flow]]
            name = "reflector"
            workload = {{ kind = "ping" }}
            "#
        )
    };
    let parse = |link: &str| Scenario::parse(text(link).as_bytes(), "test.toml", &[]);
    let shaper = r#"queue = { kind = "cake", bandwidth = "8Mbps" }"#;
    let with = |keys: &str| format!("{shaper}, autorate = {{ kind = \"cake_autorate\", {keys} }}");
    let good = parse(&with(r#"ping = "reflector", base = "8Mbps""#));
    let good = good.unwrap_or_else(|error| panic!("{error}"));
    let again = Scenario::parse(good.resolved_toml().as_bytes(), "again.toml", &[]);
    let again = again.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.resolved_toml(), good.resolved_toml());
    assert_eq!(
        again.network().links[0].autorate,
        good.network().links[0].autorate
    );
    for (link, message) in [
        (with(r#"ping = "bulk""#), "no flow \"bulk\" sends pings at once"),
        (with(r#"ping = "other""#), "no flow \"other\" sends pings at once"),
        (
            with(r#"ping = "reflector", base = "3Mbps""#),
            "the base rate does not lie between the minimum and the maximum",
        ),
        (
            r#"queue = { kind = "fq_codel" }, autorate = { kind = "sqm_autorate", ping = "reflector" }"#.to_owned(),
            "the queue of this link has no bandwidth that could be set",
        ),
    ] {
        let error = parse(&link).expect_err(message);
        assert_eq!(error.message, message);
    }
}

#[test]
fn framing_is_bytes_a_link_layer_or_a_table() {
    let framing = |value: &str| {
        let line = format!("rate = \"1Mbps\"\nframing = {value}");
        let scenario = good(&text("", &line));
        check_round_trip(&scenario);
        bottleneck(&scenario).framing
    };
    // Frames of a full packet and of an ACK. Ethernet: 1500 + 38, at least 84. PPPoE over ATM
    // (RFC 2516, RFC 2684 with LLC/SNAP): 1492 + 40 bytes are 31.9 cells, 40 + 40 1.7. PTM: 1492
    // + 30 bytes and one for each 64 begun.
    for (value, ip, frame) in [
        ("\"18B\"", 1_500, 1_518),
        ("\"ethernet\"", 1_500, 1_538),
        ("\"ethernet\"", 40, 84),
        ("\"ppp\"", 576, 583),
        ("\"pppoe-llcsnap\"", 1_492, 32 * 53),
        ("\"pppoe-llcsnap\"", 40, 2 * 53),
        ("\"pppoe-ptm\"", 1_492, 1_522 + 24),
        ("{ overhead = \"14B\", minimum = \"64B\" }", 40, 64),
        ("{ overhead = \"10B\", cells = \"atm\" }", 40, 2 * 53),
        ("{ overhead = \"8B\", cells = \"atm\" }", 40, 53),
    ] {
        assert_eq!(framing(value).frame_bytes(ip), frame, "{value}");
    }
    let scenario = good(&text("framing = \"pppoa-vcmux\"", "rate = \"1Mbps\""));
    let link = bottleneck(&scenario);
    assert_eq!(
        (link.framing.overhead, link.framing.cells),
        (10, Cells::Atm)
    );
    // A frame of 1510 bytes has 32 cells: the limit counts bytes on the wire.
    let buffer = scenario.buffer("bottleneck").expect("it is there");
    assert_eq!((buffer.frame_bytes, buffer.bytes), (1_696, Some(169_600)));
    let summary = summary_json(&scenario, &scenario.network(), &run(&scenario.network()));
    let link = &summary["links"]["bottleneck"];
    assert_eq!(
        (&link["framing_bytes"], &link["framing_cells"]),
        (&10.into(), &"atm".into())
    );
}

#[test]
fn links_share_a_buffer_by_its_name() {
    let pool = "[[topology.pool]]
name = \"switch\"
capacity = \"60kB\"
headroom = \"3kB\"
alpha = 0.5
";
    let scenario = good(&text(
        pool,
        "rate = \"1Mbps\"\npool = \"switch\"\nreverse = { pool = \"switch\", queue = { limit = \"unlimited\" } }",
    ));
    check_round_trip(&scenario);
    let network = scenario.network();
    assert_eq!(network.pools[0].sharing, Sharing::Dynamic { alpha: 0.5 });
    assert_eq!(
        (network.links[0].pool, network.links[1].pool),
        (Some(0), Some(0))
    );
    assert_eq!(network.links[2].pool, None);
    let outcome = run(&network);
    let summary = summary_json(&scenario, &scenario.network(), &outcome);
    assert_eq!(summary["pools"]["switch"]["capacity_bytes"], 60_000);
    // Without other traffic than ACKs, a queue grows to its headroom and α/(1+α) of the rest.
    let most = summary["pools"]["switch"]["max_occupancy_bytes"].as_f64();
    let most = most.expect("something waited");
    assert!((19_500.0..=21_000.0 + 1_500.0).contains(&most), "{most}");
    let overridden = Scenario::parse(
        text(pool, "rate = \"1Mbps\"\npool = \"switch\"").as_bytes(),
        "scenario.toml",
        &[("topology.pool.switch.capacity".to_owned(), "1MB".to_owned())],
    );
    let network = overridden.expect("pools have names").network();
    assert_eq!(network.pools[0].capacity, 1_000_000);
}

#[test]
fn a_shared_buffer_counts_in_cells() {
    let pool = "[[topology.pool]]\nname = \"switch\"\ncapacity = \"60kB\"\ncell = \"256B\"\ngap = \"20B\"\n";
    let link = "rate = \"1Mbps\"\nframing = \"ethernet\"\npool = \"switch\"";
    let scenario = good(&text(pool, link));
    check_round_trip(&scenario);
    let network = scenario.network();
    assert_eq!((network.pools[0].cell, network.pools[0].gap), (256, 20));
    let outcome = run(&network);
    let most = outcome.pools[0].occupancy_bytes.max;
    let most = most.expect("something waited");
    assert_eq!(most as u64 % 256, 0, "{most}");
    // A busy port holds α/(1+α) = 1/2 of the memory, to a frame of six cells.
    assert!((most - 30_000.0).abs() <= 6.0 * 256.0, "{most}");
}

#[test]
fn every_host_has_its_port_of_a_shared_buffer() {
    let pool = "[[topology.pool]]\nname = \"switch\"\ncapacity = \"8kB\"\nheadroom = \"4kB\"\n";
    let access = "\"1Gbps\", reverse = { pool = \"switch\" }";
    let two = text(pool, "rate = \"1Mbps\"").replace("\"1Gbps\"", access);
    // Two hosts at each end have four ports.
    let error = read(&two).expect_err("there is headroom for two");
    assert_eq!(error.key, "topology.pool.0.headroom");
    assert!(error.message.contains("number: 4"), "{error}");
    let four = good(&two.replace("8kB", "16kB"));
    let ports = four
        .network()
        .links
        .iter()
        .filter(|link| link.pool == Some(0))
        .count();
    assert_eq!(ports, 4);
    check_round_trip(&four);
}

/// Creates a folder for this test with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("a file for tests");
    }
    folder
}

#[test]
fn rates_change_in_steps_and_limits_use_their_mean() {
    let scenario = good(&text(
        "",
        "service = { kind = \"steps\", steps = [{ at = \"0s\", rate = \"8Mbps\" }, \
         { at = \"500ms\", rate = \"0bps\" }, { at = \"1s\", rate = \"2Mbps\" }] }
reverse = { queue = { limit = \"10ms\" } }",
    ));
    check_round_trip(&scenario);
    // The first half second has 4 Mbit, and the last of two seconds 2 Mbit.
    let link = bottleneck(&scenario);
    assert_eq!(link.rate, Rate(3_000_000));
    // The reverse direction has the mean rate, which is constant.
    let network = scenario.network();
    assert_eq!(
        (network.links[1].rate, &network.links[1].service),
        (Rate(3_000_000), &None)
    );
    let limit = scenario.limit("bottleneck.reverse");
    assert_eq!(limit, Ok(Limit::Bytes(3_750)));
    let outcome = run(&network);
    // The flows fill the link, which sends IP packets of 1500 bytes without framing.
    assert!(outcome.links[0].throughput_bps < 3_000_000.0);
    assert!(outcome.links[0].utilization > 0.5);
    let share = outcome.links[0].throughput_bps / 3_000_000.0;
    assert!((outcome.links[0].utilization - share).abs() < 0.01);
}

#[test]
fn traces_are_found_beside_the_scenario_and_known_by_their_checksum() {
    let folder = folder(
        "traces",
        &[
            ("cell.trace", "0\n1\n1\n4\n"),
            ("dsl.csv", "time_s,rate_Mbps\n0,2\n1,4\n"),
        ],
    );
    let file = folder.join("scenario.toml").display().to_string();
    let parse = |service: &str| {
        let text = text("", &format!("service = {service}"));
        Scenario::parse(text.as_bytes(), &file, &[])
    };
    let cell = parse("{ kind = \"mahimahi\", file = \"cell.trace\" }").expect("it is there");
    // Four opportunities of 1504 bytes in 4 ms.
    assert_eq!(bottleneck(&cell).rate, Rate(12_032_000));
    check_round_trip(&cell);
    assert!(run(&cell.network()).links[0].utilization > 0.5);
    let dsl = parse("{ kind = \"csv\", file = \"dsl.csv\", repeat = \"3s\" }").expect("so is it");
    assert_eq!(bottleneck(&dsl).rate, Rate(3_333_333));
    check_round_trip(&dsl);
    let resolved = dsl.resolved_toml();
    std::fs::write(folder.join("dsl.csv"), "time_s,rate_Mbps\n0,2\n1,5\n").expect("changed");
    let error = read(&resolved).expect_err("the trace is another");
    assert_eq!(error.key, "topology.bottleneck.service.checksum");
    std::fs::write(folder.join("dsl.csv"), "time_s,rate_Mbps\n0,2\n0,5\n").expect("changed");
    let error = parse("{ kind = \"csv\", file = \"dsl.csv\" }").expect_err("it has two beginnings");
    assert!(error.message.contains("dsl.csv, line 3"), "{error}");
    let error = parse("{ kind = \"csv\", file = \"none.csv\" }").expect_err("it is not there");
    assert_eq!(error.key, "topology.bottleneck.service.file");
    assert!(parse("{ kind = \"csv\", file = \".\" }").is_err());
}

#[test]
fn rates_are_drawn_anew_under_each_seed() {
    let scenario = good(&text(
        "",
        "service = { kind = \"markov\", interval = \"50ms\", rates = [\"0bps\", \"6Mbps\"], stay = \"80%\" }",
    ));
    check_round_trip(&scenario);
    let link = bottleneck(&scenario);
    assert_eq!(link.rate, Rate(3_000_000));
    let expected = MarkovRates {
        interval: Span::from_millis(50),
        rates: [Rate(0), Rate(6_000_000)].into(),
        stay: 0.8,
    };
    assert_eq!(link.service, Some(ServiceConfig::Markov(expected)));
    let sent = |seed| run(&scenario.with_seed(seed).network()).links[0].departures;
    assert_eq!(sent(1), sent(1));
    assert!((2..9).any(|seed| sent(seed) != sent(1)));
    check_round_trip(&good(&text(
        "",
        "service = { kind = \"uniform\", interval = \"10ms\", from = \"0bps\", to = \"4Mbps\" }",
    )));
}

#[test]
fn mistakes_are_reported_with_key_and_remedy() {
    let pool = "[[topology.pool]]\nname = \"a\"\ncapacity = \"9kB\"\n";
    for case in include_str!("links-refused.txt").lines().skip(1) {
        let fields: Vec<&str> = case.split(" | ").collect();
        let [topology, link, key, message, help] = fields[..] else {
            panic!("{case}")
        };
        let topology = topology.replace("POOL", pool).replace("\\n", "\n");
        let text = text(&topology, &link.replace("\\n", "\n"));
        let error = read(&text).expect_err(case);
        assert_eq!(error.key, format!("topology.{key}"), "{case}\n{error}");
        let is_as_expected = error.message.contains(message) && error.help.contains(help);
        assert!(is_as_expected, "{case}\n{error}");
    }
}

#[test]
fn each_direction_has_a_rate_of_its_own() {
    let steady = |at: u64| {
        format!("{{ kind = \"steps\", steps = [{{ at = \"0s\", rate = \"{at}Mbps\" }}] }}")
    };
    let link = format!("rate = \"1Mbps\"\nreverse = {{ service = {} }}", steady(2));
    let access = format!(
        "access = {{ service = {}, reverse = {{ rate = \"4Mbps\" }} }}",
        steady(3)
    );
    let text = text("", &link).replace("access = { rate = \"1Gbps\" }", &access);
    let scenario = good(&text);
    check_round_trip(&scenario);
    let links = scenario.network().links;
    let equipment: Vec<_> = links[..6]
        .iter()
        .map(|link| (link.rate.0 / 1_000_000, link.service.is_some()))
        .collect();
    // The hosts are the bottleneck's, the client's, and the server's, which is like the client's.
    let host = [(3, true), (4, false)];
    assert_eq!(equipment, [[(1, false), (2, true)], host, host].concat());
}

#[test]
fn each_direction_has_impairments_of_its_own() {
    let link = "rate = \"1Mbps\"
jitter = { law = \"pareto\", mean = \"2ms\", order = \"free\" }
reorder = { probability = \"1%\", delay = \"5ms\" }
reverse = { jitter = { law = \"uniform\", from = \"0s\", to = \"1ms\" } }";
    let access = "access = { rate = \"1Gbps\", duplicate = { probability = 0.125 } }";
    let text = text("", link).replace("access = { rate = \"1Gbps\" }", access);
    let scenario = good(&text);
    check_round_trip(&scenario);
    let links = scenario.network().links;
    let none = Impairments::default();
    let jitter = |law, keeps_order| {
        Some(Jitter {
            law,
            keeps_order,
            every: None,
        })
    };
    let (mean, shape) = (0.002, 1.5);
    assert_eq!(
        links[0].impairments,
        Impairments {
            jitter: jitter(Law::pareto(mean, shape), false),
            reorder: Some(Reorder {
                probability: 0.01,
                delay: Span::from_millis(5)
            }),
            ..none.clone()
        }
    );
    let (from, to) = (0.0, 0.001);
    assert_eq!(
        links[1].impairments,
        Impairments {
            jitter: jitter(Law::uniform(from, to), true),
            ..none.clone()
        }
    );
    // Only the client's host sends copies; it does not receive any, and the server's host sends
    // none.
    let copies: Vec<_> = links[2..6]
        .iter()
        .map(|link| link.impairments.duplicate)
        .collect();
    assert_eq!(copies, [Some(0.125), None, None, None]);
    let summary = summary_json(&scenario, &scenario.network(), &run(&scenario.network()));
    assert!(summary["links"]["bottleneck"]["reordered"].as_u64() > Some(0));
    assert_eq!(summary["links"]["bottleneck.reverse"]["reordered"], 0);
    assert!(summary["totals"]["duplicated"].as_u64() > Some(0));
}

#[test]
fn packets_in_front_of_a_network_card_keep_their_order() {
    let card = "rate = \"1Mbps\"\ninterrupts = { interval = \"64us\" }";
    let scenario = good(&text("", &format!("{card}\nreverse = {{}}")));
    check_round_trip(&scenario);
    let links = scenario.network().links;
    let interval = |link: usize| links[link].impairments.interrupts.map(|card| card.interval);
    assert_eq!(interval(0), Some(Span::from_micros(64)));
    // Each direction has a card of its own.
    assert_eq!(interval(1), None);
    for overtaking in [
        "jitter = { law = \"exponential\", mean = \"1ms\", order = \"free\" }",
        "reorder = { probability = \"1%\", delay = \"5ms\" }",
    ] {
        let error = read(&text("", &format!("{card}\n{overtaking}"))).expect_err("overtaking");
        assert_eq!(error.key, "topology.bottleneck.interrupts");
    }
    let with = "jitter = { law = \"exponential\", mean = \"1ms\" }";
    check_round_trip(&good(&text("", &format!("{card}\n{with}"))));
    let too_long = card.replace("64us", "2s");
    assert!(read(&text("", &too_long)).is_err());
}

#[test]
fn a_rate_that_changes_more_often_than_a_run_can_bear_is_refused() {
    let service = "{ kind = \"uniform\", interval = \"1us\", from = \"1bps\", to = \"2Mbps\" }";
    let text = text("", &format!("service = {service}"));
    let longer = ("duration".to_owned(), "2000s".to_owned());
    let error = Scenario::parse(text.as_bytes(), "scenario.toml", &[longer]);
    let error = error.expect_err("two thousand million changes");
    assert_eq!(error.key, "topology.bottleneck.service");
    assert!(error.message.contains("2000000000 times"), "{error}");
}

/// Returns the lines of a page's TOML examples.
fn examples(page: &str) -> Vec<&str> {
    let blocks = page.split("```toml\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    blocks.flat_map(str::lines).collect()
}

#[test]
fn the_examples_of_the_pages_are_accepted() {
    let lines = examples(include_str!("../../../../docs/queues/service.md"));
    let (services, queues): (Vec<&str>, Vec<&str>) = lines
        .into_iter()
        .partition(|line| line.starts_with("service"));
    assert_eq!((services.len(), queues.len()), (6, 3));
    for line in services {
        match read(&text("", line)) {
            Ok(scenario) => check_round_trip(&scenario),
            // The page's traces do not exist here.
            Err(error) => assert!(
                line.contains("file") && error.key.ends_with("file"),
                "{error}"
            ),
        }
    }
    for line in queues {
        let usual = "queue = { limit = \"100p\" }";
        check_round_trip(&good(&text("", "rate = \"1Mbps\"").replace(usual, line)));
    }
    let impairments = examples(include_str!("../../../../docs/impairments.md"));
    assert_eq!(impairments.len(), 7);
    for line in impairments {
        check_round_trip(&good(&text("", &format!("rate = \"1Mbps\"\n{line}"))));
    }
    let switch = examples(include_str!("../../../../docs/queues/shared-buffer.md")).join("\n");
    let text = text(&switch, "rate = \"1Mbps\"");
    check_round_trip(&good(&text.replace("access = { rate = \"1Gbps\" }\n", "")));
}

/// Bytes that often occur in traces, and any other bytes.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let alphabet = b"0123456789.,-+eE#\n\r\t smutimerabpsMkG_\xff\0".to_vec();
    let piece = prop_oneof![
        8 => prop::sample::select(alphabet).prop_map(|byte| vec![byte]),
        1 => Just(b"time_s,rate_Mbps\n0,1\n".to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..200).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any file gives a valid trace or a message with one of its lines.
    #[test]
    fn no_file_breaks_the_parsers_of_traces(bytes in bytes()) {
        let lines = bytes.split(|byte| *byte == b'\n').count();
        match parse_mahimahi(&bytes) {
            Ok(trace) => prop_assert!(trace.milliseconds.0.is_sorted()),
            Err(error) => prop_assert!(error.line.is_none_or(|line| (1..=lines).contains(&line))),
        }
        match parse_rate_csv(&bytes) {
            Ok(steps) => {
                prop_assert_eq!(steps[0].0, Span::ZERO);
                prop_assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0));
            }
            Err(error) => prop_assert!(error.line.is_none_or(|line| (1..=lines).contains(&line))),
        }
    }

    /// A recorded trace is written and read without changes.
    #[test]
    fn traces_are_read_as_they_were_written(
        times in prop::collection::vec(0_u32..50, 1..100),
        rates in prop::collection::vec(0_u64..10_000_000_000, 1..100),
    ) {
        let mut time = 0;
        let times: Vec<u32> = times.into_iter().map(|gap| { time += gap; time }).collect();
        let lines: Vec<String> = times.iter().map(u32::to_string).collect();
        if let Ok(trace) = parse_mahimahi(lines.join("\n").as_bytes()) {
            prop_assert_eq!(&*trace.milliseconds.0, &times[..]);
        } else {
            prop_assert_eq!(times.last(), Some(&0));
        }
        let rows = rates.iter().enumerate();
        let rows: Vec<String> = rows.map(|(ms, rate)| format!("{ms},{rate}")).collect();
        let steps = parse_rate_csv(format!("time_ms,rate_bps\n{}", rows.join("\n")).as_bytes());
        let expected = rates.iter().enumerate();
        let expected: Vec<_> = expected
            .map(|(ms, rate)| (Span::from_millis(ms as u64), Rate(*rate)))
            .collect();
        prop_assert_eq!(steps, Ok(expected));
    }
}

#[test]
fn flow_control_belongs_to_one_direction_and_is_written_back() {
    let line = "rate = \"1Mbps\"
pause = { xoff = \"30kB\", xon = \"10kB\", reaction = \"3us\" }
reverse = { pause = { xoff = \"1kB\", xon = \"0B\", reaction = \"1ms\" } }";
    let scenario = good(&text("", line));
    check_round_trip(&scenario);
    let network = scenario.network();
    let pause = network.links[0].pause.expect("the file gives it");
    assert_eq!(
        (pause.xoff, pause.xon, pause.reaction),
        (30_000, 10_000, Span::from_micros(3))
    );
    assert_eq!(network.links[1].pause.map(|pause| pause.xoff), Some(1_000));
    // The hosts' links behind the bottleneck count what came over it.
    let counts = |suffix: &str| {
        let mut links = network
            .links
            .iter()
            .filter(|link| link.name.ends_with(suffix));
        links.all(|link| link.in_step)
    };
    assert!(counts("access.reverse") && !counts("access"));
    let written = summary_json(&scenario, &network, &run(&network)).to_string();
    assert!(written.contains("\"pause_cycle\":false"), "{written}");
}

#[test]
fn thresholds_for_resuming_are_below_those_for_pausing() {
    let line = "rate = \"1Mbps\"
pause = { xoff = \"30kB\", xon = \"30kB\", reaction = \"3us\" }";
    let error = read(&text("", line)).expect_err("it would never resume");
    assert!(
        error.to_string().contains("\"xon\" is not below \"xoff\""),
        "{error}"
    );
    let error = read(&text("", "rate = \"1Mbps\"\npause = { xoff = \"30kB\" }"))
        .expect_err("keys are missing");
    assert!(error.to_string().contains("pause"), "{error}");
    let unlimited = "rate = \"unlimited\"
pause = { xoff = \"30kB\", xon = \"1kB\", reaction = \"3us\" }";
    let unlimited = text("", unlimited).replace("queue = { limit = \"100p\" }", "");
    let error = read(&unlimited).expect_err("nothing waits there");
    assert!(error.to_string().contains("only delays"), "{error}");
}
