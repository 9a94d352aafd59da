//! Values with units: the one place where they are read and written.
//!
//! A value is a decimal number followed by its unit (`2Mbps`, `1.5ms`), with at most one space
//! between them. Printed results can be read again (`2 Mb/s`, `8 packets`). A value must be exact
//! in the unit of the simulator (bits per second, picoseconds, bytes): nothing is rounded.

mod quantity;

use crate::language::error::shorten;
use goodqueue_queue::Limit;
pub use goodqueue_types::message::UnitError;
use goodqueue_types::{Rate, Span};
use quantity::{LIMIT, PACKETS, Quantity, RATE, SIZE, SPAN};

/// Queue limit as stated. [`Scenario::resolve_limit`](crate::Scenario::resolve_limit) converts it
/// to packets or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedLimit {
    /// Packets waiting.
    Packets(u64),
    /// Frame bytes waiting.
    Bytes(u64),
    /// The bytes that the link sends in this time.
    Time(Span),
    /// Millionths of the bandwidth-delay product.
    Bdp(u64),
    /// No limit.
    Unlimited,
}

/// Several times in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatedSpans {
    /// List of all times.
    Listed(Vec<Span>),
    /// Range from the shorter to the longer; the reader decides on the number of times.
    Range(Span, Span),
}

/// Smallest and largest rate: 1 bit/s to 10 Tbit/s.
pub(crate) const RATES: (u64, u64) = (1, 10_000_000_000_000);
pub(crate) use goodqueue_types::parameters::{LARGEST, LONGEST};
/// Most packets a limit may name.
const MAX_PACKETS: u64 = 1_000_000_000;
/// Largest multiple of the bandwidth-delay product, in millionths.
const MAX_BDP: u64 = 1_000_000_000_000;
/// Millionths in one.
const MILLION: u64 = 1_000_000;

/// Units of rates, times and sizes with their factors, for comparisons of values.
pub(crate) const UNITS: [&[(&str, u64)]; 3] = [RATE.units, SPAN.units, SIZE.units];

/// Returns the unit for a spelling of rates, times and limits; returns other texts unchanged.
pub(crate) fn canonical(written: &str) -> &str {
    let quantities = [RATE, SPAN, LIMIT];
    let mut found = quantities.iter().map(|quantity| quantity.unit(written));
    found.find(|unit| *unit != written).unwrap_or(written)
}

/// Converts a limit to packets or bytes: times and BDPs are the bytes that the link sends in them.
pub(crate) fn resolve_limit(
    stated: StatedLimit,
    rate: Rate,
    base_rtt: Option<Span>,
) -> Result<Limit, UnitError> {
    let bytes = match stated {
        StatedLimit::Packets(packets) => return Ok(Limit::Packets(packets)),
        StatedLimit::Unlimited => return Ok(Limit::Unlimited),
        StatedLimit::Bytes(bytes) => u128::from(bytes),
        StatedLimit::Time(span) => u128::from(rate.bytes_in(span).0),
        StatedLimit::Bdp(millionths) => match base_rtt {
            Some(rtt) if rtt > Span::ZERO => {
                u128::from(rate.bytes_in(rtt).0) * u128::from(millionths) / u128::from(MILLION)
            }
            _ => {
                return Err(UnitError {
                    message: "the bandwidth-delay product of this link is zero: no flow that \
                              crosses it has a base round-trip time"
                        .to_owned(),
                    help: "write the limit in packets, bytes or milliseconds, or give delays"
                        .to_owned(),
                });
            }
        },
    };
    if bytes > u128::from(LARGEST) {
        return Err(UnitError {
            message: format!("this limit comes to {bytes} bytes"),
            help: "write a limit of at most a terabyte, or \"unlimited\"".to_owned(),
        });
    }
    Ok(Limit::Bytes(bytes as u64))
}

/// A decimal number: `digits / 10^scale`.
struct Decimal<'a> {
    text: &'a str,
    digits: u128,
    scale: u32,
}

impl Decimal<'_> {
    /// Returns the number times `factor`, if that is whole.
    fn times(&self, factor: u64) -> Option<u128> {
        let product = self.digits.checked_mul(u128::from(factor))?;
        let divisor = 10u128.pow(self.scale);
        product.is_multiple_of(divisor).then(|| product / divisor)
    }
}

impl Quantity {
    /// Returns the unit for a written one.
    fn unit<'a>(&self, written: &'a str) -> &'a str {
        let spelling = self.spellings.iter().find(|known| known.0 == written);
        spelling.map_or(written, |known| known.1)
    }
}

