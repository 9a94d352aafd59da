//! The file as a tree of values with their places, to which the overrides are applied.

use crate::language::error::{Checked, Origin, Problem, ScenarioError, shorten};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Size in bytes above which a file is not accepted as a scenario.
const LARGEST_FILE: usize = 1 << 20;
/// Deepest path of an override; the parser of the file has its own bound.
const DEEPEST: usize = 16;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub value: Value,
    pub at: Origin,
    /// Text of an override as typed, in which a string needs no quotes.
    pub raw: Option<String>,
}

/// Value of a scenario file.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    /// An integer as written, and its value if it fits.
    Integer(String, Option<i128>),
    Float(String, f64),
    Flag(bool),
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

/// Keys in the order of the parser.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

/// A key, its place and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub name: String,
    pub at: Origin,
    pub node: Node,
}

impl Node {
    /// Returns the same value with another origin.
    pub(crate) fn placed(&self, at: Origin) -> Self {
        let value = match &self.value {
            Value::List(items) => Value::List(items.iter().map(|item| item.placed(at)).collect()),
            Value::Table(table) => {
                let entries = table.entries.iter().map(|entry| Entry {
                    name: entry.name.clone(),
                    at,
                    node: entry.node.placed(at),
                });
                let entries = entries.collect();
                Value::Table(Table { entries })
            }
            other => other.clone(),
        };
        Self {
            value,
            at,
            raw: None,
        }
    }
}

impl Table {
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.entries
            .iter()
            .find(|entry| entry.name == name)
            .map(|entry| &entry.node)
    }
}

impl Value {
    /// Returns a description of the value for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Text(text) => format!("the text \"{}\"", shorten(text)),
            Self::Integer(text, _) | Self::Float(text, _) => {
                format!("the number {}", shorten(text))
            }
            Self::Flag(flag) => format!("the switch {flag}"),
            Self::Date(text) => format!("the date {}", shorten(text)),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
        }
    }
}

/// A file and its overrides, with the texts that are needed to locate a mistake.
pub(crate) struct Document<'a> {
    pub file: &'a str,
    pub text: &'a str,
    overrides: &'a [(String, String)],
    pub root: Node,
}

impl<'a> Document<'a> {
    /// Reads the file and applies the overrides.
    pub(crate) fn read(
        bytes: &'a [u8],
        file: &'a str,
        overrides: &'a [(String, String)],
    ) -> Result<Self, ScenarioError> {
        check_size(bytes, file)?;
        Self::read_any(bytes, file, overrides)
    }

    /// Reads a file of any size, such as one that we wrote.
    pub(crate) fn read_any(
        bytes: &'a [u8],
        file: &'a str,
        overrides: &'a [(String, String)],
    ) -> Result<Self, ScenarioError> {
        let text = check_bytes(bytes, file)?;
        let empty = Node {
            value: Value::Table(Table::default()),
            at: Origin::File(0),
            raw: None,
        };
        let mut document = Self {
            file,
            text,
            overrides,
            root: empty,
        };
        document
            .fill()
            .map_err(|problem| document.locate(problem))?;
        Ok(document)
    }

    /// Creates a document from a tree that was read before, from `file` with this text and these
    /// overrides.
    pub(crate) fn from_tree(
        file: &'a str,
        text: &'a str,
        overrides: &'a [(String, String)],
        root: Node,
    ) -> Self {
        Self {
            file,
            text,
            overrides,
            root,
        }
    }

    fn fill(&mut self) -> Checked<()> {
        let table =
            DeTable::parse(self.text).map_err(|error| syntax_problem(self.text, &error, None))?;
        self.root.value = Value::Table(convert_table(table.get_ref(), None));
        apply(&mut self.root, self.overrides)
    }

    /// Converts an offset to a line and a column, and an override to its own text.
    pub(crate) fn locate(&self, problem: Problem) -> ScenarioError {
        let (file, line, column) = match problem.at {
            Origin::File(offset) => {
                let (line, column) = position(self.text, offset);
                (self.file.to_owned(), Some(line), Some(column))
            }
            Origin::Override(index) => {
                let (path, value) = &self.overrides[index];
                (
                    format!("--set {}={}", shorten(path), shorten(value)),
                    None,
                    None,
                )
            }
        };
        let Problem {
            key, message, help, ..
        } = problem;
        ScenarioError {
            file,
            line,
            column,
            key: shorten(&key),
            message,
            help,
        }
    }
}

