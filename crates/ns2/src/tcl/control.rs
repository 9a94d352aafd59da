//! Commands that decide what runs next.

use super::text::{Text, split_list};
use super::{Flow, Interpreter, Procedure};
use crate::error::{quoted, refuse};
use crate::place;
use std::rc::Rc;

impl Interpreter {
    /// Runs a command of this module; None if the name is none.
    pub(super) fn control(&mut self, name: &str, words: &[Text]) -> Result<Option<Text>, Flow> {
        let value = match name {
            "if" => self.if_command(words)?,
            "while" => self.while_command(words)?,
            "for" => self.for_command(words)?,
            "foreach" => self.foreach_command(words)?,
            "switch" => self.switch_command(words)?,
            "proc" => self.proc_command(words)?,
            "return" => {
                self.count(words, 1, 2, "return VALUE")?;
                return Err(Flow::Return(
                    words.get(1).cloned().unwrap_or_else(Text::empty),
                ));
            }
            "break" => return Err(Flow::Break),
            "continue" => return Err(Flow::Continue),
            "exit" => return Err(Flow::Exit),
            "catch" => self.catch_command(words)?,
            "eval" | "uplevel" => self.eval_command(name, words)?,
            "global" => {
                for word in &words[1..] {
                    self.variables.link(0, &word.text, &word.text);
                }
                Text::empty()
            }
            "upvar" => self.upvar_command(words)?,
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    /// Returns a condition's truth; None if only a simulation knows it.
    fn condition(&mut self, text: &Text) -> Result<Option<bool>, Flow> {
        let value = self.expression(text)?;
        if value.is_measured() {
            let place = place::shown(self.line, &self.sources.names);
            self.world.note_condition(&place);
            return Ok(None);
        }
        match &*value.text.to_lowercase() {
            "true" | "yes" | "on" => Ok(Some(true)),
            "false" | "no" | "off" => Ok(Some(false)),
            _ => Ok(Some(value.number(self.line)? != 0.0)),
        }
    }

    fn if_command(&mut self, words: &[Text]) -> Result<Text, Flow> {
        let mut at = 1;
        let form = "if {CONDITION} {COMMANDS} else {COMMANDS}";
        loop {
            let Some(condition) = words.get(at) else {
                return self.wrong(words, form);
            };
            let line = self.line;
            let truth = self.condition(condition)?;
            self.line = line;
            at += 1;
            if words.get(at).is_some_and(|word| &*word.text == "then") {
                at += 1;
            }
            let Some(body) = words.get(at) else {
                return self.wrong(words, form);
            };
            match truth {
                Some(true) => return self.evaluate(body),
                Some(false) => {}
                None => return Ok(Text::empty()),
            }
            at += 1;
            match words.get(at).map(|word| &*word.text) {
                None => return Ok(Text::empty()),
                Some("elseif") => at += 1,
                Some("else") => {
                    let Some(body) = words.get(at + 1) else {
                        return self.wrong(words, form);
                    };
                    return self.evaluate(body);
                }
                Some(_) => return self.evaluate(&words[at]),
            }
        }
    }

    fn wrong<T>(&self, words: &[Text], form: &str) -> Result<T, Flow> {
        let message = format!("{} has a wrong number of words", quoted(&words[0].text));
        Err(refuse(self.line, message, format!("write {form}")).into())
    }

    /// Runs the body of a loop once; false if it ends the loop.
    fn turn(&mut self, body: &Text) -> Result<bool, Flow> {
        self.charge(body.text.len())?;
        match self.evaluate(body) {
            Ok(_) | Err(Flow::Continue) => Ok(true),
            Err(Flow::Break) => Ok(false),
            Err(other) => Err(other),
        }
    }

    fn while_command(&mut self, words: &[Text]) -> Result<Text, Flow> {
        self.count(words, 3, 3, "while {CONDITION} {COMMANDS}")?;
        while self.condition(&words[1])? == Some(true) && self.turn(&words[2])? {}
        Ok(Text::empty())
    }

    fn for_command(&mut self, words: &[Text]) -> Result<Text, Flow> {
        self.count(words, 5, 5, "for {START} {CONDITION} {NEXT} {COMMANDS}")?;
        self.evaluate(&words[1])?;
        while self.condition(&words[2])? == Some(true) && self.turn(&words[4])? {
            self.evaluate(&words[3])?;
        }
        Ok(Text::empty())
    }

    fn foreach_command(&mut self, words: &[Text]) -> Result<Text, Flow> {
        if words.len() < 4 || !words.len().is_multiple_of(2) {
            return self.wrong(words, "foreach NAME LIST {COMMANDS}");
        }
        let mut columns = Vec::new();
        for pair in words[1..words.len() - 1].chunks(2) {
            let names = split_list(&pair[0], self.line)?;
            if names.is_empty() {
                return self.wrong(words, "foreach NAME LIST {COMMANDS}");
            }
            self.charge(pair[1].text.len() * 4)?;
            columns.push((names, split_list(&pair[1], self.line)?));
        }
        let turns = columns
            .iter()
            .map(|(names, list)| list.len().div_ceil(names.len()));
        for turn in 0..turns.max().unwrap_or(0) {
            for (names, list) in &columns {
                for (place, name) in names.iter().enumerate() {
                    let value = list.get(turn * names.len() + place);
                    self.put(&name.text, value.cloned().unwrap_or_else(Text::empty))?;
                }
            }
            if !self.turn(&words[words.len() - 1])? {
                break;
            }
        }
        Ok(Text::empty())
    }

    fn switch_command(&mut self, words: &[Text]) -> Result<Text, Flow> {
        let form = "switch VALUE { PATTERN {COMMANDS} }";
        let mut rest = &words[1..];
        while rest.first().is_some_and(|word| word.text.starts_with('-')) && rest.len() > 2 {
            if &*rest[0].text == "-regexp" {
                let message = "switch -regexp is not understood";
                return Err(refuse(self.line, message, "write switch -exact").into());
            }
            rest = &rest[1..];
        }
        let Some((value, arms)) = rest.split_first() else {
            return self.wrong(words, form);
        };
        let arms = match arms {
            [block] => split_list(block, self.line)?,
            _ => arms.to_vec(),
        };
        let mut found = false;
        for pair in arms.chunks(2) {
            let [pattern, body] = pair else {
                return self.wrong(words, form);
            };
            found = found
                || &*pattern.text == "default"
                || super::strings::matches(&pattern.text, &value.text);
            if found && &*body.text != "-" {
                return self.evaluate(body);
            }
        }
        Ok(Text::empty())
    }

    fn proc_command(&mut self, words: &[Text]) -> Result<Text, Flow> {
        self.count(words, 4, 4, "proc NAME {PARAMETERS} {COMMANDS}")?;
        let mut parameters = Vec::new();
        for parameter in split_list(&words[2], self.line)? {
            let parts = split_list(&parameter, self.line)?;
            let name = parts.first().map_or("", |part| &part.text);
            parameters.push((name.to_owned(), parts.get(1).cloned()));
        }
        let body = words[3].clone();
        let procedure = Rc::new(Procedure { parameters, body });
        self.procedures.insert(words[1].text.to_string(), procedure);
        Ok(Text::empty())
    }

    fn catch_command(&mut self, words: &[Text]) -> Result<Text, Flow> {
        self.count(words, 2, 3, "catch {COMMANDS} NAME")?;
        let (code, value) = match self.evaluate(&words[1]) {
            Ok(value) => ("0", value),
            Err(Flow::Error(error)) if error.tcl => ("1", Text::new(error.message)),
            Err(other) => return Err(other),
        };
        if let Some(name) = words.get(2) {
            self.put(&name.text, value)?;
        }
        Ok(Text::new(code))
    }

    fn eval_command(&mut self, name: &str, words: &[Text]) -> Result<Text, Flow> {
        let (frame, words) = match words.get(1) {
            Some(level) if name == "uplevel" && words.len() > 2 => {
                (self.level(&level.text)?, &words[2..])
            }
            _ if name == "uplevel" => (self.level("1")?, &words[1..]),
            _ => (self.variables.top(), &words[1..]),
        };
        let script = match words {
            [one] => one.clone(),
            many => {
                let texts: Vec<&str> = many.iter().map(|word| &*word.text).collect();
                Text::new(texts.join(" "))
            }
        };
        self.charge(script.text.len())?;
        let above = self.variables.take_above(frame);
        let outcome = self.evaluate(&script);
        self.variables.restore(above);
        outcome
    }

    fn upvar_command(&mut self, words: &[Text]) -> Result<Text, Flow> {
        let form = "upvar LEVEL NAME NAME";
        let (frame, pairs) = if words.len().is_multiple_of(2) {
            (self.level(&words[1].text)?, &words[2..])
        } else {
            (self.level("1")?, &words[1..])
        };
        for pair in pairs.chunks(2) {
            let [outer, name] = pair else {
                return self.wrong(words, form);
            };
            self.variables.link(frame, &outer.text, &name.text);
        }
        Ok(Text::empty())
    }

    /// Returns the frame that a level means: `#0` counts from the global one, `1` from here.
    fn level(&self, text: &str) -> Result<usize, Flow> {
        let top = self.variables.top();
        let frame = match text.strip_prefix('#') {
            Some(absolute) => absolute.parse().ok().filter(|frame| *frame <= top),
            None => text.parse().ok().and_then(|up: usize| top.checked_sub(up)),
        };
        frame.ok_or_else(|| {
            let message = format!("there is no level {}", quoted(text));
            refuse(self.line, message, "write #0 for global variables").into()
        })
    }
}
