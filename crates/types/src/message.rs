//! Messages about texts that a person wrote: the mistake, and the text to write instead.

use std::fmt;

/// Reason why a value could not be read, and the text to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// Description of the mistake.
    pub message: String,
    /// Text to write instead.
    pub help: String,
}

impl UnitError {
    /// Creates the error from its message and its help.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl std::error::Error for UnitError {}

/// Returns the choice nearest to the written text, if one is near enough to be meant.
pub fn nearest<'a>(written: &str, choices: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = written.to_ascii_lowercase();
    choices
        .into_iter()
        .map(|choice| {
            (
                strsim::damerau_levenshtein(&lower, &choice.to_ascii_lowercase()),
                choice,
            )
        })
        .filter(|(distance, choice)| *distance <= (choice.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, choice)| choice)
}

/// Byte order mark that some programs write before a text in UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns the bytes of a text without a byte order mark.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

/// Returns true for a character that changes how a terminal shows other characters: a control
/// character, or one that marks the direction of text.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Returns a value as it was written, short enough for one line of a message.
pub fn shorten(text: &str) -> String {
    const LONGEST: usize = 60;
    let clean: String = text
        .chars()
        .map(|c| if is_hidden(c) { '\u{fffd}' } else { c })
        .take(LONGEST)
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        format!("{clean}…")
    } else {
        clean
    }
}
