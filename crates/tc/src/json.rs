//! Output of `tc -j qdisc show`, with or without `-s`, as the lines of `tc qdisc show`.
//!
//! In JSON times are whole microseconds, rates bytes per second and sizes bytes. Values without a unit
//! mean the same in a line, except rates.

use super::read::Read;
use super::refuse;
use super::unusual::word_of;
use goodqueue_queue::QueueConfig;
use goodqueue_types::message::{UnitError, shorten};
use goodqueue_types::parameters::{Kind, Parameters, Tc};
use serde_json::{Map, Value};

/// Bytes of JSON that are read at most.
const MOST_BYTES: usize = 1 << 20;

const HELP: &str = "give the output of `tc -s -j qdisc show dev DEV`";

/// Counters of a qdisc since it was attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that left the queue.
    pub packets: u64,
    /// Bytes that left the queue, with Ethernet headers.
    pub bytes: u64,
    /// Packets that the queue dropped.
    pub drops: u64,
    /// Packets that the queue marked (ECN).
    pub marks: u64,
    /// Packets that wait now.
    pub backlog_packets: u64,
    /// Bytes that wait now.
    pub backlog_bytes: u64,
}

/// A device and its root qdisc.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Name of the device; empty if the output has none.
    pub name: String,
    /// Kind of the qdisc.
    pub kind: String,
    /// Lines of the qdisc and its children, as [`parse_qdisc`](super::parse_qdisc) reads them.
    pub lines: String,
    /// Counters of the qdisc.
    pub counters: Counters,
    /// Number of rings of which this qdisc belongs to the busiest, if the device has several (`mq`).
    pub rings: Option<usize>,
}

/// True if a text is JSON and no line.
pub(super) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{'])
}

/// Reads the devices of `tc -s -j qdisc show`, each with its root qdisc. A device with a ring for each
/// processor has the qdisc of the ring that sent most bytes.
///
/// # Errors
/// Returns the part that is no output of `tc`.
pub fn read_devices(text: &str) -> Result<Vec<Device>, UnitError> {
    if text.len() > MOST_BYTES {
        return refuse(
            format!("the output has {} bytes", text.len()),
            format!("give at most {MOST_BYTES} bytes, the output for one device"),
        );
    }
    let parsed: Value = serde_json::from_str(text).or_else(|error| {
        let (line, column) = (error.line(), error.column());
        refuse(
            format!("line {line}, column {column}: the output is no complete JSON"),
            HELP,
        )
    })?;
    let objects = match &parsed {
        Value::Array(entries) => entries.iter().map(Value::as_object).collect(),
        Value::Object(entry) => Some(vec![entry]),
        _ => None,
    };
    let Some(objects): Option<Vec<_>> = objects else {
        return refuse("the output is no list of qdiscs", HELP);
    };
    let roots = objects.iter().filter(|object| is_root(object));
    roots.map(|root| device(root, &objects)).collect()
}

/// Returns the device of this name, or the only one in the output of `tc -s -j qdisc show`.
///
/// # Errors
/// Returns the part that is no output of `tc`, or the names of the devices.
pub fn only_device(text: &str, name: Option<&str>) -> Result<Device, UnitError> {
    let mut devices = read_devices(text)?;
    if let Some(name) = name {
        devices.retain(|device| device.name == name);
        if devices.is_empty() {
            return refuse(
                format!("there is no device \"{}\" in the output", shorten(name)),
                HELP,
            );
        }
    }
    match &devices[..] {
        [device] => Ok(device.clone()),
        [] => refuse("there is no root qdisc in the output", HELP),
        [first, ..] => refuse(
            format!("the output has {} devices", devices.len()),
            format!("give one: tc -s -j qdisc show dev {}", shorten(&first.name)),
        ),
    }
}

/// Returns the lines of the only device in the output.
pub(super) fn lines(text: &str) -> Read<String> {
    only_device(text, None).map(|device| device.lines)
}

