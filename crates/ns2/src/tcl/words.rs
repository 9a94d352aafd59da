//! Commands as words, with their substitutions.

use super::text::{Text, closing_brace, split_list};
use super::{Flow, Interpreter};
use crate::error::refuse;
use std::rc::Rc;

/// A place in a script.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    pub text: &'a str,
    pub at: usize,
    /// Line of the place; 0 if the script is no part of the file.
    pub line: u32,
}

/// End of a text in which variables and commands are substituted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A quotation mark.
    Quote,
    /// The parenthesis after the index of an array.
    Parenthesis,
    /// White space, the end of the command, and a bracket if the command is in brackets.
    Word { nested: bool },
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str, line: u32) -> Self {
        Self { text, at: 0, line }
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub fn second(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at + 1).copied()
    }

    /// Passes over a character of ASCII.
    pub fn skip(&mut self) {
        if self.line > 0 && self.peek() == Some(b'\n') {
            self.line += 1;
        }
        self.at += 1;
    }

    /// Passes over text up to this place.
    pub fn skip_to(&mut self, at: usize) {
        while self.at < at {
            self.skip();
        }
    }

    fn blank(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => self.skip(),
                Some(b'\\') if self.line_goes_on() => self.skip_to(self.at + 2),
                _ => return,
            }
        }
    }

    /// True before a backslash at the end of a line.
    fn line_goes_on(&self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        rest.starts_with(b"\\\n") || rest.starts_with(b"\\\r\n")
    }

    fn comment(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'\n' {
                return;
            }
            let escaped = byte == b'\\' && self.second().is_some();
            self.skip();
            if escaped {
                if self.peek() == Some(b'\r') {
                    self.skip();
                }
                self.skip();
            }
        }
    }

    /// Name of a variable at the cursor, without its index.
    pub fn name(&mut self) -> &'a str {
        let from = self.at;
        while let Some(byte) = self.peek() {
            let colons = byte == b':' && self.second() == Some(b':');
            if colons {
                self.at += 1;
            } else if !(byte.is_ascii_alphanumeric() || byte == b'_') {
                break;
            }
            self.at += 1;
        }
        &self.text[from..self.at]
    }
}

impl Interpreter {
    /// Returns the words of the next command; None at the end. A command may have no words.
    pub(super) fn next_command(
        &mut self,
        cursor: &mut Cursor<'_>,
        nested: bool,
    ) -> Result<Option<Vec<Text>>, Flow> {
        loop {
            cursor.blank();
            match cursor.peek() {
                Some(b'\n' | b';') => cursor.skip(),
                Some(b'#') => cursor.comment(),
                Some(b']') if nested => {
                    cursor.skip();
                    return Ok(None);
                }
                None if nested => return Err(self.open("a bracket")),
                None => return Ok(None),
                Some(_) => break,
            }
        }
        let line = cursor.line;
        let mut words = Vec::new();
        let ends = |byte: Option<u8>| match byte {
            None | Some(b'\n' | b';') => true,
            Some(byte) => nested && byte == b']',
        };
        while !ends(cursor.peek()) {
            if line > 0 {
                self.line = line;
            }
            self.word(cursor, nested, &mut words)?;
            cursor.blank();
        }
        if line > 0 {
            self.line = line;
        }
        Ok(Some(words))
    }

    /// Appends the word at the cursor.
    fn word(
        &mut self,
        cursor: &mut Cursor<'_>,
        nested: bool,
        words: &mut Vec<Text>,
    ) -> Result<(), Flow> {
        let expanded = cursor.text[cursor.at..].starts_with("{*}")
            && !matches!(
                cursor.text.as_bytes().get(cursor.at + 3),
                None | Some(b' ' | b'\n')
            );
        if expanded {
            cursor.skip_to(cursor.at + 3);
        }
        let word = match cursor.peek() {
            Some(b'{') => self.braced(cursor)?,
            Some(b'"') => {
                cursor.skip();
                let line = cursor.line;
                let text = self.substitute(cursor, End::Quote)?;
                Text { line, ..text }
            }
            _ => self.substitute(cursor, End::Word { nested })?,
        };
        if expanded {
            words.extend(split_list(&word, self.line)?);
        } else {
            words.push(word);
        }
        Ok(())
    }

