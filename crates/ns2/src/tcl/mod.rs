//! An interpreter of the part of Tcl that scripts of ns-2 use.

mod budget;
mod control;
mod data;
mod expression;
mod operators;
mod source;
mod strings;
mod text;
mod variables;
mod words;

pub use text::{Text, measured, parse_number, split_list};

use crate::error::{ImportError, quoted, refuse, unknown};
use crate::files::Folder;
use crate::network::{Draw, Model, World};
use budget::Budget;
use source::{Sources, base_name};
use std::collections::HashMap;
use std::rc::Rc;
use variables::Variables;
use words::Cursor;

/// Commands with the same text that are run at most, of those that a script schedules.
const MAX_REPEATS: u32 = 200;

/// The reason why a command does not give a value.
#[derive(Debug)]
pub enum Flow {
    Error(Box<ImportError>),
    Return(Text),
    Break,
    Continue,
    /// The script ends the run.
    Exit,
}

impl From<ImportError> for Flow {
    fn from(error: ImportError) -> Self {
        Self::Error(Box::new(error))
    }
}

/// A procedure: its parameters, with their defaults, and its body.
#[derive(Debug)]
struct Procedure {
    parameters: Vec<(String, Option<Text>)>,
    body: Text,
}

/// The state of a script.
#[derive(Debug)]
pub struct Interpreter {
    variables: Variables,
    procedures: HashMap<String, Rc<Procedure>>,
    budget: Budget,
    /// Place of the command at work.
    line: u32,
    /// Name of the script.
    file: String,
    folder: Folder,
    sources: Sources,
    /// The objects of ns-2.
    pub world: World,
}

/// A script, and what it may use.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    pub text: &'a str,
    /// Name for messages.
    pub file: &'a str,
    pub arguments: &'a [String],
    pub folder: &'a Folder,
}

/// Runs a script, and then what it has scheduled.
pub fn interpret(script: &Script<'_>, draw: Draw) -> Result<Model, ImportError> {
    let mut interpreter = Interpreter {
        variables: Variables::new(),
        procedures: HashMap::new(),
        budget: Budget::new(),
        line: 0,
        file: script.file.to_owned(),
        folder: script.folder.clone(),
        sources: Sources::default(),
        world: World::new(draw),
    };
    let outcome = interpreter.run(script);
    let files = std::mem::take(&mut interpreter.sources.names);
    match outcome.and_then(|ended_at| interpreter.world.finish(ended_at)) {
        Ok(model) => Ok(Model { files, ..model }),
        Err(error) => Err(error.in_files(script.file, &files)),
    }
}

impl Interpreter {
    /// Runs a script and what it has scheduled. Returns the place of the last command.
    fn run(&mut self, script: &Script<'_>) -> Result<u32, ImportError> {
        let list: Vec<Text> = script
            .arguments
            .iter()
            .map(|one| Text::new(one.as_str()))
            .collect();
        let constants = [
            ("argv", text::join_list(&list)),
            ("argc", Text::new(list.len().to_string())),
            ("argv0", Text::new(base_name(script.file))),
            ("tcl_version", Text::new("8.5")),
            ("defaultRNG", World::default_rng()),
        ];
        for (name, value) in constants {
            self.variables.set_global(name, value);
        }
        let text = Text {
            text: Rc::from(script.text),
            line: 1,
        };
        self.top(&text)?;
        // Commands behind `$ns run` are for the time after the run, `exit` among them.
        if self.world.running {
            self.events()
        } else {
            Ok(self.line)
        }
    }

    /// Runs a script at the level of global variables; None if it ended the run.
    fn top(&mut self, script: &Text) -> Result<Option<()>, ImportError> {
        match self.evaluate(script) {
            Ok(_) | Err(Flow::Return(_)) => Ok(Some(())),
            Err(Flow::Exit) => Ok(None),
            Err(Flow::Error(error)) => Err(*error),
            Err(Flow::Break | Flow::Continue) => {
                let message = "break and continue belong in a loop";
                Err(refuse(self.line, message, "leave this command out"))
            }
        }
    }

    /// Runs the scheduled commands until one of them ends the run. Returns the line of the last one.
    fn events(&mut self) -> Result<u32, ImportError> {
        let mut repeats: HashMap<Rc<str>, u32> = HashMap::new();
        while let Some((script, line)) = self.world.next_event() {
            let seen = repeats.entry(script.text.clone()).or_default();
            *seen += 1;
            // A procedure that records something schedules itself for ever.
            if *seen > MAX_REPEATS {
                continue;
            }
            self.line = line;
            if self.top(&script)?.is_none() {
                self.world.ended = true;
                break;
            }
        }
        Ok(self.line)
    }

