//! The qdiscs of a device as a tree: the one queue that a device has below its classes and rings, and
//! the queue of a line with its children.

use super::Qdisc;
use super::entry::{Entry, read_text};
use super::json::{HELP, check_length, documents, entries, is_json};
use super::read::{Read, read_queue};
use super::refuse;
use goodqueue_queue::QueueConfig;
use goodqueue_types::message::{nearest, shorten};
use std::collections::HashSet;

/// Qdiscs whose packets wait in other qdiscs, and what these belong to.
const HOLDERS: &[(&str, &str)] = &[
    ("mq", "ring"),
    ("mqprio", "ring"),
    ("taprio", "ring"),
    ("multiq", "ring"),
    ("htb", "class"),
    ("hfsc", "class"),
    ("qfq", "class"),
    ("drr", "class"),
    ("ets", "band"),
    ("cbs", "shaper"),
    ("etf", "link"),
    ("netem", "link"),
];

/// Qdiscs that hold no packets on their way out.
const ON_ARRIVAL: [&str; 2] = ["ingress", "clsact"];

/// Largest number of qdiscs below one another. Linux has 8 at most.
const DEEPEST: usize = 8;
/// Number of other queues that a note lists at most.
const LISTED: usize = 6;

/// Reads what `tc qdisc show` prints, with or without `-s` and `-j`, or `tc qdisc` commands. A
/// shaper's or a priority's children may follow, each in its own line, and the classes of `htb`. Below
/// other classes and rings the queue is the one that sent most bytes.
///
/// # Errors
/// Returns the line that has no equivalent here, and the reason.
pub fn parse_qdisc(text: &str) -> Read<Qdisc> {
    check_length(text)?;
    let entries = if is_json(text) {
        entries(&documents(text)?)?
    } else {
        read_text(text)?
    };
    if entries.is_empty() && !is_json(text) {
        return refuse(
            "there is no qdisc",
            "give a line of `tc qdisc show`, as in \"qdisc codel 8001: root limit 1000p\"",
        );
    }
    let group = Group::find(&entries, None)?;
    let mut notes = Vec::new();
    let queue = group.queue(group.root()?, &mut notes, 0)?;
    Ok(Qdisc { queue, notes })
}

/// The qdiscs of one device.
pub(super) struct Group<'e> {
    entries: Vec<&'e Entry>,
}

impl<'e> Group<'e> {
    /// Returns the qdiscs of the device of this name, or of the only one that has a queue.
    pub(super) fn find(entries: &'e [Entry], name: Option<&str>) -> Read<Self> {
        let mut groups: Vec<(&str, Vec<&Entry>)> = Vec::new();
        for entry in entries {
            if ON_ARRIVAL.contains(&&entry.kind[..]) {
                continue;
            }
            // Qdiscs of a device follow one another, as a rule.
            match groups
                .iter_mut()
                .rev()
                .find(|group| group.0 == entry.device)
            {
                Some((_, group)) => group.push(entry),
                None => groups.push((&entry.device, vec![entry])),
            }
        }
        let names: Vec<&str> = groups.iter().map(|group| group.0).collect();
        match name {
            Some(name) => groups.retain(|group| group.0 == name),
            None if groups.iter().any(|group| group.1[0].kind != "noqueue") => {
                groups.retain(|group| group.1[0].kind != "noqueue");
            }
            None => {}
        }
        match (groups.len(), name) {
            (1, _) => {}
            (0, Some(name)) => {
                let message = format!("there is no device \"{}\" in the output", shorten(name));
                return match nearest(name, names.iter().copied()).or_else(|| names.first().copied())
                {
                    Some(near) => refuse(message, format!("did you mean \"{}\"?", shorten(near))),
                    None => refuse(message, HELP),
                };
            }
            (0, None) => return refuse("there is no root qdisc in the output", HELP),
            (count, _) => {
                let first = shorten(groups[0].0);
                return refuse(
                    format!("the output has {count} devices"),
                    format!("give one: FILE:{first}, or tc -s -j qdisc show dev {first}"),
                );
            }
        }
        let entries = groups.pop().map(|group| group.1).unwrap_or_default();
        Ok(Self { entries })
    }

