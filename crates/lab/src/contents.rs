//! Contents of scenario files and names for the page.

use crate::bounds::Bounds;
use crate::experiment::{Setting, View};
use crate::refusal::LabError;
use goodqueue_queue::QueueConfig;
use goodqueue_scenario::{Scenario, buffer_json};
use goodqueue_tcp::{CongestionControlConfig, Profile};
use goodqueue_types::parameters::{REQUIRED, Spec, Words};
use serde_json::{Value, json};

/// Name of the link that a page's controls change.
const BOTTLENECK: &str = "bottleneck";

/// Returns the queue disciplines that need at most a limit, the congestion controls, and the bounds
/// on runs.
pub fn words() -> Value {
    let simple = |spec: &Spec| {
        let mut required = spec.keys.iter().filter(|key| key.default == REQUIRED);
        spec.keys.iter().any(|key| key.name == "limit")
            && required.all(|key| key.name == "kind" || key.name == "limit")
    };
    let queues = QueueConfig::VARIANTS.iter();
    let queues = queues.filter_map(|(word, spec)| simple(spec).then_some(*word));
    let bounds = Bounds::default();
    json!({
        "queues": queues.collect::<Vec<_>>(),
        "controls": CongestionControlConfig::NAMES,
        "profiles": Profile::WORDS,
        "bounds": {
            "packets": bounds.packets,
            "flows": bounds.flows,
            "memory_bytes": bounds.memory,
            "columns": View::MAX_COLUMNS,
            "series_flows": View::MAX_FLOWS,
        },
    })
}

/// Returns the contents of a scenario file, and the key of each control that can change it.
pub fn contents(setting: &Setting) -> Result<Value, LabError> {
    let scenario = setting.scenario()?;
    let buffers: Vec<Value> = scenario.buffers().iter().map(buffer_json).collect();
    Ok(json!({
        "title": scenario.title(),
        "description": scenario.description(),
        "duration_s": scenario.duration().as_secs_f64(),
        "warmup_s": scenario.warmup().as_secs_f64(),
        "seed": scenario.seed(),
        "links": scenario.link_names(),
        "buffers": buffers,
        "flows": scenario.flow_count(),
        "too_large": Bounds::default().check(&scenario).err(),
        "controls": controls(setting, &scenario),
        "resolved": scenario.resolved_toml(),
    }))
}

/// Returns the controls of the page that can change a scenario: the key that each replaces and its
/// value, if the file has such a key. `overrides` of a question take these keys.
fn controls(setting: &Setting, scenario: &Scenario) -> Value {
    let long = scenario.long_flows(BOTTLENECK).unwrap_or_default();
    let mut found = json!({});
    let mut add = |name: &str, key: String, value: Value| {
        let mut changed = setting.clone();
        let text = value.as_str().map_or(value.to_string(), str::to_owned);
        changed.overrides.push((key.clone(), text));
        // A key that the file's other keys exclude is no control.
        if changed.scenario().is_ok() {
            found[name] = json!({"key": key, "value": value});
        }
    };
    if let Ok(buffer) = scenario.buffer(BOTTLENECK) {
        if let Some(rate) = buffer.rate {
            let rate = goodqueue_scenario::format_rate(rate);
            add("rate", format!("topology.{BOTTLENECK}.rate"), rate.into());
        }
        if let Some(bytes) = buffer.bytes {
            let limit = buffer
                .packets
                .map_or(format!("{bytes}B"), |packets| format!("{packets}p"));
            let key = format!("topology.{BOTTLENECK}.queue.limit");
            add("buffer", key, limit.into());
        }
    }
    let mut groups: Vec<usize> = long.iter().map(|flow| flow.group).collect();
    groups.dedup();
    if let ([group], Some(flow)) = (groups.as_slice(), long.first()) {
        add(
            "flows",
            format!("flow.{group}.count"),
            flow.group_count.into(),
        );
        let control = flow.congestion_control;
        let key = format!("flow.{group}.tcp.congestion_control");
        add("control", key, control.into());
        let rtt = goodqueue_scenario::format_span(flow.base_rtt);
        if long.iter().all(|other| other.base_rtt == flow.base_rtt) {
            add("rtt", format!("flow.{group}.rtt"), rtt.into());
        }
    }
    found
}

/// Returns the commands of `tc` for the queue of a link. For a queue that Linux does not have there
/// are none, and the reason.
pub fn tc(setting: &Setting, link: &str) -> Result<Value, LabError> {
    let scenario = setting.scenario()?;
    scenario.buffer(link)?;
    let (commands, reason) = match scenario.qdisc_commands(link, true) {
        Ok(commands) => (commands, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    Ok(json!({ "commands": commands, "reason": reason }))
}
