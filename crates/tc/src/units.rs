//! `tc`'s units, which are its own: `10Mbit`, `5ms`, `15140b`, and `10Kb` for 10240 bytes.

use super::refuse;
use goodqueue_types::message::{UnitError, shorten};
use goodqueue_types::{Rate, Span};

const TIMES: &[(&str, u64)] = &[
    ("s", 1_000_000_000_000),
    ("sec", 1_000_000_000_000),
    ("secs", 1_000_000_000_000),
    ("ms", 1_000_000_000),
    ("msec", 1_000_000_000),
    ("msecs", 1_000_000_000),
    ("us", 1_000_000),
    ("usec", 1_000_000),
    ("usecs", 1_000_000),
    ("ns", 1_000),
    // A bare number counts microseconds.
    ("", 1_000_000),
];
const SIZES: &[(&str, u64)] = &[
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kb", 1 << 10),
    ("m", 1 << 20),
    ("mb", 1 << 20),
    ("g", 1 << 30),
    ("gb", 1 << 30),
];
const RATES: &[(&str, u64)] = &[
    ("", 1),
    ("bit", 1),
    ("kbit", 1_000),
    ("mbit", 1_000_000),
    ("gbit", 1_000_000_000),
    ("tbit", 1_000_000_000_000),
    ("kibit", 1 << 10),
    ("mibit", 1 << 20),
    ("gibit", 1 << 30),
    ("bps", 8),
    ("kbps", 8_000),
    ("mbps", 8_000_000),
    ("gbps", 8_000_000_000),
];

/// Reads a decimal number with a unit, and converts it to a whole number of the smallest unit. A
/// fraction of that unit is cut off.
fn parse(what: &str, text: &str, units: &[(&str, u64)], example: &str) -> Result<u64, UnitError> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let factor = units
        .iter()
        .find(|known| known.0.eq_ignore_ascii_case(unit));
    let digits = format!("{whole}{fraction}");
    let plain = !whole.is_empty() && !fraction.contains('.') && digits.len() <= 18;
    let (true, Some((_, factor)), Ok(digits)) = (plain, factor, digits.parse::<u128>()) else {
        let message = format!("\"{}\" is not {what} of tc", shorten(text));
        return refuse(message, format!("tc writes {what} as {example}"));
    };
    let value = digits * u128::from(*factor) / 10u128.pow(fraction.len() as u32);
    u64::try_from(value).or_else(|_| {
        let message = format!("\"{}\" is too much", shorten(text));
        refuse(message, format!("tc writes {what} as {example}"))
    })
}

pub(super) fn time(text: &str) -> Result<Span, UnitError> {
    parse("a time", text, TIMES, "5ms or 300us").map(Span)
}

pub(super) fn size(text: &str) -> Result<u64, UnitError> {
    size_32(text).map(u64::from)
}

/// Reads a size of a queue or a bucket, for which the kernel has 32 bits.
pub(super) fn size_32(text: &str) -> Result<u32, UnitError> {
    let bytes = parse("a size", text, SIZES, "15140b or 10Kb")?;
    u32::try_from(bytes)
        .or_else(|_| refuse(format!("{bytes} bytes are too much"), "tc has 32 bits"))
}

/// Converts a size to the 32 bits that `tc` takes.
pub(super) fn write_size(key: &str, bytes: u64) -> Result<u32, UnitError> {
    u32::try_from(bytes).or_else(|_| {
        let message = format!("{key} has 32 bits in tc");
        refuse(message, "write at most \"4294967295B\"")
    })
}

pub(super) fn rate(text: &str) -> Result<Rate, UnitError> {
    parse("a rate", text, RATES, "10Mbit").map(Rate)
}

pub(super) fn packets(text: &str) -> Result<u64, UnitError> {
    let units = [("", 1), ("p", 1)];
    parse("a number of packets", text, &units, "1000p or 1000")
}

pub(super) fn integer(text: &str) -> Result<u32, UnitError> {
    if text.contains('.') {
        let message = format!("\"{}\" is not a number of tc", shorten(text));
        return refuse(message, "tc writes a whole number here, as in 1024");
    }
    let value = parse("a number", text, &[("", 1)], "1024")?;
    u32::try_from(value).or_else(|_| refuse(format!("{value} is too much"), "tc counts to 2^32"))
}

/// Reads a probability or a gain, as `10%` or `0.1`.
pub(super) fn number(text: &str) -> Result<f64, UnitError> {
    let (digits, scale) = match text.strip_suffix('%') {
        Some(digits) => (digits, 100.0),
        None => (text, 1.0),
    };
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value / scale),
        _ => refuse(
            format!("\"{}\" is not a number of tc", shorten(text)),
            "tc writes 0.02 or 10%",
        ),
    }
}

/// Writes a time in the largest unit in which it is whole. `tc` counts microseconds.
pub(super) fn write_time(key: &str, span: Span) -> Result<String, UnitError> {
    let micros = span.0 / 1_000_000;
    if !span.0.is_multiple_of(1_000_000) {
        let help = format!("write {key} in whole microseconds");
        return refuse(
            format!("tc counts microseconds: {key} has parts of one"),
            help,
        );
    }
    Ok(match micros {
        0 => "0us".to_owned(),
        _ if micros.is_multiple_of(1_000_000) => format!("{}s", micros / 1_000_000),
        _ if micros.is_multiple_of(1_000) => format!("{}ms", micros / 1_000),
        _ => format!("{micros}us"),
    })
}

pub(super) fn write_rate(rate: Rate) -> String {
    let units = [
        ("Gbit", 1_000_000_000),
        ("Mbit", 1_000_000),
        ("Kbit", 1_000),
    ];
    let unit = units.iter().find(|unit| rate.0.is_multiple_of(unit.1));
    let (name, factor) = unit.unwrap_or(&("bit", 1));
    format!("{}{name}", rate.0 / factor)
}
