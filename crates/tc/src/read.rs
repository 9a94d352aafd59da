//! The options of a qdisc as our parameters, by the declarations of the disciplines.

use super::entry::Entry;
use super::units::{fifo_packets, integer, number, packets, rate, size, time};
use super::{refuse, unusual};
use goodqueue_queue::{Place, QueueConfig, Refusal};
use goodqueue_types::message::{UnitError, nearest, shorten};
use goodqueue_types::parameters::{Given, Key, Kind, Parameters, Tc, Value};
use goodqueue_types::{Rate, Span};

pub(super) type Read<T> = Result<T, UnitError>;

/// Qdiscs that have no equivalent, the reason, and what to do.
const OTHERS: &[(&str, &str, &str)] = &[
    (
        "noqueue",
        "noqueue holds nothing",
        "a link here always has a queue; an idle one needs none",
    ),
    ("noop", "noop drops every packet", "give a queue"),
    (
        "mq",
        "mq has a qdisc for each ring of the device, which are not shown",
        "parse the line of one of its children",
    ),
    (
        "mqprio",
        "mqprio has a qdisc for each ring of the device, which are not shown",
        "parse the line of one of its children",
    ),
    (
        "taprio",
        "taprio has a qdisc for each ring of the device, which are not shown",
        "parse the line of one of its children",
    ),
    (
        "multiq",
        "multiq has a qdisc for each ring of the device, which are not shown",
        "parse the line of one of its children",
    ),
    (
        "fq",
        "fq paces the sockets of a host; it is no router's queue",
        "write pacing = true under tcp",
    ),
    (
        "pfifo_fast",
        "pfifo_fast has the device's txqueuelen for its limit, which the line does not show",
        "write kind = \"prio\" with three drop_tail bands of that limit",
    ),
    (
        "hfsc",
        "hfsc is a hierarchy of classes, whose queues are not shown",
        LEAF,
    ),
    ("qfq", "qfq has classes, whose queues are not shown", LEAF),
    ("ets", "ets has classes, whose queues are not shown", LEAF),
    (
        "drr",
        "drr of Linux has classes with filters, whose queues are not shown",
        "write kind = \"drr\" for queues by flow",
    ),
    (
        "cbs",
        "cbs is a shaper by credit",
        "write its idleslope as kind = \"tbf\"",
    ),
    (
        "etf",
        "etf sends packets at times that a program sets",
        "give a queue",
    ),
    (
        "netem",
        "netem is no queue but a link that delays and loses",
        "write delay = \"…\" and loss = { probability = \"…\" } on the link",
    ),
];

const LEAF: &str = "parse its leaf's line, which `tc qdisc show dev DEV invisible` shows, and write \
                    its rate as kind = \"tbf\"";

/// The words of one qdisc after its kind.
pub(super) struct Options<'a> {
    pub(super) kind: &'a str,
    words: std::slice::Iter<'a, String>,
}

impl<'a> Options<'a> {
    /// The words after a kind.
    pub(super) fn new(kind: &'a str, words: &'a [String]) -> Self {
        let words = words.iter();
        Self { kind, words }
    }

    pub(super) fn next(&mut self) -> Option<&'a str> {
        self.words.next().map(String::as_str)
    }

    /// The word after an option.
    pub(super) fn value(&mut self, option: &str) -> Read<&'a str> {
        match self.next() {
            Some(word) => Ok(word),
            None => refuse(format!("\"{option}\" has no value"), "copy the whole line"),
        }
    }

    pub(super) fn unknown<T>(&self, word: &str, known: &[&str]) -> Read<T> {
        let help = match nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("known are {}", known.join(", ")),
        };
        let message = format!(
            "\"{}\" of {} has no equivalent here",
            shorten(word),
            self.kind
        );
        refuse(message, help)
    }
}

/// Content of a line read so far.
pub(super) struct Stated<'n> {
    /// The discipline with its defaults.
    pub(super) queue: QueueConfig,
    pub(super) given: Given,
    pub(super) notes: &'n mut Vec<String>,
}

