//! Values of keys, each read and written in one place.

use crate::error::Checked;
use crate::reader::{Field, Reader};
use crate::spec::{Kind, Spec};
use crate::units::{format_rate, format_size, format_span};
use goodqueue_types::{Rate, Span};

/// An enum whose values are words in the file.
pub(crate) trait Words: Sized + Copy + 'static {
    const WORDS: &'static [&'static str];
    /// Returns the value of a word.
    fn of(word: &str) -> Option<Self>;
    fn word(self) -> &'static str;
}

macro_rules! words {
    ($($kind:ident { $($word:literal = $value:ident),+ $(,)? })+) => {$(
        impl $crate::setting::Words for $kind {
            const WORDS: &'static [&'static str] = &[$($word),+];
            fn of(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$value),)+ _ => None }
            }
            fn word(self) -> &'static str {
                match self { $(Self::$value => $word),+ }
            }
        }
        impl $crate::setting::Setting for $kind {
            fn read(field: &$crate::reader::Field<'_>) -> $crate::error::Checked<Self> {
                let word = field.choice()?;
                let Some(value) = <Self as $crate::setting::Words>::of(word) else { unreachable!("{word} is not a choice") };
                Ok(value)
            }
            fn write(&self, _: $crate::spec::Kind) -> String {
                format!("\"{}\"", $crate::setting::Words::word(*self))
            }
        }
    )+};
}

pub(crate) use words;

/// Value of one key.
pub(crate) trait Setting: Sized {
    fn read(field: &Field<'_>) -> Checked<Self>;
    /// Writes the value as TOML.
    fn write(&self, kind: Kind) -> String;
}

impl Setting for bool {
    fn read(field: &Field<'_>) -> Checked<Self> {
        field.flag()
    }
    fn write(&self, _: Kind) -> String {
        self.to_string()
    }
}

impl Setting for f64 {
    fn read(field: &Field<'_>) -> Checked<Self> {
        match first(field.key.kind) {
            Kind::Fraction => field.fraction(),
            _ => field.number(),
        }
    }
    fn write(&self, _: Kind) -> String {
        self.to_string()
    }
}

impl Setting for Span {
    fn read(field: &Field<'_>) -> Checked<Self> {
        field.span()
    }
    fn write(&self, _: Kind) -> String {
        format!("\"{}\"", format_span(*self))
    }
}

impl Setting for Rate {
    fn read(field: &Field<'_>) -> Checked<Self> {
        field.rate()
    }
    fn write(&self, _: Kind) -> String {
        format!("\"{}\"", format_rate(*self))
    }
}

/// Returns the alternative that is not a word.
fn first(kind: Kind) -> Kind {
    if let Kind::Either(kinds) = kind {
        kinds[0]
    } else {
        kind
    }
}

impl Setting for u64 {
    fn read(field: &Field<'_>) -> Checked<Self> {
        match first(field.key.kind) {
            Kind::Size { .. } => field.size(),
            Kind::Packets { .. } => field.packets(),
            _ => field.integer(),
        }
    }
    fn write(&self, kind: Kind) -> String {
        match first(kind) {
            Kind::Size { .. } => format!("\"{}\"", format_size(*self)),
            Kind::Packets { .. } => format!("\"{self}p\""),
            _ => self.to_string(),
        }
    }
}

macro_rules! narrow {
    ($($kind:ident)+) => {$(
        impl Setting for $kind {
            fn read(field: &Field<'_>) -> Checked<Self> {
                // The bounds of the key are those of the type or narrower.
                Ok(u64::read(field)? as $kind)
            }
            fn write(&self, kind: Kind) -> String {
                u64::from(*self).write(kind)
            }
        }
    )+};
}

narrow! { u8 u16 u32 }

/// `None` is written as the word among the alternatives.
impl<S: Setting> Setting for Option<S> {
    fn read(field: &Field<'_>) -> Checked<Self> {
        match field.as_text() {
            Some(text) if text == none(field.key.kind) => Ok(None),
            _ => S::read(field).map(Some),
        }
    }
    fn write(&self, kind: Kind) -> String {
        self.as_ref()
            .map_or_else(|| format!("\"{}\"", none(kind)), |value| value.write(kind))
    }
}

/// Returns the word among the alternatives.
fn none(kind: Kind) -> &'static str {
    let Kind::Either(kinds) = kind else {
        return "none";
    };
    let word = kinds.iter().find_map(|kind| match kind {
        Kind::Choice(words) => words.first(),
        _ => None,
    });
    word.copied().unwrap_or("none")
}

/// Action on each switch.
pub(crate) trait Visitor {
    fn visit<S: Setting>(&mut self, name: &'static str, value: &mut S) -> Checked<()>;
}

/// Visitor that reads the keys of the table.
pub(crate) struct ReadFrom<'r, 'a>(pub &'r Reader<'a>);

impl Visitor for ReadFrom<'_, '_> {
    fn visit<S: Setting>(&mut self, name: &'static str, value: &mut S) -> Checked<()> {
        if let Some(field) = self.0.get(name) {
            *value = S::read(&field)?;
        }
        Ok(())
    }
}

/// Visitor that writes all keys.
pub(crate) struct WriteTo {
    spec: &'static Spec,
    pub items: Vec<String>,
}

impl WriteTo {
    pub(crate) fn new(spec: &'static Spec) -> Self {
        Self {
            spec,
            items: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, name: &str, value: &str) {
        self.items.push(format!("{name} = {value}"));
    }

    pub(crate) fn inline(&self) -> String {
        format!("{{ {} }}", self.items.join(", "))
    }
}

impl Visitor for WriteTo {
    fn visit<S: Setting>(&mut self, name: &'static str, value: &mut S) -> Checked<()> {
        let key = self.spec.keys.iter().find(|key| key.name == name);
        debug_assert!(
            key.is_some(),
            "{name} is not in the list of {}",
            self.spec.name
        );
        let text = key.map_or_else(String::new, |key| value.write(key.kind));
        self.push(name, &text);
        Ok(())
    }
}
