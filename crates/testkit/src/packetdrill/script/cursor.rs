//! A reader of characters that knows its line number.

use super::syntax::Refusal;

/// A position in a script.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the beginning of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the text that has not been read.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns the line number, counted from 1.
    pub fn line(&self) -> usize {
        1 + self.text[..self.at].matches('\n').count()
    }

    /// Returns an error at this place, where `wanted` was expected.
    pub fn malformed<T>(&self, wanted: &str) -> Result<T, Refusal> {
        let found: String = self
            .rest()
            .chars()
            .take_while(|c| *c != '\n')
            .take(40)
            .collect();
        Err(Refusal::Malformed(
            self.line(),
            format!("{wanted} expected at `{found}`"),
        ))
    }

    /// Returns an error for this place: a known feature is not modelled.
    pub fn not_applicable<T>(&self, what: &str) -> Result<T, Refusal> {
        Err(Refusal::NotApplicable(
            self.line(),
            format!("{what} is not modelled"),
        ))
    }

    /// Returns the next character.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips spaces, line ends and comments.
    pub fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let comment = if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                return;
            };
            self.at += comment;
        }
    }

    /// Consumes `word` if it comes next, and returns whether it did.
    pub fn accept(&mut self, word: &str) -> bool {
        self.skip_blank();
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// Consumes `word`, which must come next.
    pub fn expect(&mut self, word: &str) -> Result<(), Refusal> {
        if self.accept(word) {
            Ok(())
        } else {
            self.malformed(&format!("`{word}`"))
        }
    }

    /// Consumes and returns characters while they fit.
    pub fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        self.skip_blank();
        let rest = self.rest();
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Consumes a word of letters, digits and underscores, which may be empty.
    pub fn word(&mut self) -> &'a str {
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// Consumes everything up to and including `end`, and returns the text before `end`.
    pub fn until(&mut self, end: &str) -> Result<&'a str, Refusal> {
        let rest = self.rest();
        let Some(length) = rest.find(end) else {
            return self.malformed(&format!("`{end}`"));
        };
        self.at += length + end.len();
        Ok(&rest[..length])
    }

    /// Parses a whole number without sign.
    pub fn number(&mut self) -> Result<u64, Refusal> {
        self.skip_blank();
        let here = self.clone();
        let digits = if self.accept("0x") {
            u64::from_str_radix(self.take_while(|c| c.is_ascii_hexdigit()), 16).ok()
        } else {
            self.take_while(|c| c.is_ascii_digit()).parse().ok()
        };
        digits.map_or_else(|| here.malformed("a number"), Ok)
    }

    /// Parses seconds with a decimal fraction, and returns them in microseconds.
    pub fn seconds(&mut self) -> Result<u64, Refusal> {
        self.skip_blank();
        let here = self.clone();
        let whole = self.take_while(|c| c.is_ascii_digit());
        let mut fraction = "";
        // `0...0.01` is a whole number and an ellipsis.
        let mut after = self.rest().chars();
        if after.next() == Some('.') && after.next().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
            fraction = self.take_while(|c| c.is_ascii_digit());
        } else if !whole.is_empty() && self.rest().starts_with(". ") {
            self.at += 1;
        }
        if (whole.is_empty() && fraction.is_empty()) || fraction.len() > 6 {
            return here.malformed("a time in seconds with at most six decimals");
        }
        let micros: u64 = format!("{fraction:0<6}").parse().unwrap_or(0);
        let seconds: u64 = if whole.is_empty() {
            Some(0)
        } else {
            whole.parse().ok()
        }
        .map_or_else(|| here.malformed("a time"), Ok)?;
        Ok(seconds * 1_000_000 + micros)
    }
}
