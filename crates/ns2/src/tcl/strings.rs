//! Commands on texts.

use super::text::{Text, join_list};
use super::{Flow, Interpreter};
use crate::error::{quoted, refuse, unknown};
use std::fmt::Write as _;

/// Widest field and most digits of `format`.
const WIDEST: usize = 200;

impl Interpreter {
    /// Runs a command of this module; None if the name is none.
    pub(super) fn strings(&mut self, name: &str, words: &[Text]) -> Result<Option<Text>, Flow> {
        let value = match name {
            "split" => {
                self.count(words, 2, 3, "split TEXT CHARACTERS")?;
                let at = words.get(2).map_or(" \t\r\n", |word| &word.text);
                self.charge(words[1].text.len() * 8)?;
                let parts: Vec<Text> = if at.is_empty() {
                    words[1]
                        .text
                        .chars()
                        .map(|c| Text::new(c.to_string()))
                        .collect()
                } else if words[1].text.is_empty() {
                    Vec::new()
                } else {
                    words[1]
                        .text
                        .split(|c| at.contains(c))
                        .map(Text::new)
                        .collect()
                };
                join_list(&parts)
            }
            "join" => {
                self.count(words, 2, 3, "join LIST TEXT")?;
                let between = words.get(2).map_or(" ", |word| &word.text);
                let list = self.list(&words[1])?;
                self.charge(list.len() * between.len())?;
                let texts: Vec<&str> = list.iter().map(|one| &*one.text).collect();
                Text::new(texts.join(between))
            }
            "format" => self.format(words)?,
            "string" => self.string_command(words)?,
            _ => return Ok(None),
        };
        self.charge(value.text.len())?;
        Ok(Some(value))
    }

    fn string_command(&mut self, words: &[Text]) -> Result<Text, Flow> {
        let form = "string COMMAND TEXT";
        self.count(words, 3, 6, form)?;
        let text = words[2].text.clone();
        let truth = |truth: bool| Text::new(if truth { "1" } else { "0" });
        let second = words.get(3).map(|word| word.text.clone());
        Ok(match (&*words[1].text, second) {
            ("length", _) => Text::new(text.chars().count().to_string()),
            ("tolower", _) => Text::new(text.to_lowercase()),
            ("toupper", _) => Text::new(text.to_uppercase()),
            ("trim", None) => Text::new(text.trim()),
            ("compare", Some(other)) => Text::new((text.cmp(&other) as i8).to_string()),
            ("equal", Some(other)) => truth(text == other),
            ("match", Some(other)) => {
                self.charge(text.len() * 8 + other.len())?;
                truth(matches(&text, &other))
            }
            ("first", Some(other)) => {
                let place = other.find(&*text).map_or(-1, |place| place as i64);
                Text::new(place.to_string())
            }
            ("index", Some(_)) => {
                let place = self.index(&words[3], text.chars().count())?;
                let c = usize::try_from(place)
                    .ok()
                    .and_then(|place| text.chars().nth(place));
                Text::new(c.map_or_else(String::new, String::from))
            }
            ("range", Some(_)) => {
                self.count(words, 5, 5, "string range TEXT FIRST LAST")?;
                let length = text.chars().count();
                let first = self.index(&words[3], length)?.max(0) as usize;
                let last = (self.index(&words[4], length)? + 1).max(0) as usize;
                let range = text.chars().skip(first).take(last.saturating_sub(first));
                Text::new(range.collect::<String>())
            }
            (other, _) => {
                let known = [
                    "length", "tolower", "toupper", "trim", "compare", "equal", "match", "first",
                    "index", "range",
                ];
                return Err(unknown(self.line(), "the command of string", other, &known).into());
            }
        })
    }

    fn format(&mut self, words: &[Text]) -> Result<Text, Flow> {
        self.count(words, 2, 100, "format TEXT VALUES")?;
        let mut values = words[2..].iter();
        let mut text = String::new();
        let mut rest = &*words[1].text;
        while let Some(place) = rest.find('%') {
            text.push_str(&rest[..place]);
            rest = &rest[place + 1..];
            let end = rest.find(|c: char| !(c.is_ascii_digit() || "-+ #0.l".contains(c)));
            let Some(end) = end else {
                break;
            };
            let flags = &rest[..end];
            let kind = rest[end..].chars().next().unwrap_or('%');
            rest = &rest[end + kind.len_utf8()..];
            if kind == '%' {
                text.push('%');
                continue;
            }
            let Some(value) = values.next() else {
                let message = "format has fewer values than fields";
                return Err(refuse(self.line(), message, "give a value for each %").into());
            };
            let field = self.field(flags, kind, value)?;
            text.push_str(&field);
        }
        text.push_str(rest);
        Ok(Text::new(text))
    }

    /// Returns a value as a field of `format`.
    fn field(&self, flags: &str, kind: char, value: &Text) -> Result<String, Flow> {
        if value.is_measured() {
            return Ok(value.text.to_string());
        }
        let left = flags.contains('-');
        let flags = flags.trim_start_matches(['-', '+', ' ', '#']);
        let zeros = flags.starts_with('0');
        let (width, digits) = flags
            .trim_end_matches('l')
            .split_once('.')
            .unwrap_or((flags, ""));
        let width = width.parse().unwrap_or(0).min(WIDEST);
        let digits: usize = digits.parse().unwrap_or(6).min(WIDEST);
        let line = self.line();
        let plain = match kind {
            'd' | 'i' | 'u' => format!("{}", value.number(line)?.trunc() as i64),
            'x' => format!("{:x}", value.whole(line)?),
            'f' => format!("{:.digits$}", value.number(line)?),
            'e' => format!("{:.digits$e}", value.number(line)?),
            'g' => format!("{}", value.number(line)?),
            's' => value.text.to_string(),
            'c' => u32::try_from(value.whole(line)?)
                .ok()
                .and_then(char::from_u32)
                .map_or_else(String::new, String::from),
            other => {
                let message = format!("format does not know {}", quoted(&format!("%{other}")));
                return Err(refuse(line, message, "write %d, %f, %g or %s").into());
            }
        };
        let mut field = String::new();
        let _ = match (left, zeros) {
            (true, _) => write!(field, "{plain:<width$}"),
            (false, true) if kind != 's' => write!(field, "{plain:0>width$}"),
            _ => write!(field, "{plain:>width$}"),
        };
        Ok(field)
    }
}

/// Returns True if a text has the form of a pattern with `*` and `?`.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut place) = (0, 0);
    // The last star, and the text behind what it has taken.
    let mut star = None;
    while place < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(&c) if c == '?' || c == text[place] => {
                at += 1;
                place += 1;
            }
            _ => match star {
                Some((from, taken)) => {
                    star = Some((from, taken + 1));
                    at = from + 1;
                    place = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&c| c == '*')
}
