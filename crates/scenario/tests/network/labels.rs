//! Limiting factors of flows and their places, in unambiguous scenarios.

use goodqueue_scenario::{Scenario, summary_json};
use serde_json::Value;

/// Runs these flows over two links in a row, of which the first is ten times as slow.
fn run(flows: &str) -> Value {
    let text = format!(
        "schema_version = 1\nduration = \"40s\"\nwarmup = \"10s\"\n\
         [topology]\nshape = \"chain\"\naccess = {{ rate = \"1Gbps\", delay = \"1ms\" }}\n\
         [[topology.link]]\nname = \"slow\"\nrate = \"1Mbps\"\ndelay = \"10ms\"\n\
         queue = {{ kind = \"drop_tail\", limit = \"10p\" }}\n\
         [[topology.link]]\nname = \"fast\"\nrate = \"10Mbps\"\ndelay = \"10ms\"\n\
         queue = {{ kind = \"drop_tail\", limit = \"10p\" }}\n{flows}"
    );
    let scenario = Scenario::parse(text.as_bytes(), "labels.toml", &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let network = scenario.network();
    summary_json(&scenario, &network, &goodqueue_sim::run(&network))
}

fn share(flow: &Value, of: &str) -> f64 {
    flow["limited_by"][of].as_f64().expect("a share")
}

#[test]
fn losses_show_where_a_flow_is_limited() {
    // The fast link has free capacity beside three megabits a second, and the slow one has none.
    let summary = run(
        "[[flow]]\nname = \"both\"\nworkload = { kind = \"bulk\" }\n\
         [[flow]]\nname = \"cross\"\nfrom = \"fast\"\nto = \"fast\"\n\
         workload = { kind = \"cbr\", rate = \"3Mbps\" }\n",
    );
    let alone = run(
        "[[flow]]\nname = \"alone\"\nfrom = \"fast\"\nto = \"fast\"\nworkload = { kind = \"bulk\" }\n",
    );
    let (both, alone) = (&summary["flows"]["both"], &alone["flows"]["alone"]);
    // The first flow is limited elsewhere than the fast link, and the second is limited there.
    assert_eq!(
        (&both["class"], &both["bottleneck"]),
        (&"congestion".into(), &"slow".into())
    );
    assert_eq!(
        (&alone["class"], &alone["bottleneck"]),
        (&"congestion".into(), &"fast".into())
    );
    assert_eq!(summary["flows"]["cross"]["class"], Value::Null);
    for flow in [both, alone] {
        assert!(share(flow, "congestion") > 0.95, "{flow}");
        let sum: f64 = ["handshake", "congestion", "receiver_window", "application"]
            .iter()
            .map(|of| share(flow, of))
            .sum();
        assert!((sum - 1.0).abs() < 1e-9);
        // The drops that links report are the flow's losses.
        let at = flow["losses_at"].as_object().expect("links");
        let forward = at.iter().filter(|(link, _)| !link.ends_with(".reverse"));
        let lost: u64 = forward.filter_map(|(_, count)| count.as_u64()).sum();
        assert_eq!(flow["packets_lost"].as_u64(), Some(lost));
    }
    let dropped = summary["links"]["slow"]["drops"].as_u64();
    assert_eq!(both["losses_at"]["slow"].as_u64(), dropped);
    assert!(dropped > Some(5));
}

/// Six segments of 1460 B in a round trip of 24 ms and some are less than half of 10 Mb/s.
#[test]
fn a_small_receive_window_limits_a_flow_on_a_fast_link() {
    let summary = run(
        "[[flow]]\nname = \"narrow\"\nfrom = \"fast\"\nto = \"fast\"\nworkload = { kind = \"bulk\" }\n\
         tcp = { profile = \"rfc\", receive_window = \"10kB\" }\n\
         [[flow]]\nname = \"linux\"\nfrom = \"fast\"\nto = \"fast\"\nworkload = { kind = \"bulk\" }\n\
         tcp = { profile = \"linux\", receive_window = \"10kB\" }\n",
    );
    for name in ["narrow", "linux"] {
        let flow = &summary["flows"][name];
        assert_eq!(
            (&flow["class"], &flow["bottleneck"]),
            (&"window".into(), &Value::Null)
        );
        assert!(share(flow, "receiver_window") > 0.99, "{flow}");
    }
}

#[test]
fn a_short_transfer_is_limited_by_its_size() {
    let summary = run(
        "[[flow]]\nname = \"short\"\nstart = \"20s\"\nworkload = { kind = \"bulk\", size = \"5kB\" }\n\
         [[flow]]\nname = \"early\"\nworkload = { kind = \"bulk\", size = \"5kB\" }\n\
         [[flow]]\nname = \"slow-start\"\nstart = \"25s\"\nfrom = \"fast\"\nto = \"fast\"\n\
         workload = { kind = \"bulk\", size = \"25kB\" }\n\
         [[flow]]\nname = \"asked\"\nstart = \"30s\"\n\
         workload = { kind = \"exchanges\", request = \"100B\", reply = \"500B\", pause = \"1s\" }\n",
    );
    for name in ["short", "slow-start", "asked"] {
        let flow = &summary["flows"][name];
        assert_eq!(flow["class"], "size", "{name}: {flow}");
    }
    // The flow ended before the window began.
    assert_eq!(summary["flows"]["early"]["class"], Value::Null);
    let short = &summary["flows"]["short"];
    assert!(
        (share(short, "handshake") + share(short, "application")) > 0.99,
        "{short}"
    );
    // Four segments, of 1500, 1500, 1500 and 660 B: the first through 1 Gb/s, 1 Mb/s, 10 Mb/s and
    // 1 Gb/s, 22 ms of propagation, an ACK of 40 B and 22 ms back, and the others at 1 Mb/s.
    let first = 1500.0 * 8.0 * (2e-9 + 1e-6 + 1e-7);
    let ack = 40.0 * 8.0 * (2e-9 + 1e-6 + 1e-7);
    let ideal = first + ack + 0.044 + 3660.0 * 8.0 * 1e-6;
    let time = short["completion_time_s"].as_f64().expect("it ended");
    let slowdown = short["slowdown"].as_f64().expect("it ended");
    assert!(
        (slowdown - time / ideal).abs() < 1e-9,
        "{slowdown} {}",
        time / ideal
    );
    // A round trip for the opening, and what slow start and delayed acknowledgements take.
    assert!(slowdown > 1.3, "{slowdown}");
}
