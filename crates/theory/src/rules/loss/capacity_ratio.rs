//! Ratio of output to input capacity: the best buffer depends on how loss falls with it.

use crate::link::Link;
use crate::rules::{Advice, Bound, Kind, Rule, Trial};

/// Assumed b of p ~ B^-b if none was measured; the paper's fits lie between 0.3 and 1.
const TYPICAL_EXPONENT: f64 = 0.5;

/// Gamma < 1: B = b/(2 - b) C T, with a loss of p ~ B^-b; Gamma >= 1: nearly nothing.
fn advise(link: &Link) -> Advice {
    if link
        .input_rate_bps
        .is_some_and(|inputs| link.rate_bps >= inputs)
    {
        let note = "the inputs cannot exceed the output: loss falls exponentially with B";
        return Advice {
            packets: Some(1.0),
            broken: Vec::new(),
            notes: vec![note.to_owned()],
        };
    }
    let unknown = link
        .input_rate_bps
        .is_none()
        .then(|| "the capacity of the inputs is not known (--input-rate)".to_owned());
    let small = (link.window_packets() < 2.0).then(|| {
        "flows are too small for congestion avoidance; slow-start flows need much less".to_owned()
    });
    let note =
        format!("b = {TYPICAL_EXPONENT} assumed: between 0.18 C T (b = 0.3) and 1 C T (b = 1)");
    Advice {
        packets: Some(best_bdps(TYPICAL_EXPONENT) * link.bdp_packets()),
        broken: unknown.into_iter().chain(small).collect(),
        notes: vec![note],
    }
}

/// Returns b/(2 - b), the bandwidth-delay products that maximise 1/((T + B/C) sqrt(p)) for p ~ B^-b.
fn best_bdps(exponent: f64) -> f64 {
    exponent / (2.0 - exponent)
}

/// The rule.
pub const RULE: Rule = Rule {
    name: "capacity_ratio",
    title: "output over input capacity",
    equation: "B = b/(2 - b) C T / 8M where loss ~ B^-b",
    source: "Prasad, Dovrolis and Thottan, Router buffer sizing revisited, CoNEXT 2007",
    assumptions: &[
        "throughput per flow is the aim: flows follow the square-root law",
        "loss falls as a power of the buffer: inputs exceed the output",
    ],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise,
};

#[cfg(test)]
mod tests {
    use super::best_bdps;

    #[test]
    fn exponents_of_loss_give_the_published_buffers() {
        for (exponent, share) in [(0.3, 0.18), (0.5, 0.33), (1.0, 1.0)] {
            assert!((best_bdps(exponent) - share).abs() < 0.005);
        }
    }
}
