//! Buffer for a sender's decrease factor beta: (1/beta - 1) bandwidth-delay products.

use crate::control::Control;
use crate::link::Link;
use crate::rules::window::bdp::MANY_FLOWS;
use crate::rules::{Advice, Bound, Kind, Rule, Trial, checks};

/// Factor on its estimated rate at which BBR sends for one round trip in eight, before it drains.
const BBR_PROBE_GAIN: f64 = 1.25;

/// (1/beta - 1) C T; for BBR the queue of its probing. A mix needs the most of its controls.
fn advise(link: &Link) -> Advice {
    let shares = link.shares();
    let most = shares.iter().map(|(control, _)| needed_bdps(*control));
    let packets = most.fold(0.0, f64::max) * link.bdp_packets();
    let few = link
        .decrease()
        .and_then(|_| checks::few_in_flight(link, packets));
    let out_of_step = (link.flows > MANY_FLOWS && link.has_different_rtts()).then(|| {
        format!(
            "{} flows of different round-trip times are out of step, so a smaller buffer suffices",
            link.flows
        )
    });
    let follows_marks = shares.iter().find(|(control, _)| control.needs_marks());
    let follows_marks = follows_marks.map(|(control, _)| {
        format!(
            "{} reduces its window in proportion to marks, by no fixed share",
            control.title()
        )
    });
    let probes = shares.iter().any(|(control, _)| control.is_rate_based());
    let notes = probes.then(|| {
        "BBR needs a buffer of (1.25 - 1) C T for its probe; several BBR flows keep a queue of up to \
         one C T"
            .to_owned()
    });
    Advice {
        packets: Some(packets),
        broken: few
            .into_iter()
            .chain(checks::loss(link, packets))
            .chain(out_of_step)
            .chain(follows_marks)
            .collect(),
        notes: notes.into_iter().collect(),
    }
}

/// Returns the bandwidth-delay products that one flow of a control needs. Prague and DCTCP halve their
/// windows after a loss, as Reno does.
fn needed_bdps(control: Control) -> f64 {
    if control.is_rate_based() {
        return BBR_PROBE_GAIN - 1.0;
    }
    1.0 / control.decrease().unwrap_or(0.5) - 1.0
}

/// The rule.
pub const RULE: Rule = Rule {
    name: "window_decrease",
    title: "window decrease",
    equation: "B = (1/beta - 1) C T / 8M",
    source: "the argument of Villamizar and Song with another decrease; RFC 9438 (CUBIC, 0.7), \
             Scalable TCP (0.875); Spang, Arslan and McKeown, Updating the theory of buffer sizing, \
             2021",
    assumptions: &[
        "one flow, or flows in step",
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
    fn each_control_needs_the_buffer_of_its_window_decrease() {
        let mut link = Link::new(1e8, vec![0.08], 1);
        let cases = [
            (Control::Reno, 666.7),
            (Control::Cubic, 285.7),
            (Control::Abe, 666.7),
            (Control::Bbr, 166.7),
        ];
        for (control, packets) in cases {
            link.congestion_control = control;
            assert!((advise(&link).packets.unwrap() - packets).abs() < 0.06);
        }
        assert!((needed_bdps(Control::Scalable) - 0.1429).abs() < 5e-5);
    }
}
