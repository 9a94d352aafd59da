//! Output of `tc -j qdisc show`, with or without `-s`, as the qdiscs of `tc qdisc show`.
//!
//! In JSON times are whole microseconds, rates bytes per second and sizes bytes. Values without a unit
//! mean the same in a line, except rates. A flag is true, or null.

use super::entry::{Counters, Entry};
use super::foreign::seems;
use super::read::Read;
use super::refuse;
use super::unusual::word_of;
use goodqueue_queue::QueueConfig;
use goodqueue_types::message::shorten;
use goodqueue_types::parameters::{Kind, Parameters, Tc};
use serde_json::{Map, Value};

/// Bytes of text that are read at most.
const MAX_BYTES: usize = 1 << 24;

/// Remedy for a text that is no output of `tc`.
pub(super) const HELP: &str = "give the output of `tc -s -j qdisc show dev DEV`";

/// True if a text is JSON and no line.
pub(super) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{'])
}

/// Checks the length of a text before it is read.
pub(super) fn check_length(text: &str) -> Read<()> {
    if text.len() > MAX_BYTES {
        return refuse(
            format!("the text has {} bytes", text.len()),
            format!("give at most {MAX_BYTES} bytes, the output for one device"),
        );
    }
    Ok(())
}

/// Reads the JSON documents of a text, of which there is one for each call of `tc`.
pub(super) fn documents(text: &str) -> Read<Vec<Value>> {
    let documents = serde_json::Deserializer::from_str(text).into_iter();
    documents
        .map(|document| {
            document.or_else(|error: serde_json::Error| {
                let (line, column) = (error.line(), error.column());
                refuse(
                    format!("line {line}, column {column}: the text is no complete JSON"),
                    HELP,
                )
            })
        })
        .collect()
}

/// Returns the qdiscs of the documents of a text.
pub(super) fn entries(documents: &[Value]) -> Read<Vec<Entry>> {
    let lists = documents.iter().map(|document| match document {
        Value::Array(values) => values.iter().collect(),
        other => vec![other],
    });
    let mut entries = Vec::new();
    for (list, document) in lists.zip(documents) {
        for value in list {
            match value.as_object() {
                Some(table) if table.contains_key("kind") => entries.extend(entry(table)),
                // Versions of tc print an empty table for a qdisc that is not shown.
                Some(table) if table.is_empty() => {}
                _ => {
                    let message = format!("the JSON is {}, no list of qdiscs", seems(document));
                    return refuse(message, HELP);
                }
            }
        }
    }
    Ok(entries)
}

fn text_of(object: &Map<String, Value>, key: &str) -> String {
    let text = object.get(key).and_then(Value::as_str);
    text.unwrap_or("").to_owned()
}

/// Returns a qdisc; None if its kind is no text or has no letter.
fn entry(object: &Map<String, Value>) -> Option<Entry> {
    let kind = object.get("kind")?.as_str()?;
    if kind.is_empty() {
        return None;
    }
    let none = Map::new();
    let options = match object.get("options") {
        Some(Value::Object(options)) => Ok(options),
        None | Some(Value::Null) => Ok(&none),
        Some(_) => refuse(
            format!("the options of {} are no table", shorten(kind)),
            HELP,
        ),
    };
    let mut notes = Vec::new();
    Some(Entry {
        device: text_of(object, "dev"),
        kind: kind.to_owned(),
        handle: text_of(object, "handle"),
        parent: text_of(object, "parent"),
        is_root: object.get("root") == Some(&Value::Bool(true)),
        is_shown: true,
        options: options.and_then(|options| words(kind, options, &mut notes)),
        notes,
        counters: counters(object),
        classes: Vec::new(),
    })
}

fn counters(object: &Map<String, Value>) -> Option<Counters> {
    let count = |table: &Map<String, Value>, key: &str| {
        let value = table.get(key).and_then(Value::as_u64);
        value.unwrap_or(0)
    };
    object.get("packets")?;
    // CAKE counts marks in each of its tins.
    let tins = object.get("tins").and_then(Value::as_array);
    let tins = tins.into_iter().flatten().filter_map(Value::as_object);
    let marks = tins.chain([object]).fold(0_u64, |sum, table| {
        sum.saturating_add(count(table, "ecn_mark"))
    });
    Some(Counters {
        packets: count(object, "packets"),
        bytes: count(object, "bytes"),
        drops: count(object, "drops"),
        marks: marks.saturating_add(count(object, "marked")),
        backlog_packets: count(object, "qlen"),
        backlog_bytes: count(object, "backlog"),
    })
}

