//! Buffer profiles of a switch under `SONiC`, as `config_db.json` has them.
//!
//! A queue with dynamic threshold a may use a times the free rest of its pool, so one congested
//! queue holds a / (1 + a) of the pool (Choudhury and Hahne, IEEE/ACM Trans. Networking 6(2), 1998).
//! `dynamic_th` is the exponent n of a = 2^n. A queue with `static_th` holds at most so many bytes.
//! Each queue also has the reserved bytes `size` of its profile.

use super::foreign::seems;
use super::json::{check_length, documents};
use super::read::Read;
use super::refuse;
use goodqueue_types::message::{UnitError, nearest, shorten};
use serde_json::{Map, Value};

type Table = Map<String, Value>;

/// Tables of a configuration that describe buffers.
const TABLES: [&str; 3] = ["BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_QUEUE"];

/// The buffer of one queue of a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchQueue {
    /// Name of the queue, as `Ethernet0|3-4`.
    pub name: String,
    /// Name of its buffer profile.
    pub profile: String,
    /// Bytes that it holds at most while no other queue uses its pool.
    pub bytes: u64,
    /// Threshold a of its share of the pool, if that is dynamic.
    pub alpha: Option<f64>,
    /// Bytes that are reserved for it.
    pub reserved: u64,
    /// Bytes of its pool.
    pub pool_bytes: u64,
    /// Sentences about entries that contradict one another, and what was assumed.
    pub notes: Vec<String>,
}

/// True if a JSON table is a configuration of `SONiC` with a table of buffers.
pub(super) fn is_configuration(table: &Table) -> bool {
    TABLES.iter().any(|name| table.contains_key(*name))
}

/// Reads the buffer of one queue, as `Ethernet0|3`, from `config_db.json`.
///
/// The queue may be left out, so that the message names one.
///
/// # Errors
/// Returns the table, the entry and the field that is missing or no number.
pub fn read_switch_queue(text: &str, queue: Option<&str>) -> Result<SwitchQueue, UnitError> {
    check_length(text)?;
    match &documents(text)?[..] {
        [Value::Object(table)] if is_configuration(table) => read_queue_of(table, queue),
        [other] => refuse(
            format!("the JSON is {}, no configuration of SONiC", seems(other)),
            "give config_db.json with the tables BUFFER_POOL, BUFFER_PROFILE and BUFFER_QUEUE",
        ),
        _ => refuse(
            "the text has several configurations",
            "give one config_db.json",
        ),
    }
}

/// Reads the buffer of one queue from a configuration.
pub(super) fn read_queue_of(config: &Table, queue: Option<&str>) -> Read<SwitchQueue> {
    let none = Table::new();
    let tables = TABLES.map(|name| config.get(name).and_then(Value::as_object).unwrap_or(&none));
    let [pools, profiles, queues] = tables;
    let (name, fields) = find(queues, queue)?;
    let profile = target(field("BUFFER_QUEUE", name, fields, "profile")?);
    let limits = entry("BUFFER_PROFILE", profiles, profile)?;
    let pool = target(field("BUFFER_PROFILE", profile, limits, "pool")?);
    let pool_fields = entry("BUFFER_POOL", pools, pool)?;
    let pool_bytes = bytes("BUFFER_POOL", pool, pool_fields, "size")?;
    let reserved = bytes("BUFFER_PROFILE", profile, limits, "size")?;
    let (shared, alpha) = if limits.contains_key("static_th") {
        (bytes("BUFFER_PROFILE", profile, limits, "static_th")?, None)
    } else {
        let alpha = alpha(profile, limits)?;
        (
            (pool_bytes as f64 * alpha / (1.0 + alpha)) as u64,
            Some(alpha),
        )
    };
    let most = reserved.saturating_add(shared);
    let mut notes = contradictions(profile, limits, pool, pool_fields);
    if most > pool_bytes {
        notes.push(format!(
            "profile {} allows {most} B, and its pool {} has {pool_bytes} B: these are taken",
            shorten(profile),
            shorten(pool)
        ));
    }
    Ok(SwitchQueue {
        name: name.clone(),
        profile: profile.to_owned(),
        bytes: most.min(pool_bytes),
        alpha,
        reserved,
        pool_bytes,
        notes,
    })
}

