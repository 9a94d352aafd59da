//! The objects of ns-2, which only remember what a script told them.

mod classes;
mod finish;
mod methods;
mod model;
mod random;
mod settings;
mod simulator;

pub use classes::SINKS;
pub use finish::single;
pub use model::{Flow as Traffic, Link, Loss, Model, Work};
pub use random::Draw;
pub use settings::{Settings, picoseconds};

use crate::error::{ImportError, quoted, refuse};
use crate::tcl::{Flow, Interpreter, Text, measured};
use goodqueue_types::RandomStream;
use std::collections::{BTreeMap, HashMap};

/// Most objects of a script.
const MAX_OBJECTS: usize = 200_000;

/// State of an object beside its class and its variables.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Simulator,
    Node,
    /// An agent on a node, connected to another.
    Agent {
        node: Option<usize>,
        peer: Option<usize>,
        control: Option<String>,
    },
    /// An application on an agent, and what it was told to do when.
    Application {
        agent: Option<usize>,
        actions: Vec<(f64, Action)>,
    },
    /// A direction of a link, by its number.
    Link(usize),
    /// The queue of a direction of a link.
    Queue(usize),
    /// The rate and the delay of a direction of a link.
    Delay(usize),
    Errors {
        unit: String,
        list: Vec<u64>,
    },
    Random,
    /// An observer.
    Other,
}

/// Command to an application.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Start,
    Stop,
    Segments(u64),
    Bytes(u64),
}

#[derive(Clone, Debug)]
struct Object {
    kind: Kind,
    settings: Settings,
    /// Name of the first variable that had it, without its index, and with it.
    names: Option<(String, String)>,
    line: u32,
    /// True if it was made before the run.
    early: bool,
}

/// A direction of a link.
#[derive(Clone, Debug)]
struct Direction {
    from: usize,
    to: usize,
    rate_bps: u64,
    delay_ps: u64,
    queue: usize,
    errors: Option<(usize, bool)>,
    line: u32,
}

/// A scheduled command at work.
#[derive(Clone, Debug, Default)]
struct Current {
    script: String,
    reads: bool,
    repeats: bool,
}

/// All objects, and the scheduled commands.
#[derive(Debug)]
pub struct World {
    draw: Draw,
    random: RandomStream,
    draws: u64,
    unbounded: bool,
    objects: Vec<Object>,
    classes: HashMap<String, BTreeMap<String, String>>,
    directions: Vec<Direction>,
    pairs: HashMap<(usize, usize), usize>,
    /// Scheduled commands by the bits of their time, which is positive, and their number.
    events: BTreeMap<(u64, u64), (Text, u32)>,
    scheduled: u64,
    now: f64,
    current: Current,
    /// Times at which counters were read by commands that do not repeat.
    reads: Vec<f64>,
    /// True after `$ns run`.
    pub running: bool,
    /// True once the script has ended the run.
    pub ended: bool,
    notes: Vec<String>,
}

impl World {
    pub fn new(draw: Draw) -> Self {
        let mut world = Self {
            draw,
            random: RandomStream::new(1, "ns2", 0),
            draws: 0,
            unbounded: false,
            objects: Vec::new(),
            classes: HashMap::new(),
            directions: Vec::new(),
            pairs: HashMap::new(),
            events: BTreeMap::new(),
            scheduled: 0,
            now: 0.0,
            current: Current::default(),
            reads: Vec::new(),
            running: false,
            ended: false,
            notes: Vec::new(),
        };
        world.object("RNG", Kind::Random, 0);
        world
    }

    /// Returns the random stream that every script has.
    pub fn default_rng() -> Text {
        handle(0)
    }

    /// Makes an object with the variables that its classes have now.
    fn object(&mut self, class: &str, kind: Kind, line: u32) -> usize {
        let mut set = BTreeMap::new();
        for part in classes::lineage(class) {
            if let Some(variables) = self.classes.get(part) {
                set.extend(variables.clone());
            }
        }
        self.objects.push(Object {
            kind,
            settings: Settings {
                class: class.to_owned(),
                set,
                line,
            },
            names: None,
            line,
            early: !self.running,
        });
        self.objects.len() - 1
    }

