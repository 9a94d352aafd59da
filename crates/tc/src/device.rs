//! The queue of a device: of Linux as `tc qdisc show` prints it, or of a switch.

use super::entry::{Counters, read_text};
use super::foreign::seems;
use super::json::{check_length, documents, entries, is_json};
use super::read::{Read, read_queue};
use super::refuse;
use super::sonic::{is_configuration, read_queue_of};
use super::tree::Group;
use goodqueue_queue::{Configuration, Limit, QueueConfig, TbfConfig};
use goodqueue_types::message::UnitError;
use serde_json::Value;

/// Remedy for a text that describes no device.
const HELP: &str = "give the output of `tc -s -j qdisc show dev DEV`, or config_db.json of SONiC with \
                    the tables BUFFER_POOL, BUFFER_PROFILE and BUFFER_QUEUE";

/// The queue of a device, and its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceQueue {
    /// Name of the device, or of the switch's queue; empty if the text has none.
    pub name: String,
    /// Kind of the qdisc in which packets wait, or the profile of a switch's queue.
    pub kind: String,
    /// Limit of the queue, or the reason why it is unknown.
    pub limit: Result<Limit, String>,
    /// True if it drops only at its limit.
    pub is_fifo: bool,
    /// Counters of the queue, if the text has any.
    pub counters: Option<Counters>,
    /// Sentences about what was assumed or left out.
    pub notes: Vec<String>,
}

/// Reads the queue of a device from `tc -s qdisc show`, with or without `-j`, or from
/// `config_db.json` of `SONiC`.
///
/// The name is that of the device (`eth0`), of a class (`1:10`), of both (`eth0/1:10`), or of a
/// switch's queue (`Ethernet0|3`). It may be left out for the only device.
///
/// # Errors
/// Returns the part that is neither of the two, or the names to choose from.
pub fn read_device(text: &str, name: Option<&str>) -> Result<DeviceQueue, UnitError> {
    let text = text.trim_start_matches('\u{feff}');
    check_length(text)?;
    if !is_json(text) {
        let entries = read_text(text).or_else(|error| refuse(error.message, HELP))?;
        return device(&entries, name);
    }
    let documents = documents(text).or_else(|error| refuse(error.message, HELP))?;
    match &documents[..] {
        [Value::Object(table)] if is_configuration(table) => {
            let queue = read_queue_of(table, name)?;
            Ok(DeviceQueue {
                name: queue.name,
                kind: format!("profile {}", queue.profile),
                limit: Ok(Limit::Bytes(queue.bytes)),
                is_fifo: true,
                counters: None,
                notes: queue.notes,
            })
        }
        [other @ Value::Object(table)] if !table.contains_key("kind") => {
            refuse(format!("the JSON is {}, no device", seems(other)), HELP)
        }
        _ => {
            let entries = entries(&documents).or_else(|error| refuse(error.message, HELP))?;
            device(&entries, name)
        }
    }
}

/// Returns the queue of a device of `tc`.
fn device(entries: &[super::entry::Entry], name: Option<&str>) -> Read<DeviceQueue> {
    let (device, class) = match name {
        Some(name) => match name.split_once('/') {
            Some((device, class)) => (Some(device), Some(class)),
            None if name.contains(':') => (None, Some(name)),
            None => (Some(name), None),
        },
        None => (None, None),
    };
    let group = Group::find(entries, device)?;
    let mut notes = Vec::new();
    let top = match class {
        Some(class) => group.class(class)?,
        None => group.root()?,
    };
    let leaf = group.leaf(top, &mut notes)?;
    let (limit, is_fifo) = match read_queue(leaf, &[], &mut notes) {
        Ok(queue) => limit_of(&queue),
        Err(error) => (Err(error.message), false),
    };
    Ok(DeviceQueue {
        name: leaf.device.clone(),
        kind: leaf.kind.clone(),
        limit,
        is_fifo,
        counters: leaf.counters,
        notes,
    })
}

/// Returns the limit of a queue, and true if it drops only there. A shaper has the limit of the FIFO
/// behind it.
fn limit_of(queue: &QueueConfig) -> (Result<Limit, String>, bool) {
    match queue {
        QueueConfig::Tbf(TbfConfig { inner, .. }) => limit_of(&inner.0),
        QueueConfig::Prio(_) => {
            let reason =
                "the limits of its bands are not shown (`tc qdisc show dev DEV invisible`)";
            (Err(reason.to_owned()), false)
        }
        _ => {
            let is_fifo = matches!(queue, QueueConfig::DropTail(_) | QueueConfig::HeadDrop(_));
            match queue.limit() {
                Limit::Unlimited => (Err("it has no limit".to_owned()), is_fifo),
                limit => (Ok(limit), is_fifo),
            }
        }
    }
}
