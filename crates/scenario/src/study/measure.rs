//! Numbers with units in a common unit, for ranges, comparisons and columns of results.

use crate::language::document::{Node, Value};
use crate::language::error::Origin;
use crate::language::units::{UNITS, canonical};

/// Unit of a column: the end of its name, and the accepted units with their factors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dimension {
    pub suffix: &'static str,
    units: &'static [(&'static str, u64)],
    /// Units of the lists above in one unit of the column.
    base: f64,
}

impl PartialEq for Dimension {
    fn eq(&self, other: &Self) -> bool {
        self.suffix == other.suffix && self.units == other.units
    }
}

const DIMENSIONS: [Dimension; 7] = [
    dimension("", &[("", 1)], 1.0),
    dimension("", &[("%", 1)], 100.0),
    dimension("_packets", &[("p", 1)], 1.0),
    dimension("_bdp", &[("bdp", 1)], 1.0),
    dimension("_bps", UNITS[0], 1.0),
    dimension("_s", UNITS[1], 1e12),
    dimension("_bytes", UNITS[2], 1.0),
];

const fn dimension(
    suffix: &'static str,
    units: &'static [(&'static str, u64)],
    base: f64,
) -> Dimension {
    Dimension {
        suffix,
        units,
        base,
    }
}

/// A number and its unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub dimension: Dimension,
    /// Value in the column's unit.
    pub value: f64,
    /// Index of the unit in which it was written.
    unit: usize,
    /// True if it was written without decimals or unit.
    pub count: bool,
}

impl PartialEq for Measured {
    fn eq(&self, other: &Self) -> bool {
        self.dimension == other.dimension && self.value.total_cmp(&other.value).is_eq()
    }
}

/// Returns a value in its column's unit, if it is a number.
pub(crate) fn measure(node: &Node) -> Option<Measured> {
    let (text, count) = match &node.value {
        Value::Text(text) => (text, false),
        Value::Integer(text, Some(_)) => (text, true),
        Value::Float(text, value) if value.is_finite() => (text, false),
        _ => return None,
    };
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let (number, unit) = match &node.value {
        Value::Text(_) => text.split_at(text.find(|c| !is_number(c)).unwrap_or(text.len())),
        _ => (text.as_str(), ""),
    };
    let unit = canonical(unit.strip_prefix(' ').unwrap_or(unit));
    if unit.is_empty() && matches!(node.value, Value::Text(_)) {
        return None;
    }
    let number: f64 = match &node.value {
        Value::Integer(_, Some(value)) => *value as f64,
        Value::Float(_, value) => *value,
        _ => number.parse().ok()?,
    };
    DIMENSIONS.iter().find_map(|dimension| {
        let index = dimension.units.iter().position(|(name, _)| *name == unit)?;
        // The product is computed before the quotient, so that 10 ms are 0.01 s to the last bit.
        let value = number * dimension.units[index].1 as f64 / dimension.base;
        Some(Measured {
            dimension: *dimension,
            value,
            unit: index,
            count,
        })
    })
}

/// Converts a number with its unit to the form of a result's column: `10 Mb/s` to 10,000,000 and
/// `_bps`, the end of the column's name. Returns `None` for anything else.
pub fn measure_text(text: &str) -> Option<(f64, &'static str)> {
    let node = Node {
        value: Value::Text(text.to_owned()),
        at: Origin::File(0),
        raw: None,
    };
    measure(&node).map(|measured| (measured.value, measured.dimension.suffix))
}

impl Measured {
    /// Writes another number in the unit of this one, with six digits, and with the decimals of a
    /// whole number of bits, bytes, packets or picoseconds.
    pub(crate) fn write(&self, value: f64) -> Value {
        let (name, factor) = self.dimension.units[self.unit];
        let number = value * self.dimension.base / factor as f64;
        let magnitude = if number == 0.0 {
            0
        } else {
            libm::floor(libm::log10(number.abs())) as i32
        };
        let decimals = (5 - magnitude).clamp(0, self.decimals()) as usize;
        let text = format!("{number:.decimals$}");
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        };
        if name.is_empty() {
            return match text.parse() {
                Ok(whole) if self.count => Value::Integer(text, Some(whole)),
                _ => Value::Float(text, number),
            };
        }
        Value::Text(text + name)
    }

    /// Returns the number of decimals that this unit may have.
    fn decimals(&self) -> i32 {
        let factor = self.dimension.units[self.unit].1;
        match self.dimension.suffix {
            "" if self.count => 0,
            "" | "_bdp" => 6,
            _ if factor.is_multiple_of(10) => libm::round(libm::log10(factor as f64)) as i32,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(value: Value) -> Node {
        Node {
            value,
            at: Origin::File(0),
            raw: None,
        }
    }

    fn text(text: &str) -> Measured {
        measure(&node(Value::Text(text.to_owned()))).expect(text)
    }

    #[test]
    fn values_are_converted_to_the_units_of_their_columns() {
        for (written, suffix, value) in [
            ("10ms", "_s", 0.01),
            ("2.5Mbps", "_bps", 2_500_000.0),
            ("64KiB", "_bytes", 65_536.0),
            ("100p", "_packets", 100.0),
            ("1.5bdp", "_bdp", 1.5),
            ("12.5%", "", 0.125),
            ("10 Mb/s", "_bps", 10_000_000.0),
            ("44.9 Mbit/s", "_bps", 44_900_000.0),
            ("3 \u{b5}s", "_s", 0.000_003),
            ("8 packets", "_packets", 8.0),
            ("2 BDP", "_bdp", 2.0),
        ] {
            let found = text(written);
            assert_eq!(
                (found.dimension.suffix, found.value),
                (suffix, value),
                "{written}"
            );
        }
        assert!(measure(&node(Value::Text("100".into()))).is_none());
        for other in ["reno", "2  Mbps", "2 mbps", "1.2.3s", "-1s", ".", "Mbps"] {
            assert!(measure_text(other).is_none(), "{other}");
        }
    }

    #[test]
    fn numbers_between_are_written_in_the_same_unit() {
        let written = |like: &str, value| match text(like).write(value) {
            Value::Text(text) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(written("1Mbps", 3_162_277.66), "3.16228Mbps");
        assert_eq!(written("1bps", 3.4), "3bps");
        assert_eq!(written("10p", 31.6), "32p");
        assert_eq!(written("1kB", 1_234.567), "1.235kB");
        assert_eq!(written("10ms", 0.1), "100ms");
        assert_eq!(written("1KiB", 2048.0), "2KiB");
        assert_eq!(written("1%", 0.125), "12.5%");
    }
}
