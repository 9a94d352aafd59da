//! Valid files and their meaning.

use goodqueue_queue::Limit;
use goodqueue_scenario::{
    Scenario, StatedLimit, StatedSpans, format_rate, format_size, format_span, parse_fraction,
    parse_limit, parse_override, parse_rate, parse_size, parse_span, parse_spans,
};
use goodqueue_sim::{Network, PacketSize, SourceConfig, WorkloadConfig};
use goodqueue_tcp::cc::{CubicConfig, GaimdConfig};
use goodqueue_tcp::{CongestionControlConfig, EcnMode, Profile, Recovery, TcpConfig};
use goodqueue_types::{Framing, LinkId, Rate, Span, Time};
use std::sync::Arc;

mod hosts;
mod starts;

fn parse_with(text: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .map(|text| parse_override(text).expect("path=value"))
        .collect();
    Scenario::parse(text.as_bytes(), "test", &overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn parse(text: &str) -> Scenario {
    parse_with(text, &[])
}

const CHAIN: &str = r#"
schema_version = 1
duration = "10s"
[topology]
shape = "chain"
queue = { limit = "50p" }
[[topology.link]]
name = "a"
rate = "8Mbps"
delay = "100us"
[[topology.link]]
name = "b"
rate = "800kbps"
delay = "100ms"
framing = "2B"
reverse = { rate = "400kbps", delay = "50ms", queue = { limit = "unlimited" }, drop_list = [3, 1] }
[[topology.link]]
rate = "1Gbps"
delay = "0s"
[[flow]]
name = "through"
workload = { kind = "bulk", size = "200kB" }
[[flow]]
name = "back"
from = 2
to = 0
workload = { kind = "poisson", rate = "100kbps", packet = "1000B", sizes = "exponential" }
[[flow]]
name = "cross"
from = "b"
to = "b"
workload = { kind = "cbr", interval = "20ms", packet = "200B" }
"#;

fn ids(ids: &[u32]) -> Vec<LinkId> {
    ids.iter().map(|id| LinkId(*id)).collect()
}

#[test]
fn a_chain_routes_over_the_links_between_two_nodes() {
    let Network { links, flows, .. } = parse(CHAIN).network();
    let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(
        names,
        ["a", "a.reverse", "b", "b.reverse", "link2", "link2.reverse"]
    );
    assert_eq!(
        (&flows[0].forward, &flows[0].reverse),
        (&ids(&[0, 2, 4]), &ids(&[5, 3, 1]))
    );
    // A client at the higher node sends over the reverse directions.
    assert_eq!(
        (&flows[1].forward, &flows[1].reverse),
        (&ids(&[3, 1]), &ids(&[0, 2]))
    );
    assert_eq!(
        (&flows[2].forward, &flows[2].reverse),
        (&ids(&[2]), &ids(&[3]))
    );
    assert_eq!(links[3].rate.0, 400_000);
    assert_eq!(
        (links[3].delay, links[3].framing),
        (Span::from_millis(50), Framing::bytes(2))
    );
    assert_eq!(links[3].drop_list, [1, 3]);
    assert!(links[2].drop_list.is_empty());
    // 8000 bits at 100 kb/s; 20 ms as stated.
    let WorkloadConfig::Source(SourceConfig::Poisson {
        mean_interval,
        packet,
    }) = flows[1].workload
    else {
        panic!()
    };
    assert_eq!(
        (mean_interval, packet),
        (Span::from_millis(80), PacketSize::Exponential(1000.0))
    );
    let bytes = flows[0].workload.as_bulk().and_then(|(_, bytes)| bytes);
    assert_eq!(bytes, Some(200_000));
}

const DUMBBELL: &str = r#"
schema_version = 1
duration = "100s"
warmup = "25%"
seed = 7
[topology]
shape = "dumbbell"
framing = "7B"
access = { rate = "2Mbps", delay = "1ms", reverse = { rate = "8Mbps" } }
far_access = { delay = "2ms" }
[topology.bottleneck]
rate = "1Mbps"
delay = "10ms"
queue = { limit = "100p" }
[tcp]
mss = "536B"
[[flow]]
name = "upload"
workload = { kind = "bulk" }
[[flow]]
name = "ping"
host = "upload"
workload = { kind = "ping" }
[[flow]]
name = "many"
count = 3
start = "1s"
start_interval = "2s"
start_jitter = "500ms"
rtt = { from = "30ms", to = "50ms", classes = 3 }
workload = { kind = "bulk" }
tcp = { profile = "inet2011", recovery = "newreno" }
"#;

#[test]
fn a_dumbbell_gives_each_flow_hosts_and_shares_those_that_are_named() {
    let network = parse(DUMBBELL).network();
    assert_eq!(network.links.len(), 2 + 4 * 4);
    assert_eq!(network.flows[0].forward, ids(&[2, 0, 5]));
    assert_eq!(network.flows[0].reverse, ids(&[4, 1, 3]));
    assert_eq!(network.flows[1].forward, network.flows[0].forward);
    assert_eq!(network.flows[3].forward, ids(&[10, 0, 13]));
    let link = |id: usize| (network.links[id].rate.0, network.links[id].delay);
    // From a host into the network 2 Mb/s, towards it 8 Mb/s, on both sides.
    assert_eq!(link(2), (2_000_000, Span::from_millis(1)));
    assert_eq!(link(3), (8_000_000, Span::from_millis(1)));
    assert_eq!(link(4), (2_000_000, Span::from_millis(2)));
    assert_eq!(link(5), (8_000_000, Span::from_millis(2)));
    assert_eq!(network.links[2].name, "upload.access");
    assert_eq!(network.links[5].name, "upload.far_access.reverse");
    // Whatever links of different hosts have in common is there once.
    let common = |one: usize, other: usize| {
        let [one, other] = [one, other].map(|id| &network.links[id].equipment);
        Arc::ptr_eq(one, other)
    };
    for link in 2..6 {
        assert!(common(link, link + 4) && common(link, link + 12));
    }
    assert!(!common(0, 2));
    let reported: Vec<&str> = network
        .links
        .iter()
        .filter(|link| link.observed)
        .map(|link| link.name.as_str())
        .collect();
    assert_eq!(reported, ["bottleneck", "bottleneck.reverse"]);
}

#[test]
fn round_trip_times_are_spread_and_split_evenly() {
    let network = parse(DUMBBELL).network();
    for (flow, rest) in network.flows[2..].iter().zip([10, 20, 30]) {
        for id in flow
            .forward
            .iter()
            .chain(&flow.reverse)
            .filter(|id| id.0 > 1)
        {
            assert_eq!(
                network.links[id.0 as usize].delay,
                Span::from_micros(rest * 250)
            );
        }
    }
}

fn tcp_of(scenario: &Scenario, flow: usize) -> TcpConfig {
    let network = scenario.network();
    let tcp = network.flows[flow].workload.tcp();
    TcpConfig::clone(tcp.expect("the flow has TCP"))
}

#[test]
fn a_flows_tcp_is_its_profile_then_the_common_table_then_its_own() {
    let scenario = parse(DUMBBELL);
    let rfc = TcpConfig {
        mss: 536,
        ..TcpConfig::profile(Profile::Rfc)
    };
    assert_eq!(tcp_of(&scenario, 0), rfc);
    let inet = TcpConfig {
        mss: 536,
        recovery: Recovery::NewReno,
        ..TcpConfig::profile(Profile::Inet2011)
    };
    assert_eq!(tcp_of(&scenario, 2), inet);
    let gaimd = [
        "flow.upload.tcp.congestion_control=gaimd",
        "flow.upload.tcp.alpha=0.31",
        "flow.upload.tcp.beta=12.5%",
        "tcp.rto.minimum=200ms",
    ];
    let tcp = tcp_of(&parse_with(DUMBBELL, &gaimd), 0);
    let control = CongestionControlConfig::Gaimd(GaimdConfig {
        alpha: 0.31,
        beta: 0.125,
    });
    assert_eq!(
        (tcp.congestion_control, tcp.rto.minimum),
        (control, Span::from_millis(200))
    );
}

#[test]
fn overrides_reach_any_key_by_name_or_number() {
    let overrides = [
        "title=2011",
        "duration=50s",
        "flow.1.workload={ kind = \"cbr\", rate = \"8kbps\", packet = \"100B\" }",
        "flow.many.count=5",
        "flow.many.count=2",
        "flow.0.tcp.mss=1000B",
        "topology.bottleneck.reverse.queue.limit=5p",
        "topology.bottleneck.drop_list=[4]",
        "record.series=true",
    ];
    let scenario = parse_with(DUMBBELL, &overrides);
    assert_eq!(scenario.title(), "2011");
    let network = scenario.network();
    assert_eq!(network.end, Time::ZERO + Span::from_secs(50));
    assert_eq!(network.warmup, Time::ZERO + Span::from_millis(12_500));
    assert_eq!(network.flows.len(), 4);
    assert!(matches!(
        network.flows[1].workload,
        WorkloadConfig::Source(SourceConfig::ConstantBitRate { interval, packet: 100, .. }) if interval == Span::from_millis(100)
    ));
    assert_eq!(tcp_of(&scenario, 0).mss, 1000);
    assert_eq!(scenario.limit("bottleneck.reverse"), Ok(Limit::Packets(5)));
    assert_eq!(network.links[0].drop_list, [4]);
    assert!(network.record.series && !network.record.packets);
    let parts = parse_override(" a.b = c=d ").expect("it has an equals sign");
    assert_eq!(parts, ("a.b".to_owned(), "c=d".to_owned()));
    assert!(parse_override("a.b").is_err());
}

#[test]
fn buffers_are_reported_in_every_unit() {
    let scenario = parse_with(DUMBBELL, &["flow.many.rtt=24ms"]);
    // Largest frame: 536 + 40 + 7 B. BDP: 1 Mb/s for the mean of 26, 24, 24 and 24 ms.
    let buffer = scenario.buffer("bottleneck").expect("it exists");
    assert_eq!(
        (buffer.frame_bytes, buffer.packets, buffer.bytes),
        (583, Some(100), Some(58_300))
    );
    assert!((buffer.ms.unwrap() - 466.4).abs() < 1e-9);
    assert_eq!(buffer.base_rtt, Some(Span::from_micros(24_500)));
    assert!((buffer.bdp.unwrap() - 58_300.0 / 3_062.5).abs() < 1e-9);
    // The other way: ACKs with four SACK blocks, or the ping's replies.
    let back = scenario.buffer("bottleneck.reverse").expect("it exists");
    assert_eq!(
        (back.frame_bytes, back.packets, back.ms, back.bdp),
        (91, None, None, None)
    );

    let resolve = |text| scenario.resolve_limit("bottleneck", parse_limit(text).expect("valid"));
    assert_eq!(resolve("50ms"), Ok(Limit::Bytes(6_250)));
    assert_eq!(resolve("2bdp"), Ok(Limit::Bytes(6_124)));
    assert_eq!(resolve("1.5KiB"), Ok(Limit::Bytes(1_536)));
    assert_eq!(resolve("7p"), Ok(Limit::Packets(7)));
    assert_eq!(resolve("unlimited"), Ok(Limit::Unlimited));
    let bytes = scenario
        .with_limit("bottleneck", Limit::Bytes(6_250))
        .expect("it exists");
    let buffer = bytes.buffer("bottleneck").expect("it exists");
    assert_eq!((buffer.packets, buffer.ms), (Some(10), Some(50.0)));
    let error = scenario
        .with_limit("botleneck", Limit::Unlimited)
        .expect_err("no such link");
    assert!(
        error.help.contains("did you mean \"bottleneck\""),
        "{error}"
    );
}

#[test]
fn a_bdp_needs_a_round_trip_time() {
    let text = CHAIN
        .replace("delay = \"100ms\"", "delay = \"0s\"")
        .replace("delay = \"100us\"", "delay = \"0s\"")
        .replace("delay = \"50ms\"", "delay = \"0s\"");
    let error = parse(&text)
        .resolve_limit("b", StatedLimit::Bdp(1_000_000))
        .expect_err("no RTT");
    assert!(error.message.contains("zero"), "{error}");
    let overrides = [("topology.queue.limit".to_owned(), "1bdp".to_owned())];
    let error = Scenario::parse(text.as_bytes(), "test", &overrides).expect_err("no RTT");
    assert_eq!(error.file, "--set topology.queue.limit=1bdp");
}

#[test]
fn the_defaults_are_the_documented_ones() {
    let scenario = parse(
        r#"
        schema_version = 1
        duration = "1s"
        topology = { shape = "dumbbell", bottleneck = { rate = "1Mbps", delay = "1ms", queue = { limit = "9p" } } }
        [[flow]]
        workload = { kind = "ping" }
        [[flow]]
        workload = { kind = "poisson", interval = "1ms" }
        "#,
    );
    let network = scenario.network();
    assert_eq!(
        (network.seed, network.warmup, network.links.len()),
        (1, Time::ZERO, 2)
    );
    assert_eq!(
        (
            network.flows[0].name.as_str(),
            network.flows[1].name.as_str()
        ),
        ("flow0", "flow1")
    );
    assert!(matches!(
        network.flows[0].workload,
        WorkloadConfig::Source(SourceConfig::Ping { interval, packet: 84 }) if interval == Span::from_secs(1)
    ));
    assert!(matches!(
        network.flows[1].workload,
        WorkloadConfig::Source(SourceConfig::Poisson {
            packet: PacketSize::Fixed(1500),
            ..
        })
    ));
    // The reverse direction: same rate and delay, nothing ever dropped.
    assert_eq!(
        (network.links[1].rate, network.links[1].delay),
        (network.links[0].rate, network.links[0].delay)
    );
    assert_eq!(scenario.limit("bottleneck.reverse"), Ok(Limit::Unlimited));
}

#[test]
fn values_with_units_are_converted_exactly() {
    let spans = [
        ("1ps", 1),
        ("1.5ns", 1_500),
        ("20us", 20_000_000),
        ("0.5ms", 500_000_000),
        ("2s", 2_000_000_000_000),
        ("1.5min", 90_000_000_000_000),
        ("1h", 3_600_000_000_000_000),
    ];
    for (text, picoseconds) in spans {
        assert_eq!(parse_span(text), Ok(Span(picoseconds)), "{text}");
    }
    let ms = |count: u64| Span(count * 1_000_000_000);
    let several = [
        ("40ms", StatedSpans::Listed(vec![ms(40)])),
        ("20ms,0.08s", StatedSpans::Listed(vec![ms(20), ms(80)])),
        ("20ms..534ms", StatedSpans::Range(ms(20), ms(534))),
        ("1s..1s", StatedSpans::Range(ms(1000), ms(1000))),
    ];
    for (text, spans) in several {
        assert_eq!(parse_spans(text), Ok(spans), "{text}");
    }
    for text in [
        "20ms..",
        "..20ms",
        "20..534ms",
        "20ms,",
        "90ms..20ms",
        "1ms..2ms..3ms",
        "-1ms",
    ] {
        assert!(parse_spans(text).is_err(), "{text}");
    }
    let help = parse_spans("90ms..20ms").unwrap_err().help;
    assert!(help.contains("20ms..90ms"), "{help}");
    let rates = [
        ("9600bps", 9_600),
        ("1.544Mbps", 1_544_000),
        ("10Tbps", 10_000_000_000_000),
    ];
    for (text, rate) in rates {
        assert_eq!(parse_rate(text), Ok(Rate(rate)), "{text}");
    }
    let sizes = [
        ("536B", 536),
        ("100kB", 100_000),
        ("64KiB", 65_536),
        ("1.5MiB", 1_572_864),
    ];
    for (text, bytes) in sizes {
        assert_eq!(parse_size(text), Ok(bytes), "{text}");
    }
    assert_eq!(parse_limit("1.25bdp"), Ok(StatedLimit::Bdp(1_250_000)));
    assert_eq!(
        parse_limit("50ms"),
        Ok(StatedLimit::Time(Span::from_millis(50)))
    );
    assert_eq!(parse_limit("0p"), Ok(StatedLimit::Packets(0)));
    assert_eq!(
        (parse_fraction("98%"), parse_fraction("0.5")),
        (Ok(0.98), Ok(0.5))
    );
    let error = parse_fraction("98").expect_err("above 100 %");
    assert!(error.help.contains("\"98%\""), "{error}");
    let written = [
        format_rate(Rate(1_544_000)),
        format_span(Span::from_micros(1_500)),
        format_size(64_000),
    ];
    assert_eq!(written, ["1544kbps", "1500us", "64kB"]);
}

#[test]
fn a_control_is_a_name_or_a_table_of_parameters() {
    let by_name = ["tcp.congestion_control=cubic"];
    let tcp = tcp_of(&parse_with(DUMBBELL, &by_name), 0);
    let cubic = CubicConfig::default();
    assert_eq!(
        tcp.congestion_control,
        CongestionControlConfig::Cubic(cubic)
    );
    let table =
        ["tcp.congestion_control={ kind = \"cubic\", beta = 0.8, fast_convergence = false }"];
    let scenario = parse_with(DUMBBELL, &table);
    let wanted = CongestionControlConfig::Cubic(CubicConfig {
        beta: 0.8,
        fast_convergence: false,
        ..cubic
    });
    assert_eq!(tcp_of(&scenario, 0).congestion_control, wanted);
    let again = parse(&scenario.resolved_toml());
    assert_eq!(tcp_of(&again, 0).congestion_control, wanted);
}

/// Returns the configuration of a flow under these keys of `[tcp]`.
fn tcp_with(keys: &str) -> TcpConfig {
    let text = format!(
        "schema_version = 1\nduration = \"1s\"\n[topology]\nshape = \"dumbbell\"\n\
         bottleneck = {{ rate = \"1Mbps\", delay = \"1ms\", queue = {{ limit = \"9p\" }} }}\n\
         [tcp]\n{keys}\n[[flow]]\nworkload = {{ kind = \"bulk\" }}\n"
    );
    tcp_of(&parse(&text), 0)
}

/// A packet of 1500 bytes has room for the headers, the timestamps and the AccECN option.
#[test]
fn segments_leave_room_for_the_accecn_option() {
    let mss = |keys: &str| tcp_with(keys).mss;
    assert_eq!(mss("profile = \"linux\""), 1448);
    assert_eq!(mss("profile = \"linux\"\necn = \"accecn\""), 1436);
    assert_eq!(mss("ecn = \"accecn\""), 1448);
    assert_eq!(mss("ecn = \"accecn\"\noption_bytes = false"), 1460);
    assert_eq!(mss("ecn = \"accecn\"\nmss = \"1000B\""), 1000);
    assert_eq!(mss("profile = \"prague\""), 1436);
    assert_eq!(mss("profile = \"prague\"\naccecn_option = \"off\""), 1448);
    assert_eq!(mss("profile = \"prague\"\necn = \"dctcp\""), 1448);
}

#[test]
fn controls_bring_the_ecn_that_they_need() {
    let ecn = |tcp: &str| tcp_with(tcp).ecn;
    assert_eq!(ecn("congestion_control = \"reno\""), EcnMode::Off);
    assert_eq!(ecn("congestion_control = \"dctcp\""), EcnMode::Dctcp);
    let bbr = "recovery = \"sack\"\ncongestion_control = { kind = \"bbr3\", ecn_response = true }";
    assert_eq!(ecn(bbr), EcnMode::Dctcp);
    let accurate = "congestion_control = \"dctcp\"\necn = \"accecn\"";
    assert_eq!(ecn(accurate), EcnMode::AccEcn);
    assert_eq!(ecn("congestion_control = \"prague\""), EcnMode::AccEcn);
    let classic = "congestion_control = \"prague\"\necn = \"rfc3168\"";
    assert_eq!(ecn(classic), EcnMode::Rfc3168);
}
