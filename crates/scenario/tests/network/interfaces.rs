//! Interfaces of hosts: their keys, and what they do to the packets of a run.

use goodqueue_scenario::{Scenario, ScenarioError, summary_json};
use goodqueue_sim::{InterfaceConfig, Law, Outcome, run};
use goodqueue_types::Span;

/// Returns a file with this queue at the bottleneck and this interface of the hosts.
fn text(queue: &str, interface: &str) -> String {
    format!(
        "schema_version = 1
duration = \"2s\"
[topology]
shape = \"dumbbell\"
framing = \"14B\"
access = {{ rate = \"unlimited\" }}
[topology.bottleneck]
rate = \"200Mbps\"
delay = \"5ms\"
queue = {queue}
[tcp]
profile = \"linux\"
[[flow]]
{interface}
workload = {{ kind = \"bulk\" }}
"
    )
}

fn read(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse(text.as_bytes(), "scenario.toml", &[])
}

fn good(text: &str) -> Scenario {
    read(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn outcome(queue: &str, interface: &str) -> Outcome {
    run(&good(&text(queue, interface)).network())
}

const SUPER: &str = "interface = { super_segments = true }";

#[test]
fn the_keys_are_read_and_written() {
    let all = "interface = { super_segments = true, receive_coalescing = \"50us\", \
        send_jitter = { law = \"exponential\", mean = \"20us\" } }";
    let scenario = good(&text("{ limit = \"100p\" }", all));
    let network = scenario.network();
    let expected = InterfaceConfig {
        super_segments: true,
        receive_coalescing: Span::from_micros(50),
        send_jitter: Law::exponential(20e-6),
    };
    assert_eq!(network.flows[0].interface.as_deref(), Some(&expected));
    let again = good(&scenario.resolved_toml());
    assert_eq!(
        again.network().flows[0].interface.as_deref(),
        Some(&expected)
    );
    let constant = text(
        "{ limit = \"100p\" }",
        "interface = { send_jitter = \"20us\" }",
    );
    let network = good(&constant).network();
    let law = network.flows[0]
        .interface
        .as_deref()
        .map(|one| &one.send_jitter);
    assert_eq!(law, Some(&Law::Fixed(20e-6)));
    let defaults = text(
        "{ limit = \"100p\" }",
        "interface = { super_segments = false }",
    );
    assert_eq!(good(&defaults).network().flows[0].interface, None);
}

#[test]
fn a_wrong_key_gets_the_nearest_one() {
    let wrong = read(&text(
        "{ limit = \"100p\" }",
        "interface = { super_segment = true }",
    ));
    let message = wrong.unwrap_err().to_string();
    assert!(message.contains("super_segments"), "{message}");
}

/// The packets of a run are fewer than the flow's segments if they are super-segments, and as many
/// behind a queue that splits them.
#[test]
fn a_queue_counts_super_segments_until_one_splits_them() {
    let fifo = outcome("{ limit = \"100p\" }", SUPER);
    let (link, flow) = (&fifo.links[0], &fifo.flows[0]);
    assert!(
        flow.packets_sent > 4 * link.arrivals,
        "{} {}",
        flow.packets_sent,
        link.arrivals
    );
    assert_eq!(fifo.totals.split, 0);
    let tbf = "{ kind = \"tbf\", rate = \"190Mbps\", burst = \"1600B\", limit = \"200kB\" }";
    let scenario = good(&text(tbf, SUPER));
    let split = run(&scenario.network());
    let (link, flow) = (&split.links[0], &split.flows[0]);
    assert_eq!(link.arrivals, flow.packets_sent);
    assert!(split.totals.split > 3 * split.totals.sent / 2);
    assert!(link.loss_rate <= 1.0);
    let summary = summary_json(&scenario, &scenario.network(), &split);
    assert_eq!(summary["totals"]["split"], split.totals.split);
    assert_eq!(outcome("{ limit = \"100p\" }", "").totals.split, 0);
}

/// An ACK leaves for every second segment and for each aggregate, by Linux's rule.
#[test]
fn a_receiver_acknowledges_each_aggregate_once() {
    let acks = |interface: &str| {
        let outcome = outcome("{ limit = \"1000p\" }", interface);
        let [data, back] = &outcome.links[..] else {
            panic!("two directions")
        };
        let segments = outcome.flows[0].packets_received as f64;
        (
            data.arrivals as f64 / back.arrivals as f64,
            segments / back.arrivals as f64,
        )
    };
    let (_, alone) = acks("");
    assert!((1.9..2.1).contains(&alone), "{alone}");
    // A packet of one segment waits for the next one, any other packet for none.
    let (packets, segments) = acks(SUPER);
    assert!(
        (0.9..2.0).contains(&packets) && segments > 4.0,
        "{packets} {segments}"
    );
    // A frame takes 61 us, so 16 or 17 arrive in a millisecond. Aggregates end at a PSH,
    // which only units have, and where the timestamp changes.
    let units = "tcp = { timestamps = \"none\", details = { segmentation_offload = false } }";
    let (_, coalesced) = acks(&format!(
        "{units}\ninterface = {{ receive_coalescing = \"1ms\" }}"
    ));
    assert!((15.0..17.5).contains(&coalesced), "{coalesced}");
}

/// The units of a single flow are as long as those that Linux 6.18 put into the same queue: 10 and 45
/// segments in the median (docs/hosts.md).
#[test]
fn units_have_the_lengths_of_a_kernel() {
    for (rate, expected) in [("100Mbps", 7.5..11.0), ("1Gbps", 43.0..45.1)] {
        let text = text("{ limit = \"1000p\" }", SUPER)
            .replace("200Mbps", rate)
            .replace("[tcp]\n", "[tcp]\nreceive_window = \"64MB\"\n");
        let outcome = run(&good(&text).network());
        let sent = outcome.flows[0].packets_sent as f64;
        let length = sent / outcome.links[0].arrivals as f64;
        assert!(expected.contains(&length), "{rate}: {length}");
    }
}
