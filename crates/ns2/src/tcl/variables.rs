//! Variables of Tcl: global ones and those of procedures, plain ones and arrays.

use super::{Flow, Interpreter, Text};
use crate::error::{quoted, refuse};
use std::collections::{BTreeMap, HashMap};

/// Links from one procedure's variable to another's that are followed at most.
const MAX_LINKS: usize = 20;

#[derive(Debug)]
enum Slot {
    Value(Text),
    Array(BTreeMap<String, Text>),
    /// A variable of an outer frame under its name there.
    Link(usize, String),
}

/// Variables by frame; frame 0 has the global ones.
#[derive(Debug)]
pub struct Variables {
    frames: Vec<HashMap<String, Slot>>,
}

/// Returns the name and the index of `name(index)`.
fn split(name: &str) -> (&str, Option<&str>) {
    match name.split_once('(') {
        Some((array, rest)) if rest.ends_with(')') => (array, Some(&rest[..rest.len() - 1])),
        _ => (name, None),
    }
}

impl Variables {
    pub fn new() -> Self {
        Self {
            frames: vec![HashMap::new()],
        }
    }

    pub fn push(&mut self, parameters: Vec<(String, Text)>) {
        let values = parameters.into_iter();
        self.frames.push(
            values
                .map(|(name, value)| (name, Slot::Value(value)))
                .collect(),
        );
    }

    pub fn pop(&mut self) {
        self.frames.pop();
    }

    pub fn set_global(&mut self, name: &str, value: Text) {
        self.frames[0].insert(name.to_owned(), Slot::Value(value));
    }

    /// Number of the frame at work.
    pub fn top(&self) -> usize {
        self.frames.len() - 1
    }

    /// Takes the frames above one away, for commands that run there.
    pub fn take_above(&mut self, frame: usize) -> Vec<HashMapOfSlots> {
        self.frames
            .split_off(frame + 1)
            .into_iter()
            .map(HashMapOfSlots)
            .collect()
    }

    /// Puts back what `take_above` took.
    pub fn restore(&mut self, frames: Vec<HashMapOfSlots>) {
        self.frames.extend(frames.into_iter().map(|frame| frame.0));
    }

    /// Finds the frame and the full name that a name stands for.
    fn find(&self, frame: usize, name: &str) -> (usize, String) {
        let (mut frame, mut name) = match name.strip_prefix("::") {
            Some(global) => (0, global.to_owned()),
            None => (frame, name.to_owned()),
        };
        for _ in 0..MAX_LINKS {
            let (array, index) = split(&name);
            let Some(Slot::Link(outer, target)) = self.frames[frame].get(array) else {
                break;
            };
            let linked = match index {
                Some(index) => format!("{target}({index})"),
                None => target.clone(),
            };
            (frame, name) = (*outer, linked);
        }
        (frame, name)
    }

    pub fn link(&mut self, outer: usize, target: &str, name: &str) {
        let (frame, full) = self.find(outer, target);
        let top = self.top();
        if (frame, full.as_str()) != (top, name) {
            self.frames[top].insert(name.to_owned(), Slot::Link(frame, full));
        }
    }

    pub fn get(&self, name: &str) -> Option<Text> {
        let (frame, full) = self.find(self.top(), name);
        match (self.frames[frame].get(split(&full).0)?, split(&full).1) {
            (Slot::Value(value), None) => Some(value.clone()),
            (Slot::Array(array), Some(index)) => array.get(index).cloned(),
            _ => None,
        }
    }

    /// Returns a plain variable's text to change it in place.
    pub fn take(&mut self, name: &str) -> Option<Text> {
        let (frame, full) = self.find(self.top(), name);
        let (base, index) = split(&full);
        match (self.frames[frame].get_mut(base)?, index) {
            (Slot::Value(value), None) => Some(std::mem::replace(value, Text::empty())),
            (Slot::Array(array), Some(index)) => {
                let value = array.get_mut(index)?;
                Some(std::mem::replace(value, Text::empty()))
            }
            _ => None,
        }
    }

    /// Sets a variable; false if the name is of the other kind (plain or array).
    pub fn set(&mut self, name: &str, value: Text) -> bool {
        let (frame, full) = self.find(self.top(), name);
        let (base, index) = split(&full);
        let slots = &mut self.frames[frame];
        match (slots.get_mut(base), index) {
            (Some(Slot::Value(old)), None) => *old = value,
            (Some(Slot::Array(array)), Some(index)) => {
                array.insert(index.to_owned(), value);
            }
            (None, None) => {
                slots.insert(base.to_owned(), Slot::Value(value));
            }
            (None, Some(index)) => {
                let array = BTreeMap::from([(index.to_owned(), value)]);
                slots.insert(base.to_owned(), Slot::Array(array));
            }
            _ => return false,
        }
        true
    }

    /// Removes a variable or an element.
    pub fn unset(&mut self, name: &str) {
        let (frame, full) = self.find(self.top(), name);
        let (base, index) = split(&full);
        match (self.frames[frame].get_mut(base), index) {
            (Some(Slot::Array(array)), Some(index)) => {
                array.remove(index);
            }
            _ => {
                self.frames[frame].remove(base);
            }
        }
    }

    /// Returns an array.
    pub fn array(&self, name: &str) -> Option<&BTreeMap<String, Text>> {
        let (frame, full) = self.find(self.top(), name);
        match self.frames[frame].get(&full) {
            Some(Slot::Array(array)) => Some(array),
            _ => None,
        }
    }
}

/// Variables of a frame that is not at work.
#[derive(Debug)]
pub struct HashMapOfSlots(HashMap<String, Slot>);

impl Interpreter {
    /// Returns the value of a variable.
    pub(super) fn get(&self, name: &str) -> Result<Text, Flow> {
        self.variables.get(name).ok_or_else(|| {
            let message = format!("the variable {} has no value", quoted(name));
            let mut error = refuse(self.line, message, "set it first, or give its argument");
            error.tcl = true;
            error.into()
        })
    }

    /// Sets a variable.
    pub(super) fn put(&mut self, name: &str, value: Text) -> Result<(), Flow> {
        self.world.name_object(&value.text, name);
        if self.variables.set(name, value) {
            return Ok(());
        }
        let message = format!("the variable {} is an array, or has no index", quoted(name));
        Err(refuse(self.line, message, "give it another name").into())
    }
}