/// Returns the contradictions between a profile of a queue and its pool.
fn contradictions(profile: &str, limits: &Table, pool: &str, pool_fields: &Table) -> Vec<String> {
    let (profile, pool) = (shorten(profile), shorten(pool));
    let of_pool = |name: &str| pool_fields.get(name).and_then(Value::as_str);
    let has = |name: &str| limits.contains_key(name);
    let mut notes = Vec::new();
    if has("static_th") && has("dynamic_th") {
        notes.push(format!(
            "profile {profile} has static_th and dynamic_th: static_th is taken"
        ));
    }
    let threshold = if has("static_th") {
        "static"
    } else {
        "dynamic"
    };
    if let Some(mode) = of_pool("mode").filter(|mode| *mode != threshold) {
        notes.push(format!(
            "profile {profile} has {threshold}_th, and its pool {pool} is {}: a switch may refuse \
             the profile or use another threshold",
            shorten(mode)
        ));
    }
    if of_pool("type") == Some("ingress") {
        notes.push(format!(
            "the pool {pool} of profile {profile} is an ingress pool, and queues are at the egress"
        ));
    }
    notes
}

/// Returns the entry of a queue.
fn find<'a>(queues: &'a Table, queue: Option<&str>) -> Read<(&'a String, &'a Table)> {
    let mut known = queues.keys().map(String::as_str);
    let Some(queue) = queue else {
        let example = shorten(known.next().unwrap_or("Ethernet0|3"));
        return refuse(
            format!("BUFFER_QUEUE has {} queues", queues.len()),
            format!("name one, as in FILE:{example}"),
        );
    };
    if let Some((name, _)) = queues.iter().find(|(name, _)| names(name, queue)) {
        return Ok((name, entry("BUFFER_QUEUE", queues, name)?));
    }
    let help = match nearest(queue, known.clone()).or_else(|| known.next()) {
        Some(near) => format!("did you mean \"{}\"?", shorten(near)),
        None => "BUFFER_QUEUE is empty".to_owned(),
    };
    refuse(
        format!("BUFFER_QUEUE has no queue \"{}\"", shorten(queue)),
        help,
    )
}

/// True if an entry such as `Ethernet0,Ethernet4|3-5` contains a queue such as `Ethernet4|3`.
fn names(entry: &str, queue: &str) -> bool {
    if entry == queue {
        return true;
    }
    let (Some((ports, range)), Some((port, number))) =
        (entry.split_once('|'), queue.split_once('|'))
    else {
        return false;
    };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let numbers = (
        first.parse::<u32>(),
        number.parse::<u32>(),
        last.parse::<u32>(),
    );
    let (Ok(first), Ok(number), Ok(last)) = numbers else {
        return false;
    };
    ports.split(',').any(|known| known == port) && (first..=last).contains(&number)
}

/// Returns the name in a reference, which older releases write as `[BUFFER_PROFILE|name]`.
fn target(reference: &str) -> &str {
    let inner = reference.trim_start_matches('[').trim_end_matches(']');
    inner.rsplit('|').next().unwrap_or(inner)
}

/// Returns an entry of a table.
fn entry<'a>(table: &str, entries: &'a Table, name: &str) -> Read<&'a Table> {
    match entries.get(name).and_then(Value::as_object) {
        Some(fields) => Ok(fields),
        None => refuse(
            format!("{table} has no entry \"{}\"", shorten(name)),
            "give the whole config_db.json",
        ),
    }
}

fn field<'a>(table: &str, entry: &str, fields: &'a Table, name: &str) -> Read<&'a str> {
    match fields.get(name).and_then(Value::as_str) {
        Some(value) => Ok(value),
        None => refuse(
            format!("{table} \"{}\" has no {name}", shorten(entry)),
            "give the whole config_db.json",
        ),
    }
}

fn bytes(table: &str, entry: &str, fields: &Table, name: &str) -> Read<u64> {
    let text = field(table, entry, fields, name)?;
    text.parse().or_else(|_| {
        refuse(
            format!(
                "{table} \"{}\": {name} \"{}\" is no number",
                shorten(entry),
                shorten(text)
            ),
            "SONiC writes a number of bytes, as in \"12766208\"",
        )
    })
}

/// Returns the dynamic threshold 2^n of a profile.
fn alpha(profile: &str, fields: &Table) -> Read<f64> {
    let text = field("BUFFER_PROFILE", profile, fields, "dynamic_th")?;
    match text.parse::<i32>() {
        Ok(exponent @ -8..=8) => Ok(f64::from(exponent).exp2()),
        _ => refuse(
            format!(
                "BUFFER_PROFILE \"{}\": dynamic_th \"{}\" is no exponent from -8 to 8",
                shorten(profile),
                shorten(text)
            ),
            "SONiC writes n for a threshold of 2^n, as in \"3\"",
        ),
    }
}
