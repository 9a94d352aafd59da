//! Published rules for buffer sizes.

#![expect(
    clippy::needless_pass_by_value,
    reason = "Python hands over links and buffers of its own"
)]

use crate::theory::link::PyLink;
use goodqueue_theory::rules::loss::bscl;
use goodqueue_theory::rules::{self, Bound, Kind, Trial, configured};
use goodqueue_theory::{RULES, Rule};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

/// Words of a rule, as a dictionary.
#[derive(IntoPyObject)]
pub struct RuleWords {
    name: &'static str,
    title: &'static str,
    equation: &'static str,
    source: &'static str,
    assumptions: &'static [&'static str],
    kind: &'static str,
    bound: &'static str,
    trial: &'static str,
}

impl From<&Rule> for RuleWords {
    fn from(rule: &Rule) -> Self {
        Self {
            name: rule.name,
            title: rule.title,
            equation: rule.equation,
            source: rule.source,
            assumptions: rule.assumptions,
            kind: match rule.kind {
                Kind::Rule => "rule",
                Kind::Claim => "claim",
            },
            bound: match rule.bound {
                Bound::AtLeast => "at least",
                Bound::AtMost => "at most",
            },
            trial: match rule.trial {
                Trial::Classic => "classic",
                Trial::Modern => "modern",
            },
        }
    }
}

/// Returns the published rules.
#[pyfunction]
pub fn published_rules() -> Vec<RuleWords> {
    RULES.iter().map(RuleWords::from).collect()
}

/// Returns the rule that repeats the buffer of the device today.
#[pyfunction]
pub fn device_rule() -> RuleWords {
    RuleWords::from(&configured::RULE)
}

/// Returns a rule's buffer for a link, the assumptions that it breaks, and remarks.
#[pyfunction]
pub fn advise(rule: &str, link: PyLink) -> PyResult<(Option<f64>, Vec<String>, Vec<String>)> {
    let mut known = RULES.iter().chain([&configured::RULE]);
    let Some(found) = known.find(|one| one.name == rule) else {
        return Err(PyKeyError::new_err(rule.to_owned()));
    };
    let advice = (found.advise)(&link.0);
    Ok((advice.packets, advice.broken, advice.notes))
}

/// Returns a buffer rounded down to whole packets, but at least one.
#[pyfunction]
pub fn whole_packets(packets: f64) -> u64 {
    rules::whole_packets(packets)
}

/// Returns the loss of the flows of a link that fill it and its buffer, at most 1.
#[pyfunction]
pub fn loss_rate(link: PyLink, packets: f64) -> f64 {
    rules::loss_rate(&link.0, packets)
}

/// Parts of the answer of BSCL.
#[pyclass(frozen, get_all, module = "goodqueue._core")]
pub struct Bscl {
    for_utilization: f64,
    for_loss: Option<f64>,
    packets: f64,
    most_for_delay: Option<f64>,
    feasible: bool,
}

/// Returns the buffer of a congested link by BSCL.
#[pyfunction(name = "bscl")]
#[pyo3(signature = (link, burst_packets = None))]
pub fn bscl_of(link: PyLink, burst_packets: Option<f64>) -> Bscl {
    let found = bscl::bscl(&link.0, burst_packets);
    Bscl {
        for_utilization: found.for_utilization,
        for_loss: found.for_loss,
        packets: found.packets,
        most_for_delay: found.most_for_delay,
        feasible: found.is_feasible(),
    }
}

/// Returns the buffer of BSCL for utilisation if every flow loses in every burst.
#[pyfunction]
pub fn bscl_globally_synchronized(link: PyLink) -> f64 {
    bscl::globally_synchronized(&link.0)
}

/// Returns the buffer of BSCL for utilisation if a burst of this number of packets hits some flows.
#[pyfunction]
pub fn bscl_partially_synchronized(link: PyLink, burst_packets: f64) -> f64 {
    bscl::partially_synchronized(&link.0, burst_packets)
}

/// Returns the buffer of BSCL for a loss rate.
#[pyfunction]
pub fn bscl_for_loss(link: PyLink, loss_rate: f64) -> f64 {
    bscl::for_loss(&link.0, loss_rate)
}
