//! A server that replies to each piece of data, in a published study whose tables show this.

use goodqueue_scenario::Scenario;
use goodqueue_sim::run;

/// Returns goodput in whole bytes per second, and drops at the bottleneck, of the network of
/// Gijsbers and Akkoorath (Performance simulation of buffer bloat in routers, 2011), Tables 1 and
/// 2.
fn study(rate: &str, buffer: u64, workload: &str) -> (u64, u64) {
    let text = format!(
        "schema_version = 1
duration = \"1000s\"
[topology]
shape = \"dumbbell\"
framing = \"7B\"
queue = {{ limit = \"{buffer}p\" }}
access = {{ rate = \"2Mbps\", delay = \"1ms\" }}
bottleneck = {{ rate = \"{rate}\", delay = \"10ms\" }}
[[flow]]
name = \"upload\"
start = \"1s\"
workload = {workload}
tcp = {{ profile = \"inet2011\", recovery = \"reno\", mss = \"536B\", receive_window = \"100MB\" }}
"
    );
    let scenario =
        Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario.network());
    let goodput = outcome.flows[0].goodput_bps / 8.0;
    (goodput as u64, outcome.links[0].drops)
}

/// The published values, rounded down to whole bytes. The study does not say that its server
/// echoes, but all these figures agree only if it does. It prints 2406 drops for 2506.
#[test]
fn an_echo_of_one_byte_reproduces_the_tables() {
    for (rate, buffer, goodput, drops) in [
        ("500kbps", 10, 54_722, 31_168),
        ("500kbps", 50, 53_375, 2_300),
        ("500kbps", 100, 53_282, 3_643),
        ("500kbps", 500, 53_181, 711),
        ("100kbps", 10, 10_968, 5_969),
        ("100kbps", 50, 10_953, 8_659),
        ("100kbps", 100, 10_695, 2_506),
        ("100kbps", 500, 10_631, 0),
    ] {
        let found = study(rate, buffer, "{ kind = \"echo\", reply = \"1B\" }");
        assert_eq!(found, (goodput, drops), "{rate}, {buffer} packets");
    }
}

/// A reply of 1 % of 536 bytes has 5 bytes, in a packet of similar size, so the result is the same.
/// A sink fills the link instead.
#[test]
fn a_share_of_each_piece_is_another_echo_and_a_sink_is_none() {
    let share = study("500kbps", 500, "{ kind = \"echo\", reply = \"1%\" }");
    assert_eq!(share, (53_181, 711));
    let (sink, _) = study("500kbps", 500, "{ kind = \"bulk\" }");
    // The link carries 62,500 bytes a second, and 536 of 583 of them are data.
    let most = 62_500.0 * 536.0 / 583.0;
    assert!((sink as f64) < most && sink as f64 > 0.995 * most, "{sink}");
}