/// Refuses a file that is too large for a scenario.
fn check_size(bytes: &[u8], file: &str) -> Result<(), ScenarioError> {
    if bytes.len() <= LARGEST_FILE {
        return Ok(());
    }
    Err(ScenarioError {
        file: file.to_owned(),
        line: None,
        column: None,
        key: String::new(),
        message: format!(
            "the file has {} bytes; a scenario has at most 1 MiB",
            bytes.len()
        ),
        help: "check that this is the scenario file you mean".to_owned(),
    })
}

/// Refuses contents that cannot be a scenario before they are parsed.
fn check_bytes<'a>(bytes: &'a [u8], file: &str) -> Result<&'a str, ScenarioError> {
    let refuse = |offset: Option<usize>, message: String, help: &str| {
        let place = offset.map(|offset| {
            let before = String::from_utf8_lossy(&bytes[..offset]);
            position(&before, before.len())
        });
        ScenarioError {
            file: file.to_owned(),
            line: place.map(|place| place.0),
            column: place.map(|place| place.1),
            key: String::new(),
            message,
            help: help.to_owned(),
        }
    };
    if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        let help = "save the file as plain UTF-8 text (not UTF-16, not binary)";
        return Err(refuse(
            Some(offset),
            "the file holds a NUL byte".to_owned(),
            help,
        ));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        let message = format!("byte 0x{:02x} is not UTF-8", bytes[offset]);
        refuse(Some(offset), message, "save the file as UTF-8 text")
    })
}

/// Returns line and column, in characters from 1, of a byte offset.
pub(crate) fn position(text: &str, offset: usize) -> (u32, u32) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() as u32 + 1;
    (line, before[start..].chars().count() as u32 + 1)
}

/// Converts a message of the TOML parser, with a remedy for the common mistakes.
fn syntax_problem(text: &str, error: &toml::de::Error, at: Option<Origin>) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let written = text.get(span.clone()).unwrap_or_default().trim();
    let message = error.message();
    let help = if message.starts_with("string values must be quoted") && !written.is_empty() {
        format!("write \"{}\" in quotes", shorten(written))
    } else if message.starts_with("string values must be quoted") {
        "write a value after the equals sign, as in delay = \"10ms\"".to_owned()
    } else if message.starts_with("invalid boolean") {
        "write true or false in small letters, and a text in quotes".to_owned()
    } else if message.contains("recurs") {
        "a scenario is never nested this deeply: look for brackets or dots gone wild".to_owned()
    } else if message.starts_with("duplicate key") && matches!(written, "flow" | "link") {
        format!("write [[{written}]] with double brackets each time: there may be several")
    } else if message.starts_with("duplicate key") {
        format!("\"{}\" is given twice: keep one", shorten(written))
    } else if message.starts_with("unclosed") {
        "close what the line opens; a value stays on one line unless it is a list or table"
            .to_owned()
    } else {
        "the file must be TOML (https://toml.io): key = value lines under [table] headers"
            .to_owned()
    };
    let message = format!("not valid TOML: {}", shorten(&message.replace('\n', ", ")));
    Problem::new(at.unwrap_or(Origin::File(span.start)), "", message, help)
}

fn convert_table(table: &DeTable<'_>, origin: Option<Origin>) -> Table {
    let entries = table.iter().map(|(key, value)| Entry {
        name: key.get_ref().to_string(),
        at: origin.unwrap_or(Origin::File(key.span().start)),
        node: convert(value, origin),
    });
    Table {
        entries: entries.collect(),
    }
}

