//! Contents of scenario files and names for the page.

use crate::bounds::Bounds;
use crate::experiment::{Setting, View};
use crate::refusal::LabError;
use goodqueue_scenario::{Scenario, buffer_json};
use serde_json::{Value, json};

/// Name of the link that a page's controls change.
const BOTTLENECK: &str = "bottleneck";

/// Returns the queue disciplines that need at most a limit, the congestion controls, and the bounds
/// on runs.
pub fn words() -> Value {
    let schema: Value = serde_json::from_str(&goodqueue_scenario::schema()).expect("valid JSON");
    let definitions = &schema["$defs"];
    let choices = definitions["bottleneck"]["properties"]["queue"]["oneOf"].as_array();
    let queues = choices.into_iter().flatten().filter_map(|choice| {
        let reference = choice["allOf"][0]["$ref"].as_str()?;
        let keys = &definitions[reference.rsplit('/').next()?];
        let required = keys["required"].as_array().into_iter().flatten();
        let simple = keys["properties"].get("limit").is_some() && { required }
            .all(|key| key == "kind" || key == "limit");
        simple.then(|| choice["allOf"][1]["properties"]["kind"]["const"].clone())
    });
    let bounds = Bounds::default();
    json!({
        "queues": queues.collect::<Vec<_>>(),
        "controls": definitions["tcp"]["properties"]["congestion_control"]["anyOf"][0]["enum"],
        "profiles": definitions["tcp"]["properties"]["profile"]["enum"],
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
