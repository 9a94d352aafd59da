//! Goodput beside throughput: new data are a part of the bytes that arrive.

use goodqueue_sim::{Outcome, run};
use goodqueue_testkit::networks;
use goodqueue_types::Time;
use proptest::prelude::*;
use proptest::test_runner::Config;

/// Returns the first flow whose goodput exceeds its throughput.
fn contradiction(outcome: &Outcome) -> Option<String> {
    let flow = outcome
        .flows
        .iter()
        .find(|flow| flow.goodput_bps > flow.throughput_bps)?;
    let (goodput, throughput) = (flow.goodput_bps, flow.throughput_bps);
    Some(format!("{}: {goodput} of {throughput} bit/s", flow.name))
}

proptest! {
    #![proptest_config(Config { cases: 100, max_shrink_iters: 64, failure_persistence: None, ..Config::default() })]

    /// The window begins anywhere, as where a hole in the data waits for a retransmission.
    #[test]
    fn goodput_is_at_most_throughput_in_every_window(
        network in networks(),
        parts in prop::collection::vec(0.0..1.0_f64, 4),
    ) {
        for part in parts {
            let mut network = network.clone();
            network.warmup = Time((network.end.0 as f64 * part) as u64);
            let outcome = run(&network);
            prop_assert_eq!(contradiction(&outcome), None, "warm-up {}", part);
        }
    }
}
