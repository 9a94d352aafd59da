//! Operators and functions of expressions.

use super::text::{Text, parse_number, parse_whole};
use crate::error::quoted;

/// Functions by name.
pub const FUNCTIONS: &[&str] = &[
    "abs", "ceil", "double", "exp", "floor", "fmod", "int", "log", "log10", "max", "min", "pow",
    "rand", "round", "sqrt",
];

/// An operand.
#[derive(Clone, Debug)]
pub enum Value {
    Whole(i64),
    Real(f64),
    Text(String),
    /// A value that only a simulation knows.
    Measured,
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Whole(i64::from(truth))
    }
}

impl Value {
    pub fn read(text: &Text) -> Self {
        if text.is_measured() {
            Self::Measured
        } else if let Some(whole) = parse_whole(&text.text) {
            Self::Whole(whole)
        } else if let Some(real) = parse_number(&text.text) {
            Self::Real(real)
        } else {
            Self::Text(text.text.to_string())
        }
    }

    pub fn into_text(self) -> Text {
        match self {
            Self::Whole(whole) => Text::new(whole.to_string()),
            Self::Real(real) => Text::new(format!("{real:?}")),
            Self::Text(text) => Text::new(text),
            Self::Measured => Text::measured(),
        }
    }

    fn real(&self) -> Result<f64, String> {
        match self {
            Self::Whole(whole) => Ok(*whole as f64),
            Self::Real(real) => Ok(*real),
            Self::Text(text) => Err(format!("{} is not a number", quoted(text))),
            Self::Measured => Ok(0.0),
        }
    }

    fn whole(&self) -> Result<i64, String> {
        match self {
            Self::Whole(whole) => Ok(*whole),
            _ => Err("the operator needs whole numbers".to_owned()),
        }
    }
}

/// Returns a finite number as a value.
fn finite(value: f64) -> Result<Value, String> {
    if value.is_finite() {
        Ok(Value::Real(value))
    } else {
        Err("the result is no finite number".to_owned())
    }
}

/// Returns the truth of a value; None if it is measured.
pub fn truth(value: &Value) -> Result<Option<bool>, String> {
    match value {
        Value::Measured => Ok(None),
        Value::Text(text) => match &*text.to_lowercase() {
            "true" | "yes" | "on" => Ok(Some(true)),
            "false" | "no" | "off" => Ok(Some(false)),
            _ => Err(format!("{} is neither true nor false", quoted(text))),
        },
        number => Ok(Some(number.real()? != 0.0)),
    }
}

pub fn unary(sign: u8, value: &Value) -> Result<Value, String> {
    match (sign, value) {
        (_, Value::Measured) => Ok(Value::Measured),
        (b'!', value) => Ok(Value::from(truth(value)? == Some(false))),
        (b'~', value) => Ok(Value::Whole(!value.whole()?)),
        (b'-', Value::Whole(whole)) => match whole.checked_neg() {
            Some(negative) => Ok(Value::Whole(negative)),
            None => finite(-(*whole as f64)),
        },
        (b'-', value) => finite(-value.real()?),
        (_, value) => {
            value.real()?;
            Ok(value.clone())
        }
    }
}

pub fn binary(operator: &str, left: &Value, right: &Value) -> Result<Value, String> {
    if matches!(left, Value::Measured) || matches!(right, Value::Measured) {
        return Ok(Value::Measured);
    }
    let texts = matches!(left, Value::Text(_)) || matches!(right, Value::Text(_));
    if matches!(operator, "eq" | "ne") || (texts && is_comparison(operator)) {
        let (a, b) = (left.clone().into_text(), right.clone().into_text());
        return Ok(Value::from(compare(operator, a.text.cmp(&b.text))));
    }
    if let (Value::Whole(a), Value::Whole(b)) = (left, right) {
        return whole(operator, *a, *b);
    }
    let (a, b) = (left.real()?, right.real()?);
    match operator {
        "+" => finite(a + b),
        "-" => finite(a - b),
        "*" => finite(a * b),
        "/" if b == 0.0 => Err("the expression divides by zero".to_owned()),
        "/" => finite(a / b),
        _ if is_comparison(operator) => {
            let order = a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal);
            Ok(Value::from(compare(operator, order)))
        }
        _ => Err(format!("{} needs whole numbers", quoted(operator))),
    }
}

