//! Values of parameters without their types, between a file or a line of `tc` and a struct.

use super::Key;
use crate::{Rate, Span};
use std::sync::Arc;

/// Value of a parameter. Its units are resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Flag(bool),
    /// Whole number, in the unit of its key's kind.
    Integer(u64),
    /// Number.
    Number(f64),
    /// Text.
    Text(String),
    /// Time.
    Span(Span),
    /// Rate.
    Rate(Rate),
    /// Number of packets.
    Packets(u64),
    /// Number of bytes.
    Bytes(u64),
    /// One of the words of the key's kind.
    Word(&'static str),
    /// No value, for which the key's kind has a [word](super::Kind::absent).
    Absent,
    /// Whole numbers in order.
    Numbers(Vec<u8>),
    /// Values of one kind.
    List(Vec<Value>),
    /// Points of a function, which no file has as a value of a key.
    Points(Arc<[(f64, f64)]>),
    /// Table.
    Table(TableValue),
}

/// Values of a table by their keys, in order.
#[derive(Clone, Debug, Default)]
pub struct Given(pub Vec<(&'static Key, Value)>);

impl Given {
    /// Returns the value of a key, if it is given.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(key, _)| key.name == name);
        found.map(|(_, value)| value)
    }

    /// Returns true if the key is given.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        let items = |given: &Self| -> Vec<(&str, Value)> {
            let items = given.0.iter();
            items
                .map(|(key, value)| (key.name, value.clone()))
                .collect()
        };
        items(self) == items(other)
    }
}

/// Values of a table, and the word that says which table it is if there are several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableValue {
    /// Word at the tag.
    pub word: Option<&'static str>,
    /// Values by their keys.
    pub given: Given,
}

/// Type of a parameter that one key holds.
pub trait Parameter: Sized {
    /// Converts a value of the kind of the parameter's key.
    fn from_value(value: Value) -> Self;

    /// Returns the value.
    fn value(&self) -> Value;

    /// Sets the value. A table changes the values that it gives.
    fn assign(&mut self, value: Value) {
        *self = Self::from_value(value);
    }
}

/// Parameters by the names of their keys.
pub trait Parameters {
    /// Returns the keys in the order in which they are documented and written.
    fn keys(&self) -> &'static [Key];

    /// Returns the value at a key. Returns none if the key is not known, or not written because
    /// another one holds instead.
    fn get(&self, key: &str) -> Option<Value>;

    /// Sets the value at a key, which must be of the key's kind. Does nothing if the key is not
    /// known.
    fn set(&mut self, key: &str, value: Value);

    /// Returns the key of this name.
    fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().iter().find(|key| key.name == name)
    }

    /// Returns the values of all keys.
    fn all(&self) -> Given {
        let keys = self.keys().iter();
        Given(
            keys.filter_map(|key| Some((key, self.get(key.name)?)))
                .collect(),
        )
    }

    /// Sets the values that are given.
    fn apply(&mut self, given: &Given) {
        for (key, value) in &given.0 {
            self.set(key.name, value.clone());
        }
    }
}

/// Parameters whose keys are known without a value of them.
pub trait Declared: Parameters + Sized {
    /// Keys in the order in which they are documented and written.
    const KEYS: &'static [Key];
}

/// Parameters that are present together or absent together.
impl<P: Declared + Default> Declared for Option<P> {
    const KEYS: &'static [Key] = P::KEYS;
}

impl<P: Declared + Default> Parameters for Option<P> {
    fn keys(&self) -> &'static [Key] {
        P::KEYS
    }

    fn get(&self, key: &str) -> Option<Value> {
        self.as_ref().and_then(|inner| inner.get(key))
    }

    fn set(&mut self, key: &str, value: Value) {
        if P::KEYS.iter().any(|known| known.name == key) {
            self.get_or_insert_default().set(key, value);
        }
    }
}

/// Data that belong to a table of parameters and that no key holds, as the content of a file does
/// not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unkeyed<T>(pub T);

impl<T> Declared for Unkeyed<T> {
    const KEYS: &'static [Key] = &[];
}

impl<T> Parameters for Unkeyed<T> {
    fn keys(&self) -> &'static [Key] {
        &[]
    }

    fn get(&self, _key: &str) -> Option<Value> {
        None
    }

    fn set(&mut self, _key: &str, _value: Value) {}
}

