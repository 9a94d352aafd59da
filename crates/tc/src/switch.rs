//! A whole switch under `SONiC`: its ports, and the memory that one class of them shares.

use super::json::{check_length, documents};
use super::read::Read;
use super::refuse;
use super::sonic::{SwitchQueue, is_configuration, read_queue_of};
use goodqueue_types::message::{UnitError, shorten};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Remedy for a file that describes no switch.
const HELP: &str = "give config_db.json with the tables PORT, BUFFER_POOL, BUFFER_PROFILE and \
                    BUFFER_QUEUE";

/// Rates of a port in Mb/s.
const SPEEDS: std::ops::RangeInclusive<u64> = 10..=10_000_000;

/// Most ports of a switch.
const MAX_PORTS: u64 = 1_000;

/// The ports of a switch, and the buffer of one of their queues.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Numbers of ports by their rates in bit/s, the most frequent rate first.
    pub ports: Vec<(u64, u64)>,
    /// Buffer of the queue.
    pub queue: SwitchQueue,
}

/// Reads the ports of `config_db.json` and the buffer of one queue, as `Ethernet0|3`. Without a
/// queue the first one with a dynamic threshold is taken.
///
/// # Errors
/// Returns the table, the entry and the field that is missing or out of bounds.
pub fn read_switch(text: &str, queue: Option<&str>) -> Result<Switch, UnitError> {
    let text = text.trim_start_matches('\u{feff}');
    check_length(text)?;
    let documents = documents(text).or_else(|error| refuse(error.message, HELP))?;
    let [Value::Object(config)] = &documents[..] else {
        return refuse("the JSON is no configuration of SONiC", HELP);
    };
    if !is_configuration(config) {
        return refuse("the JSON has no table of buffers of SONiC", HELP);
    }
    Ok(Switch {
        ports: ports(config)?,
        queue: queue_of(config, queue)?,
    })
}

/// Returns the numbers of ports by their rates.
fn ports(config: &Map<String, Value>) -> Read<Vec<(u64, u64)>> {
    let Some(table) = config.get("PORT").and_then(Value::as_object) else {
        return refuse("there is no table PORT", HELP);
    };
    let mut counts = BTreeMap::new();
    for (name, fields) in table {
        let text = fields.get("speed").and_then(Value::as_str).unwrap_or("");
        let speed = text.parse().ok().filter(|speed| SPEEDS.contains(speed));
        let Some(speed) = speed else {
            return refuse(
                format!(
                    "PORT \"{}\": speed \"{}\" is no rate in Mb/s",
                    shorten(name),
                    shorten(text)
                ),
                "SONiC writes a number from 10 to 10000000, as in \"100000\"",
            );
        };
        *counts.entry(speed * 1_000_000).or_insert(0) += 1;
    }
    let mut ports: Vec<(u64, u64)> = counts.into_iter().map(|(rate, n)| (n, rate)).collect();
    ports.sort_by_key(|&(count, rate)| (std::cmp::Reverse(count), rate));
    let all: u64 = ports.iter().map(|(count, _)| count).sum();
    if !(2..=MAX_PORTS).contains(&all) {
        return refuse(
            format!("PORT has {all} ports"),
            format!("a switch has 2 to {MAX_PORTS} ports here"),
        );
    }
    Ok(ports)
}

/// Returns the buffer of a queue with a dynamic threshold.
fn queue_of(config: &Map<String, Value>, queue: Option<&str>) -> Read<SwitchQueue> {
    if let Some(name) = queue {
        let found = read_queue_of(config, Some(name))?;
        if found.alpha.is_none() {
            return refuse(
                format!(
                    "queue \"{}\" has the static threshold of profile {}",
                    shorten(name),
                    shorten(&found.profile)
                ),
                "name a queue whose profile has dynamic_th",
            );
        }
        return Ok(found);
    }
    let queues = config.get("BUFFER_QUEUE").and_then(Value::as_object);
    let mut names = queues.into_iter().flatten().map(|(name, _)| name);
    let dynamic = names.find_map(|name| {
        let read = read_queue_of(config, Some(name)).ok();
        read.filter(|one| one.alpha.is_some())
    });
    match dynamic {
        Some(found) => Ok(found),
        // The message of the first queue says what is wrong.
        None => match read_queue_of(config, None) {
            Err(error) if queues.is_none_or(Map::is_empty) => refuse(error.message, HELP),
            _ => refuse(
                "no queue of BUFFER_QUEUE has a readable dynamic threshold",
                HELP,
            ),
        },
    }
}
