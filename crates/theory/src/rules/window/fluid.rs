//! Stability of the fluid model: the largest stable drop-tail queue.

use crate::control::Control;
use crate::format::{general, percent};
use crate::link::Link;
use crate::rules::{Advice, Bound, Kind, Rule, Trial};

/// Largest drop-tail buffer in packets whose stability is tested.
const LARGEST_SEARCHED: u64 = 100_000;

/// Number of flows below which a fluid model does not apply.
const MIN_FLOWS: u64 = 100;

/// Reno flows at a drop-tail queue of B packets whose loss is rho^B.
struct Equilibrium {
    /// Throughput over capacity, rho.
    load: f64,
    /// Loss rate p.
    loss_rate: f64,
    /// Packets in flight per flow, w with w^2 p = 2.
    window: f64,
}

/// Returns the equilibrium `rho w_c` = sqrt(2 / rho^B): rho = (2 / `w_c`^2)^(1/(B + 2)), at most 1, from
/// the window `w_c` = C T / N and the buffer B in packets.
fn equilibrium(window_at_capacity: f64, packets: f64) -> Equilibrium {
    let square = window_at_capacity * window_at_capacity;
    let load = libm::pow(2.0 / square, 1.0 / (packets + 2.0)).min(1.0);
    Equilibrium {
        load,
        loss_rate: libm::pow(load, packets),
        window: load * window_at_capacity,
    }
}

/// Returns true if T u' = -a u(t) - b u(t - T) decays, with a = p w and b = B / w.
///
/// It decays for b <= a, and for larger b if sqrt(b^2 - a^2) < arccos(-a/b); roughly B < (pi/2) w.
fn is_stable(window_at_capacity: f64, packets: f64) -> bool {
    let at = equilibrium(window_at_capacity, packets);
    let (a, b) = (at.loss_rate * at.window, packets / at.window);
    b <= a || (b * b - a * a).sqrt() < libm::acos(-a / b)
}

/// Returns the largest stable drop-tail buffer in packets.
fn largest_stable(window_at_capacity: f64) -> u64 {
    let (mut low, mut high) = (0, LARGEST_SEARCHED);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if is_stable(window_at_capacity, middle as f64) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The advice is at most the largest stable drop-tail buffer, about (pi/2) w packets.
fn advise(link: &Link) -> Advice {
    let window = link.window_packets();
    if window <= 2.0_f64.sqrt() {
        let few = format!(
            "{} packets per flow: the model needs more than 1.4",
            general(window, 2)
        );
        return Advice {
            broken: vec![few],
            ..Advice::default()
        };
    }
    let packets = largest_stable(window) as f64;
    let at = equilibrium(window, packets);
    let few = (link.flows < MIN_FLOWS).then(|| {
        format!(
            "the number of flows ({}) is too small for a fluid model",
            link.flows
        )
    });
    let idle = (at.load < link.min_utilization).then(|| {
        format!(
            "the model's load there is {}, below the requested utilisation",
            percent(at.load, 1)
        )
    });
    let other = (link.congestion_control != Control::Reno).then(|| "derived for Reno".to_owned());
    Advice {
        packets: Some(packets),
        broken: few.into_iter().chain(idle).chain(other).collect(),
        notes: vec![format!(
            "larger drop-tail buffers oscillate; loss there {}",
            percent(at.loss_rate, 2)
        )],
    }
}

/// The rule.
pub const RULE: Rule = Rule {
    name: "fluid_stability",
    title: "stable small buffer (fluid model)",
    equation: "sqrt(b^2 - a^2) < arccos(-a/b), a = p w, b = B/w",
    source: "after Raina and Wischik, Buffer sizes for large multiplexers, NGI 2005; the condition \
             for p = rho^B is our derivation",
    assumptions: &[
        "very many Reno flows of one round-trip time",
        "a loss of rho^B (small queue)",
    ],
    kind: Kind::Rule,
    bound: Bound::AtMost,
    trial: Trial::Classic,
    advise,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_has_its_equilibrium_and_its_stability_bound() {
        let at = equilibrium(20.0, 20.0);
        assert!((at.load - 0.786).abs() < 5e-4);
        assert!((at.loss_rate - 0.0080).abs() < 1e-4);
        assert!((at.window - 15.7).abs() < 0.05);
        for (window, packets, stable) in [
            (20.0, 20.0, true),
            (20.0, 30.0, false),
            (10.0, 10.0, true),
            (10.0, 20.0, false),
            (50.0, 50.0, true),
            (50.0, 100.0, false),
        ] {
            assert_eq!(is_stable(window, packets), stable, "{window}, {packets}");
        }
    }
}
