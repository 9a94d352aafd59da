//! Typed reading of one table against its list of keys.

use crate::language::document::{Node, Table, Value};
use crate::language::error::{Checked, Origin, Problem, nearest, shorten};
use crate::language::field::Field;
use crate::language::spec::{Key, REQUIRED, Spec, variants};
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

    /// Returns true if the table may have this key.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        self.spec.keys.iter().any(|key| key.name == name)
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

    /// Returns the same table as a part of the table of a queue before this link.
    pub(crate) fn before(self, place: Place) -> Self {
        let place = Some(place);
        Self { place, ..self }
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

/// Returns the value at a key or an index of this one, or the value itself if there is none.
fn inside<'a>(node: &'a Node, part: &str) -> &'a Node {
    let found = match &node.value {
        Value::Table(table) => table.get(part),
        Value::List(items) => part.parse().ok().and_then(|index: usize| items.get(index)),
        _ => None,
    };
    found.unwrap_or(node)
}