    fn make(&mut self, class: &str, kind: Kind, line: u32) -> Result<Text, ImportError> {
        if self.objects.len() >= MAX_OBJECTS {
            let message = format!("the script makes more than {MAX_OBJECTS} objects");
            return Err(refuse(line, message, "give it fewer flows"));
        }
        Ok(handle(self.object(class, kind, line)))
    }

    /// Remembers the first variable that has an object.
    pub fn name_object(&mut self, value: &str, variable: &str) {
        if let Some(id) = self.id(value)
            && self.objects[id].names.is_none()
        {
            let base = variable.split('(').next().unwrap_or_default();
            let plain = |text: &str| -> String {
                let kept = text
                    .chars()
                    .filter(|c| c.is_ascii_alphanumeric() || *c == '-');
                kept.take(30).collect()
            };
            self.objects[id].names = Some((plain(base), plain(variable)));
        }
    }

    /// Returns the number of the object that a text names.
    fn id(&self, text: &str) -> Option<usize> {
        let id = text.strip_prefix("_o")?.parse().ok()?;
        (id < self.objects.len()).then_some(id)
    }

    /// Notes a condition that depends on the simulation.
    pub fn note_condition(&mut self, place: &str) {
        self.note(format!(
            "{place}: commands that depend on measured values were left out"
        ));
    }

    fn note(&mut self, note: String) {
        const MAX_NOTES: usize = 100;
        if !self.notes.contains(&note) && self.notes.len() < MAX_NOTES {
            self.notes.push(note);
        }
    }