fn is_comparison(operator: &str) -> bool {
    matches!(
        operator,
        "==" | "!=" | "<" | ">" | "<=" | ">=" | "eq" | "ne"
    )
}

fn compare(operator: &str, order: std::cmp::Ordering) -> bool {
    match operator {
        "==" | "eq" => order.is_eq(),
        "!=" | "ne" => order.is_ne(),
        "<" => order.is_lt(),
        ">" => order.is_gt(),
        "<=" => order.is_le(),
        _ => order.is_ge(),
    }
}

/// Applies an operator to whole numbers. What overflows becomes a real number.
fn whole(operator: &str, a: i64, b: i64) -> Result<Value, String> {
    if is_comparison(operator) {
        return Ok(Value::from(compare(operator, a.cmp(&b))));
    }
    if b == 0 && matches!(operator, "/" | "%") {
        return Err("the expression divides by zero".to_owned());
    }
    let shift = u32::try_from(b).ok().filter(|shift| *shift < 63);
    let (exact, real) = match operator {
        "+" => (a.checked_add(b), a as f64 + b as f64),
        "-" => (a.checked_sub(b), a as f64 - b as f64),
        "*" => (a.checked_mul(b), a as f64 * b as f64),
        "/" => (floor_quotient(a, b), a as f64 / b as f64),
        "%" => (
            a.checked_rem_euclid(b)
                .map(|r| if b < 0 && r != 0 { r + b } else { r }),
            0.0,
        ),
        "<<" => (shift.and_then(|shift| a.checked_mul(1 << shift)), f64::NAN),
        ">>" => (shift.map(|shift| a >> shift), f64::NAN),
        "&" => (Some(a & b), 0.0),
        "|" => (Some(a | b), 0.0),
        _ => (Some(a ^ b), 0.0),
    };
    match exact {
        Some(exact) => Ok(Value::Whole(exact)),
        None => finite(real),
    }
}

/// Returns the quotient rounded towards minus infinity.
fn floor_quotient(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div_euclid(b)?;
    let lower = b < 0 && a.rem_euclid(b) != 0;
    Some(if lower { quotient - 1 } else { quotient })
}

/// Applies a function of [`FUNCTIONS`] other than `rand`.
pub fn function(name: &str, arguments: &[Value]) -> Result<Value, String> {
    if arguments.iter().any(|one| matches!(one, Value::Measured)) {
        return Ok(Value::Measured);
    }
    let whole = |value: f64| {
        if value.abs() < 9e15 {
            Ok(Value::Whole(value as i64))
        } else {
            finite(value)
        }
    };
    match (name, arguments) {
        ("min" | "max", [first, rest @ ..]) => {
            let mut best = first.clone();
            for other in rest {
                if (other.real()? < best.real()?) == (name == "min") {
                    best = other.clone();
                }
            }
            best.real()?;
            Ok(best)
        }
        ("abs", [Value::Whole(value)]) if *value != i64::MIN => Ok(Value::Whole(value.abs())),
        (_, [one]) => {
            let x = one.real()?;
            match name {
                "abs" => finite(x.abs()),
                "double" => finite(x),
                "int" => whole(x.trunc()),
                "round" => whole(x.round()),
                "ceil" => finite(x.ceil()),
                "floor" => finite(x.floor()),
                "sqrt" => finite(x.sqrt()),
                "exp" => finite(libm::exp(x)),
                "log" => finite(libm::log(x)),
                "log10" => finite(libm::log10(x)),
                _ => Err(format!("{name} takes other arguments")),
            }
        }
        ("pow", [a, b]) => finite(libm::pow(a.real()?, b.real()?)),
        ("fmod", [a, b]) => finite(a.real()? % b.real()?),
        _ => Err(format!("{name} takes other arguments")),
    }
}
