//! A line of `tc qdisc show`, or a `tc qdisc` command, as our parameters.

mod aqm;
mod service;

use super::units::{packets, size};
use super::{Qdisc, refuse};
use crate::error::{nearest, shorten};
use crate::units::UnitError;
use goodqueue_queue::{DropTailConfig, HeadDropConfig, Limit, QueueConfig};

type Read<T> = Result<T, UnitError>;

/// The qdiscs that have an equivalent here.
const KINDS: &[&str] = &[
    "pfifo",
    "bfifo",
    "pfifo_head_drop",
    "red",
    "codel",
    "fq_codel",
    "pie",
    "fq_pie",
    "cake",
    "sfq",
    "dualpi2",
    "tbf",
    "prio",
];

/// Qdiscs that have none, and what to do.
const OTHERS: &[(&str, &str, &str)] = &[
    (
        "noqueue",
        "noqueue holds nothing",
        "a link here always has a queue; an idle one needs none",
    ),
    (
        "mq",
        "mq has a qdisc for each ring of the device",
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
        "htb",
        "htb is a hierarchy of classes",
        "parse its leaf's line, and write its rate as kind = \"tbf\"",
    ),
    (
        "hfsc",
        "hfsc is a hierarchy of classes",
        "parse its leaf's line, and write its rate as kind = \"tbf\"",
    ),
    (
        "drr",
        "drr of Linux has classes with filters, not flows",
        "write kind = \"drr\" for queues by flow",
    ),
    (
        "netem",
        "netem is no queue but a link that delays and loses",
        "write delay = \"…\" and loss = { probability = \"…\" } on the link",
    ),
];

/// The words of one qdisc after its kind.
struct Options<'a> {
    kind: &'a str,
    words: std::slice::Iter<'a, &'a str>,
}

impl<'a> Options<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.words.next().copied()
    }

    /// The word after an option.
    fn value(&mut self, option: &str) -> Read<&'a str> {
        match self.next() {
            Some(word) => Ok(word),
            None => refuse(format!("\"{option}\" has no value"), "copy the whole line"),
        }
    }

    fn unknown<T>(&self, word: &str, known: &[&str]) -> Read<T> {
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

/// One qdisc: its kind, its parent, its options.
struct Line<'a> {
    kind: &'a str,
    parent: Option<&'a str>,
    options: Vec<&'a str>,
}

/// Reads what `tc qdisc show` prints, or a `tc qdisc` command; a shaper's or a priority's
/// children may follow, each in its own line. Statistics are skipped.
///
/// # Errors
/// What has no equivalent here, and why.
pub fn parse_qdisc(text: &str) -> Read<Qdisc> {
    let lines = lines(text)?;
    let Some((root, children)) = lines.split_first() else {
        return refuse(
            "there is no qdisc",
            "give a line of `tc qdisc show`, as in \"qdisc codel 8001: root limit 1000p\"",
        );
    };
    let mut notes = Vec::new();
    let children: Vec<(&str, QueueConfig)> = children
        .iter()
        .map(|line| Ok((line.parent.unwrap_or(""), read_line(line, &[], &mut notes)?)))
        .collect::<Read<_>>()?;
    let queue = read_line(root, &children, &mut notes)?;
    Ok(Qdisc { queue, notes })
}

fn lines(text: &str) -> Read<Vec<Line<'_>>> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    let mut statistics = false;
    for word in text.split_whitespace() {
        match word {
            "qdisc" => {
                all.push(Vec::new());
                statistics = false;
            }
            "Sent" => statistics = true,
            "tc" => {}
            _ if statistics => {}
            _ => {
                let Some(words) = all.last_mut() else {
                    let message = format!("\"{}\" stands where \"qdisc\" belongs", shorten(word));
                    return refuse(message, "give a line of `tc qdisc show`");
                };
                words.push(word);
            }
        }
    }
    all.iter().map(|words| line(words)).collect()
}

/// Takes off what says where the qdisc stands.
fn line<'a>(words: &[&'a str]) -> Read<Line<'a>> {
    let mut kind = None;
    let mut parent = None;
    let mut rest = words.iter().copied().peekable();
    if rest
        .next_if(|word| ["add", "replace", "change"].contains(word))
        .is_none()
    {
        kind = rest.next();
    }
    while let Some(word) = rest.peek().copied() {
        match word {
            "root" | "offloaded" => {}
            "dev" | "refcnt" | "handle" | "parent" => {
                rest.next();
                if word == "parent" {
                    parent = rest.peek().copied();
                }
            }
            _ if word.ends_with(':') => {}
            _ if kind.is_none() => kind = Some(word),
            _ => break,
        }
        rest.next();
    }
    match kind {
        Some(kind) => Ok(Line {
            kind,
            parent,
            options: rest.collect(),
        }),
        None => refuse("there is no kind of qdisc", "copy the whole line"),
    }
}

fn read_line(
    line: &Line<'_>,
    children: &[(&str, QueueConfig)],
    notes: &mut Vec<String>,
) -> Read<QueueConfig> {
    let mut options = Options {
        kind: line.kind,
        words: line.options.iter(),
    };
    let options = &mut options;
    if !children.is_empty() && !["tbf", "prio"].contains(&line.kind) {
        let message = format!("{} has no children", line.kind);
        return refuse(message, "give the line of one qdisc");
    }
    Ok(match line.kind {
        "pfifo" => QueueConfig::DropTail(DropTailConfig {
            limit: fifo(options, |text| packets(text).map(Limit::Packets))?,
        }),
        "bfifo" => QueueConfig::DropTail(DropTailConfig {
            limit: fifo(options, |text| size(text).map(Limit::Bytes))?,
        }),
        "pfifo_head_drop" => QueueConfig::HeadDrop(HeadDropConfig {
            limit: fifo(options, |text| packets(text).map(Limit::Packets))?,
        }),
        "red" => QueueConfig::LinuxRed(aqm::red(options, notes)?),
        "codel" => QueueConfig::Codel(aqm::codel(options)?),
        "fq_codel" => QueueConfig::FqCodel(aqm::fq_codel(options)?),
        "pie" => QueueConfig::Pie(aqm::pie(options)?),
        "fq_pie" => QueueConfig::FqPie(aqm::fq_pie(options, notes)?),
        "cake" => QueueConfig::Cake(aqm::cake(options)?),
        "sfq" => QueueConfig::Sfq(aqm::sfq(options)?),
        "dualpi2" => QueueConfig::DualPi2(aqm::dualpi2(options, notes)?),
        "tbf" => QueueConfig::Tbf(service::tbf(options, children, notes)?),
        "prio" => QueueConfig::Prio(service::prio(options, children, notes)?),
        other => return unknown_kind(other),
    })
}

fn unknown_kind<T>(kind: &str) -> Read<T> {
    if let Some((_, message, help)) = OTHERS.iter().find(|other| other.0 == kind) {
        return refuse(*message, *help);
    }
    let help = match nearest(kind, KINDS.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("known are {}", KINDS.join(", ")),
    };
    let message = format!("the qdisc \"{}\" has no equivalent here", shorten(kind));
    refuse(message, help)
}

fn fifo(options: &mut Options<'_>, read: impl Fn(&str) -> Read<Limit>) -> Read<Limit> {
    let mut limit = None;
    while let Some(word) = options.next() {
        match word {
            "limit" => limit = Some(read(options.value(word)?)?),
            _ => return options.unknown(word, &["limit"]),
        }
    }
    match limit {
        Some(limit) => Ok(limit),
        None => refuse(
            "without a limit the queue has the device's txqueuelen, which the line does not show",
            "add limit and its value",
        ),
    }
}
