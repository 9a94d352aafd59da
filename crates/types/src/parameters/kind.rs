//! Kinds of values that a key of a scenario file can have, and tables of keys.

use super::{Key, Parameters};
use crate::Span;

/// Longest time that a file may give: 1,000,000 s.
pub const LONGEST: Span = Span(1_000_000_000_000_000_000);
/// Largest size that a file may give, in bytes: 1 TB.
pub const LARGEST: u64 = 1_000_000_000_000;
/// An hour, the longest time of a delay or a timer.
pub const HOUR: Span = Span::from_secs(3_600);
/// Time of up to an hour.
pub const DELAY: Kind = Kind::Span {
    min: Span::ZERO,
    max: HOUR,
};
/// Time, which may be zero.
pub const ANY_TIME: Kind = Kind::Span {
    min: Span::ZERO,
    max: LONGEST,
};
/// Time above zero.
pub const INTERVAL: Kind = Kind::Span {
    min: Span(1),
    max: LONGEST,
};
/// Size of an IP packet: a header without payload up to the largest value of its length field.
pub const PACKET: Kind = Kind::Size {
    min: 20,
    max: 65_535,
};
/// Number of bytes above zero.
pub const AMOUNT: Kind = Kind::Size {
    min: 1,
    max: LARGEST,
};
/// Time of a timer, from a nanosecond to an hour.
pub const TIMER: Kind = Kind::Span {
    min: Span(1_000),
    max: HOUR,
};

/// Kind of a value in a scenario file, with its bounds.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// Text of letters, digits, `-` and `_`, and dots before digits.
    Name,
    /// `true` or `false`.
    Flag,
    /// Whole number without unit: a count.
    Integer {
        /// Least value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// Number without unit.
    Number {
        /// Least value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// `98%` or a number from 0 to 1.
    Fraction,
    /// `25%`, where a number would be mistaken for something else.
    Percent,
    /// Bits per second.
    Rate,
    /// Bits per second, or none at all.
    RateOrZero,
    /// Time.
    Span {
        /// Shortest time.
        min: Span,
        /// Longest time.
        max: Span,
    },
    /// Bytes.
    Size {
        /// Least value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// Packets, with the unit `p`.
    Packets {
        /// Least value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// Limit of a queue.
    Limit,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// List of distinct whole numbers.
    Integers {
        /// Largest value.
        max: u64,
    },
    /// A fixed number of whole numbers from 0 on, in order.
    Numbers {
        /// Length of the list.
        count: usize,
        /// Largest value.
        max: u64,
    },
    /// List of values of one kind.
    ListOf(&'static Kind),
    /// Table.
    Table(&'static Spec),
    /// List of tables.
    List(&'static Spec),
    /// Table whose keys depend on the word at `tag`. If the tag may be left out, the first word is
    /// its default.
    Tagged {
        /// Key that holds the word.
        tag: &'static str,
        /// Words, each with the keys that it allows.
        variants: Variants,
    },
    /// Table of a queue, which may hold others. (The registry of queues is not a constant part of
    /// this value, because queues within queues would refer to themselves.)
    Queue,
    /// Table of a law of chance of this quantity. (The registry of laws is not a constant part of
    /// this value, because it is declared above this crate.)
    Law(Quantity),
    /// Value of the quantity that a law of chance is of. Its place decides on the quantity.
    Quantity(Role),
    /// Value that its reader examines.
    Free,
    /// One of several kinds. The first that is no word is the kind of values without a word.
    Either(&'static [Kind]),
}

/// Quantity that a law of chance describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes.
    Size,
    /// Seconds.
    Time,
    /// Seconds that are added to a delay.
    Jitter,
}

/// Meaning of a value among those that a law of chance can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A middle value, above zero.
    Middle,
    /// The least value.
    Least,
    /// The greatest value.
    Greatest,
}

impl Role {
    /// Returns a usual multiple of the middle value.
    pub const fn multiple(self) -> f64 {
        match self {
            Self::Middle => 1.0,
            Self::Least => 0.0,
            Self::Greatest => 2.0,
        }
    }
}

impl Kind {
    /// Returns the first alternative of an [`Either`](Self::Either), or the kind itself.
    #[must_use]
    pub fn first(self) -> Self {
        match self {
            Self::Either(kinds) => kinds[0],
            kind => kind,
        }
    }

    /// Returns the word that stands for "no value": the first word among the alternatives.
    pub fn absent(self) -> Option<&'static str> {
        let Self::Either(kinds) = self else {
            return None;
        };
        kinds.iter().find_map(|kind| match kind {
            Self::Choice(words) => words.first().copied(),
            _ => None,
        })
    }
}

/// Table of keys.
#[derive(Debug)]
pub struct Spec {
    /// Name in the schema and in the documentation.
    pub name: &'static str,
    /// Keys in the order in which they are documented and written.
    pub keys: &'static [Key],
    /// Constructor of the parameters with their defaults, if the table is made by
    /// [`parameters!`](crate::parameters!).
    pub defaults: Option<fn() -> Box<dyn Parameters>>,
}

/// Words with the table that each allows.
pub type Variants = &'static [(&'static str, &'static Spec)];
