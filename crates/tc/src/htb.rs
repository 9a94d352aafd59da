//! The classes of `htb`: lines of `tc class show`, or `tc class` commands, as a hierarchy.

use super::read::{Options, Read, declared};
use super::refuse;
use goodqueue_queue::{HtbClass, HtbConfig, QueueConfig};
use goodqueue_types::message::shorten;
use goodqueue_types::parameters::{Declared, Parameters, Tc, Value};

/// A class as its line states it.
#[derive(Clone, Debug)]
pub(super) struct ClassLine {
    /// Name of the device; empty if the line has none.
    pub(super) device: String,
    /// Name of the class, such as `1:10`.
    pub(super) name: String,
    parent: String,
    options: Vec<String>,
}

impl ClassLine {
    /// Reads the words of a line after `class`; none of a class of another qdisc.
    pub(super) fn read(words: &[&str]) -> Read<Option<Self>> {
        let [mut device, mut name, mut parent] = [""; 3];
        let mut is_htb = false;
        let mut rest = words.iter().copied();
        let mut options = Vec::new();
        while let Some(word) = rest.next() {
            match word {
                "add" | "replace" | "change" | "root" => {}
                "htb" => {
                    is_htb = true;
                    if name.is_empty() && rest.clone().next().is_some_and(|next| next.contains(':'))
                    {
                        name = rest.next().unwrap_or("");
                    }
                }
                "dev" => device = rest.next().unwrap_or(""),
                "parent" => parent = rest.next().unwrap_or(""),
                "classid" => name = rest.next().unwrap_or(""),
                "leaf" => _ = rest.next(),
                _ => options.push(word.to_owned()),
            }
        }
        if is_htb && !name.contains(':') {
            return refuse("a class of htb has no classid", "copy the whole line");
        }
        Ok(is_htb.then(|| Self {
            device: device.to_owned(),
            name: name.to_owned(),
            parent: parent.to_owned(),
            options,
        }))
    }

    /// Returns true if the class belongs to the qdisc of this handle.
    pub(super) fn is_of(&self, device: &str, handle: &str) -> bool {
        let major = self.name.split(':').next();
        self.device == device && major == handle.strip_suffix(':')
    }

    /// Reads the options of the class.
    fn class(&self) -> Read<HtbClass> {
        let mut class = HtbClass {
            name: self.name.clone(),
            ..HtbClass::default()
        };
        if !self.parent.ends_with(':') {
            class.parent.clone_from(&self.parent);
        }
        let mut options = Options::new("htb", &self.options);
        let mut has_rate = false;
        while let Some(word) = options.next() {
            has_rate |= word == "rate";
            if !option(&mut class, word, &mut options)? {
                return options.unknown(word, &KNOWN);
            }
        }
        if !has_rate {
            let message = format!("the class {} has no rate", shorten(&self.name));
            return refuse(message, "copy the whole line");
        }
        Ok(class)
    }
}

const KNOWN: [&str; 6] = ["rate", "ceil", "burst", "cburst", "quantum", "prio"];

/// Sets an option of a class; false if the word is none.
fn option(class: &mut HtbClass, word: &str, options: &mut Options<'_>) -> Read<bool> {
    let known = match word {
        "buffer" | "maxburst" => "burst",
        "cbuffer" | "cmaxburst" => "cburst",
        "level" => return options.value(word).map(|_| true),
        "mpu" | "overhead" => return Ok(options.value(word)?.trim_end_matches('b') == "0"),
        "linklayer" => return Ok(options.value(word)? == "ethernet"),
        other => other,
    };
    for key in HtbClass::KEYS {
        if let Tc::Option(name) = key.tc
            && let Some(value) = declared(key, Tc::Option(name), known, options)?
        {
            class.set(key.name, value);
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the hierarchy of the classes of a qdisc, whose children are queues with their parents.
pub(super) fn classes(
    lines: &[ClassLine],
    children: &[(&str, QueueConfig)],
    notes: &mut Vec<String>,
) -> Read<Value> {
    let mut classes: Vec<HtbClass> = Vec::new();
    let mut left: Vec<&ClassLine> = lines.iter().collect();
    // `tc class show` prints classes in the order of a hash.
    while !left.is_empty() {
        let ready = left.iter().position(|line| {
            line.parent.ends_with(':')
                || line.parent.is_empty()
                || classes.iter().any(|one| one.name == line.parent)
        });
        let Some(ready) = ready else {
            let message = format!("there is no class \"{}\"", shorten(&left[0].parent));
            return refuse(message, "give the lines of all classes");
        };
        classes.push(left.remove(ready).class()?);
    }
    let mut config = HtbConfig {
        classes,
        ..HtbConfig::default()
    };
    let mut names = Vec::new();
    let mut without = false;
    for (is_leaf, class) in config.leaves().into_iter().zip(&mut config.classes) {
        if is_leaf {
            let child = children.iter().find(|child| child.0 == class.name);
            class.queue = child.map(|(_, queue)| Box::new(queue.clone()));
            without |= child.is_none();
            names.push(class.name.clone());
        }
    }
    if without {
        notes.push(
            "the queue of a class is not shown: pfifo with 1000 packets assumed, the usual txqueuelen"
                .to_owned(),
        );
    }
    if names.len() > 1 {
        notes.push(format!(
            "filters are not read: flows take the {} classes without children in turn",
            names.len()
        ));
    }
    Ok(config
        .get("classes")
        .unwrap_or_else(|| unreachable!("htb has classes")))
}
