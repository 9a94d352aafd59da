//! Keys of tables, and the short constructors with which they are declared.

use super::{Kind, Words};
use crate::Span;

/// Key of a table in a scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name in the file. In [`parameters!`](crate::parameters!) it is the field's name if empty.
    pub name: &'static str,
    /// Kind and bounds of its values.
    pub kind: Kind,
    /// Default in words or as written in TOML; [`REQUIRED`]; or [`BY_VALUE`].
    pub default: &'static str,
    /// A value as one writes it in TOML. Quotes may be left out.
    pub example: &'static str,
    /// Meaning: the first paragraph is the documentation of the key. In
    /// [`parameters!`](crate::parameters!) it is the field's doc comment if empty.
    pub doc: &'static str,
    /// Option of Linux's `tc`.
    pub tc: Tc,
}

/// [`Key::default`] of a key that must be given.
pub const REQUIRED: &str = "required";
/// [`Key::default`] of a key whose default is the value in [`Spec::defaults`](super::Spec).
pub const BY_VALUE: &str = "";

/// Option of Linux's `tc` for a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tc {
    /// `tc` has no such option. Only the default can be written; the text says why.
    Fixed(&'static str),
    /// The option is read and written by code of the discipline.
    Hook,
    /// The option's word, then the value in the unit of `tc`. A flag has the word alone, and with
    /// `no` before it if it is off.
    Option(&'static str),
    /// The option's word, then a size or a rate, scaled to the bytes that Linux counts.
    Scaled(&'static str),
    /// Words of a flag that is on, and of one that is off.
    Flag(&'static str, &'static str),
    /// The word, then a whole number of parts, of which so many make 1.
    Parts(&'static str, f64),
    /// The word, then a decimal number that is rounded to such parts.
    Rounded(&'static str, f64),
    /// The word, then a whole number with `%`.
    Percent(&'static str),
    /// The word, then a time in whole seconds.
    Seconds(&'static str),
    /// The value's own word.
    Word,
}

impl Key {
    /// Creates a key of this kind. Its name and documentation are those of its field, and its
    /// default is the field's.
    pub const fn new(kind: Kind) -> Self {
        Self {
            name: "",
            kind,
            default: BY_VALUE,
            example: "",
            doc: "",
            tc: Tc::Fixed("it is Linux's own"),
        }
    }

    /// Sets the name, if it is not that of the field.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Sets the documentation, if several fields share it. An engine for browsers has none: schema and
    /// documentation are made elsewhere.
    #[must_use]
    pub const fn doc(self, doc: &'static str) -> Self {
        let doc = if cfg!(target_arch = "wasm32") {
            ""
        } else {
            doc
        };
        Self { doc, ..self }
    }

    /// Sets the example.
    #[must_use]
    pub const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// Describes a default that depends on other values.
    #[must_use]
    pub const fn default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    /// Makes the key one that must be given.
    #[must_use]
    pub const fn required(self) -> Self {
        self.default(REQUIRED)
    }

    /// Sets the option of `tc` with this word.
    #[must_use]
    pub const fn tc(self, word: &'static str) -> Self {
        self.in_tc(Tc::Option(word))
    }

    /// Sets the option of `tc`.
    #[must_use]
    pub const fn in_tc(self, tc: Tc) -> Self {
        Self { tc, ..self }
    }

    /// Fills in what the declaration of the field says: its name and its doc comment.
    #[must_use]
    pub const fn of_field(self, name: &'static str, doc: &'static str) -> Self {
        let named = if self.name.is_empty() {
            self.named(name)
        } else {
            self
        };
        if named.doc.is_empty() {
            named.doc(doc)
        } else {
            named
        }
    }

    /// Returns the meaning as one line: the first paragraph of the doc comment.
    pub fn meaning(&self) -> String {
        let paragraph = self.doc.split("\n\n").next().unwrap_or_default();
        let lines: Vec<&str> = paragraph.lines().map(str::trim).collect();
        lines.join(" ")
    }

    /// Returns the message and the advice for a key that must be given and is not.
    pub fn missing(&self) -> (String, String) {
        let example = self.toml_example();
        let help = if example.starts_with("[[") {
            format!("add {example}")
        } else {
            format!("add {} = {example}, say", self.name)
        };
        (format!("\"{}\" is missing", self.name), help)
    }

    /// Returns the example as TOML.
    pub fn toml_example(&self) -> String {
        let text = self.example;
        let plain = text.starts_with(['"', '{', '['])
            || ["true", "false", "…"].contains(&text)
            || text.parse::<f64>().is_ok();
        if plain {
            text.to_owned()
        } else {
            format!("\"{text}\"")
        }
    }
}

/// Creates a key with everything that a file's documentation says of it, for tables that are no
/// struct's.
pub const fn key(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    example: &'static str,
    doc: &'static str,
) -> Key {
    Key::new(kind)
        .named(name)
        .default(default)
        .example(example)
        .doc(doc)
}

/// Creates a key for `true` or `false`.
pub const fn flag() -> Key {
    Key::new(Kind::Flag)
}

/// Creates a key for a whole number within these bounds.
pub const fn integer(min: u64, max: u64) -> Key {
    Key::new(Kind::Integer { min, max })
}

/// Creates a key for a number within these bounds.
pub const fn number(min: f64, max: f64) -> Key {
    Key::new(Kind::Number { min, max })
}

/// Creates a key for a share from 0 to 1.
pub const fn fraction() -> Key {
    Key::new(Kind::Fraction)
}

/// Creates a key for a rate.
pub const fn rate() -> Key {
    Key::new(Kind::Rate)
}

/// Creates a key for a rate that may be zero.
pub const fn rate_or_zero() -> Key {
    Key::new(Kind::RateOrZero)
}

/// Creates a key for a time within these bounds.
pub const fn span(min: Span, max: Span) -> Key {
    Key::new(Kind::Span { min, max })
}

/// Creates a key for a size in bytes within these bounds.
pub const fn size(min: u64, max: u64) -> Key {
    Key::new(Kind::Size { min, max })
}

/// Creates a key for a number of packets within these bounds.
pub const fn packets(min: u64, max: u64) -> Key {
    Key::new(Kind::Packets { min, max })
}

/// Creates a key for the limit of a queue.
pub const fn limit() -> Key {
    Key::new(Kind::Limit)
}

/// Creates a key for a value of one of several kinds.
pub const fn one_of(kinds: &'static [Kind]) -> Key {
    Key::new(Kind::Either(kinds))
}

/// Creates a key for one of the words of an enum.
pub const fn words<W: Words>() -> Key {
    Key::new(Kind::Choice(W::WORDS))
}

/// Key of the checksum of a file that another key of the table names.
pub const CHECKSUM: Key = Key::new(Kind::Text)
    .default("not checked")
    .example("\"cbf29ce484222325\"")
    .doc("FNV-1a (64 bits) of the file, which must agree; resolved scenarios have it.");

/// Counts the keys of several lists.
pub const fn count_keys(parts: &[&[Key]]) -> usize {
    let mut count = 0;
    let mut part = 0;
    while part < parts.len() {
        count += parts[part].len();
        part += 1;
    }
    count
}

/// Joins lists of `N` keys in all.
pub const fn concat_keys<const N: usize>(parts: &[&[Key]]) -> [Key; N] {
    concat(Key::new(Kind::Free), parts)
}

/// Joins lists of `N` items in all. `any` is any item.
pub const fn concat<T: Copy, const N: usize>(any: T, parts: &[&[T]]) -> [T; N] {
    let mut all = [any; N];
    let (mut count, mut part) = (0, 0);
    while part < parts.len() {
        let mut index = 0;
        while index < parts[part].len() {
            all[count] = parts[part][index];
            count += 1;
            index += 1;
        }
        part += 1;
    }
    all
}

/// Sets the default of each key that has none of its own.
pub const fn with_default<const N: usize>(mut keys: [Key; N], default: &'static str) -> [Key; N] {
    let mut index = 0;
    while index < N {
        if keys[index].default.is_empty() {
            keys[index] = keys[index].default(default);
        }
        index += 1;
    }
    keys
}
