//! Typed reading of one value.

use crate::language::document::{Node, Value};
use crate::language::error::{Checked, Problem, nearest, shorten};
use crate::language::reader::Reader;
use crate::language::spec::{Key, Kind};
use crate::language::trace::rate_or_zero;
use crate::language::units::{
    StatedLimit, UnitError, parse_fraction, parse_limit, parse_packets_within, parse_rate,
    parse_size_within, parse_span_within,
};
use goodqueue_queue::Place;
use goodqueue_types::{Rate, Span};

/// A key's value with the data for messages about it.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    pub node: &'a Node,
    pub key: &'static Key,
    pub path: String,
    /// The link behind the queue, if the key is in a queue's table.
    pub place: Option<Place>,
}

impl<'a> Field<'a> {
    /// Returns a problem with this value.
    pub(crate) fn problem(&self, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem::new(self.node.at, self.path.clone(), message, help)
    }

    /// Returns the problem of a value of the wrong type.
    fn wrong(&self, wanted: &str) -> Problem {
        let found = self.node.value.describe();
        let message = format!("expected {wanted}, found {found}");
        self.problem(
            message,
            format!("write {} = {}, say", self.key.name, self.key.toml_example()),
        )
    }

    /// Parses a text with a unit. A bare number gets a message about units.
    fn with_unit<T>(
        &self,
        wanted: &str,
        parse: impl Fn(&str) -> Result<T, UnitError>,
    ) -> Checked<T> {
        let (Value::Text(text) | Value::Integer(text, _) | Value::Float(text, _)) =
            &self.node.value
        else {
            return Err(self.wrong(wanted));
        };
        let parsed = parse(text);
        if matches!(self.node.value, Value::Text(_)) {
            return parsed.map_err(|error| self.problem(error.message, error.help));
        }
        // The value is a number without a unit.
        Err(match parsed {
            Err(error) => self.problem(error.message, error.help),
            Ok(_) => self.wrong(wanted),
        })
    }

    /// Returns the alternative of this key's kind that `pick` accepts.
    pub(super) fn alternative<T>(&self, pick: impl Fn(Kind) -> Option<T>) -> T {
        let found = search(self.key.kind, &pick);
        let Some(found) = found else {
            unreachable!("{} is of another kind", self.path)
        };
        found
    }

    pub(crate) fn rate(&self) -> Checked<Rate> {
        self.with_unit("a rate", parse_rate)
    }

    /// Returns a rate, which may be zero.
    pub(crate) fn rate_or_zero(&self) -> Checked<Rate> {
        self.with_unit("a rate", rate_or_zero)
    }

    pub(crate) fn span(&self) -> Checked<Span> {
        let (min, max) = self.alternative(|kind| match kind {
            Kind::Span { min, max } => Some((min, max)),
            _ => None,
        });
        self.with_unit("a time", |text| parse_span_within(text, min, max))
    }

    pub(crate) fn size(&self) -> Checked<u64> {
        let (min, max) = self.alternative(|kind| match kind {
            Kind::Size { min, max } => Some((min, max)),
            _ => None,
        });
        self.with_unit("a size", |text| parse_size_within(text, min, max))
    }

    pub(crate) fn packets(&self) -> Checked<u64> {
        let (min, max) = self.alternative(|kind| match kind {
            Kind::Packets { min, max } => Some((min, max)),
            _ => None,
        });
        self.with_unit("a number of packets", |text| {
            parse_packets_within(text, min, max)
        })
    }

    pub(crate) fn limit(&self) -> Checked<StatedLimit> {
        self.with_unit("a queue limit", parse_limit)
    }

    /// Returns a share: a percentage as text, or a number.
    pub(crate) fn fraction(&self) -> Checked<f64> {
        let (Value::Text(text) | Value::Integer(text, _) | Value::Float(text, _)) =
            &self.node.value
        else {
            return Err(self.wrong("a share"));
        };
        parse_fraction(text).map_err(|error| self.problem(error.message, error.help))
    }

    pub(crate) fn integer(&self) -> Checked<u64> {
        let (min, max) = self.alternative(|kind| match kind {
            Kind::Integer { min, max } => Some((min, max)),
            _ => None,
        });
        let Value::Integer(text, value) = &self.node.value else {
            return Err(self.wrong("a whole number"));
        };
        value
            .and_then(|value| u64::try_from(value).ok())
            .filter(|value| (min..=max).contains(value))
            .ok_or_else(|| {
                let message = format!("{} is out of range", shorten(text));
                let help = if min == max {
                    format!("write {} = {min}", self.key.name)
                } else {
                    format!("write a whole number from {min} to {max}")
                };
                self.problem(message, help)
            })
    }

    pub(crate) fn number(&self) -> Checked<f64> {
        let (min, max) = self.alternative(|kind| match kind {
            Kind::Number { min, max } => Some((min, max)),
            _ => None,
        });
        let (text, value) = match &self.node.value {
            Value::Integer(text, Some(value)) => (text, *value as f64),
            Value::Float(text, value) => (text, *value),
            _ => return Err(self.wrong("a number")),
        };
        if (min..=max).contains(&value) {
            return Ok(value);
        }
        let message = format!("{} is out of range", shorten(text));
        Err(self.problem(message, format!("write a number from {min} to {max}")))
    }

    pub(crate) fn flag(&self) -> Checked<bool> {
        match &self.node.value {
            Value::Flag(flag) => Ok(*flag),
            other => Err(self.problem(
                format!("expected true or false, found {}", other.describe()),
                format!(
                    "write {0} = true or {0} = false, without quotes",
                    self.key.name
                ),
            )),
        }
    }

