//! The estimate of a run's memory beside a measurement with a counting allocator.
//!
//! `cargo test -p goodqueue-scenario --test memory -- --nocapture` prints both.

use goodqueue_scenario::{Scenario, summary_json};
use goodqueue_sim::{Record, run};

/// Number of flows. The summary has one entry for so many flows, and the memory that does not grow
/// with their number is small beside the rest.
const FLOWS: u64 = 1_500;

/// Returns a scenario of flows over one bottleneck with 0.5 Mb/s for each, and access links.
fn dumbbell(tcp: &str, queue: &str, flow: &str) -> String {
    let rate_kbps = 500 * FLOWS;
    format!(
        "schema_version = 1\nduration = \"1500ms\"\nwarmup = \"500ms\"\n\
         [topology]\nshape = \"dumbbell\"\naccess = {{ rate = \"1Gbps\" }}\n\
         bottleneck = {{ rate = \"{rate_kbps}kbps\", delay = \"10ms\", queue = {queue} }}\n\
         [tcp]\nprofile = \"{tcp}\"\n\
         [[flow]]\nname = \"flow\"\ncount = {FLOWS}\nstart_jitter = \"400ms\"\n{flow}"
    )
}

/// Returns a scenario of flows that cross `links` links each, without links of their own.
fn chain(links: usize) -> String {
    let rate_kbps = 500 * FLOWS;
    let link = format!(
        "[[topology.link]]\nrate = \"{rate_kbps}kbps\"\ndelay = \"2ms\"\nqueue = {{ limit = \"20ms\" }}\n"
    );
    format!(
        "schema_version = 1\nduration = \"1500ms\"\nwarmup = \"500ms\"\n\
         [topology]\nshape = \"chain\"\n{}\
         [[flow]]\nname = \"flow\"\ncount = {FLOWS}\nstart_jitter = \"400ms\"\n\
         workload = {{ kind = \"bulk\" }}\n",
        link.repeat(links)
    )
}

/// Returns the bytes that the core needs by the estimate, and those that it had at most. A summary
/// with an entry for each flow is mostly made by Python, so there is none here.
fn bytes(text: &str) -> (f64, f64) {
    let parse = || {
        let scenario = Scenario::parse(text.as_bytes(), "test", &[]);
        scenario.unwrap_or_else(|error| panic!("{error}"))
    };
    let parts = parse().memory(Record::default());
    assert!(parts.iter().all(|part| part.what != "flows in the summary"));
    let estimate: u64 = parts.iter().map(|part| part.count * part.bytes_each).sum();
    let measured = allocation_counter::measure(|| {
        let scenario = parse();
        let network = scenario.network();
        let outcome = run(&network);
        assert!(outcome.totals.delivered_forward > FLOWS, "nothing happened");
        summary_json(&scenario, &network, &outcome);
    });
    (estimate as f64, measured.bytes_max as f64)
}

#[test]
fn the_estimate_is_close_to_the_measurement() {
    let fifo = "{ limit = \"20ms\" }";
    let bulk = "rtt = \"40ms\"\nworkload = { kind = \"bulk\" }\n";
    let shapes = [
        ("rfc", dumbbell("rfc", fifo, bulk)),
        ("linux", dumbbell("linux", fifo, bulk)),
        (
            "active queue",
            dumbbell("rfc", "{ kind = \"codel\" }", bulk),
        ),
        (
            "long round trips",
            dumbbell(
                "rfc",
                fifo,
                "rtt = { from = \"20ms\", to = \"534ms\", classes = 18 }\nworkload = { kind = \"bulk\" }\n",
            ),
        ),
        (
            "shared hosts",
            dumbbell("linux", fifo, &format!("host = \"all\"\n{bulk}")),
        ),
        (
            "short transfers",
            dumbbell(
                "linux",
                fifo,
                "rtt = \"40ms\"\nworkload = { kind = \"bulk\", size = \"30kB\" }\n",
            ),
        ),
        (
            "datagrams",
            dumbbell(
                "rfc",
                fifo,
                "rtt = \"40ms\"\nworkload = { kind = \"cbr\", rate = \"450kbps\", packet = \"1000B\" }\n",
            ),
        ),
        ("chain", chain(5)),
    ];
    let mut far = Vec::new();
    for (name, text) in shapes {
        let (estimate, measured) = bytes(&text);
        let ratio = estimate / measured;
        println!("{name}: {measured:.0} B measured, {estimate:.0} B estimated, ratio {ratio:.2}");
        if !(0.7..=1.5).contains(&ratio) {
            far.push((name, ratio));
        }
    }
    assert!(far.is_empty(), "{far:?}");
}