/// The kinds of values that have units, for the schema.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WithUnits {
    Rate,
    Span,
    Size,
    Packets,
    Limit,
}

/// Returns the units of a kind of value and their other spellings, as alternatives of a regular
/// expression.
pub(crate) fn pattern(kind: WithUnits) -> String {
    let quantities: &[Quantity] = match kind {
        WithUnits::Rate => &[RATE],
        WithUnits::Span => &[SPAN],
        WithUnits::Size => &[SIZE],
        WithUnits::Packets => &[PACKETS],
        WithUnits::Limit => &[LIMIT, SIZE, SPAN],
    };
    let read = |quantity: &Quantity| {
        let names: Vec<&str> = quantity.units.iter().map(|unit| unit.0).collect();
        let spellings = quantity.spellings.iter();
        let spellings = spellings.filter(|(_, unit)| names.contains(unit));
        let spellings: Vec<&str> = spellings.map(|spelling| spelling.0).collect();
        [names, spellings].concat().join("|")
    };
    quantities.iter().map(read).collect::<Vec<_>>().join("|")
}

/// Splits `12.5ms` or `12.5 ms` into 12.5 and `ms`.
fn split<'a>(quantity: &Quantity, text: &'a str) -> Result<(Decimal<'a>, &'a str), UnitError> {
    let Quantity { noun, example, .. } = quantity;
    let as_in = format!("write {noun} with its unit, as in \"{example}\"");
    let refuse = |what: &str| {
        Err(UnitError::new(
            format!("\"{}\" {what}", shorten(text)),
            &as_in,
        ))
    };
    if text.starts_with('-') {
        return refuse("is negative");
    }
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let malformed = whole.is_empty() || fraction.contains('.') || number.ends_with('.');
    if malformed {
        return refuse(&format!("is not {noun}"));
    }
    let digits = format!("{whole}{fraction}");
    if digits.len() > 20 {
        return refuse("has more than 20 digits");
    }
    if unit.starts_with(['e', 'E']) && unit[1..].starts_with(|c: char| "+-0123456789".contains(c)) {
        return refuse("has an exponent");
    }
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    if unit.starts_with(char::is_whitespace) {
        let help = format!("write \"{number}{}\"", shorten(unit.trim()));
        return Err(UnitError::new(
            format!(
                "\"{}\" has more than one space before its unit",
                shorten(text)
            ),
            help,
        ));
    }
    let digits = digits.parse().unwrap_or(u128::MAX);
    Ok((
        Decimal {
            text: number,
            digits,
            scale: fraction.len() as u32,
        },
        quantity.unit(unit),
    ))
}

/// Returns the message about a unit that is not one of `units`.
fn refuse_unit(quantity: &Quantity, units: &[&str], number: &str, unit: &str) -> UnitError {
    let list = units.join(", ");
    if unit.is_empty() {
        let first = quantity
            .example
            .trim_start_matches(|c: char| c.is_ascii_digit());
        return UnitError::new(
            format!("{number} has no unit"),
            format!("write \"{number}{first}\" (units: {list})"),
        );
    }
    if let Some((_, message, help)) = quantity.traps.iter().find(|trap| trap.0 == unit) {
        return UnitError::new(message.replace('#', number), help.replace('#', number));
    }
    let unit = shorten(unit);
    let spellings = quantity.spellings.iter().map(|spelling| &spelling.0);
    let mut same = units
        .iter()
        .chain(spellings)
        .filter(|known| known.eq_ignore_ascii_case(&unit));
    let help = match same.next() {
        Some(known) => format!("write \"{number}{known}\""),
        None => format!("units are {list}, as in \"{}\"", quantity.example),
    };
    UnitError::new(
        format!("\"{unit}\" is not a unit of {}", &quantity.noun[2..]),
        help,
    )
}

/// Reads one quantity as a whole number of its first unit.
fn parse(quantity: &Quantity, text: &str, min: u64, max: u64) -> Result<u64, UnitError> {
    let (number, unit) = split(quantity, text)?;
    let Some((name, factor)) = quantity.units.iter().find(|known| known.0 == unit) else {
        let units: Vec<&str> = quantity.units.iter().map(|unit| unit.0).collect();
        return Err(refuse_unit(quantity, &units, number.text, unit));
    };
    let base = quantity.units[0].0;
    let value = number.times(*factor).ok_or_else(|| {
        UnitError::new(
            format!("\"{}{name}\" is not a whole number of {base}", number.text),
            format!("write fewer decimals, as in \"{}\"", quantity.example),
        )
    })?;
    within(quantity, text, value, min, max)
}

