//! Buffer profiles of a switch under `SONiC`, as `config_db.json` has them.
//!
//! A queue with dynamic threshold a may use a times the free rest of its pool, so one congested
//! queue holds a / (1 + a) of the pool (Choudhury and Hahne, IEEE/ACM Trans. Networking 6(2), 1998).
//! `dynamic_th` is the exponent n of a = 2^n. A queue with `static_th` holds at most so many bytes.
//! Each queue also has the reserved bytes `size` of its profile.

use std::collections::BTreeMap;

use super::read::Read;
use super::refuse;
use goodqueue_types::message::{UnitError, nearest, shorten};
use serde::Deserialize;

/// Bytes of a configuration that are read at most.
const MOST_BYTES: usize = 1 << 24;

type Fields = BTreeMap<String, String>;

#[derive(Deserialize)]
struct Config {
    #[serde(rename = "BUFFER_POOL", default)]
    pools: BTreeMap<String, Fields>,
    #[serde(rename = "BUFFER_PROFILE", default)]
    profiles: BTreeMap<String, Fields>,
    #[serde(rename = "BUFFER_QUEUE", default)]
    queues: BTreeMap<String, Fields>,
}

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
    /// Bytes of its pool.
    pub pool_bytes: u64,
}

/// Reads the buffer of one queue, as `Ethernet0|3`, from `config_db.json`.
///
/// The queue may be left out, so that the message names one.
///
/// # Errors
/// Returns the table, the entry and the field that is missing or no number.
pub fn read_switch_queue(text: &str, queue: Option<&str>) -> Result<SwitchQueue, UnitError> {
    if text.len() > MOST_BYTES {
        return refuse(
            format!("the configuration has {} bytes", text.len()),
            format!("give at most {MOST_BYTES} bytes"),
        );
    }
    let config: Config = serde_json::from_str(text).or_else(|error| {
        refuse(
            format!(
                "line {}, column {}: the file is no configuration of SONiC",
                error.line(),
                error.column()
            ),
            "give config_db.json with the tables BUFFER_POOL, BUFFER_PROFILE and BUFFER_QUEUE",
        )
    })?;
    let (name, fields) = find(&config.queues, queue)?;
    let profile = target(field("BUFFER_QUEUE", name, fields, "profile")?);
    let Some(limits) = config.profiles.get(profile) else {
        return missing("BUFFER_PROFILE", profile);
    };
    let pool = target(field("BUFFER_PROFILE", profile, limits, "pool")?);
    let Some(pool_fields) = config.pools.get(pool) else {
        return missing("BUFFER_POOL", pool);
    };
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
    Ok(SwitchQueue {
        name: name.clone(),
        profile: profile.to_owned(),
        bytes: reserved.saturating_add(shared),
        alpha,
        pool_bytes,
    })
}

/// Returns the entry of a queue.
fn find<'a>(
    queues: &'a BTreeMap<String, Fields>,
    queue: Option<&str>,
) -> Read<(&'a String, &'a Fields)> {
    let mut known = queues.keys().map(String::as_str);
    let Some(queue) = queue else {
        let example = shorten(known.next().unwrap_or("Ethernet0|3"));
        return refuse(
            format!("BUFFER_QUEUE has {} queues", queues.len()),
            format!("name one, as in FILE:{example}"),
        );
    };
    if let Some(found) = queues.iter().find(|(name, _)| names(name, queue)) {
        return Ok(found);
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

fn missing<T>(table: &str, entry: &str) -> Read<T> {
    refuse(
        format!("{table} has no entry \"{}\"", shorten(entry)),
        "give the whole config_db.json",
    )
}

fn field<'a>(table: &str, entry: &str, fields: &'a Fields, name: &str) -> Read<&'a str> {
    match fields.get(name) {
        Some(value) => Ok(value),
        None => refuse(
            format!("{table} \"{}\" has no {name}", shorten(entry)),
            "give the whole config_db.json",
        ),
    }
}

fn bytes(table: &str, entry: &str, fields: &Fields, name: &str) -> Read<u64> {
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
fn alpha(profile: &str, fields: &Fields) -> Read<f64> {
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
