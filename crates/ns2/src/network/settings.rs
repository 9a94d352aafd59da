//! An object's class and variables.

use super::classes;
use crate::error::{ImportError, quoted, refuse};
use crate::tcl::parse_number;
use std::collections::BTreeMap;

/// The class of an object and the variables that the script has set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub class: String,
    pub set: BTreeMap<String, String>,
    /// Line of the last change.
    pub line: u32,
}

impl Settings {
    /// Returns a variable's text: as set, or its default.
    pub fn text(&self, variable: &str) -> &str {
        match self.set.get(variable) {
            Some(value) => value,
            None => classes::default(&self.class, variable).unwrap_or("0"),
        }
    }

    fn wrong(&self, variable: &str, what: &str) -> ImportError {
        let value = quoted(self.text(variable));
        let message = format!("{variable} of {} is {value}", self.class);
        refuse(self.line, message, format!("write {what}"))
    }

    pub fn number(&self, variable: &str) -> Result<f64, ImportError> {
        parse_number(self.text(variable)).ok_or_else(|| self.wrong(variable, "a number"))
    }

    /// Returns a count from `least` to a thousand million.
    pub fn count(&self, variable: &str, least: u64) -> Result<u64, ImportError> {
        let number = self.number(variable)?;
        let fits = number >= least as f64 && number <= 1e9;
        let count = fits.then_some(number as u64);
        count.ok_or_else(|| self.wrong(variable, &format!("a number from {least} to 1000000000")))
    }

    pub fn truth(&self, variable: &str) -> Result<bool, ImportError> {
        match self.text(variable) {
            "true" | "t" | "T" | "True" => Ok(true),
            "false" | "f" | "F" | "False" => Ok(false),
            _ => Ok(self.number(variable)? != 0.0),
        }
    }

    /// Returns a time in seconds.
    pub fn time(&self, variable: &str) -> Result<f64, ImportError> {
        time(self.text(variable)).ok_or_else(|| self.wrong(variable, "a time such as 100ms"))
    }

    /// Returns a rate in bits per second.
    pub fn rate(&self, variable: &str) -> Result<f64, ImportError> {
        rate(self.text(variable)).ok_or_else(|| self.wrong(variable, "a rate such as 1Mb"))
    }

    /// Returns the time between the packets of a source of datagrams, in seconds.
    pub fn packet_interval(&self) -> Result<f64, ImportError> {
        if self.set.contains_key("interval_") {
            return self.time("interval_");
        }
        let bps = self.rate("rate_")?;
        if bps < 1.0 {
            return Err(self.wrong("rate_", "a rate such as 1Mb"));
        }
        Ok(self.count("packetSize_", 1)? as f64 * 8.0 / bps)
    }

    /// True if a variable has the number that it has in ns-2 by default.
    pub fn is_default(&self, variable: &str) -> Result<bool, ImportError> {
        let default = classes::default(&self.class, variable).and_then(parse_number);
        let value = self.number(variable)?;
        Ok(default.is_some_and(|default| default.total_cmp(&value).is_eq()))
    }

    /// Refuses the variables of ns-2 that have been changed and are not among `known`. Returns those
    /// that ns-2 does not have.
    pub fn check(&self, known: &[&str]) -> Result<Vec<String>, ImportError> {
        let mut without_effect = Vec::new();
        for (variable, value) in &self.set {
            if known.contains(&&**variable) || classes::harmless(&self.class, variable) {
                continue;
            }
            let Some(default) = classes::default(&self.class, variable) else {
                without_effect.push(variable.clone());
                continue;
            };
            let same = match (parse_number(value), parse_number(default)) {
                (Some(a), Some(b)) => a.total_cmp(&b).is_eq(),
                _ => is_true(value) == is_true(default),
            };
            if !same {
                let message = format!("{variable} of {} has no equivalent here", self.class);
                return Err(refuse(self.line, message, format!("leave it at {default}")));
            }
        }
        Ok(without_effect)
    }
}

fn is_true(text: &str) -> bool {
    matches!(text, "true" | "1" | "t")
}

/// Splits a number from its unit.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|(place, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && text[place + 1..]
                    .starts_with(|next: char| next.is_ascii_digit() || "+-".contains(next));
            !(c.is_ascii_digit() || "+-.".contains(*c) || exponent)
        })
        .map_or(text.len(), |(place, _)| place);
    Some((parse_number(&text[..end])?, text[end..].trim()))
}

/// Returns a rate of ns-2 in bits per second: `10Mb`, `1.5M`, `64k`, `100kB`, `1e6`. A large B means bytes.
pub fn rate(text: &str) -> Option<f64> {
    let (number, unit) = split_unit(text)?;
    let mut rest = unit.chars().peekable();
    let scale = match rest.peek().map(char::to_ascii_lowercase) {
        Some('k') => 1e3,
        Some('m') => 1e6,
        Some('g') => 1e9,
        Some('t') => 1e12,
        _ => 1.0,
    };
    if scale > 1.0 {
        rest.next();
    }
    let bits = match rest.collect::<String>().as_str() {
        "" | "b" | "bps" | "b/s" | "bit" | "bits" => 1.0,
        "B" => 8.0,
        _ => return None,
    };
    let bps = number * scale * bits;
    (0.0..=1e13).contains(&bps).then_some(bps)
}

/// Returns a time in picoseconds.
pub fn picoseconds(seconds: f64) -> u64 {
    (seconds * 1e12).round() as u64
}

/// Returns a time of ns-2 in seconds: `10ms`, `10m` (milliseconds), `5us`, `0.01`.
pub fn time(text: &str) -> Option<f64> {
    let (number, unit) = split_unit(text)?;
    let scale = match unit {
        "" | "s" | "sec" => 1.0,
        "m" | "ms" | "msec" => 1e-3,
        "u" | "us" | "usec" => 1e-6,
        "n" | "ns" => 1e-9,
        "p" | "ps" => 1e-12,
        _ => return None,
    };
    let seconds = number * scale;
    (0.0..=1e6).contains(&seconds).then_some(seconds)
}
