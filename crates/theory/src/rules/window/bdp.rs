//! The bandwidth-delay product.

use crate::link::Link;
use crate::rules::{Advice, Bound, Kind, Rule, Trial, checks};

/// Number of flows above which saw-teeth are assumed out of step unless all round trips are equal.
pub const MANY_FLOWS: u64 = 10;

/// B = C T: the smallest queue that a halved window does not leave empty.
fn advise(link: &Link) -> Advice {
    let packets = link.bdp_packets();
    let out_of_step = (link.flows > MANY_FLOWS && link.has_different_rtts()).then(|| {
        format!(
            "{} flows of different round-trip times do not halve at once, so the sum of their \
             windows varies less than one window does, and a smaller buffer suffices",
            link.flows
        )
    });
    Advice {
        packets: Some(packets),
        broken: checks::saw_tooth(link, packets)
            .chain(checks::loss(link, packets))
            .chain(out_of_step)
            .chain(keeps_more(link))
            .collect(),
        notes: Vec::new(),
    }
}

/// Returns a sentence if the flows do not halve their windows.
fn keeps_more(link: &Link) -> Option<String> {
    let kept = link.decrease().filter(|kept| *kept > 0.5)?;
    Some(format!(
        "{} keeps {kept} of its window and not half, so a smaller buffer suffices (window_decrease)",
        link.control_words()
    ))
}

/// The rule.
pub const RULE: Rule = Rule {
    name: "bdp",
    title: "bandwidth-delay product",
    equation: "B = C T / 8M",
    source: "Villamizar and Song, High performance TCP in ANSNET, CCR 24(5), 1994",
    assumptions: &[
        "one flow, or flows whose losses are synchronised",
        "Reno: a window is halved by a loss",
        "drop tail; full utilisation is the aim",
    ],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bandwidth_delay_product_of_250_packets_is_250_packets() {
        for (rate_bps, rtt_s) in [(30e6, 0.1), (50e6, 0.06), (10e6, 0.3), (300e6, 0.01)] {
            let advice = advise(&Link::new(rate_bps, vec![rtt_s], 1));
            assert_eq!(advice.whole_packets(), Some(250));
        }
    }
}