/// Copies a parsed value. `origin` replaces offsets if they have no meaning.
fn convert(node: &Spanned<DeValue<'_>>, origin: Option<Origin>) -> Node {
    let value = match node.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            let value = i128::from_str_radix(number.as_str(), number.radix()).ok();
            Value::Integer(number.to_string(), value)
        }
        DeValue::Float(number) => {
            let text = number.as_str().to_owned();
            let value = text.parse().unwrap_or(f64::NAN);
            Value::Float(text, value)
        }
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(list) => {
            Value::List(list.iter().map(|item| convert(item, origin)).collect())
        }
        DeValue::Table(table) => Value::Table(convert_table(table, origin)),
    };
    Node {
        value,
        at: origin.unwrap_or(Origin::File(node.span().start)),
        raw: None,
    }
}

/// Applies overrides to the tree.
pub(crate) fn apply(root: &mut Node, overrides: &[(String, String)]) -> Checked<()> {
    for (index, (path, text)) in overrides.iter().enumerate() {
        let at = Origin::Override(index);
        lay(root, at, path, |at| {
            let mut value = override_value(text, at)?;
            value.raw = Some(text.to_owned());
            Ok(value)
        })?;
    }
    Ok(())
}

/// Sets the value at a path of keys.
pub(crate) fn lay(
    root: &mut Node,
    at: Origin,
    path: &str,
    value: impl FnOnce(Origin) -> Checked<Node>,
) -> Checked<()> {
    let example = "write a path of keys, as in --set topology.bottleneck.queue.limit=30p";
    let parts: Vec<&str> = path.split('.').collect();
    if parts.iter().any(|part| part.is_empty()) || parts.len() > DEEPEST {
        return Err(Problem::new(
            at,
            path,
            "this is not the path of a key",
            example,
        ));
    }
    let mut node = root;
    for (depth, part) in parts.iter().enumerate() {
        node = step(node, part, at).map_err(|(message, help)| {
            Problem::new(at, parts[..=depth].join("."), message, help)
        })?;
    }
    *node = value(at)?;
    Ok(())
}

/// Returns the value of an override: TOML if it is valid, else a text without quotes.
fn override_value(text: &str, at: Origin) -> Checked<Node> {
    if text.len() > LARGEST_FILE || text.contains('\0') {
        return Err(Problem::new(
            at,
            "",
            "this value is no text",
            "write a shorter, plain value",
        ));
    }
    Ok(match DeValue::parse(text) {
        Ok(value) => convert(&value, Some(at)),
        Err(error) if text.starts_with(['[', '{', '"', '\'']) => {
            return Err(syntax_problem(text, &error, Some(at)));
        }
        Err(_) => Node {
            value: Value::Text(text.to_owned()),
            at,
            raw: None,
        },
    })
}

/// Returns the child of a table by key, created if missing, or of a list by index or by its `name`.
fn step<'n>(node: &'n mut Node, part: &str, at: Origin) -> Result<&'n mut Node, (String, String)> {
    match &mut node.value {
        Value::Table(table) => {
            let found = table.entries.iter().position(|entry| entry.name == part);
            let index = found.unwrap_or_else(|| {
                let value = Value::Table(Table::default());
                let name = part.to_owned();
                table.entries.push(Entry {
                    name,
                    at,
                    node: Node {
                        value,
                        at,
                        raw: None,
                    },
                });
                table.entries.len() - 1
            });
            Ok(&mut table.entries[index].node)
        }
        Value::List(items) => {
            let index = part.parse().ok().or_else(|| {
                items
                    .iter()
                    .position(|item| name_of(item).as_deref() == Some(part))
            });
            let count = items.len();
            index
                .and_then(|index: usize| items.get_mut(index))
                .ok_or_else(|| {
                    let help = match count {
                        0 => "the list is empty".to_owned(),
                        1 => "the only entry has the number 0".to_owned(),
                        _ => format!(
                            "the list has {count} entries: write a number from 0 to {}, or a name",
                            count - 1
                        ),
                    };
                    (format!("there is no \"{}\" here", shorten(part)), help)
                })
        }
        other => Err((
            format!("{} has no keys below it", other.describe()),
            "end the path one key earlier".to_owned(),
        )),
    }
}

fn name_of(node: &Node) -> Option<String> {
    match &node.value {
        Value::Table(table) => match &table.get("name")?.value {
            Value::Text(name) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}
