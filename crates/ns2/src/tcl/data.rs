//! Commands on variables, lists and arrays, and those that speak to the world outside.

use super::source::base_name;
use super::text::{Text, append_element, join_list, split_list};
use super::{Flow, Interpreter};
use crate::error::{quoted, refuse, unknown};

impl Interpreter {
    /// Runs a command of this module; None if the name is none.
    pub(super) fn data(&mut self, name: &str, words: &[Text]) -> Result<Option<Text>, Flow> {
        let value = match name {
            "set" => {
                self.count(words, 2, 3, "set NAME VALUE")?;
                if let Some(value) = words.get(2) {
                    self.put(&words[1].text, value.clone())?;
                }
                self.get(&words[1].text)?
            }
            "expr" => {
                if let [_, one] = words {
                    return self.expression(one).map(Some);
                }
                let texts: Vec<&str> = words[1..].iter().map(|word| &*word.text).collect();
                self.expression(&Text::new(texts.join(" ")))?
            }
            "incr" => self.incr(words)?,
            "append" | "lappend" => self.append(name, words)?,
            "unset" => {
                for word in &words[1..] {
                    self.variables.unset(&word.text);
                }
                Text::empty()
            }
            "list" => join_list(&words[1..]),
            "llength" => {
                self.count(words, 2, 2, "llength LIST")?;
                Text::new(self.list(&words[1])?.len().to_string())
            }
            "lindex" => self.lindex(words)?,
            "lrange" => {
                self.count(words, 4, 4, "lrange LIST FIRST LAST")?;
                let list = self.list(&words[1])?;
                let first = self.index(&words[2], list.len())?.max(0) as usize;
                let end = self.index(&words[3], list.len())? + 1;
                let end = (end.max(0) as usize).min(list.len());
                join_list(list.get(first..end).unwrap_or_default())
            }
            "lsort" => self.lsort(words)?,
            "lreverse" => {
                self.count(words, 2, 2, "lreverse LIST")?;
                join_list(self.list(&words[1])?.iter().rev())
            }
            "lsearch" => {
                self.count(words, 3, 4, "lsearch LIST VALUE")?;
                let [.., list, value] = words else {
                    return Ok(Some(Text::empty()));
                };
                let list = self.list(list)?;
                let place = list.iter().position(|one| one.text == value.text);
                Text::new(place.map_or(-1, |place| place as i64).to_string())
            }
            "concat" => {
                let parts: Vec<&str> = words[1..].iter().map(|word| word.text.trim()).collect();
                Text::new(parts.join(" "))
            }
            "array" => self.array_command(words)?,
            "info" => self.info(words)?,
            _ => return self.outside(name, words),
        };
        self.charge(value.text.len())?;
        Ok(Some(value))
    }

