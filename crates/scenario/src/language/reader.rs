//! Typed reading of one table against its list of keys.

use crate::language::document::{Node, Table, Value};
use crate::language::error::{Checked, Origin, Problem, nearest, shorten};
use crate::language::spec::{Key, Kind, REQUIRED, Spec, variants};
use crate::language::trace::rate_or_zero;
use crate::language::units::{
    StatedLimit, UnitError, parse_fraction, parse_limit, parse_packets_within, parse_rate,
    parse_size_within, parse_span_within,
};
use goodqueue_queue::Place;
use goodqueue_types::parameters::{self, Given, Refusal};
use goodqueue_types::{Rate, Span};

/// A table whose keys are all known.
pub(crate) struct Reader<'a> {
    table: &'a Table,
    spec: &'static Spec,
    path: String,
    /// Place of the table itself, which locates a missing key.
    pub at: Origin,
    place: Option<Place>,
}

/// A key's value with the data for messages about it.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    pub node: &'a Node,
    pub key: &'static Key,
    pub path: String,
    /// The link behind the queue, if the key is in a queue's table.
    pub place: Option<Place>,
}

impl<'a> Reader<'a> {
    /// Opens a table, and refuses keys that are not in the list.
    pub(crate) fn open(node: &'a Node, spec: &'static Spec, path: String) -> Checked<Self> {
        let Value::Table(table) = &node.value else {
            let example = if path.is_empty() {
                "key = value"
            } else {
                "{ key = value, … }"
            };
            return Err(Problem::new(
                node.at,
                path,
                format!("expected a table, found {}", node.value.describe()),
                format!("write a table of keys, as in {example}"),
            ));
        };
        let reader = Self {
            table,
            spec,
            path,
            at: node.at,
            place: None,
        };
        let unknown = table
            .entries
            .iter()
            .filter(|entry| spec.keys.iter().all(|key| key.name != entry.name))
            .min_by_key(|entry| match entry.at {
                Origin::File(offset) => offset,
                Origin::Override(index) => index,
            });
        match unknown {
            Some(entry) => Err(reader.unknown_key(&entry.name, entry.at)),
            None => Ok(reader),
        }
    }

