//! One clear message per mistake: its place, the mistake, and the text to write instead.

pub(crate) use goodqueue_types::message::{nearest, shorten};
use std::fmt;

/// A mistake in a scenario file or in an override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, or the override (`--set path=value`) with the mistake.
    pub file: String,
    /// Line in the file, from 1; `None` for an override or a file that cannot be read at all.
    pub line: Option<u32>,
    /// Column in the line in characters, from 1.
    pub column: Option<u32>,
    /// The key's path (`topology.bottleneck.rate`); empty for a mistake of the file as a whole.
    pub key: String,
    /// Description of the mistake.
    pub message: String,
    /// Text to write instead.
    pub help: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}:", self.file)?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        if let Some(column) = self.column {
            write!(f, "{column}:")?;
        }
        if !self.key.is_empty() {
            write!(f, " {}:", self.key)?;
        }
        write!(f, " {}", self.message)?;
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Byte offset into the file.
    File(usize),
    /// Index of the override.
    Override(usize),
}

/// A mistake whose offset has not been converted to a line yet.
#[derive(Debug)]
pub(crate) struct Problem {
    pub at: Origin,
    pub key: String,
    pub message: String,
    pub help: String,
}

/// Result of readers.
pub(crate) type Checked<T> = Result<T, Problem>;

impl Problem {
    pub(crate) fn new(
        at: Origin,
        key: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            at,
            key: key.into(),
            message: message.into(),
            help: help.into(),
        }
    }
}