impl Stated<'_> {
    /// The key of this name.
    pub(super) fn key(&self, name: &str) -> &'static Key {
        let Some(key) = self.queue.key(name) else {
            unreachable!("{name} is no parameter of this queue")
        };
        key
    }

    /// Sets a value; the last one holds.
    pub(super) fn set(&mut self, key: &'static Key, value: Value) {
        self.given.0.retain(|(known, _)| known.name != key.name);
        self.given.0.push((key, value));
    }

    /// Sets all flags that a line has only if they are on to off.
    fn clear_flags(&mut self) {
        for key in self.queue.keys() {
            if matches!((self.queue.tc(key), key.kind), (Tc::Option(_), Kind::Flag)) {
                self.set(key, Value::Flag(false));
            }
        }
    }

    /// Reads an option that is declared; false if the word is none.
    fn declared(&mut self, word: &str, options: &mut Options<'_>) -> Read<bool> {
        for key in self.queue.keys() {
            if let Some(value) = declared(key, self.queue.tc(key), word, options)? {
                self.set(key, value);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Skips an option that has no effect here. Returns false if the word names no such option.
    fn ignored(&mut self, word: &str, options: &mut Options<'_>) -> Read<bool> {
        let all = self.queue.ignored().iter();
        let Some(option) = all.copied().find(|option| option.words.contains(&word)) else {
            return Ok(false);
        };
        for _ in 0..option.values {
            options.value(word)?;
        }
        if !option.note.is_empty() {
            self.notes.push(option.note.to_owned());
        }
        Ok(true)
    }

    /// The words of the declared options.
    fn known(&self) -> Vec<&'static str> {
        let mut words = Vec::new();
        for key in self.queue.keys() {
            match self.queue.tc(key) {
                Tc::Option(word)
                | Tc::Scaled(word)
                | Tc::Parts(word, _)
                | Tc::Rounded(word, _)
                | Tc::Percent(word)
                | Tc::Seconds(word) => words.push(word),
                Tc::Flag(on, off) => words.extend([on, off]),
                Tc::Word => {
                    if let Kind::Choice(choices) = key.kind {
                        words.extend(choices);
                    }
                }
                Tc::Fixed(_) | Tc::Hook => {}
            }
        }
        words
    }
}

/// The value of a key whose option this word is.
pub(super) fn declared(
    key: &Key,
    tc: Tc,
    word: &str,
    options: &mut Options<'_>,
) -> Read<Option<Value>> {
    let kind = key.kind.first();
    Ok(Some(match tc {
        Tc::Option(on) if matches!(kind, Kind::Flag) => match word.strip_prefix("no") {
            Some(off) if off == on => Value::Flag(false),
            _ if word == on => Value::Flag(true),
            _ => return Ok(None),
        },
        Tc::Flag(on, _) if word == on => Value::Flag(true),
        Tc::Flag(_, off) if word == off => Value::Flag(false),
        Tc::Word => match key.kind {
            Kind::Choice(words) => match words.iter().find(|known| **known == word) {
                Some(word) => Value::Word(word),
                None => return Ok(None),
            },
            _ => return Ok(None),
        },
        Tc::Option(known) if known == word => match kind {
            Kind::Limit if options.kind == "pfifo_head_drop" => {
                Value::Packets(fifo_packets(options.value(word)?)?)
            }
            Kind::Limit => Value::Packets(packets(options.value(word)?)?),
            _ => plain(key.kind, options.value(word)?)?,
        },
        Tc::Scaled(known) if known == word => match kind {
            Kind::Limit => Value::Bytes(size(options.value(word)?)?),
            _ => plain(key.kind, options.value(word)?)?,
        },
        Tc::Parts(known, parts) if known == word => {
            Value::Number(f64::from(integer(options.value(word)?)?) / parts)
        }
        Tc::Rounded(known, parts) if known == word => {
            Value::Number(libm::round(number(options.value(word)?)? * parts) / parts)
        }
        Tc::Percent(known) if known == word => {
            let percent = libm::round(number(options.value(word)?)? * 100.0);
            Value::Integer(u64::from(percent as u8))
        }
        Tc::Seconds(known) if known == word => seconds(options.value(word)?)?,
        _ => return Ok(None),
    }))
}

/// A value in the unit of `tc` for its kind. With details `tc` shows `128/1024` for some counts and
/// sizes, of which the first is the parameter.
fn plain(kind: Kind, text: &str) -> Read<Value> {
    let first = text.split('/').next().unwrap_or(text);
    Ok(match kind.first() {
        Kind::Integer { .. } => Value::Integer(u64::from(integer(first)?)),
        Kind::Size { .. } => Value::Bytes(size(first)?),
        Kind::Packets { .. } => Value::Packets(packets(text)?),
        Kind::Rate if kind.absent() == Some(text) => Value::Absent,
        Kind::Rate => Value::Rate(rate(text)?),
        Kind::Span { .. } if has_packets(kind) && text.ends_with('p') => {
            Value::Packets(packets(text)?)
        }
        Kind::Span { .. } => Value::Span(time(text)?),
        Kind::Fraction | Kind::Number { .. } => Value::Number(number(text)?),
        _ => unreachable!("tc has no unit of this kind"),
    })
}

fn has_packets(kind: Kind) -> bool {
    matches!(kind, Kind::Either(kinds) if kinds.iter().any(|kind| matches!(kind, Kind::Packets { .. })))
}

/// Whole seconds; none is never.
fn seconds(text: &str) -> Read<Value> {
    let seconds = integer(text.trim_end_matches("sec"))?;
    if seconds > 1_000_000 {
        return refuse(
            format!("the hash would change every {seconds} s"),
            "leave perturb out: that is never",
        );
    }
    Ok(match seconds {
        0 => Value::Absent,
        _ => Value::Span(Span::from_secs(u64::from(seconds))),
    })
}

/// The link that `tc` assumes for values that depend on it.
const PLACE: Place = Place {
    rate: Rate(10_000_000),
    delay: Span::ZERO,
    base_rtt: None,
    frame_bytes: 1_514,
};

/// Reads the queue of a qdisc, whose children are queues with their parents.
pub(super) fn read_queue(
    qdisc: &Entry,
    children: &[(&str, QueueConfig)],
    notes: &mut Vec<String>,
) -> Read<QueueConfig> {
    let words = qdisc.options.as_ref().map_err(UnitError::clone)?;
    notes.extend(qdisc.notes.iter().cloned());
    let kind = &qdisc.kind[..];
    let mut options = Options::new(kind, words);
    if !children.is_empty() && !unusual::has_children(kind) {
        let message = format!("{kind} has a child in place of its own queue");
        return refuse(message, "give the line of one qdisc");
    }
    let Some(word) = unusual::word_of(kind) else {
        return unknown_kind(kind);
    };
    let mut stated = Stated {
        queue: QueueConfig::defaults(word),
        given: Given::default(),
        notes,
    };
    if qdisc.is_shown {
        stated.clear_flags();
    }
    let mut unusual = unusual::Reader::new(qdisc, children);
    while let Some(word) = options.next() {
        let known = stated.declared(word, &mut options)?
            || stated.ignored(word, &mut options)?
            || unusual.option(word, &mut options, &mut stated)?;
        if !known {
            let words = [stated.known(), unusual.known().to_vec()].concat();
            return options.unknown(word, &words);
        }
    }
    unusual.complete(&mut stated)?;
    let read = QueueConfig::read(word, &stated.given, &PLACE);
    let mut queue = read.or_else(|refusal| {
        let Refusal { message, help, .. } = refusal;
        refuse(message, help)
    })?;
    unusual.finish(&mut queue, &mut stated)?;
    Ok(queue)
}

fn unknown_kind<T>(kind: &str) -> Read<T> {
    if let Some((_, message, help)) = OTHERS.iter().find(|other| other.0 == kind) {
        return refuse(*message, *help);
    }
    let kinds: Vec<&str> = unusual::kinds().collect();
    let help = match nearest(kind, kinds.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("known are {}", kinds.join(", ")),
    };
    let message = format!("the qdisc \"{}\" has no equivalent here", shorten(kind));
    refuse(message, help)
}
