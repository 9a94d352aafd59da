//! The declaration of parameters: a parameter is written once, beside the algorithm that uses it.
//!
//! The macro [`parameters!`](crate::parameters!) declares a struct together with the key of each of
//! its fields in scenario files: name, kind, bounds, default, example, documentation and option of
//! `tc`. The macro [`words!`](crate::words!) declares an enum whose values are words. Everything
//! else reads the declarations: the parser and the writer of scenario files, the JSON Schema, the
//! tables of docs/scenario.md, the reader and the writer of `tc` lines, and the tests that draw
//! random values.

mod key;
mod kind;
mod macros;
mod random;
mod refusal;
#[cfg(test)]
mod tests;
mod value;

pub use key::{
    BY_VALUE, CHECKSUM, Key, REQUIRED, Tc, concat, concat_keys, count_keys, flag, fraction,
    integer, key, limit, number, one_of, packets, rate, rate_or_zero, size, span, with_default,
    words,
};
pub use kind::{
    AMOUNT, ANY_TIME, DELAY, HOUR, INTERVAL, Kind, LARGEST, LONGEST, PACKET, Quantity, Role, Spec,
    TIMER, Variants,
};
pub use random::{vary, vary_within};
pub use refusal::Refusal;
pub use value::{
    Declared, Given, Parameter, Parameters, TableValue, Unkeyed, Value, Words, word_of,
};