/// Returns the options of a qdisc as the words of a line.
fn words(kind: &str, options: &Map<String, Value>, notes: &mut Vec<String>) -> Read<Vec<String>> {
    let mut words = Vec::new();
    let mut options = options.clone();
    match kind {
        // tc shows a peak rate in lines only; its bucket shows that there is one.
        "tbf" if !options.contains_key("peakrate") => {
            let bucket = ["minburst", "mtu"].map(|name| options.remove(name));
            if bucket.iter().any(Option::is_some) {
                notes.push("the JSON of tc leaves out the peak rate: none assumed".to_owned());
            }
        }
        // Lines have a selector and its mask in one word.
        "fq_codel" => {
            let mask = options.remove("ce_threshold_mask");
            let selector = options.remove("ce_threshold_selector");
            let [selector, mask] = [selector, mask].map(|value| value.and_then(|v| v.as_u64()));
            if let (Some(selector), Some(mask)) = (selector, mask) {
                let value = match (selector, mask) {
                    (0, 0) => "0/0".to_owned(),
                    _ => format!("{selector:#x}/{mask:#x}"),
                };
                words.extend(["ce_threshold_selector".to_owned(), value]);
            }
        }
        _ => {}
    }
    for (name, value) in &options {
        words.extend(option(kind, name, value)?);
    }
    Ok(words)
}

/// Returns an option as its words in a line; none if the line would leave it out.
fn option(kind: &str, name: &str, value: &Value) -> Read<Vec<String>> {
    let words = |value: String| Ok(vec![name.to_owned(), value]);
    if kind == "dualpi2"
        && let Some(words) = words_of_dualpi2(name, value)
    {
        return Ok(words);
    }
    match value {
        Value::Bool(on) => Ok(flag(kind, name, *on).into_iter().collect()),
        Value::Null => Ok(flag(kind, name, true).into_iter().collect()),
        Value::String(word) if kind == "cake" => Ok(word_of_cake(name, word)),
        Value::String(word) => words(word.clone()),
        Value::Number(number) => match (declared(kind, name), number.as_u64()) {
            (Some(Kind::Rate), Some(bytes)) => words(format!("{}bit", u128::from(bytes) * 8)),
            (Some(Kind::Span { .. }), Some(us)) => words(format!("{}us", as_set(us))),
            _ => words(number.to_string()),
        },
        Value::Array(values) => {
            let rest = values.iter().map(Value::to_string);
            Ok(std::iter::once(name.to_owned()).chain(rest).collect())
        }
        Value::Object(_) => refuse(
            format!("{} of {} has no single value", shorten(name), shorten(kind)),
            HELP,
        ),
    }
}

/// Returns an option of `DualPI2` as the words of a line, which has other names.
fn words_of_dualpi2(name: &str, value: &Value) -> Option<Vec<String>> {
    let name = match (name, value.as_str()) {
        ("memory-limit", _) => "memlimit",
        ("min-qlen-step", _) => "min_qlen_step",
        ("coupling", _) => "coupling_factor",
        ("step-thresh-pkts", _) => {
            return Some(vec!["step_thresh".to_owned(), format!("{value}p")]);
        }
        ("step-thresh-us", _) => return Some(vec!["step_thresh".to_owned(), format!("{value}us")]),
        ("c-protection", _) => {
            return Some(vec!["classic_protection".to_owned(), format!("{value}%")]);
        }
        ("drop-overload", Some("drop")) => return Some(vec!["drop_on_overload".to_owned()]),
        ("drop-overload" | "drop-early" | "ecn-mask", Some(word)) => {
            return Some(vec![word.replace('-', "_")]);
        }
        _ => return None,
    };
    Some(vec![name.to_owned(), value.to_string()])
}

/// Returns the kind of value that the option of a discipline has.
fn declared(kind: &str, name: &str) -> Option<Kind> {
    let queue = QueueConfig::defaults(word_of(kind)?);
    let key = queue
        .keys()
        .iter()
        .find(|key| matches!(queue.tc(key), Tc::Option(word) | Tc::Scaled(word) if word == name))?;
    Some(key.kind.first())
}

/// Returns the word of a flag in a line. Only CAKE has words for flags that are off.
fn flag(kind: &str, name: &str, on: bool) -> Option<String> {
    if kind != "cake" {
        return on.then(|| name.replace('-', "_"));
    }
    let name = name.replace('_', "-");
    match (on, name.as_str()) {
        (true, _) => Some(name),
        (false, "ingress" | "raw") => None,
        (false, "split-gso") => Some("no-split-gso".to_owned()),
        (false, _) => Some(format!("no{name}")),
    }
}

/// Returns the words of a choice of CAKE, whose lines have the choice alone.
fn word_of_cake(name: &str, word: &str) -> Vec<String> {
    let alone = match (name, word) {
        ("diffserv" | "flowmode" | "atm" | "autorate", _) => word,
        ("ack-filter", "disabled") => "no-ack-filter",
        ("ack-filter", "enabled") => "ack-filter",
        ("ack-filter", "aggressive") => "ack-filter-aggressive",
        _ => return vec![name.to_owned(), word.to_owned()],
    };
    vec![alone.to_owned()]
}

/// Returns the time that was set. CoDel keeps times in units of 1.024 µs, so 5 ms come back as
/// 4999 µs. Lines have three digits, and so 5 ms again.
fn as_set(us: u64) -> u64 {
    let mut unit = 1;
    while us / unit >= 1000 {
        unit *= 10;
    }
    let rounded = us.saturating_add(unit / 2) / unit * unit;
    if rounded.abs_diff(us) <= 2 {
        rounded
    } else {
        us
    }
}