    /// Runs a command that reads or writes files, or runs programs: it does nothing here.
    fn outside(&mut self, name: &str, words: &[Text]) -> Result<Option<Text>, Flow> {
        match name {
            "puts" | "close" | "flush" | "fconfigure" | "update" | "after" | "srand" => {
                Ok(Some(Text::empty()))
            }
            "open" => Ok(Some(Text::new("file"))),
            "file" => self.file_command(words).map(Some),
            "exec" | "gets" | "read" | "eof" | "clock" | "pwd" | "pid" | "glob" => {
                Ok(Some(Text::measured()))
            }
            "source" => self.source(words).map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn list(&mut self, text: &Text) -> Result<Vec<Text>, Flow> {
        self.charge(text.text.len() * 4)?;
        split_list(text, self.line())
    }

    /// Returns a place in a list: a number, `end`, or `end-1`.
    pub(super) fn index(&mut self, text: &Text, length: usize) -> Result<i64, Flow> {
        let end = length as i64 - 1;
        match text.text.strip_prefix("end") {
            Some("") => Ok(end),
            Some(offset) => Ok(end.saturating_add(Text::new(offset).whole(self.line())?)),
            None => match self.expression(text)?.whole(self.line()) {
                // A sum could not overflow what is added to it below.
                Ok(place) => Ok(place.clamp(-1, 1 << 40)),
                other => other,
            },
        }
    }

    fn incr(&mut self, words: &[Text]) -> Result<Text, Flow> {
        self.count(words, 2, 3, "incr NAME STEP")?;
        let name = &words[1].text;
        let before = self.variables.get(name).unwrap_or_else(|| Text::new("0"));
        let step = words.get(2).cloned().unwrap_or_else(|| Text::new("1"));
        let value = if before.is_measured() || step.is_measured() {
            Text::measured()
        } else {
            let sum = before
                .whole(self.line())?
                .checked_add(step.whole(self.line())?);
            let sum = sum.ok_or_else(|| {
                refuse(
                    self.line(),
                    format!("{} is too large", quoted(name)),
                    "use a smaller number",
                )
            })?;
            Text::new(sum.to_string())
        };
        self.put(name, value.clone())?;
        Ok(value)
    }

    fn append(&mut self, name: &str, words: &[Text]) -> Result<Text, Flow> {
        if words.len() < 2 {
            self.count(words, 2, 3, "lappend NAME VALUE")?;
        }
        let target = &words[1].text;
        let before = self.variables.take(target);
        let mut text = before.map_or_else(String::new, |value| value.text.to_string());
        // The text is copied into a value.
        self.charge(text.len() / 8)?;
        for word in &words[2..] {
            if name == "append" {
                text.push_str(&word.text);
            } else {
                append_element(&mut text, &word.text);
            }
        }
        let value = Text::new(text);
        self.put(target, value.clone())?;
        Ok(value)
    }

    fn lindex(&mut self, words: &[Text]) -> Result<Text, Flow> {
        if words.len() < 2 {
            self.count(words, 2, 3, "lindex LIST PLACE")?;
        }
        let mut value = words[1].clone();
        for place in &words[2..] {
            let mut list = self.list(&value)?;
            let place = self.index(place, list.len())?;
            value = match usize::try_from(place) {
                Ok(place) if place < list.len() => list.swap_remove(place),
                _ => Text::empty(),
            };
        }
        Ok(value)
    }

    fn lsort(&mut self, words: &[Text]) -> Result<Text, Flow> {
        self.count(words, 2, 6, "lsort LIST")?;
        let mut list = self.list(&words[words.len() - 1])?;
        let options: Vec<&str> = words[1..words.len() - 1]
            .iter()
            .map(|word| &*word.text)
            .collect();
        for option in &options {
            let known = [
                "-integer",
                "-real",
                "-increasing",
                "-decreasing",
                "-unique",
                "-ascii",
            ];
            if !known.contains(option) {
                return Err(unknown(self.line(), "the option", option, &known).into());
            }
        }
        if options.contains(&"-integer") || options.contains(&"-real") {
            let line = self.line();
            let numbers = list.iter().map(|one| one.number(line));
            let numbers = numbers.collect::<Result<Vec<f64>, Flow>>()?;
            let mut pairs: Vec<(f64, Text)> = numbers.into_iter().zip(list).collect();
            pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
            list = pairs.into_iter().map(|pair| pair.1).collect();
        } else {
            list.sort_by(|a, b| a.text.cmp(&b.text));
        }
        if options.contains(&"-unique") {
            list.dedup_by(|a, b| a.text == b.text);
        }
        if options.contains(&"-decreasing") {
            list.reverse();
        }
        Ok(join_list(&list))
    }

    fn array_command(&mut self, words: &[Text]) -> Result<Text, Flow> {
        self.count(words, 3, 4, "array set NAME LIST")?;
        let name = &words[2].text;
        match &*words[1].text {
            "set" => {
                self.count(words, 4, 4, "array set NAME LIST")?;
                for pair in self.list(&words[3])?.chunks(2) {
                    let [key, value] = pair else {
                        let message = "the list has a key without a value";
                        return Err(
                            refuse(self.line(), message, "write a value for each key").into()
                        );
                    };
                    self.put(&format!("{name}({})", key.text), value.clone())?;
                }
                Ok(Text::empty())
            }
            "names" => {
                let pattern = words.get(3).map_or("*", |word| &word.text);
                let array = self.variables.array(name);
                let keys = array.into_iter().flat_map(|array| array.keys());
                let keys = keys.filter(|key| super::strings::matches(pattern, key));
                let keys: Vec<Text> = keys.map(|key| Text::new(key.as_str())).collect();
                Ok(join_list(&keys))
            }
            "get" => {
                let array = self.variables.array(name);
                let pairs = array.into_iter().flatten();
                let flat: Vec<Text> = pairs
                    .flat_map(|(key, value)| [Text::new(key.as_str()), value.clone()])
                    .collect();
                Ok(join_list(&flat))
            }
            "size" => {
                let size = self
                    .variables
                    .array(name)
                    .map_or(0, std::collections::BTreeMap::len);
                Ok(Text::new(size.to_string()))
            }
            "exists" => {
                let exists = self.variables.array(name).is_some();
                Ok(Text::new(if exists { "1" } else { "0" }))
            }
            "unset" => {
                self.variables.unset(name);
                Ok(Text::empty())
            }
            other => {
                let known = ["set", "names", "get", "size", "exists", "unset"];
                Err(unknown(self.line(), "the command of array", other, &known).into())
            }
        }
    }

    fn info(&mut self, words: &[Text]) -> Result<Text, Flow> {
        self.count(words, 2, 3, "info exists NAME")?;
        match (&*words[1].text, words.get(2)) {
            ("exists", Some(name)) => {
                let known = self.variables.get(&name.text).is_some()
                    || self.variables.array(&name.text).is_some();
                Ok(Text::new(if known { "1" } else { "0" }))
            }
            ("script", _) => Ok(Text::new(base_name(self.script_at_work()))),
            ("level", _) => Ok(Text::new(self.variables.top().to_string())),
            (other, _) => Err(unknown(
                self.line(),
                "the command of info",
                other,
                &["exists", "script"],
            )
            .into()),
        }
    }
}
