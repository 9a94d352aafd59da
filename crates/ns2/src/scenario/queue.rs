//! Queues and losses of links.

use super::units::{list, table};
use crate::error::{ImportError, refuse};
use crate::network::{Link, Settings};

/// A `queue-limit` from which a queue never overflows.
const UNLIMITED: u64 = 100_000;

/// Returns the queue of a link as a table.
pub fn queue(settings: &Settings) -> Result<String, ImportError> {
    if settings.class == "Queue/RED" {
        return red(settings);
    }
    settings.check(&["limit_", "drop_front_", "mean_pktsize_", "queue_in_bytes_"])?;
    let limit = settings.count("limit_", 0)?;
    let limit = if limit >= UNLIMITED && !settings.truth("queue_in_bytes_")? {
        "\"unlimited\"".to_owned()
    } else if settings.truth("queue_in_bytes_")? {
        // A packet that would make the queue reach the limit is refused.
        format!("\"{}B\"", bytes(settings, limit)?.saturating_sub(1))
    } else {
        // The limit counts the packet in transmission.
        format!("\"{}p\"", limit.saturating_sub(1))
    };
    let mut pairs = vec![("limit", limit)];
    if settings.truth("drop_front_")? {
        pairs.insert(0, ("kind", "\"drop_head\"".to_owned()));
    }
    Ok(table(&pairs))
}

/// Returns a limit in mean packets as bytes.
fn bytes(settings: &Settings, limit: u64) -> Result<u64, ImportError> {
    let bytes = limit as f64 * settings.number("mean_pktsize_")?;
    if (0.0..=1e12).contains(&bytes) {
        return Ok(bytes as u64);
    }
    let message = format!("the queue has {bytes} bytes");
    Err(refuse(
        settings.line,
        message,
        "give it at most 1000000000000",
    ))
}

/// True if the queue of a link never overflows.
pub fn unlimited(settings: &Settings) -> Result<bool, ImportError> {
    Ok(settings.class == "Queue/DropTail"
        && !settings.truth("queue_in_bytes_")?
        && settings.count("limit_", 0)? >= UNLIMITED)
}

fn red(settings: &Settings) -> Result<String, ImportError> {
    settings.check(&[
        "limit_",
        "thresh_",
        "maxthresh_",
        "q_weight_",
        "linterm_",
        "gentle_",
        "wait_",
        "bytes_",
        "setbit_",
        "queue_in_bytes_",
        "mean_pktsize_",
        "mark_p_",
        "use_mark_p_",
        "adaptive_",
        "idle_pktsize_",
    ])?;
    let limit = settings.count("limit_", 1)?;
    let in_bytes = settings.truth("queue_in_bytes_")?;
    let packet = settings.count("mean_pktsize_", 1)?;
    let mut pairs = vec![("kind", "\"ns2_red\"".to_owned())];
    let scale = if in_bytes {
        pairs.push(("limit", format!("\"{}B\"", bytes(settings, limit)?)));
        packet as f64
    } else {
        pairs.push(("limit", format!("\"{limit}p\"")));
        pairs.push(("unit", "\"packets\"".to_owned()));
        1.0
    };
    for (key, variable) in [("min", "thresh_"), ("max", "maxthresh_")] {
        let threshold = settings.number(variable)?;
        if threshold > 0.0 {
            // Thresholds have twelve digits in exported scripts.
            pairs.push((key, number((threshold * scale * 1e6).round() / 1e6)));
        }
    }
    let weight = settings.number("q_weight_")?;
    if weight > 0.0 {
        pairs.push(("weight", number(weight)));
    } else if !settings.is_default("q_weight_")? {
        let message = format!("q_weight_ of RED is {weight}");
        return Err(refuse(
            settings.line,
            message,
            "write a weight, or leave it at -1",
        ));
    }
    let linterm = settings.number("linterm_")?;
    if linterm < 1.0 {
        let message = format!("linterm_ of RED is {linterm}");
        return Err(refuse(settings.line, message, "write 1 or more"));
    }
    if !settings.is_default("linterm_")? {
        pairs.push(("max_probability", number(1.0 / linterm)));
    }
    if packet != 500 {
        pairs.push(("mean_packet", format!("\"{packet}B\"")));
    }
    for (key, variable, default) in [
        ("gentle", "gentle_", true),
        ("wait", "wait_", true),
        ("by_size", "bytes_", true),
        ("ecn", "setbit_", false),
    ] {
        let value = settings.truth(variable)?;
        if value != default {
            pairs.push((key, value.to_string()));
        }
    }
    let mark = settings.number("mark_p_")?;
    if !settings.truth("use_mark_p_")? {
        pairs.push(("mark_below", "\"none\"".to_owned()));
    } else if !settings.is_default("mark_p_")? {
        pairs.push(("mark_below", number(mark)));
    }
    if settings.truth("adaptive_")? {
        pairs.push((
            "adaptation",
            "{ kind = \"floyd\", gentle_follows = false }".to_owned(),
        ));
    }
    Ok(table(&pairs))
}

/// Returns a number with the digits that it needs.
fn number(value: f64) -> String {
    let text = format!("{value:.12}");
    let text = text.trim_end_matches('0');
    text.strip_suffix('.').unwrap_or(text).to_owned()
}

/// Returns the losses of a link as keys of its table.
pub fn losses(link: &Link) -> Result<Vec<(&'static str, String)>, ImportError> {
    let Some(loss) = &link.loss else {
        return Ok(Vec::new());
    };
    let settings = &loss.settings;
    let counts = settings.class == "ErrorModel/List" || settings.class == "ErrorModel/Periodic";
    if counts && &*loss.unit == "byte" {
        let message = format!("{} counts bytes", settings.class);
        return Err(refuse(settings.line, message, "write $model unit pkt"));
    }
    if settings.class == "ErrorModel/List" {
        if loss.after {
            let message = "an ErrorModel/List behind the queue has no equivalent here";
            return Err(refuse(link.line, message, "place it by lossmodel"));
        }
        let numbers = loss.list.iter().map(u64::to_string);
        return Ok(vec![("drop_list", list(numbers))]);
    }
    settings.check(&["rate_", "period_", "offset_"])?;
    let per_byte = match &*loss.unit {
        "pkt" | "packet" => false,
        "byte" => true,
        other => {
            let message = format!("the unit of an ErrorModel is '{other}'");
            return Err(refuse(settings.line, message, "write $model unit pkt"));
        }
    };
    let mut pairs = Vec::new();
    if settings.class == "ErrorModel/Periodic" {
        pairs.push(("kind", "\"periodic\"".to_owned()));
        pairs.push(("interval", settings.count("period_", 1)?.to_string()));
        // The first packet is lost with an `offset_` of 0, too.
        let first = settings.count("offset_", 0)?.max(1);
        pairs.push(("first", first.to_string()));
    } else {
        let rate = settings.number("rate_")?;
        if !(0.0..=1.0).contains(&rate) {
            let message = format!("rate_ of an ErrorModel is {rate}");
            return Err(refuse(settings.line, message, "write a share from 0 to 1"));
        }
        if rate == 0.0 {
            return Ok(Vec::new());
        }
        pairs.push(("probability", number(rate)));
    }
    if per_byte {
        pairs.push(("per", "\"byte\"".to_owned()));
    }
    if loss.after {
        pairs.push(("after_transmission", "true".to_owned()));
    }
    Ok(vec![("loss", table(&pairs))])
}
