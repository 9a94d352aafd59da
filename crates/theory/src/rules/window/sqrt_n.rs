//! C T / sqrt(N): many flows out of step need a smaller buffer.

use crate::link::Link;
use crate::rules::{Advice, Bound, Kind, Rule, Trial, checks};

/// Smallest number of flows that are assumed out of step. Fewer flows lose together, and the sum of
/// their windows is not Gaussian. The paper saw synchronisation vanish between 100 and 500 flows in
/// ns-2; with random starts and different round-trip times it vanishes earlier.
pub const MIN_FLOWS: u64 = 16;

/// B = C T / sqrt(N).
fn advise(link: &Link) -> Advice {
    let packets = link.bdp_packets() / (link.flows as f64).sqrt();
    let bound = utilization_bound(link, packets);
    Advice {
        packets: Some(packets),
        broken: checks::saw_tooth(link, packets)
            .chain(checks::few_flows(link, MIN_FLOWS))
            .chain(checks::equal_rtts(link))
            .chain(checks::bursts(link, packets))
            .chain(checks::loss(link, packets))
            .chain(keeps_more(link))
            .collect(),
        notes: vec![format!(
            "utilisation at least {bound:.4} by its Gaussian bound"
        )],
    }
}

/// Returns a sentence if the flows do not halve their windows.
fn keeps_more(link: &Link) -> Option<String> {
    let kept = link.decrease().filter(|kept| *kept > 0.5)?;
    Some(format!(
        "the rule is derived for Reno; {} keeps {kept} of its window and not half, so windows vary \
         less and a smaller buffer suffices",
        link.control_words()
    ))
}

/// Returns the argument of the Gaussian bound: (3 sqrt 3 / 2 sqrt 2) B sqrt(N) / (C T + B).
pub fn bound_argument(link: &Link, packets: f64) -> f64 {
    let in_flight = (link.bdp_packets() + packets) / (link.flows as f64).sqrt();
    3.0 * 3.0_f64.sqrt() / (2.0 * 2.0_f64.sqrt()) * packets / in_flight
}

/// Returns the least utilisation: erf((3 sqrt 3 / 2 sqrt 2) B sqrt(N) / (C T + B)).
fn utilization_bound(link: &Link, packets: f64) -> f64 {
    libm::erf(bound_argument(link, packets))
}

/// The rule.
pub const RULE: Rule = Rule {
    name: "sqrt_n",
    title: "C T / sqrt(N)",
    equation: "B = C T / (8M sqrt(N))",
    source: "Appenzeller, Keslassy and McKeown, Sizing router buffers, SIGCOMM 2004",
    assumptions: &[
        "many long flows, out of step with one another",
        "packets paced, or bursts small beside the buffer",
        "utilisation is the only aim: loss and fairness are not bounded",
        "Reno saw-teeth; drop tail",
    ],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 Mb/s and 80 ms: the path holds 666.7 packets. The paper prints the bounds.
    #[test]
    fn the_rule_and_its_bound_on_utilisation_have_the_printed_values() {
        let (hundred, more) = (
            Link::new(1e8, vec![0.08], 100),
            Link::new(1e8, vec![0.08], 400),
        );
        assert!((advise(&hundred).packets.unwrap() - 66.7).abs() < 0.05);
        assert!((advise(&more).packets.unwrap() - 33.3).abs() < 0.05);
        let base = 2_000.0 / 30.0;
        for (factor, expected, error) in [
            (1.0, 0.9818, 6e-5),
            (2.0, 0.99998, 6e-5),
            (0.5, 0.784, 5.1e-4),
        ] {
            let bound = utilization_bound(&hundred, factor * base);
            assert!((bound - expected).abs() < error, "{factor}: {bound}");
        }
        assert!((utilization_bound(&more, base / 2.0) - 0.9867).abs() < 6e-5);
    }
}
