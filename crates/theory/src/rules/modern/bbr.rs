//! The buffer that holds all that BBR may keep in flight.

use crate::link::Link;
use crate::rules::{Advice, Bound, Kind, Rule, Trial};

/// Factor of BBR's window on its estimate of the bandwidth-delay product (`cwnd_gain` of the draft).
const WINDOW_GAIN: f64 = 2.0;

/// B = (2 - 1) C T.
fn advise(link: &Link) -> Advice {
    let shares = link.shares();
    let mut rate_based = shares.iter().map(|(control, _)| control.is_rate_based());
    let has_bbr = rate_based.clone().any(|is_bbr| is_bbr);
    let other = (!rate_based.all(|is_bbr| is_bbr))
        .then(|| "only BBR bounds the data in flight by twice its estimate of the path".to_owned());
    let several = (link.flows > 1 && link.max_loss_rate.is_some()).then(|| {
        "the estimates of several flows add up to more than the rate of the link, so their windows \
         overflow the buffer when all probe, and the rule does not bound loss"
            .to_owned()
    });
    let note = "a single flow never fills this buffer, if it knows rate and base round trip";
    Advice {
        packets: has_bbr.then(|| (WINDOW_GAIN - 1.0) * link.bdp_packets()),
        broken: other.into_iter().chain(several).collect(),
        notes: vec![note.to_owned()],
    }
}

/// The rule.
pub const RULE: Rule = Rule {
    name: "bbr_inflight",
    title: "data in flight of BBR",
    equation: "B = (2 - 1) C T / 8M",
    source: "the window gain of BBR: Cardwell et al., BBR, ACM Queue 14(5), 2016; \
             draft-ietf-ccwg-bbr, section on cwnd_gain",
    assumptions: &[
        "all flows have BBR, and know rate and base round trip",
        "one flow, if loss is bounded; drop tail",
    ],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Modern,
    advise,
};