    fn braced(&mut self, cursor: &mut Cursor<'_>) -> Result<Text, Flow> {
        let end =
            closing_brace(cursor.text.as_bytes(), cursor.at).ok_or_else(|| self.open("a brace"))?;
        let word = Text {
            text: Rc::from(&cursor.text[cursor.at + 1..end]),
            line: cursor.line,
        };
        self.charge(word.text.len())?;
        cursor.skip_to(end + 1);
        Ok(word)
    }

    /// Returns the text up to its end, with the values of variables and commands.
    pub(super) fn substitute(&mut self, cursor: &mut Cursor<'_>, end: End) -> Result<Text, Flow> {
        let mut text = String::new();
        let mut whole: Option<Text> = None;
        loop {
            let Some(byte) = cursor.peek() else {
                if matches!(end, End::Word { .. }) {
                    break;
                }
                return Err(self.open("a quotation mark or a parenthesis"));
            };
            let ends = match end {
                End::Quote => byte == b'"',
                End::Parenthesis => byte == b')',
                End::Word { nested } => {
                    byte.is_ascii_whitespace()
                        || byte == b';'
                        || (nested && byte == b']')
                        || cursor.line_goes_on()
                }
            };
            if ends {
                if !matches!(end, End::Word { .. }) {
                    cursor.skip();
                }
                break;
            }
            // A word that is one substitution keeps the line of its value.
            if let Some(earlier) = whole.take() {
                text.push_str(&earlier.text);
            }
            let first = text.is_empty();
            match byte {
                b'$' => match self.variable(cursor)? {
                    Some(value) if first => whole = Some(value),
                    Some(value) => text.push_str(&value.text),
                    None => text.push('$'),
                },
                b'[' => {
                    cursor.skip();
                    let value = self.evaluate_at(cursor, true)?;
                    if first {
                        whole = Some(value);
                    } else {
                        text.push_str(&value.text);
                    }
                }
                b'\\' => escape(cursor, &mut text),
                _ => {
                    let from = cursor.at;
                    cursor.skip();
                    while !cursor.text.is_char_boundary(cursor.at) {
                        cursor.at += 1;
                    }
                    text.push_str(&cursor.text[from..cursor.at]);
                }
            }
        }
        let value = whole.unwrap_or_else(|| Text::new(text));
        self.charge(value.text.len())?;
        Ok(value)
    }

    /// Returns the value of the variable at the cursor; None if the dollar sign is only a character.
    pub(super) fn variable(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Text>, Flow> {
        cursor.skip();
        if cursor.peek() == Some(b'{') {
            let name = self.braced(cursor)?;
            return self.get(&name.text).map(Some);
        }
        let name = cursor.name();
        if cursor.peek() == Some(b'(') {
            cursor.skip();
            let index = self.substitute(cursor, End::Parenthesis)?;
            return self.get(&format!("{name}({})", index.text)).map(Some);
        }
        if name.is_empty() {
            return Ok(None);
        }
        self.get(name).map(Some)
    }

    fn open(&self, what: &str) -> Flow {
        refuse(self.line, format!("{what} is never closed"), "close it").into()
    }
}

/// Appends the character behind a backslash.
fn escape(cursor: &mut Cursor<'_>, text: &mut String) {
    if cursor.line_goes_on() {
        cursor.skip_to(cursor.at + if cursor.second() == Some(b'\r') { 3 } else { 2 });
        text.push(' ');
        return;
    }
    cursor.skip();
    let Some(c) = cursor.text[cursor.at..].chars().next() else {
        text.push('\\');
        return;
    };
    cursor.skip_to(cursor.at + c.len_utf8());
    text.push(match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        other => other,
    });
}
