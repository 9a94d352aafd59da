//! Shapes beyond a row of links: graphs, stars, trees, and ways through them.

use goodqueue_scenario::{Scenario, ScenarioError, summary_json};
use goodqueue_sim::{Network, run};
use goodqueue_types::Span;

fn read(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse(text.as_bytes(), "scenario.toml", &[])
}

fn good(text: &str) -> Scenario {
    let scenario = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let written = scenario.resolved_toml();
    let again = read(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(again.resolved_toml(), written);
    let networks = [scenario.network(), again.network()];
    assert_eq!(format!("{:?}", networks[0]), format!("{:?}", networks[1]));
    scenario
}

/// The names of the links that flow `index` crosses there, and back.
fn routes(network: &Network, index: usize) -> [String; 2] {
    let flow = &network.flows[index];
    [&flow.forward, &flow.reverse].map(|route| {
        let names = route
            .iter()
            .map(|link| network.links[link.0 as usize].name.as_str());
        names.collect::<Vec<_>>().join(" ")
    })
}

/// A square with a diagonal of two like links, and a node further on. Line numbers count from
/// its first line.
const SQUARE: &str = r#"schema_version = 1
duration = "1s"
[topology]
shape = "graph"
queue = { limit = "50p" }
[[topology.link]]
name = "ab"
from = "a"
to = "b"
rate = "10Mbps"
delay = "1ms"
[[topology.link]]
name = "cb"
from = "c"
to = "b"
rate = "10Mbps"
delay = "1ms"
[[topology.link]]
name = "cd"
from = "c"
to = "d"
rate = "10Mbps"
delay = "1ms"
[[topology.link]]
name = "da"
from = "d"
to = "a"
rate = "10Mbps"
delay = "2ms"
reverse = { delay = "3ms" }
[[topology.link]]
name = "ac1"
from = "a"
to = "c"
rate = "10Mbps"
delay = "4ms"
[[topology.link]]
name = "ac2"
from = "a"
to = "c"
rate = "10Mbps"
delay = "4ms"
[[topology.link]]
name = "ce"
from = "c"
to = "e"
rate = "10Mbps"
delay = "1ms"
[[flow]]
name = "one"
from = "a"
to = "c"
workload = { kind = "ping", interval = "10ms" }
"#;

#[test]
fn flows_take_the_shortest_path_or_the_named_one() {
    let ways = |ends: &str| {
        let scenario = good(&SQUARE.replace("from = \"a\"\nto = \"c\"\nworkload", ends));
        routes(&scenario.network(), 0)
    };
    let way = |from: &str, to: &str| ways(&format!("from = \"{from}\"\nto = \"{to}\"\nworkload"));
    // There and back over b take 4 ms, over the diagonal 8.
    assert_eq!(way("a", "c"), ["ab cb.reverse", "cb ab.reverse"]);
    assert_eq!(
        way("e", "a"),
        ["ce.reverse cb ab.reverse", "ab cb.reverse ce"]
    );
    // From d to a: 5 ms there and back directly, 6 over c and b.
    assert_eq!(way("d", "a"), ["da", "da.reverse"]);
    let routed = |keys: &str| ways(&format!("from = \"a\"\n{keys}\nworkload"));
    assert_eq!(
        routed("route = [\"ac2\", \"ce\"]"),
        ["ac2 ce", "ce.reverse ac2.reverse"]
    );
    assert_eq!(
        routed("to = \"c\"\nroute = [\"da\", \"cd\"]\nreverse_route = [\"ac1\"]"),
        ["da.reverse cd.reverse", "ac1.reverse"]
    );
    assert_eq!(
        routed("to = \"c\"\nreverse_route = [\"ac2\"]"),
        ["ab cb.reverse", "ac2.reverse"]
    );
}

/// The base round-trip time is the propagation over the way there and the way back.
#[test]
fn pings_take_the_delays_of_both_directions() {
    let text = SQUARE.replace(
        "to = \"c\"\nworkload",
        "route = [\"da\", \"cd\"]\nreverse_route = [\"ac1\"]\nworkload",
    );
    let scenario = good(&text);
    let rtt = run(&scenario.network()).flows[0].rtt_s.p50;
    // 3 + 1 ms there, 4 ms back, and three transmissions of 64 to 100 bytes.
    let rtt = rtt.expect("it was answered");
    assert!((0.008..0.008_5).contains(&rtt), "{rtt}");
    let base = |link: &str| scenario.buffer(link).expect("it is there").base_rtt;
    assert_eq!(base("da"), Some(Span::from_millis(8)));
    assert_eq!(base("ac1"), Some(Span::from_millis(8)));
    assert_eq!(base("ac2"), None);
}

/// docs/scenario.md's chain of two links, and the same as a graph.
const CHAIN: &str = r#"schema_version = 1
duration = "5s"
warmup = "1s"
[topology]
shape = "chain"
framing = "14B"
access = { rate = "1Gbps", delay = "1ms" }
far_access = { rate = "500Mbps", delay = "2ms" }
queue = { limit = "1bdp" }
[[topology.link]]
name = "uplink"
rate = "2Mbps"
delay = "5ms"
reverse = { rate = "10Mbps", delay = "7ms" }
[[topology.link]]
name = "transit"
rate = "5Mbps"
delay = "20ms"
queue = { kind = "codel" }
[[flow]]
name = "through"
count = 3
from = 0
to = 2
rtt = { from = "60ms", to = "150ms", classes = 3 }
workload = { kind = "bulk" }
[[flow]]
name = "background"
from = "transit"
to = 2
workload = { kind = "poisson", rate = "1Mbps", packet = "1000B" }
[[flow]]
name = "download"
from = 2
to = 0
host = "home"
rtt = "80ms"
workload = { kind = "bulk" }
[[flow]]
name = "ping"
from = 0
to = 2
host = "home"
workload = { kind = "ping", interval = "10ms" }
"#;

#[test]
fn a_chain_written_as_a_graph_is_the_same_run() {
    let graph = CHAIN
        .replace("shape = \"chain\"", "shape = \"graph\"")
        .replace(
            "name = \"uplink\"",
            "name = \"uplink\"\nfrom = \"0\"\nto = \"1\"",
        )
        .replace(
            "name = \"transit\"",
            "name = \"transit\"\nfrom = \"1\"\nto = \"2\"",
        )
        .replace("from = \"transit\"\nto = 2", "from = \"1\"\nto = \"2\"")
        .replace("from = 0\nto = 2", "from = \"0\"\nto = \"2\"")
        .replace("from = 2\nto = 0", "from = \"2\"\nto = \"0\"");
    let (chain, graph) = (good(CHAIN), good(&graph));
    let networks = [chain.network(), graph.network()];
    assert_eq!(format!("{:?}", networks[0]), format!("{:?}", networks[1]));
    let outcomes = networks.map(|network| format!("{:?}", run(&network)));
    assert!(outcomes[0].len() > 1_000);
    assert_eq!(outcomes[0], outcomes[1]);
    let summary = |scenario: &Scenario| {
        let network = scenario.network();
        summary_json(scenario, &network, &run(&network)).to_string()
    };
    assert_eq!(summary(&chain), summary(&graph));
}

fn shipped(name: &str, overrides: &[(&str, &str)]) -> Scenario {
    let owned = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides: Vec<_> = overrides.iter().map(owned).collect();
    let path = format!("{}/../../scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
    let scenario = Scenario::load(path.as_ref(), &overrides);
    scenario.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn lists_and_patterns_of_nodes_and_times_are_taken_in_turn() {
    let scenario = shipped(
        "incast.toml",
        &[
            ("topology.access", "{ rate = \"1Gbps\" }"),
            ("flow.answer.from", "[\"host1\", \"host1*\", \"host3..4\"]"),
            ("flow.answer.to", "[\"host2\", \"host5\"]"),
            ("flow.answer.rtt", "[\"1ms\", \"2ms\", \"3ms\"]"),
        ],
    );
    good(&scenario.resolved_toml());
    let network = scenario.network();
    // host1, host1 and host10 to host17, host3 and host4, and the ping.
    assert_eq!(network.flows.len(), 12 + 1);
    let route = |index| routes(&network, index)[0].clone();
    assert_eq!(
        route(0),
        "answer.0.access port1.reverse port2 answer.0.far_access.reverse"
    );
    assert!(route(1).contains("port1.reverse port5"));
    assert!(route(2).contains("port10.reverse port2"));
    assert!(route(11).contains("port4.reverse port5"));
    let base_rtt = |index: usize| {
        let ways = [&network.flows[index].forward, &network.flows[index].reverse];
        let links = ways
            .into_iter()
            .flatten()
            .map(|link| network.links[link.0 as usize].delay);
        links.fold(Span::ZERO, |sum, delay| sum + delay)
    };
    let times = [0, 1, 2, 3].map(base_rtt);
    assert_eq!(times, [1, 2, 3, 1].map(Span::from_millis));
}

/// The memory that one overloaded port of `n` may hold under dynamic thresholds is α/(1 + α) of
/// all (Choudhury and Hahne 1998, eq. 2), as if it were the only one: the others are idle.
#[test]
fn an_incast_takes_its_share_of_the_switch() {
    for (alpha, share) in [("0.5", 1.0 / 3.0), ("1", 0.5), ("4", 0.8)] {
        let scenario = shipped(
            "incast.toml",
            &[
                ("topology.pool.memory.alpha", alpha),
                ("flow.answer.workload.size", "1MB"),
            ],
        );
        let outcome = run(&scenario.network());
        let port = &outcome.links[0];
        assert_eq!(port.name, "port0");
        assert!(port.drops > 0);
        let most = port.backlog_bytes.max.expect("something waited");
        // Less than two frames beside it.
        assert!((most - share * 1e6).abs() < 3_100.0, "α = {alpha}: {most}");
        let others = outcome.links.iter().skip(1);
        assert_eq!(others.map(|link| link.drops).sum::<u64>(), 0);
    }
}

/// Each port of a switch reserves its headroom, whether flows cross it or not.
#[test]
fn the_ports_of_a_star_have_no_more_headroom_than_its_memory() {
    let text = |capacity: u64| {
        format!(
            "schema_version = 1\nduration = \"1s\"\n[topology]\nshape = \"star\"\nports = 1000\n\
             [[topology.pool]]\nname = \"memory\"\ncapacity = \"{capacity}B\"\nheadroom = \"10kB\"\n\
             [topology.port]\nrate = \"1Gbps\"\ndelay = \"10us\"\npool = \"memory\"\n\
             queue = {{ limit = \"unlimited\" }}\n\
             [[flow]]\nfrom = \"host1..9\"\nto = \"host0\"\nworkload = {{ kind = \"bulk\", size = \"10kB\" }}\n"
        )
    };
    let error = read(&text(9_999_999)).expect_err("a byte too few");
    assert_eq!(error.key, "topology.pool.0.headroom");
    assert!(error.message.contains("number: 1000") && error.message.contains("10000000 bytes"));
    assert!(error.help.contains("more capacity"), "{error}");
    // With enough it runs, and counts as many ports.
    let network = good(&text(10_000_000)).network();
    let ports = network.links.iter().filter(|link| link.pool.is_some());
    assert_eq!(ports.count(), 1_000);
    assert_eq!(run(&network).flows.len(), 9);
}

/// Dhamdhere, Jiang and Dovrolis 2005, section V: 18 sources, round trips from 20 to 534 ms with
/// mean 217 ms.
#[test]
fn the_trees_round_trips_are_the_papers() {
    let scenario = shipped(
        "tree.toml",
        &[(
            "flow",
            "[{ count = 18, workload = { kind = \"ping\", interval = \"100ms\", packet = \"40B\" } }]",
        )],
    );
    let base = scenario.buffer("target").expect("it is there").base_rtt;
    assert_eq!(base, Some(Span::from_millis(217)));
    let outcome = run(&scenario.network());
    assert_eq!(outcome.flows.len(), 18);
    // Four transmissions of 40 bytes: 6.4 µs at the target each way, 0.32 µs at the leaf.
    let sending = 2.0 * (6.4e-6 + 0.32e-6);
    let times = outcome
        .flows
        .iter()
        .map(|flow| flow.rtt_s.mean.expect("it was answered"));
    let times: Vec<f64> = times.map(|time| 1e3 * (time - sending)).collect();
    assert!(
        (times[0] - 20.0).abs() < 1e-6 && (times[17] - 534.0).abs() < 1e-6,
        "{times:?}"
    );
    assert!(times.is_sorted(), "{times:?}");
    let mean = times.iter().sum::<f64>() / 18.0;
    assert!((mean - 217.0).abs() < 1e-6, "{mean}");
}

#[test]
fn the_leaves_of_a_tree_have_the_configured_round_trips() {
    let delays = [
        ("topology.target.reverse", "{ delay = \"3ms\" }"),
        ("topology.rtts", "[\"9ms\", \"8ms\", \"1s\"]"),
        (
            "flow",
            "[{ workload = { kind = \"ping\", interval = \"1s\" } }]",
        ),
        ("topology.link.slow.to", "leaf1"),
        ("topology.queue", "{ limit = \"9p\" }"),
    ];
    let scenario = shipped("tree.toml", &delays);
    let network = good(&scenario.resolved_toml()).network();
    let link = |name: &str| {
        let found = network.links.iter().find(|link| link.name == name);
        found.expect("the link exists")
    };
    // Target: 5 ms there, 3 ms back.
    let millis = [("leaf0", "leaf0.reverse"), ("leaf1", "leaf1.reverse")];
    let delays = millis.map(|(there, back)| (link(there).delay, link(back).delay));
    let half = Span::from_micros(500);
    assert_eq!(delays, [(half, half), (Span::ZERO, Span::ZERO)]);
    assert_eq!(link("leaf2").delay, Span::from_millis(496));
    for leaf in ["leaf0", "leaf0.reverse"] {
        let limit = format!("{:?}", link(leaf).queue);
        assert!(
            limit.contains("Unlimited"),
            "whatever topology.queue says: {limit}"
        );
    }
    assert!(format!("{:?}", link("target.reverse").queue).contains("Packets(9)"));
    // All leaves by default.
    assert_eq!(network.flows.len(), 3);
}

/// Mistakes: what to replace in the square | by what | line | key | part of the message | part
/// of the help.
const REFUSED: &str = include_str!("topologies-refused.txt");

#[test]
fn mistakes_are_reported_before_the_run() {
    let cases = REFUSED
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (mut count, mut failures) = (0, Vec::new());
    for case in cases {
        let fields: Vec<&str> = case.split(" | ").collect();
        let [what, by, line, key, message, help] = fields[..] else {
            panic!("{case}")
        };
        let what = what.replace("\\n", "\n");
        assert_eq!(
            SQUARE.matches(&what).count(),
            1,
            "{what} must stand there once"
        );
        let text = SQUARE.replace(&what, &by.replace("\\n", "\n"));
        let error = read(&text).expect_err(case);
        let is_as_expected = error.line.is_some_and(|found| found.to_string() == line)
            && error.key == key
            && error.message.contains(message)
            && error.help.contains(help);
        if !is_as_expected {
            failures.push(format!("{case}\n{error}"));
        }
        count += 1;
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(count >= 25, "{count}");
}

#[test]
fn mistakes_of_stars_and_trees_are_located_at_their_tables() {
    let cases = include_str!("shapes-refused.txt").lines();
    let cases = cases.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut count = 0;
    for case in cases {
        let fields: Vec<&str> = case.split(" | ").collect();
        let [file, path, value, key, message, help] = fields[..] else {
            panic!("{case}")
        };
        let file = format!("{}/../../scenarios/{file}", env!("CARGO_MANIFEST_DIR"));
        let overrides = [(path.to_owned(), value.to_owned())];
        let error = Scenario::load(file.as_ref(), &overrides).expect_err(case);
        let is_as_expected = error.key == key && error.message.contains(message);
        assert!(
            is_as_expected && error.help.contains(help),
            "{case}\n{error}"
        );
        count += 1;
    }
    assert!(count >= 14, "{count}");
}

/// A slow way back holds the data up by their ACKs: the normalised bandwidth ratio k of
/// Balakrishnan, Padmanabhan and Katz (1997; RFC 3449 section 2.2.1) is the ratio of the rates over
/// the ratio of the frames, data to ACK. Where k is above the segments that one ACK is for, d,
/// and no ACK is lost, the way there carries d/k of its rate.
#[test]
fn a_slow_reverse_link_limits_the_forward_direction() {
    let utilization = |back: &str, ack_every: u32| {
        let text = format!(
            "schema_version = 1
duration = \"60s\"
warmup = \"20s\"
[topology]
shape = \"dumbbell\"
bottleneck = {{ rate = \"10Mbps\", delay = \"10ms\", reverse = {{ rate = \"{back}\" }} }}
queue = {{ limit = \"unlimited\" }}
[[flow]]
workload = {{ kind = \"bulk\" }}
tcp = {{ mss = \"1460B\", receive_window = \"146kB\", ack_every = {ack_every} }}
"
        );
        let links = run(&good(&text).network()).links;
        (links[0].utilization, links[1].utilization)
    };
    // Frames of 1500 and 40 bytes: 37.5 to 1.
    for (ratio, back, ack_every) in [
        (10.0, "1Mbps", 1),
        (50.0, "200kbps", 1),
        (50.0, "200kbps", 2),
        (100.0, "100kbps", 1),
        (100.0, "100kbps", 2),
    ] {
        let k = ratio / 37.5 / f64::from(ack_every);
        let (there, back) = utilization(back, ack_every);
        assert!(
            (there - (1.0 / k).min(1.0)).abs() < 0.002,
            "{ratio}: {there}"
        );
        assert!((back - k.min(1.0)).abs() < 0.002, "{ratio}: {back}");
    }
}

/// Two homes behind one CAKE: eight flows start at one node, one at the other. CAKE shares between the
/// hosts that send first (tc-cake(8), dual-srchost and triple-isolate), so that each home gets half.
#[test]
fn flows_that_start_at_one_node_of_a_graph_are_one_host() {
    let text = |more: &str| {
        format!(
            r#"schema_version = 1
duration = "20s"
warmup = "5s"
[topology]
shape = "graph"
queue = {{ limit = "1000p" }}
{more}
[[topology.link]]
name = "many"
from = "many"
to = "shop"
rate = "100Mbps"
delay = "1ms"
[[topology.link]]
name = "one"
from = "one"
to = "shop"
rate = "100Mbps"
delay = "1ms"
[[topology.link]]
name = "uplink"
from = "shop"
to = "internet"
rate = "10Mbps"
delay = "10ms"
queue = {{ kind = "cake", isolation = "dual-srchost" }}
reverse = {{ queue = {{ limit = "1000p" }} }}
[[flow]]
name = "many"
count = 8
from = "many"
to = "internet"
workload = {{ kind = "poisson", rate = "9Mbps", packet = "1000B" }}
[[flow]]
name = "one"
from = "one"
to = "internet"
workload = {{ kind = "poisson", rate = "9Mbps", packet = "1000B" }}
"#
        )
    };
    let network = good(&text("")).network();
    let hosts: Vec<_> = network.flows.iter().map(|flow| flow.hosts).collect();
    assert!(hosts[..8].iter().all(|pair| *pair == hosts[0]), "{hosts:?}");
    assert_ne!(hosts[0].client, hosts[8].client);
    assert_eq!(hosts[0].server, hosts[8].server);
    assert_ne!(hosts[0].client, hosts[0].server);
    let outcome = run(&network);
    let all: f64 = outcome.flows.iter().map(|flow| flow.goodput_bps).sum();
    let share = outcome.flows[8].goodput_bps / all;
    assert!((share - 0.5).abs() < 0.05, "{share}");
    // Flows with links of their own come from hosts of their own.
    let network = good(&text("access = { rate = \"1Gbps\" }")).network();
    assert_ne!(network.flows[0].hosts, network.flows[1].hosts);
}