    pub(crate) fn text(&self) -> Checked<String> {
        match (&self.node.raw, &self.node.value) {
            (_, Value::Text(text)) | (Some(text), _) => Ok(text.clone()),
            _ => Err(self.wrong("a text in quotes")),
        }
    }

    /// Returns a name that can be a part of a path.
    pub(crate) fn name(&self) -> Checked<String> {
        let name = self.text()?;
        let plain = name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if plain && (1..=64).contains(&name.len()) {
            return Ok(name);
        }
        let message = format!("\"{}\" cannot be a name", shorten(&name));
        Err(self.problem(
            message,
            "use 1 to 64 letters of a to z or A to Z, digits, \"-\" and \"_\"",
        ))
    }

    pub(crate) fn choice(&self) -> Checked<&'static str> {
        let words = self.alternative(|kind| match kind {
            Kind::Choice(words) => Some(words),
            _ => None,
        });
        let Value::Text(text) = &self.node.value else {
            return Err(self.wrong("a word"));
        };
        words
            .iter()
            .find(|word| *word == text)
            .copied()
            .ok_or_else(|| {
                let list = words.join("\", \"");
                let help = match nearest(text, words.iter().copied()) {
                    Some(near) => format!("did you mean \"{near}\"? (of \"{list}\")"),
                    None if words.len() == 1 => format!("write \"{list}\""),
                    None => format!("choose one of \"{list}\""),
                };
                self.problem(format!("\"{}\" is not a choice here", shorten(text)), help)
            })
    }

    /// Returns distinct whole numbers in ascending order.
    pub(crate) fn integers(&self) -> Checked<Vec<u64>> {
        let Value::List(items) = &self.node.value else {
            return Err(self.wrong("a list of whole numbers"));
        };
        let max = self.alternative(|kind| match kind {
            Kind::Integers { max } => Some(max),
            _ => None,
        });
        let mut numbers = Vec::with_capacity(items.len());
        for node in items {
            let problem = |message: String| {
                let help = format!("write {} = {}, say", self.key.name, self.key.toml_example());
                Problem::new(node.at, self.path.clone(), message, help)
            };
            let Value::Integer(text, value) = &node.value else {
                let what = node.value.describe();
                return Err(problem(format!("expected a whole number, found {what}")));
            };
            match value.and_then(|value| u64::try_from(value).ok()) {
                Some(value) if value <= max => numbers.push(value),
                _ => return Err(problem(format!("{} is out of range", shorten(text)))),
            }
        }
        numbers.sort_unstable();
        match numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(self.problem(
                format!("the list contains {} twice", pair[0]),
                "name each number once",
            )),
            None => Ok(numbers),
        }
    }

    /// Returns a fixed number of whole numbers in order.
    pub(crate) fn numbers(&self) -> Checked<Vec<u8>> {
        let (count, max) = self.alternative(|kind| match kind {
            Kind::Numbers { count, max } => Some((count, max)),
            _ => None,
        });
        let problem = || {
            let message = format!("{count} whole numbers from 0 to {max} belong here");
            self.problem(
                message,
                format!("write {} = {}", self.key.name, self.key.toml_example()),
            )
        };
        let Value::List(items) = &self.node.value else {
            return Err(problem());
        };
        let numbers = items.iter().map(|item| match &item.value {
            Value::Integer(_, Some(value)) => u8::try_from(*value).ok(),
            _ => None,
        });
        let numbers: Option<Vec<u8>> = numbers.collect();
        numbers
            .filter(|numbers| {
                numbers.len() == count && numbers.iter().all(|n| u64::from(*n) <= max)
            })
            .ok_or_else(problem)
    }

    /// Returns this value as a list of such values.
    pub(crate) fn items(&self) -> Checked<Vec<Field<'a>>> {
        let Value::List(items) = &self.node.value else {
            return Err(self.wrong("a list"));
        };
        let field = |(index, node)| Field {
            node,
            path: format!("{}.{index}", self.path),
            ..*self
        };
        Ok(items.iter().enumerate().map(field).collect())
    }

    /// Returns this value as a table of fixed keys.
    pub(crate) fn table(&self) -> Checked<Reader<'a>> {
        let spec = self.alternative(|kind| match kind {
            Kind::Table(spec) => Some(spec),
            _ => None,
        });
        Reader::open(self.node, spec, self.path.clone())
    }

    /// Returns this value as a list of tables.
    pub(crate) fn tables(&self) -> Checked<Vec<Reader<'a>>> {
        let spec = self.alternative(|kind| match kind {
            Kind::List(spec) => Some(spec),
            _ => None,
        });
        let Value::List(items) = &self.node.value else {
            let found = self.node.value.describe();
            return Err(self.problem(
                format!("expected a list of tables, found {found}"),
                format!("write {} with double brackets", self.key.toml_example()),
            ));
        };
        items
            .iter()
            .enumerate()
            .map(|(index, node)| Reader::open(node, spec, format!("{}.{index}", self.path)))
            .collect()
    }

    /// Returns true if this value is a table, for keys that allow one.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.node.value, Value::Table(_))
    }

    /// Returns true if this value is a list, for keys that allow one.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.node.value, Value::List(_))
    }

    /// Returns the text, if it is one, for keys of several kinds.
    pub(crate) fn as_text(&self) -> Option<&'a str> {
        match &self.node.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Returns the first result of `pick` for a kind, one of its alternatives, or the kind of its
/// items.
pub(crate) fn search<T>(kind: Kind, pick: &impl Fn(Kind) -> Option<T>) -> Option<T> {
    pick(kind).or_else(|| match kind {
        Kind::Either(kinds) => kinds.iter().find_map(|kind| search(*kind, pick)),
        Kind::ListOf(kind) => search(*kind, pick),
        _ => None,
    })
}