    /// Runs a script, and returns the value of its last command.
    fn evaluate(&mut self, script: &Text) -> Result<Text, Flow> {
        let source = script.text.clone();
        let mut cursor = Cursor::new(&source, script.line);
        self.evaluate_at(&mut cursor, false)
    }

    /// Runs the commands at a cursor up to its end, or with `nested` up to the closing bracket.
    fn evaluate_at(&mut self, cursor: &mut Cursor<'_>, nested: bool) -> Result<Text, Flow> {
        self.budget.enter(self.line)?;
        let outcome = self.commands(cursor, nested);
        self.budget.leave();
        outcome
    }

    fn commands(&mut self, cursor: &mut Cursor<'_>, nested: bool) -> Result<Text, Flow> {
        let mut value = Text::empty();
        while let Some(words) = self.next_command(cursor, nested)? {
            if !words.is_empty() {
                value = self.invoke(&words)?;
            }
        }
        Ok(value)
    }

    /// Runs one command.
    fn invoke(&mut self, words: &[Text]) -> Result<Text, Flow> {
        self.budget.charge(self.line, words.len())?;
        let name = words[0].text.clone();
        let name = name.strip_prefix("::").unwrap_or(&name);
        if let Some(procedure) = self.procedures.get(name).cloned() {
            return self.call(name, &procedure, &words[1..]);
        }
        if let Some(value) = self.control(name, words)? {
            return Ok(value);
        }
        if let Some(value) = self.data(name, words)? {
            return Ok(value);
        }
        if let Some(value) = self.strings(name, words)? {
            return Ok(value);
        }
        if let Some(value) = World::command(self, name, words)? {
            return Ok(value);
        }
        Err(unknown(self.line, "the command", name, KNOWN).into())
    }

    fn call(&mut self, name: &str, procedure: &Procedure, given: &[Text]) -> Result<Text, Flow> {
        let wrong = || {
            let message = format!("{} has other parameters", quoted(name));
            refuse(self.line, message, "give one word for each parameter")
        };
        let mut frame = Vec::new();
        let mut given = given.iter();
        for (place, (parameter, default)) in procedure.parameters.iter().enumerate() {
            let last = place + 1 == procedure.parameters.len();
            let value = if last && parameter == "args" {
                text::join_list(given.by_ref())
            } else {
                let value = given.next().cloned().or_else(|| default.clone());
                value.ok_or_else(wrong)?
            };
            frame.push((parameter.clone(), value));
        }
        if given.next().is_some() {
            return Err(wrong().into());
        }
        self.variables.push(frame);
        let line = self.line;
        let outcome = self.evaluate(&procedure.body);
        self.variables.pop();
        self.line = line;
        match outcome {
            Err(Flow::Return(value)) => Ok(value),
            Err(Flow::Break | Flow::Continue) => Ok(Text::empty()),
            other => other,
        }
    }

    /// Place of the command at work.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Takes the cost of making or reading so many bytes.
    fn charge(&mut self, bytes: usize) -> Result<(), Flow> {
        Ok(self.budget.charge(self.line, bytes)?)
    }

    /// Checks the number of words of a command, the command included.
    fn count(&self, words: &[Text], least: usize, most: usize, form: &str) -> Result<(), Flow> {
        if (least..=most).contains(&words.len()) {
            return Ok(());
        }
        let message = format!("{} has a wrong number of words", quoted(&words[0].text));
        Err(refuse(self.line, message, format!("write {form}")).into())
    }
}

/// Commands that a misspelled one is compared with.
const KNOWN: &[&str] = &[
    "set",
    "expr",
    "for",
    "foreach",
    "if",
    "while",
    "proc",
    "incr",
    "puts",
    "array",
    "lappend",
    "lindex",
    "llength",
    "list",
    "global",
    "new",
    "return",
    "format",
    "exit",
    "switch",
    "append",
    "split",
    "join",
    "string",
    "info",
    "open",
    "close",
    "exec",
    "source",
    "file",
    "eval",
    "catch",
    "unset",
    "upvar",
    "uplevel",
    "lrange",
    "lsort",
    "concat",
    "remove-all-packet-headers",
    "add-packet-header",
    "ns-random",
    "delete",
];