/// Checks the bounds, and states both in the message.
fn within(
    quantity: &Quantity,
    text: &str,
    value: u128,
    min: u64,
    max: u64,
) -> Result<u64, UnitError> {
    if value >= u128::from(min) && value <= u128::from(max) {
        return Ok(value as u64);
    }
    let side = if value < u128::from(min) {
        "below the smallest"
    } else {
        "above the largest"
    };
    let (low, high) = (write(quantity, min), write(quantity, max));
    Err(UnitError::new(
        format!("\"{}\" is {side} value allowed here", shorten(text)),
        format!("write {} from {low} to {high}", quantity.noun),
    ))
}

/// Writes a value in the largest decimal unit that keeps it whole.
fn write(quantity: &Quantity, value: u64) -> String {
    if value == 0 {
        return format!("0{}", quantity.zero);
    }
    let decimal = |factor: u64| factor.to_string().trim_end_matches('0') == "1";
    let (unit, factor) = quantity
        .units
        .iter()
        .rev()
        .find(|(_, factor)| decimal(*factor) && value.is_multiple_of(*factor))
        .unwrap_or(&quantity.units[0]);
    format!("{}{unit}", value / factor)
}

/// Reads a rate (`2Mbps`): whole bits per second from 1 bps to 10 Tbps.
///
/// # Errors
/// Says what is wrong and what to write instead.
pub fn parse_rate(text: &str) -> Result<Rate, UnitError> {
    parse(&RATE, text, RATES.0, RATES.1).map(Rate)
}

/// Reads a time (`10ms`): whole picoseconds up to a million seconds.
///
/// # Errors
/// Says what is wrong and what to write instead.
pub fn parse_span(text: &str) -> Result<Span, UnitError> {
    parse_span_within(text, Span::ZERO, LONGEST)
}

/// Reads several times: one (`40ms`), a list (`20ms,80ms`), or a range (`20ms..534ms`).
///
/// # Errors
/// Says what is wrong and what to write instead.
pub fn parse_spans(text: &str) -> Result<StatedSpans, UnitError> {
    let Some((first, last)) = text.split_once("..") else {
        if let Some((first, last)) = text.split_once(['-', '\u{2013}'])
            && let Some((first, last)) = ends(first, last)
        {
            return Err(UnitError::new(
                format!("\"{}\" is not a range", shorten(text)),
                format!("write \"{first}..{last}\""),
            ));
        }
        let listed: Result<Vec<Span>, UnitError> = text
            .split(',')
            .map(|one| parse_span(one.trim_matches(' ')))
            .collect();
        return listed.map(StatedSpans::Listed);
    };
    let (first, last) = (first.trim_matches(' '), last.trim_matches(' '));
    if parse_span(first).is_err()
        && let Some((first, last)) = ends(first, last)
    {
        return Err(UnitError::new(
            format!("\"{}\" has a unit at one end only", shorten(text)),
            format!("write \"{first}..{last}\""),
        ));
    }
    let (from, to) = (parse_span(first)?, parse_span(last)?);
    if from > to {
        return Err(UnitError::new(
            format!("\"{}\" does not begin with the shorter time", shorten(text)),
            format!("write \"{last}..{first}\""),
        ));
    }
    Ok(StatedSpans::Range(from, to))
}

/// Returns two times that are the ends of a range; the first gets the unit of the second if it has
/// none.
fn ends(first: &str, last: &str) -> Option<(String, String)> {
    let (first, last) = (first.trim_matches(' '), last.trim_matches(' '));
    parse_span(last).ok()?;
    let bare = |c: char| c.is_ascii_digit() || c == '.';
    let unit = if first.chars().all(bare) {
        last.trim_start_matches(bare)
    } else {
        ""
    };
    let first = format!("{first}{unit}");
    parse_span(&first).ok()?;
    Some((first, last.to_owned()))
}

/// Reads a size (`536B`, `100kB`, `64KiB`): whole bytes up to a terabyte.
///
/// # Errors
/// Says what is wrong and what to write instead.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    parse_size_within(text, 0, LARGEST)
}