    /// Returns the root, or the top if the output has none.
    pub(super) fn root(&self) -> Read<&'e Entry> {
        let roots = self.entries.iter().filter(|entry| entry.is_root);
        let mut tops: Vec<&Entry> = roots.copied().collect();
        let handles: HashSet<&str> = self.entries.iter().map(|entry| &entry.handle[..]).collect();
        let is_orphan = |entry: &Entry| {
            let above = entry.parent.split_once(':').map_or("", |parent| parent.0);
            !entry.is_root && (above.is_empty() || !handles.contains(&format!("{above}:")[..]))
        };
        if tops.is_empty() {
            let orphans = self.entries.iter().filter(|entry| is_orphan(entry));
            tops = orphans.copied().collect();
        }
        match tops[..] {
            [top] => {
                let has_handle = !matches!(&top.handle[..], "" | "0:");
                let mut others = self
                    .entries
                    .iter()
                    .filter(|entry| !std::ptr::eq(**entry, top));
                match others.find(|entry| has_handle && is_orphan(entry)) {
                    Some(orphan) => refuse(
                        format!(
                            "\"{}\" is no parent among these qdiscs",
                            shorten(&orphan.parent)
                        ),
                        "give each child's line whole, with parent 1:1 for the first class of 1:",
                    ),
                    None => Ok(top),
                }
            }
            [] => refuse("the qdiscs have no root", HELP),
            _ => refuse(
                format!("{} qdiscs of one device have no parent", tops.len()),
                "give each child's line whole, with its parent",
            ),
        }
    }

    /// Returns the qdisc of a class, such as `1:10`.
    pub(super) fn class(&self, class: &str) -> Read<&'e Entry> {
        if let Some(entry) = self.entries.iter().find(|entry| entry.parent == class) {
            return Ok(entry);
        }
        let message = format!("no qdisc belongs to the class \"{}\"", shorten(class));
        let mut classes = self.entries.iter().map(|entry| &entry.parent[..]);
        match classes.find(|parent| !parent.is_empty()) {
            Some(first) => refuse(message, format!("write a parent, as in {first}")),
            None => refuse(message, HELP),
        }
    }

    /// Returns the qdiscs whose parent is a class of another one.
    fn children(&self, of: &Entry) -> Vec<&'e Entry> {
        let is_child = |entry: &Entry| match entry.parent.split_once(':') {
            // A root without a handle has the classes `:1`, `:2` and so on.
            _ if of.handle.is_empty() => of.is_root,
            Some(("", _)) => of.is_root && of.handle == "0:",
            Some((above, _)) => above != "0" && of.handle.strip_suffix(':') == Some(above),
            None => false,
        };
        let all = self.entries.iter().copied();
        all.filter(|entry| !entry.is_root && !std::ptr::eq(*entry, of) && is_child(entry))
            .collect()
    }

    /// Returns the qdisc in which the packets of a qdisc wait: itself, or the busiest below it.
    pub(super) fn leaf(&self, of: &'e Entry, notes: &mut Vec<String>) -> Read<&'e Entry> {
        let mut leaf = of;
        for _ in 0..DEEPEST {
            let part = match &leaf.kind[..] {
                "prio" => Some("band"),
                "tbf" => Some("shaper"),
                kind => part_of(kind),
            };
            let children = self.children(leaf);
            match (part, busiest(&children)) {
                (Some(part), Some(child)) => {
                    notes.extend(choice(leaf, part, child, &children));
                    leaf = child;
                }
                _ => return Ok(leaf),
            }
        }
        too_deep()
    }

    /// Reads the queue of a qdisc with its children.
    fn queue(&self, of: &'e Entry, notes: &mut Vec<String>, depth: usize) -> Read<QueueConfig> {
        if depth > DEEPEST {
            return too_deep();
        }
        let mut children = self.children(of);
        let is_shown = !of.classes.is_empty();
        if let (Some(part), Some(child), false) = (part_of(&of.kind), busiest(&children), is_shown)
        {
            notes.extend(choice(of, part, child, &children));
            return self.queue(child, notes, depth + 1);
        }
        if children.len() > 16 && !is_shown {
            return refuse(
                format!("{} has {} children", shorten(&of.kind), children.len()),
                "tc has 16 bands at most",
            );
        }
        if !matches!(&of.kind[..], "htb" | "tbf" | "prio") {
            // `tc qdisc show invisible` shows the FIFOs that qdiscs such as red have of themselves.
            children.retain(|child| child.handle != "0:");
        }
        let queues = children.into_iter().map(|child| {
            let queue = self.queue(child, notes, depth + 1)?;
            Ok((&child.parent[..], queue))
        });
        let queues: Vec<(&str, QueueConfig)> = queues.collect::<Read<_>>()?;
        read_queue(of, &queues, notes)
    }
}

fn too_deep<T>() -> Read<T> {
    refuse(
        format!("there are more than {DEEPEST} qdiscs below one another"),
        HELP,
    )
}

/// Returns the part of a qdisc to which its children belong; None if packets wait in itself.
fn part_of(kind: &str) -> Option<&'static str> {
    let holder = HOLDERS.iter().find(|holder| holder.0 == kind);
    holder.map(|(_, part)| *part)
}

/// Returns the qdisc that sent most bytes, and the first of several.
fn busiest<'e>(children: &[&'e Entry]) -> Option<&'e Entry> {
    let bytes = |entry: &Entry| entry.counters.map_or(0, |counters| counters.bytes);
    let busiest = children.iter().rev().max_by_key(|child| bytes(child));
    busiest.copied()
}

/// Returns the note on the queue that was chosen, if others or properties are left out.
fn choice(of: &Entry, part: &str, taken: &Entry, all: &[&Entry]) -> Option<String> {
    let kind = &of.kind;
    match part {
        "shaper" if kind == "tbf" => return None,
        "link" | "shaper" => {
            return Some(format!("{kind} is left out: the queue is its child's"));
        }
        _ => {}
    }
    let parent = shorten(&taken.parent);
    let mut note = match all.len() {
        1 => format!("{kind} has one queue, that of the {part} {parent}"),
        count => {
            let sent = taken.counters.is_some_and(|counters| counters.bytes > 0);
            let why = if sent { ", which sent most bytes" } else { "" };
            format!("{kind} has {count} queues: that of the {part} {parent} is taken{why}")
        }
    };
    let others = all.iter().filter(|other| !std::ptr::eq(**other, taken));
    let others =
        others.map(|other| format!("{} ({})", shorten(&other.parent), shorten(&other.kind)));
    let others: Vec<String> = others.collect();
    if part != "ring" && !others.is_empty() {
        let listed = others[..others.len().min(LISTED)].join(", ");
        let rest = if others.len() > LISTED { ", …" } else { "" };
        note = format!("{note}; others are {listed}{rest}");
    }
    if part == "class" {
        note += "; the rates of its classes are not shown";
    }
    Some(note)
}
