//! Buffers from the variance of many windows out of step, for any control and for mixes.

use crate::control::Control;
use crate::format::percent;
use crate::link::Link;
use crate::rules::window::sqrt_n::MIN_FLOWS;
use crate::rules::{Advice, Bound, Kind, Rule, Trial, checks};
use std::f64::consts::{PI, SQRT_2};

/// Remark on flows to whose windows the rules do not apply.
const FOLLOWS_MARKS: &str =
    "windows of Prague and DCTCP follow marks, so their variance depends on the marking queue";

/// Largest utilisation for which the Gaussian bound is inverted; it never reaches 1.
const MAX_UTILIZATION: f64 = 0.9999;

/// Relative change below which an iteration has converged.
const CONVERGED: f64 = 1e-15;

/// B = x C T / (1 - x), with x from the variance of the sum of the windows.
fn advise_variance(link: &Link) -> Advice {
    let Some(deviation) = deviation(link) else {
        return follows_marks();
    };
    let packets = window_packets(link, deviation);
    Advice {
        packets: Some(packets),
        broken: broken(link, packets)
            .chain(checks::bursts(link, packets))
            .collect(),
        notes: vec![note(deviation)],
    }
}

/// The buffer for the windows, plus the packets that single packets of paced senders need.
fn advise_paced(link: &Link) -> Advice {
    let Some(deviation) = deviation(link) else {
        return follows_marks();
    };
    let packets = window_packets(link, deviation) + single_packets(link);
    let bursts = (!link.paces())
        .then(|| "senders do not pace, so their packets arrive in bursts".to_owned());
    Advice {
        packets: Some(packets),
        broken: bursts.into_iter().chain(broken(link, packets)).collect(),
        notes: vec![note(deviation)],
    }
}

fn follows_marks() -> Advice {
    Advice {
        broken: vec![FOLLOWS_MARKS.to_owned()],
        ..Advice::default()
    }
}

/// Returns the buffer in packets that the variance of the windows needs.
///
/// The sum of N windows has the mean C T + B/2, and the deviation s (C T + B)/sqrt(N). The link is idle
/// if the sum is below C T. Its utilisation is at least erf(B/(2 sqrt(2) deviation)).
fn window_packets(link: &Link, deviation: f64) -> f64 {
    let upper = (1.0 - link.min_utilization.min(MAX_UTILIZATION)) / 2.0;
    let part = 2.0 * normal_exceeded_by(upper) * deviation / (link.flows as f64).sqrt();
    // The Gaussian bound exceeds C T for few flows, for which the rule is not derived.
    let bdps = if part < 1.0 {
        (part / (1.0 - part)).min(1.0)
    } else {
        1.0
    };
    bdps * link.bdp_packets()
}

/// Returns the buffer in packets of a queue of single packets that idles for the allowed share.
///
/// Poisson arrivals at the rate of the link leave a buffer of B packets idle for 1/(2 B) of the time
/// (Harrison, Brownian Motion and Stochastic Flow Systems, 1985).
fn single_packets(link: &Link) -> f64 {
    1.0 / (2.0 * (1.0 - link.min_utilization.min(MAX_UTILIZATION)))
}

/// Returns the standard deviation of a window over its mean, for the mix of the controls. None if
/// windows follow marks.
fn deviation(link: &Link) -> Option<f64> {
    let shares = link.shares().into_iter();
    let squares = shares.map(|(control, share)| {
        let each = deviation_of(control)?;
        Some(share * each * each)
    });
    squares.sum::<Option<f64>>().map(f64::sqrt)
}

/// Returns the standard deviation of a window over one cycle, as a share of its mean.
///
/// A line from k to 1 has (1 - k)/(sqrt(3) (1 + k)): 1/(3 sqrt 3) for Reno, as in Appenzeller et al.
/// CUBIC's curve 1 - 0.3 (1 - u)^3 has a mean of 0.925 and a variance of 0.09 (1/7 - 1/16). Scalable
/// TCP grows exponentially from 0.875. BBR has 1.25, 0.75 and six times 1 of its estimate in turn;
/// `BBRv3` probes less often, so its value is an upper bound.
fn deviation_of(control: Control) -> Option<f64> {
    match control {
        Control::Reno | Control::Abe => Some(1.0 / (3.0 * 3.0_f64.sqrt())),
        Control::Scalable => Some(0.0385),
        Control::Cubic => Some(0.0919),
        Control::Bbr | Control::Bbr3 => Some(0.125),
        Control::Prague | Control::Dctcp => None,
    }
}

/// Returns the number of standard deviations that a normal variable exceeds with a probability of at
/// most a half.
///
/// Newton's method rises to it from 0, because the distribution function is concave there.
fn normal_exceeded_by(probability: f64) -> f64 {
    let mut deviations = 0.0;
    loop {
        let density = libm::exp(-deviations * deviations / 2.0) / (2.0 * PI).sqrt();
        let step = (libm::erfc(deviations / SQRT_2) / 2.0 - probability) / density;
        deviations += step;
        if step <= CONVERGED * deviations {
            return deviations;
        }
    }
}

