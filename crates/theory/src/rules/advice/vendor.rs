//! Recommendations of vendors and operators, in milliseconds of the link's rate.

use crate::format::general;
use crate::link::Link;
use crate::rules::window::bdp::MANY_FLOWS;
use crate::rules::{Advice, Bound, Kind, Rule, Trial};

/// A fixed time of the link's rate, in seconds.
fn advise(link: &Link, seconds: f64) -> Advice {
    let time = general(seconds * 1e3, 6);
    let long = link
        .max_delay_s
        .is_some_and(|most| seconds > most)
        .then(|| format!("a full buffer delays by {time} ms, above the bound"));
    let out_of_step = (link.flows > MANY_FLOWS && link.has_different_rtts()).then(|| {
        format!(
            "{} flows of different round-trip times are not in step",
            link.flows
        )
    });
    let unused = (seconds > 2.0 * link.longest_rtt_s()).then(|| {
        format!(
            "no flow here has a round trip near {time} ms; the rest of this buffer only adds delay"
        )
    });
    Advice {
        packets: Some(seconds / link.packet_time_s()),
        broken: [long, out_of_step, unused].into_iter().flatten().collect(),
        notes: Vec::new(),
    }
}

/// The rule for a quarter of a second.
pub const RULE_250: Rule = Rule {
    name: "vendor_250ms",
    title: "250 ms of the rate",
    equation: "B = C x 250 ms / 8M",
    source: "the usual reading of Villamizar and Song for the Internet's round trips; quoted by \
             Appenzeller et al. as the rule of thumb of the day",
    assumptions: &["round trips of about 250 ms, in step"],
    kind: Kind::Claim,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise: |link| advise(link, 0.25),
};

/// The rule for half a second.
pub const RULE_500: Rule = Rule {
    name: "vendor_500ms",
    title: "500 ms of the rate",
    equation: "B = C x 500 ms / 8M",
    source: "defaults of router vendors, quoted by Dhamdhere, Jiang and Dovrolis, INFOCOM 2005",
    assumptions: &["round trips of about 500 ms, in step"],
    kind: Kind::Claim,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise: |link| advise(link, 0.5),
};
