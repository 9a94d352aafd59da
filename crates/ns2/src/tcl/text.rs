//! Values of Tcl, all of which are texts, and lists of them.

use super::Flow;
use crate::MEASURED;
use crate::error::{quoted, refuse};
use std::fmt::Write as _;
use std::rc::Rc;

/// A value, with the line where it is in the script.
#[derive(Clone, Debug)]
pub struct Text {
    pub text: Rc<str>,
    /// Line of the first character; 0 if the value was made by commands.
    pub line: u32,
}

impl Text {
    pub fn new(text: impl Into<Rc<str>>) -> Self {
        Self {
            text: text.into(),
            line: 0,
        }
    }

    pub fn empty() -> Self {
        Self::new("")
    }

    /// The value that only a simulation knows.
    pub fn measured() -> Self {
        Self::new(MEASURED)
    }

    pub fn is_measured(&self) -> bool {
        self.text.contains(MEASURED)
    }

    /// Returns the value as a number.
    pub fn number(&self, line: u32) -> Result<f64, Flow> {
        if self.is_measured() {
            return Err(measured(line));
        }
        parse_number(&self.text).ok_or_else(|| failure(line, &self.text, "a number"))
    }

    /// Returns the value as a whole number.
    pub fn whole(&self, line: u32) -> Result<i64, Flow> {
        if self.is_measured() {
            return Err(measured(line));
        }
        parse_whole(&self.text).ok_or_else(|| failure(line, &self.text, "a whole number"))
    }
}

/// Returns the error of a network that depends on a measured value.
pub fn measured(line: u32) -> Flow {
    let message = "the network depends on a value that only a simulation knows";
    refuse(line, message, "write this value as a number").into()
}

fn failure(line: u32, text: &str, what: &str) -> Flow {
    let mut error = refuse(
        line,
        format!("{} is not {what}", quoted(text)),
        format!("write {what}"),
    );
    error.tcl = true;
    error.into()
}

/// Returns a whole number as Tcl writes it: decimal, hexadecimal or octal.
pub fn parse_whole(text: &str) -> Option<i64> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.starts_with(['-', '+']) {
        return None;
    }
    let value = match digits.strip_prefix("0x") {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok()?,
        None => digits.parse().ok()?,
    };
    i64::checked_mul(value, sign)
}

/// Returns a finite number.
pub fn parse_number(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(whole) = parse_whole(text) {
        return Some(whole as f64);
    }
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let value: f64 = text.parse().ok()?;
    (begins && value.is_finite()).then_some(value)
}

/// Returns the elements of a list.
pub fn split_list(list: &Text, line: u32) -> Result<Vec<Text>, Flow> {
    let bytes = list.text.as_bytes();
    let mut elements = Vec::new();
    let (mut at, mut newlines) = (0, 0);
    loop {
        while at < bytes.len() && bytes[at].is_ascii_whitespace() {
            newlines += u32::from(bytes[at] == b'\n');
            at += 1;
        }
        if at >= bytes.len() {
            return Ok(elements);
        }
        let here = if list.line == 0 {
            0
        } else {
            list.line + newlines
        };
        let (from, to, next) = match bytes[at] {
            b'{' => {
                let end = closing_brace(bytes, at)
                    .ok_or_else(|| failure(line, &list.text, "a list with closed braces"))?;
                (at + 1, end, end + 1)
            }
            b'"' => {
                let length = bytes[at + 1..].iter().position(|&b| b == b'"');
                let end = at + 1 + length.ok_or_else(|| failure(line, &list.text, "a list"))?;
                (at + 1, end, end + 1)
            }
            _ => {
                let mut end = at;
                while end < bytes.len() && !bytes[end].is_ascii_whitespace() {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                (at, end.min(bytes.len()), end)
            }
        };
        // The ends are next to characters of ASCII, but an escaped character may have several bytes.
        let element = list.text.get(from..to).unwrap_or_default();
        newlines += element.matches('\n').count() as u32;
        let text = if bytes[at] == b'{' || !element.contains('\\') {
            Rc::from(element)
        } else {
            Rc::from(without_escapes(element))
        };
        elements.push(Text { text, line: here });
        at = next;
    }
}

/// Returns the place of the brace that closes the one at `open`.
pub fn closing_brace(bytes: &[u8], open: usize) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, open);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn without_escapes(element: &str) -> String {
    let mut plain = String::new();
    let mut rest = element.chars();
    while let Some(c) = rest.next() {
        plain.push(if c == '\\' {
            rest.next().unwrap_or('\\')
        } else {
            c
        });
    }
    plain
}

/// Appends an element to a list.
pub fn append_element(list: &mut String, element: &str) {
    if !list.is_empty() {
        list.push(' ');
    }
    let plain = !element.is_empty()
        && !element.contains(|c: char| c.is_whitespace() || "{}[]$\";\\".contains(c));
    if plain {
        list.push_str(element);
    } else if closing_brace(format!("{{{element}}}").as_bytes(), 0) == Some(element.len() + 1) {
        let _ = write!(list, "{{{element}}}");
    } else {
        for c in element.chars() {
            if c.is_whitespace() || "{}[]$\";\\".contains(c) {
                list.push('\\');
            }
            list.push(c);
        }
    }
}

/// Returns texts as a list.
pub fn join_list<'a>(elements: impl IntoIterator<Item = &'a Text>) -> Text {
    let mut list = String::new();
    for element in elements {
        append_element(&mut list, &element.text);
    }
    Text::new(list)
}
