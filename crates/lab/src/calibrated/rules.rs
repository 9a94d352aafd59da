//! Published rules that the page marks on its curves.

use crate::calibrated::link::Link;
use serde_json::{Value, json};

/// Requested utilisation.
pub const LEAST_UTILIZATION: f64 = 0.98;

/// Loss-burst length over the number of flows, alpha of Dhamdhere, Jiang and Dovrolis (17).
const SYNCHRONIZATION: f64 = 0.55;

/// Relative error that a formula's floating-point arithmetic may have.
const ROUNDING: f64 = 1e-9;

/// Returns the buffer of BSCL for utilisation in packets, at least one: (11) below five flows, else
/// (16).
pub fn bscl(link: &Link) -> f64 {
    let bdp = link.local_bdp_packets();
    let flows = link.flows;
    if flows < 5.0 {
        return bdp.max(1.0);
    }
    let hit = 1.0 - libm::pow(1.0 - 1.0 / flows, SYNCHRONIZATION * flows);
    ((hit * bdp - 2.0 * flows * (1.0 - hit)) / (2.0 - hit)).max(1.0)
}

/// Returns the buffer of tiny buffers, O(log W).
fn tiny(link: &Link) -> f64 {
    let window = (link.bdp_packets() / link.flows).max(1.0);
    let ratio = window * window / (2.0 * (1.0 - LEAST_UTILIZATION));
    (libm::log(ratio) / libm::log(1.0 / LEAST_UTILIZATION)).max(0.0)
}

/// Returns each rule with its name, title and buffer in whole packets.
pub fn rules(link: &Link) -> Value {
    let bdp = link.bdp_packets();
    // BBR probes with 1.25 times its estimated rate.
    let decrease = link.decrease().map_or(0.25, |kept| 1.0 / kept - 1.0);
    let rules = [
        ("bdp", "bandwidth-delay product", bdp),
        ("sqrt_n", "C T / sqrt(N)", bdp / link.flows.sqrt()),
        ("window_decrease", "window decrease", decrease * bdp),
        ("bscl", "BSCL", bscl(link)),
        ("tiny", "tiny buffers, O(log W)", tiny(link)),
    ];
    let rules = rules.map(|(name, title, packets)| {
        let packets = (packets * (1.0 + ROUNDING)).floor().max(1.0);
        json!({"rule": name, "title": title, "packets": packets as u64})
    });
    rules.into_iter().collect()
}