/// Reads a queue limit: packets (`100p`), bytes (`64KiB`), time at the link's rate (`50ms`),
/// bandwidth-delay products (`1.5bdp`), or `unlimited`.
///
/// # Errors
/// Says what is wrong and what to write instead.
pub fn parse_limit(text: &str) -> Result<StatedLimit, UnitError> {
    if text == "unlimited" {
        return Ok(StatedLimit::Unlimited);
    }
    let (number, unit) = split(&LIMIT, text)?;
    let known = |quantity: &Quantity| {
        let unit = quantity.unit(unit);
        quantity.units.iter().any(|known| known.0 == unit)
    };
    match unit {
        "p" => parse_packets_within(text, 0, MAX_PACKETS).map(StatedLimit::Packets),
        "bdp" => match number.times(MILLION) {
            Some(millionths) if millionths <= u128::from(MAX_BDP) => {
                Ok(StatedLimit::Bdp(millionths as u64))
            }
            _ => Err(UnitError::new(
                format!("\"{}\" is not a usable number of BDPs", shorten(text)),
                "write at most 1000000bdp with at most 6 decimals, as in \"1.5bdp\"",
            )),
        },
        _ if known(&SIZE) => parse_size(text).map(StatedLimit::Bytes),
        _ if known(&SPAN) => parse_span(text).map(StatedLimit::Time),
        _ => Err(refuse_limit(number.text, unit)),
    }
}

/// Returns the message about a unit other than packets, bytes, times and BDPs.
fn refuse_limit(number: &str, unit: &str) -> UnitError {
    let units = ["p", "B", "kB", "MB", "KiB", "MiB", "ms", "s", "bdp"];
    let trap = |quantity: &&Quantity| quantity.traps.iter().any(|trap| trap.0 == unit);
    let quantity = [&LIMIT, &SIZE, &SPAN]
        .into_iter()
        .find(trap)
        .unwrap_or(&LIMIT);
    refuse_unit(quantity, &units, number, unit)
}

/// Reads a share: `98%` or `0.98`, from 0 to 1.
///
/// # Errors
/// Says what is wrong and what to write instead.
pub fn parse_fraction(text: &str) -> Result<f64, UnitError> {
    let (number, percent) = match text.strip_suffix('%') {
        Some(number) => (number.strip_suffix(' ').unwrap_or(number), true),
        None => (text, false),
    };
    let plain = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let Some(value) = number.parse::<f64>().ok().filter(|_| plain) else {
        return Err(UnitError::new(
            format!("\"{}\" is not a share", shorten(text)),
            "write a percentage, as in \"98%\", or a number from 0 to 1",
        ));
    };
    let share = if percent { value / 100.0 } else { value };
    if share <= 1.0 {
        return Ok(share);
    }
    let help = if !percent && value <= 100.0 {
        format!("write \"{number}%\" for a percentage")
    } else {
        "write at most \"100%\"".to_owned()
    };
    Err(UnitError::new(
        format!("\"{}\" is above 100 %", shorten(text)),
        help,
    ))
}

/// Reads a time within bounds.
pub(crate) fn parse_span_within(text: &str, min: Span, max: Span) -> Result<Span, UnitError> {
    parse(&SPAN, text, min.0, max.0).map(Span)
}

/// Reads a size within bounds.
pub(crate) fn parse_size_within(text: &str, min: u64, max: u64) -> Result<u64, UnitError> {
    parse(&SIZE, text, min, max)
}

/// Reads a number of packets within bounds.
pub(crate) fn parse_packets_within(text: &str, min: u64, max: u64) -> Result<u64, UnitError> {
    parse(&PACKETS, text, min, max)
}

/// Writes a rate exactly, in its largest whole unit.
pub fn format_rate(rate: Rate) -> String {
    write(&RATE, rate.0)
}

/// Writes a time exactly, in its largest whole unit up to seconds.
pub fn format_span(span: Span) -> String {
    write(&SPAN, span.0)
}

/// Writes a time in seconds as a time that is read as the same number.
pub(crate) fn format_seconds(seconds: f64) -> String {
    let nearest = Span::from_secs_f64(seconds);
    // Above 2^52 ps the nearest span may differ by one or two steps of a float.
    let step = (nearest.0 >> 52).max(1);
    let around = (0..=8).map(|steps| {
        nearest
            .0
            .saturating_add(step * steps)
            .saturating_sub(4 * step)
    });
    let same = |span: &Span| span.as_secs_f64().to_bits() == seconds.to_bits();
    let exact = std::iter::once(nearest).chain(around.map(Span)).find(same);
    format_span(exact.unwrap_or(nearest))
}

/// Writes a size exactly, in its largest whole decimal unit.
pub fn format_size(bytes: u64) -> String {
    write(&SIZE, bytes)
}
