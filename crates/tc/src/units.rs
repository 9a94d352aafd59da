//! `tc`'s units, which are its own: `10Mbit`, `5ms`, `15140b`, `10Kb` for 10240 bytes, and `32kbit`
//! for 4096. Numbers are those of C's `strtod` (`1e3`, `.5`, `0x400`), as iproute2 reads them in
//! `get_rate64`, `get_size64` and `get_time` (`lib/utils_math.c`, `lib/utils.c`).

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
    ("nsec", 1_000),
    ("nsecs", 1_000),
    // A bare number counts microseconds.
    ("", 1_000_000),
];
/// Sizes are binary, also those in bits.
const SIZES: &[(&str, u64)] = &[
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kb", 1 << 10),
    ("kbit", (1 << 10) / 8),
    ("m", 1 << 20),
    ("mb", 1 << 20),
    ("mbit", (1 << 20) / 8),
    ("g", 1 << 30),
    ("gb", 1 << 30),
    ("gbit", (1 << 30) / 8),
];
/// Rates: `bit` counts bits, and `bps` bytes.
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
    ("tibit", 1 << 40),
    ("bps", 8),
    ("kbps", 8_000),
    ("mbps", 8_000_000),
    ("gbps", 8_000_000_000),
    ("tbps", 8_000_000_000_000),
    ("kibps", 8 << 10),
    ("mibps", 8 << 20),
    ("gibps", 8 << 30),
    ("tibps", 8 << 40),
];

/// Powers of ten that are read at most. Larger and smaller numbers are no values of `tc`.
const LARGEST_EXPONENT: u32 = 18;

/// Digits that are read at most: those of the largest number of 64 bits, which is written, too.
const MAX_DIGITS: usize = 20;

/// A number without a sign: `digits` times ten to the power of `exponent`.
struct Decimal {
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// Splits a text into its number and its unit; None if it does not begin with a number.
    fn split(text: &str) -> Option<(Self, &str)> {
        let text = text.strip_prefix('+').unwrap_or(text);
        if let Some(digits) = hexadecimal(text) {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit());
            let (digits, unit) = digits.split_at(end.unwrap_or(digits.len()));
            let digits = u128::from(u64::from_str_radix(digits, 16).ok()?);
            return Some((
                Self {
                    digits,
                    exponent: 0,
                },
                unit,
            ));
        }
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, rest) = text.split_at(end.unwrap_or(text.len()));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{fraction}");
        if digits.len() > MAX_DIGITS || fraction.contains('.') {
            return None;
        }
        let (power, unit) = power_of_ten(rest);
        let number = Self {
            digits: digits.parse().ok()?,
            exponent: power - fraction.len() as i32,
        };
        Some((number, unit))
    }

    /// Returns the number times a factor, without its fraction; None if it has more than 64 bits.
    fn times(&self, factor: u64) -> Option<u64> {
        let value = self.digits * u128::from(factor);
        let power = 10_u128.checked_pow(self.exponent.unsigned_abs())?;
        let value = match self.exponent {
            0.. => value.checked_mul(power)?,
            _ => value / power,
        };
        u64::try_from(value).ok()
    }
}

fn hexadecimal(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

/// Splits `e3kb` into the exponent 3 and the unit `kb`. Text without a small exponent is a unit.
fn power_of_ten(rest: &str) -> (i32, &str) {
    let Some(power) = rest.strip_prefix(['e', 'E']) else {
        return (0, rest);
    };
    let digits = power.trim_start_matches(['+', '-']);
    let end = digits.find(|c: char| !c.is_ascii_digit());
    let unit = &digits[end.unwrap_or(digits.len())..];
    match power[..power.len() - unit.len()].parse::<i32>() {
        Ok(exponent) if exponent.unsigned_abs() <= LARGEST_EXPONENT => (exponent, unit),
        _ => (0, rest),
    }
}

/// Reads a number with a unit, and converts it to a whole number of the smallest unit. A fraction of
/// that unit is cut off.
fn parse(what: &str, text: &str, units: &[(&str, u64)], example: &str) -> Result<u64, UnitError> {
    let known = |unit: &str| {
        units
            .iter()
            .find(|known| known.0.eq_ignore_ascii_case(unit))
    };
    let split = Decimal::split(text);
    let Some((number, (_, factor))) = split.and_then(|(number, unit)| Some((number, known(unit)?)))
    else {
        let message = format!("\"{}\" is not {what} of tc", shorten(text));
        return refuse(message, format!("tc writes {what} as {example}"));
    };
    number.times(*factor).map_or_else(
        || {
            let message = format!("\"{}\" is too much", shorten(text));
            refuse(message, format!("tc writes {what} as {example}"))
        },
        Ok,
    )
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
    if text.ends_with('%') {
        let message = format!("{} is a share of the device's speed", shorten(text));
        return refuse(message, "write the rate itself, as in 10Mbit");
    }
    parse("a rate", text, RATES, "10Mbit").map(Rate)
}

/// Reads a number of packets as `tc` shows it, `1000p`, or as it takes it, `1000`.
pub(super) fn packets(text: &str) -> Result<u64, UnitError> {
    let digits = text.strip_suffix('p').unwrap_or(text);
    match whole(digits) {
        Some(packets) if u32::try_from(packets).is_ok() => Ok(packets),
        Some(packets) => refuse(format!("{packets} packets are too many"), "tc has 32 bits"),
        None => not_whole("a number of packets", text, "1000p or 1000"),
    }
}

/// Reads the limit of a FIFO in packets, which `tc` reads as a size: `10k` are 10240 packets.
pub(super) fn fifo_packets(text: &str) -> Result<u64, UnitError> {
    if text.ends_with('p') {
        packets(text)
    } else {
        size(text)
    }
}

pub(super) fn integer(text: &str) -> Result<u32, UnitError> {
    match whole(text) {
        Some(value) => u32::try_from(value)
            .or_else(|_| refuse(format!("{value} is too much"), "tc counts to 2^32")),
        None => not_whole("a whole number", text, "1024"),
    }
}

/// Reads a decimal number that may be negative.
pub(super) fn signed(text: &str) -> Result<i32, UnitError> {
    text.parse()
        .or_else(|_| not_whole("a whole number", text, "18 or -4"))
}

/// Reads a whole number as C's `strtoul` does without a base: `0x400` and `02000` are 1024.
fn whole(text: &str) -> Option<u64> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    match hexadecimal(text) {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None if text.starts_with('0') => u64::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

fn not_whole<T>(what: &str, text: &str, example: &str) -> Result<T, UnitError> {
    let message = format!("\"{}\" is not {what} of tc", shorten(text));
    refuse(message, format!("tc writes {what} as {example}"))
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