/// Enum whose values are words.
pub trait Words: Sized + Copy + PartialEq + 'static {
    /// Every word.
    const WORDS: &'static [&'static str];
    /// Every value, in the order of the words.
    const ALL: &'static [Self];

    /// Returns the value of a word.
    fn from_word(word: &str) -> Option<Self> {
        let index = Self::WORDS.iter().position(|known| *known == word)?;
        Self::ALL.get(index).copied()
    }

    /// Returns the word of the value.
    fn word(self) -> &'static str {
        let index = Self::ALL.iter().position(|known| *known == self);
        index.map_or("", |index| Self::WORDS[index])
    }
}

/// A value does not fit the type of its parameter: the declared kind and the type disagree. The
/// value is not printed, because its text would need the code that prints every kind of key.
#[cold]
fn mismatch(wanted: &str) -> ! {
    unreachable!("a value is not {wanted}: the key's kind does not fit the field's type")
}

/// Converts between variants of [`Value`] and types.
macro_rules! simple {
    ($($kind:ty: $variant:ident),+) => {$(
        impl Parameter for $kind {
            fn from_value(value: Value) -> Self {
                match value {
                    Value::$variant(inner) => inner,
                    _ => mismatch(stringify!($kind)),
                }
            }
            fn value(&self) -> Value {
                Value::$variant(*self)
            }
        }
    )+};
}

simple! { bool: Flag, Span: Span, Rate: Rate }

/// A number; of a size its bytes, of a number of packets these, of a time its seconds.
impl Parameter for f64 {
    fn from_value(value: Value) -> Self {
        match value {
            Value::Number(number) => number,
            Value::Integer(number) | Value::Bytes(number) | Value::Packets(number) => {
                number as Self
            }
            Value::Span(span) => span.as_secs_f64(),
            _ => mismatch("a number"),
        }
    }

    fn value(&self) -> Value {
        Value::Number(*self)
    }
}

/// Whole numbers. The bounds of a key are those of the type or narrower.
macro_rules! whole {
    ($($kind:ty),+) => {$(
        impl Parameter for $kind {
            fn from_value(value: Value) -> Self {
                match value {
                    Value::Integer(n) | Value::Packets(n) | Value::Bytes(n) => n as $kind,
                    _ => mismatch(stringify!($kind)),
                }
            }
            fn value(&self) -> Value {
                Value::Integer(u64::from(*self))
            }
        }
    )+};
}

whole! { u8, u16, u32, u64 }

impl<P: Parameter> Parameter for Option<P> {
    fn from_value(value: Value) -> Self {
        match value {
            Value::Absent | Value::Word(_) => None,
            value => Some(P::from_value(value)),
        }
    }

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Absent, Parameter::value)
    }
}

impl<P: Parameter> Parameter for Box<P> {
    fn from_value(value: Value) -> Self {
        Self::new(P::from_value(value))
    }

    fn value(&self) -> Value {
        P::value(self)
    }
}

impl<P: Parameter> Parameter for Vec<P> {
    fn from_value(value: Value) -> Self {
        match value {
            Value::List(items) => items.into_iter().map(P::from_value).collect(),
            _ => mismatch("a list"),
        }
    }

    fn value(&self) -> Value {
        Value::List(self.iter().map(Parameter::value).collect())
    }
}

impl<P: Parameter> Parameter for Arc<[P]> {
    fn from_value(value: Value) -> Self {
        Vec::from_value(value).into()
    }

    fn value(&self) -> Value {
        Value::List(self.iter().map(Parameter::value).collect())
    }
}

impl Parameter for String {
    fn from_value(value: Value) -> Self {
        match value {
            Value::Text(text) => text,
            _ => mismatch("a text"),
        }
    }

    fn value(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl<const N: usize> Parameter for [u8; N] {
    fn from_value(value: Value) -> Self {
        match value {
            Value::Numbers(numbers) if numbers.len() == N => {
                let mut all = [0; N];
                all.copy_from_slice(&numbers);
                all
            }
            _ => mismatch("so many numbers"),
        }
    }

    fn value(&self) -> Value {
        Value::Numbers(self.to_vec())
    }
}

/// Converts a word into the value of its enum, for [`words!`](crate::words!).
pub fn word_of<W: Words>(value: &Value) -> W {
    let found = match value {
        Value::Word(word) => W::from_word(word),
        _ => None,
    };
    found.unwrap_or_else(|| mismatch("one of the words"))
}
