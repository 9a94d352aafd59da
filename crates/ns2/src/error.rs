//! Refusals of a script.

use crate::place::file_and_line;
use goodqueue_types::message::{nearest, shorten};
use std::error::Error;
use std::fmt;

/// A command that has no equivalent, and what to write in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// Name of the script, or of a file that it reads.
    pub file: String,
    /// Line of the command in that file, from 1; 0 if the whole script is meant.
    pub line: u32,
    /// Description of the mistake.
    pub message: String,
    /// The nearest valid choice.
    pub help: String,
    /// True for errors that Tcl's `catch` catches, false for what is not understood here.
    pub(crate) tcl: bool,
}

impl ImportError {
    /// Names the file of the error's place: the script, or one of the files that it reads.
    pub(crate) fn in_files(mut self, script: &str, files: &[String]) -> Self {
        let (file, line) = file_and_line(self.line);
        let names = file.checked_sub(1).and_then(|index| files.get(index));
        names
            .map_or(script, String::as_str)
            .clone_into(&mut self.file);
        self.line = line;
        self
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "error: {}:", self.file)?;
        if self.line > 0 {
            write!(formatter, "{}:", self.line)?;
        }
        write!(formatter, " {}\n  help: {}", self.message, self.help)
    }
}

impl Error for ImportError {}

/// Returns the error of something that is not understood.
pub(crate) fn refuse(
    line: u32,
    message: impl Into<String>,
    help: impl Into<String>,
) -> ImportError {
    let one_line = |text: String| text.replace(['\n', '\r'], " ");
    ImportError {
        file: String::new(),
        line,
        message: one_line(message.into()),
        help: one_line(help.into()),
        tcl: false,
    }
}

/// Returns the error of an unknown word, with the nearest of the known ones.
pub(crate) fn unknown(line: u32, what: &str, word: &str, known: &[&str]) -> ImportError {
    // The distance to a long word is costly, and no known word is long.
    let near = (word.len() <= 60).then(|| nearest(word, known.iter().copied()));
    let help = match near.flatten() {
        Some(choice) => format!("did you mean {choice}?"),
        None => format!("choose from {}", known.join(", ")),
    };
    refuse(
        line,
        format!("{what} {} is not understood", quoted(word)),
        help,
    )
}

/// Returns a word in quotes, shortened for a message.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", shorten(word))
}