fn broken(link: &Link, packets: f64) -> impl Iterator<Item = String> + use<> {
    let saw_tooth = link.no_saw_tooth().is_none();
    let few_packets = saw_tooth
        .then(|| checks::few_in_flight(link, packets))
        .flatten();
    let broken = [
        checks::few_flows(link, MIN_FLOWS),
        checks::equal_rtts(link),
        few_packets,
        checks::loss(link, packets),
    ];
    broken.into_iter().flatten()
}

fn note(deviation: f64) -> String {
    format!(
        "a window deviates from its mean by {} (standard deviation over a cycle)",
        percent(deviation, 1)
    )
}

/// Publications of both rules.
macro_rules! source {
    ($more:literal) => {
        concat!(
            "the Gaussian bound of Appenzeller et al. 2004 with the variance of each control's window; ",
            "Spang, Arslan and McKeown, Updating the theory of buffer sizing, 2021, show that the square ",
            "root of N holds for CUBIC and BBR; the constant is our derivation",
            $more
        )
    };
}

/// The rule for windows alone.
pub const RULE_VARIANCE: Rule = Rule {
    name: "window_variance",
    title: "variance of the windows",
    equation: "B = x/(1 - x) C T / 8M, x = 2 sqrt(2) erfinv(u) s / sqrt(N)",
    source: source!(""),
    assumptions: &[
        "many long flows, out of step with one another and with equal shares",
        "utilisation u is the only aim; s is the deviation of a window over its mean",
        "packets paced, or bursts small beside the buffer; drop tail",
    ],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Modern,
    advise: advise_variance,
};

/// The rule for paced senders.
pub const RULE_PACED: Rule = Rule {
    name: "paced_flows",
    title: "variance of the windows and single packets",
    equation: "B = x/(1 - x) C T / 8M + 1/(2 (1 - u))",
    source: source!(
        "; single packets after Harrison, Brownian Motion and Stochastic Flow Systems, 1985"
    ),
    assumptions: &[
        "all senders pace, so that packets arrive singly",
        "many long flows, out of step with one another and with equal shares; drop tail",
    ],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Modern,
    advise: advise_paced,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::window::sqrt_n::bound_argument;

    fn near(found: f64, expected: f64, error: f64) {
        assert!(
            (found - expected).abs() <= error,
            "{found} is not {expected}"
        );
    }

    /// Quantiles of Abramowitz and Stegun, table 26.5.
    #[test]
    fn quantiles_of_the_normal_distribution_are_those_of_the_tables() {
        for (tail, quantile) in [
            (0.5, 0.0),
            (0.1, 1.281_551_565_5),
            (0.01, 2.326_347_874_0),
            (0.001, 3.090_232_306_2),
        ] {
            near(normal_exceeded_by(tail), quantile, 1e-9);
        }
    }

    /// erf((3 sqrt 3 / 2 sqrt 2) B sqrt(N) / (C T + B)) is the utilisation of Appenzeller et al.
    #[test]
    fn windows_of_reno_need_the_buffer_of_appenzellers_bound() {
        let mut link = Link::new(1e8, vec![0.02, 0.06], 400);
        link.congestion_control = Control::Reno;
        let packets = window_packets(&link, deviation(&link).unwrap());
        near(libm::erf(bound_argument(&link, packets)), 0.98, 1e-9);
    }

    /// Window at a place of its cycle.
    type Cycle = fn(f64) -> f64;

    #[test]
    fn deviations_are_those_of_the_windows_over_a_cycle() {
        let cycles: [(Control, Cycle); 4] = [
            (Control::Reno, |u| 0.5 + 0.5 * u),
            (Control::Cubic, |u| {
                1.0 - 0.3 * (1.0 - u) * (1.0 - u) * (1.0 - u)
            }),
            (Control::Scalable, |u| libm::pow(0.875, 1.0 - u)),
            (Control::Bbr, |u| {
                if u < 0.125 {
                    1.25
                } else if u < 0.25 {
                    0.75
                } else {
                    1.0
                }
            }),
        ];
        for (control, window) in cycles {
            let windows: Vec<f64> = (0..10_000)
                .map(|step| window((f64::from(step) + 0.5) / 1e4))
                .collect();
            let mean = windows.iter().sum::<f64>() / 1e4;
            let square = windows
                .iter()
                .map(|one| (one - mean) * (one - mean))
                .sum::<f64>()
                / 1e4;
            near(
                square.sqrt() / mean / deviation_of(control).unwrap(),
                1.0,
                2e-3,
            );
        }
    }

    #[test]
    fn a_mix_varies_as_its_parts_together() {
        let mut link = Link::new(1e8, vec![0.02, 0.06], 64);
        link.controls = vec![(Control::Cubic, 0.5), (Control::Bbr, 0.5)];
        let expected = (0.5 * 0.0919 * 0.0919 + 0.5 * 0.125 * 0.125_f64).sqrt();
        near(deviation(&link).unwrap(), expected, 1e-12);
    }
}