    fn unknown_key(&self, name: &str, at: Origin) -> Problem {
        let names: Vec<&str> = self.spec.keys.iter().map(|key| key.name).collect();
        let help = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("the keys of this table are {}", names.join(", ")),
        };
        let message = format!("\"{}\" is not a key of {}", shorten(name), self.spec.name);
        Problem::new(at, self.path_of(name), message, help)
    }

    /// Returns the full path of a key of this table.
    pub(crate) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }

    /// Returns the value of a key, if given.
    pub(crate) fn get(&self, name: &str) -> Option<Field<'a>> {
        let key = self.spec.keys.iter().find(|key| key.name == name);
        debug_assert!(
            key.is_some(),
            "{name} is not in the list of {}",
            self.spec.name
        );
        let node = self.table.get(name)?;
        Some(Field {
            node,
            key: key?,
            path: self.path_of(name),
            place: self.place,
        })
    }

    /// Returns the value of a key that must be given.
    pub(crate) fn require(&self, name: &str) -> Checked<Field<'a>> {
        self.get(name).ok_or_else(|| self.missing(name))
    }

    /// Returns the message for a required key that is missing.
    pub(crate) fn missing(&self, name: &str) -> Problem {
        let key = self.spec.keys.iter().find(|key| key.name == name);
        let (message, help) = key.map_or_else(Default::default, Key::missing);
        Problem::new(self.at, self.path_of(name), message, help)
    }

    /// Returns a problem with the table as a whole, placed at one of its keys if given. The name may
    /// be a path, as `steps.0.at`.
    pub(crate) fn problem(
        &self,
        name: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Problem {
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        let node = self.table.get(first);
        let node = node.map(|node| rest.split('.').fold(node, |node, part| inside(node, part)));
        let at = node.map_or(self.at, |node| node.at);
        Problem::new(at, self.path_of(name), message, help)
    }

    /// Turns the refusal of a parameter into a problem with this table.
    pub(crate) fn accept<T>(&self, result: Result<T, Refusal>) -> Checked<T> {
        result.map_err(|refusal| self.problem(&refusal.key, refusal.message, refusal.help))
    }

    /// Returns the link behind this table's queue.
    pub(crate) fn place(&self) -> Place {
        let Some(place) = self.place else {
            unreachable!("{} is no queue's table", self.path)
        };
        place
    }

    /// Returns the same table before a link with another rate.
    pub(crate) fn at_rate(&self, rate: Rate) -> Self {
        let place = Some(Place {
            rate,
            ..self.place()
        });
        Self {
            path: self.path.clone(),
            place,
            ..*self
        }
    }

    /// Returns the values that the table gives, in the order of its keys, without the key `tag` that
    /// chose the table.
    pub(crate) fn given(&self, tag: &str) -> Checked<Given> {
        self.given_by(tag, crate::language::value::read)
    }

    /// Returns the same values, each read by this function.
    pub(crate) fn given_by(
        &self,
        tag: &str,
        read: impl Fn(&Field<'a>) -> Checked<parameters::Value>,
    ) -> Checked<Given> {
        let keys = self.spec.keys.iter().filter(|key| key.name != tag);
        let given = keys.filter_map(|key| {
            let field = self.get(key.name)?;
            Some(read(&field).map(|value| (key, value)))
        });
        given.collect::<Checked<_>>().map(Given)
    }

    /// Checks that all required keys are given.
    pub(crate) fn check_required(&self) -> Checked<()> {
        let mut required = self.spec.keys.iter().filter(|key| key.default == REQUIRED);
        let missing = required.find(|key| self.table.get(key.name).is_none());
        missing.map_or(Ok(()), |key| Err(self.missing(key.name)))
    }

    /// Opens the table at a key of this table.
    pub(crate) fn table(&self, name: &str) -> Checked<Option<Reader<'a>>> {
        self.get(name).map(|field| field.table()).transpose()
    }

    pub(crate) fn rate(&self, name: &str) -> Checked<Option<Rate>> {
        self.get(name).map(|field| field.rate()).transpose()
    }

    pub(crate) fn span(&self, name: &str) -> Checked<Option<Span>> {
        self.get(name).map(|field| field.span()).transpose()
    }

    pub(crate) fn integer(&self, name: &str) -> Checked<Option<u64>> {
        self.get(name).map(|field| field.integer()).transpose()
    }

    pub(crate) fn flag(&self, name: &str) -> Checked<Option<bool>> {
        self.get(name).map(|field| field.flag()).transpose()
    }

    pub(crate) fn choice(&self, name: &str) -> Checked<Option<&'static str>> {
        self.get(name).map(|field| field.choice()).transpose()
    }

    pub(crate) fn text(&self, name: &str) -> Checked<Option<String>> {
        self.get(name).map(|field| field.text()).transpose()
    }

    pub(crate) fn name(&self, name: &str) -> Checked<Option<String>> {
        self.get(name).map(|field| field.name()).transpose()
    }

    /// Opens the table with the keys that the word at its tag allows.
    pub(crate) fn tagged(field: &Field<'a>) -> Checked<(&'static str, Reader<'a>)> {
        let (tag, variants) = field.alternative(variants);
        let fallback = variants[0];
        let Value::Table(table) = &field.node.value else {
            Reader::open(field.node, fallback.1, field.path.clone())?;
            unreachable!("a value that is no table was opened as one");
        };
        let tag_key = fallback.1.keys.iter().find(|key| key.name == tag);
        let Some(key) = tag_key else {
            unreachable!("the tag is not in the list")
        };
        let (word, spec) = match table.get(tag) {
            Some(node) => {
                let path = format!("{}.{tag}", field.path);
                let place = field.place;
                let word = Field {
                    node,
                    key,
                    path,
                    place,
                }
                .choice()?;
                *variants
                    .iter()
                    .find(|variant| variant.0 == word)
                    .unwrap_or(&fallback)
            }
            None if key.default == REQUIRED => {
                let words: Vec<&str> = variants.iter().map(|variant| variant.0).collect();
                return Err(Problem::new(
                    field.node.at,
                    format!("{}.{tag}", field.path),
                    format!("\"{tag}\" is missing"),
                    format!(
                        "add {tag} = {} (of {})",
                        key.toml_example(),
                        words.join(", ")
                    ),
                ));
            }
            None => fallback,
        };
        let mut reader = Reader::open(field.node, spec, field.path.clone())?;
        reader.place = field.place;
        Ok((word, reader))
    }
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
    fn alternative<T>(&self, pick: impl Fn(Kind) -> Option<T>) -> T {
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

/// Returns the value at a key or an index of this one, or the value itself if there is none.
fn inside<'a>(node: &'a Node, part: &str) -> &'a Node {
    let found = match &node.value {
        Value::Table(table) => table.get(part),
        Value::List(items) => part.parse().ok().and_then(|index: usize| items.get(index)),
        _ => None,
    };
    found.unwrap_or(node)
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