fn is_root(object: &Map<String, Value>) -> bool {
    object.get("root") == Some(&Value::Bool(true))
}

fn text_of<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or("")
}

fn count(object: &Map<String, Value>, key: &str) -> u64 {
    object.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// Returns a root with its children. They name it by its handle, and devices share handles.
fn device(root: &Map<String, Value>, all: &[&Map<String, Value>]) -> Read<Device> {
    let (name, handle) = (text_of(root, "dev"), text_of(root, "handle"));
    let belongs = |child: &&&Map<String, Value>| {
        text_of(child, "dev") == name
            && !is_root(child)
            && parent_is(text_of(child, "parent"), handle)
    };
    let children: Vec<_> = all.iter().filter(belongs).copied().collect();
    if matches!(text_of(root, "kind"), "mq" | "mqprio") {
        return ring(name, &children);
    }
    let lines = [vec![root], children].concat();
    let lines: Vec<String> = lines.into_iter().map(line).collect::<Read<_>>()?;
    Ok(one(name, root, lines.join("\n"), None))
}

/// True if `1:2` or `:2` names a class of the qdisc `1:`.
fn parent_is(parent: &str, handle: &str) -> bool {
    parent.starts_with(handle) || (handle == "0:" && parent.starts_with(':'))
}

fn ring(name: &str, children: &[&Map<String, Value>]) -> Read<Device> {
    let busiest = children.iter().max_by_key(|child| count(child, "bytes"));
    match busiest {
        Some(child) => Ok(one(name, child, line(child)?, Some(children.len()))),
        None => refuse("mq has no children in the output", HELP),
    }
}

fn one(name: &str, qdisc: &Map<String, Value>, lines: String, rings: Option<usize>) -> Device {
    Device {
        name: name.to_owned(),
        kind: text_of(qdisc, "kind").to_owned(),
        lines,
        counters: Counters {
            packets: count(qdisc, "packets"),
            bytes: count(qdisc, "bytes"),
            drops: count(qdisc, "drops"),
            marks: count(qdisc, "ecn_mark").saturating_add(count(qdisc, "marked")),
            backlog_packets: count(qdisc, "qlen"),
            backlog_bytes: count(qdisc, "backlog"),
        },
        rings,
    }
}

/// Returns a qdisc as a line of `tc qdisc show`.
fn line(qdisc: &Map<String, Value>) -> Read<String> {
    let kind = text_of(qdisc, "kind");
    if kind.is_empty() {
        return refuse("a qdisc has no kind", HELP);
    }
    // Any handle shows that `tc qdisc show` printed the line.
    let mut words = ["qdisc", kind, "0:"].map(str::to_owned).to_vec();
    match text_of(qdisc, "parent") {
        "" => words.push("root".to_owned()),
        parent => words.extend(["parent".to_owned(), parent.to_owned()]),
    }
    let none = Map::new();
    let options = match qdisc.get("options") {
        Some(Value::Object(options)) => options,
        None => &none,
        Some(_) => {
            return refuse(
                format!("the options of {} are no table", shorten(kind)),
                HELP,
            );
        }
    };
    for (name, value) in options {
        words.extend(option(kind, name, value)?);
    }
    if words
        .iter()
        .any(|word| word.split_whitespace().count() != 1 || word == "Sent")
    {
        return refuse(format!("a value of {} is no word", shorten(kind)), HELP);
    }
    Ok(words.join(" "))
}

/// Returns an option as its words in a line; none if the line would leave it out.
fn option(kind: &str, name: &str, value: &Value) -> Read<Vec<String>> {
    let words = |value: String| Ok(vec![name.to_owned(), value]);
    match value {
        Value::Bool(on) => Ok(flag(kind, name, *on).into_iter().collect()),
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
        Value::Null | Value::Object(_) => refuse(
            format!("{} of {} has no single value", shorten(name), shorten(kind)),
            HELP,
        ),
    }
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
        ("diffserv" | "flowmode" | "atm", _) => word,
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