    /// Runs a command of ns-2. Returns `None` if ns-2 has no command of this name.
    pub fn command(
        tcl: &mut Interpreter,
        name: &str,
        words: &[Text],
    ) -> Result<Option<Text>, Flow> {
        if let Some(id) = tcl.world.id(name) {
            return methods::method(tcl, id, words).map(Some);
        }
        if name.contains(crate::MEASURED) {
            return Ok(Some(Text::measured()));
        }
        let value = match name {
            "new" => tcl.world.new_object(words, tcl.line())?,
            "remove-all-packet-headers"
            | "add-all-packet-headers"
            | "add-packet-header"
            | "remove-packet-header"
            | "ns-random"
            | "delete" => Text::empty(),
            "Simulator" if words.get(1).is_some_and(|word| &*word.text == "instance") => {
                tcl.world.simulator(tcl.line())?
            }
            "Class" => {
                let class = words.get(1).map_or("", |word| &word.text);
                let message = format!("the script defines the class {}", quoted(class));
                let help = "use the classes of ns-2: classes of a script's own cannot be imported";
                return Err(refuse(tcl.line(), message, help).into());
            }
            _ if name.starts_with(|c: char| c.is_ascii_uppercase()) && words.len() >= 3 => {
                tcl.world.class_command(words, tcl.line())?
            }
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    /// Returns the simulator that the script made last.
    fn simulator(&self, line: u32) -> Result<Text, ImportError> {
        let made = self
            .objects
            .iter()
            .rposition(|one| one.kind == Kind::Simulator);
        made.map(handle).ok_or_else(|| {
            let help = "write set ns [new Simulator] first";
            refuse(line, "there is no simulator yet", help)
        })
    }

    /// Runs `CLASS set VARIABLE VALUE`.
    fn class_command(&mut self, words: &[Text], line: u32) -> Result<Text, Flow> {
        let class = words[0].text.to_string();
        let variable = words[2].text.to_string();
        if &*words[1].text != "set" || words.len() > 4 {
            let message = format!(
                "{} of the class {} is not understood",
                quoted(&words[1].text),
                quoted(&class)
            );
            let help = "write CLASS set VARIABLE VALUE; own methods of classes cannot be imported";
            return Err(refuse(line, message, help).into());
        }
        let Some(value) = words.get(3) else {
            let own =
                classes::lineage(&class).filter_map(|part| self.classes.get(part)?.get(&variable));
            let value = own
                .last()
                .map(String::as_str)
                .or(classes::default(&class, &variable));
            return Ok(value.map_or_else(Text::measured, Text::new));
        };
        if value.is_measured() {
            return Err(measured(line));
        }
        if class == "Node" && variable == "multiPath_" && &*value.text != "0" {
            let help = "leave it at 0: a flow has one route";
            return Err(refuse(line, "multiPath_ of Node has no equivalent here", help).into());
        }
        self.unchanged(line)?;
        let variables = self.classes.entry(class).or_default();
        variables.insert(variable, value.text.to_string());
        Ok(value.clone())
    }

    /// Refuses changes of the network during the run.
    fn unchanged(&self, line: u32) -> Result<(), ImportError> {
        if self.now > 0.0 {
            let message = format!("the script changes the network at {} s", self.now);
            return Err(refuse(
                line,
                message,
                "import it as two scripts, before and after",
            ));
        }
        Ok(())
    }

    fn new_object(&mut self, words: &[Text], line: u32) -> Result<Text, Flow> {
        let class = words.get(1).map_or("", |word| &word.text);
        let class = class.strip_prefix('/').unwrap_or(class);
        let class = match class {
            "ErrorModel/Uniform" => "ErrorModel",
            other => other,
        };
        let kind = if classes::observes(class) {
            Kind::Other
        } else if !classes::known().contains(&class) {
            return Err(classes::refusal(class, line).into());
        } else if class == "Simulator" {
            Kind::Simulator
        } else if class.starts_with("Agent/") {
            Kind::Agent {
                node: None,
                peer: None,
                control: None,
            }
        } else if class.starts_with("Application/") {
            Kind::Application {
                agent: None,
                actions: Vec::new(),
            }
        } else if class.starts_with("ErrorModel") {
            Kind::Errors {
                unit: "pkt".to_owned(),
                list: Vec::new(),
            }
        } else {
            Kind::Random
        };
        let made = self.make(class, kind, line)?;
        // `new ErrorModel/Uniform RATE UNIT` takes its rate at once.
        if class == "ErrorModel"
            && let (Some(id), Some(rate)) = (self.id(&made.text), words.get(2))
        {
            let settings = &mut self.objects[id].settings;
            settings
                .set
                .insert("rate_".to_owned(), rate.text.to_string());
            if let (Kind::Errors { unit, .. }, Some(word)) =
                (&mut self.objects[id].kind, words.get(3))
            {
                *unit = word.text.to_string();
            }
        }
        Ok(made)
    }

    /// Schedules a command.
    fn schedule(&mut self, at: f64, script: &Text, line: u32) -> Result<Text, ImportError> {
        if !(0.0..=1e6).contains(&at) || at < self.now {
            let message = format!("a command is scheduled at {at} s");
            return Err(refuse(line, message, "write a time from now to 1000000"));
        }
        self.current.repeats |= *script.text == *self.current.script;
        self.scheduled += 1;
        self.events
            .insert((at.to_bits(), self.scheduled), (script.clone(), line));
        Ok(Text::new(format!("_e{}", self.scheduled)))
    }

    /// Takes a scheduled command away.
    fn cancel(&mut self, event: &str) {
        let number = event
            .strip_prefix("_e")
            .and_then(|text| text.parse::<u64>().ok());
        self.events.retain(|(_, own), _| Some(*own) != number);
    }

    /// Takes the next scheduled command, and moves the clock to its time.
    pub fn next_event(&mut self) -> Option<(Text, u32)> {
        if self.current.reads && !self.current.repeats && self.now > 0.0 {
            self.reads.push(self.now);
        }
        let ((bits, _), (script, line)) = self.events.pop_first()?;
        self.now = f64::from_bits(bits);
        self.current = Current {
            script: script.text.to_string(),
            ..Current::default()
        };
        Some((script, line))
    }
}

fn handle(id: usize) -> Text {
    Text::new(format!("_o{id}"))
}
