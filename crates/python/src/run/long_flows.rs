//! Long flows as dictionaries.

use goodqueue_scenario::LongFlow;
use goodqueue_types::Span;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;

/// Returns a dictionary for each flow. Equal flows of a group share one, because a million flows may
/// cross a link.
pub fn dictionaries<'py>(
    py: Python<'py>,
    flows: &[LongFlow<'_>],
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mut known: HashMap<(usize, Span), Bound<'py, PyDict>> = HashMap::new();
    let mut facts_of = |flow: &LongFlow<'_>| {
        let key = (flow.group, flow.base_rtt);
        if let Some(facts) = known.get(&key) {
            return Ok(facts.clone());
        }
        let facts = PyDict::new(py);
        facts.set_item("name", flow.name)?;
        facts.set_item("group", flow.group)?;
        facts.set_item("group_count", flow.group_count)?;
        facts.set_item("base_rtt_s", flow.base_rtt.as_secs_f64())?;
        facts.set_item("congestion_control", flow.congestion_control)?;
        facts.set_item("byte_counting", flow.byte_counting)?;
        facts.set_item("paced", flow.paced)?;
        facts.set_item("receive_window_bytes", flow.receive_window)?;
        known.insert(key, facts.clone());
        Ok(facts)
    };
    flows.iter().map(&mut facts_of).collect()
}
