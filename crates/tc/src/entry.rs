//! The qdiscs of an output of `tc qdisc show`, or of `tc qdisc` commands, one after another.

use super::htb::ClassLine;
use super::read::Read;
use super::refuse;
use super::units::size;
use goodqueue_types::message::shorten;

/// Counters of a qdisc since it was attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that left the queue.
    pub packets: u64,
    /// Bytes that left the queue, with Ethernet headers.
    pub bytes: u64,
    /// Packets that the queue dropped.
    pub drops: u64,
    /// Packets that the queue marked (ECN).
    pub marks: u64,
    /// Packets that wait now.
    pub backlog_packets: u64,
    /// Bytes that wait now.
    pub backlog_bytes: u64,
}

/// One qdisc: its place, its options and its counters.
#[derive(Debug)]
pub(super) struct Entry {
    /// Name of the device; empty if the output has none.
    pub(super) device: String,
    pub(super) kind: String,
    /// Handle, such as `1:`; empty if it has none.
    pub(super) handle: String,
    /// Class to which the qdisc belongs, such as `1:10`; empty for a root.
    pub(super) parent: String,
    pub(super) is_root: bool,
    /// True if `tc qdisc show` printed the qdisc, which leaves out flags that are off.
    pub(super) is_shown: bool,
    /// Words of the options, or the reason why they cannot be read.
    pub(super) options: Read<Vec<String>>,
    /// Properties of the options that the output does not show, in sentences.
    pub(super) notes: Vec<String>,
    /// Counters, if the output has any.
    pub(super) counters: Option<Counters>,
    /// `htb`: its classes, if the output has any.
    pub(super) classes: Vec<ClassLine>,
}

/// Reads what `tc qdisc show` prints, or `tc qdisc` commands. Lines of `tc class` may follow.
pub(super) fn read_text(text: &str) -> Read<Vec<Entry>> {
    let mut all: Vec<(bool, [Vec<&str>; 2])> = Vec::new();
    let mut in_statistics = false;
    for word in text.split_whitespace() {
        match word {
            "qdisc" => {
                all.push((false, [Vec::new(), Vec::new()]));
                in_statistics = false;
            }
            "class" if !all.is_empty() => {
                all.push((true, [Vec::new(), Vec::new()]));
                in_statistics = false;
            }
            "tc" if !in_statistics => {}
            _ => {
                let Some((_, [words, statistics])) = all.last_mut() else {
                    let message = format!("\"{}\" stands where \"qdisc\" belongs", shorten(word));
                    return refuse(message, "give a line of `tc qdisc show`");
                };
                in_statistics |= word == "Sent";
                if in_statistics {
                    statistics.push(word);
                } else {
                    words.push(word);
                }
            }
        }
    }
    let (classes, qdiscs): (Vec<_>, Vec<_>) = all.iter().partition(|(is_class, _)| *is_class);
    let classes = classes.iter().map(|(_, [words, _])| ClassLine::read(words));
    let classes: Vec<Option<ClassLine>> = classes.collect::<Read<_>>()?;
    qdiscs
        .iter()
        .map(|(_, [words, statistics])| {
            let mut entry = entry(words, statistics)?;
            let mut own = classes.iter().flatten().cloned().collect::<Vec<_>>();
            own.retain(|class| class.is_of(&entry.device, &entry.handle));
            if entry.kind == "htb" {
                entry.classes = own;
            }
            Ok(entry)
        })
        .collect()
}

/// Splits the words of a line into the place of the qdisc and its options.
fn entry(words: &[&str], statistics: &[&str]) -> Read<Entry> {
    let mut kind = None;
    let [mut device, mut handle, mut parent] = ["", "", ""];
    let (mut is_root, mut is_shown) = (false, false);
    let mut rest = words.iter().copied().peekable();
    if rest
        .next_if(|word| ["add", "replace", "change"].contains(word))
        .is_none()
    {
        kind = rest.next();
        is_shown = rest.peek().is_some_and(|word| word.ends_with(':'));
    }
    while let Some(word) = rest.peek().copied() {
        match word {
            "root" => is_root = true,
            "offloaded" => {}
            "dev" | "refcnt" | "handle" | "parent" | "ingress_block" | "egress_block" => {
                rest.next();
                let value = rest.peek().copied().unwrap_or("");
                match word {
                    "dev" => device = value,
                    "handle" => handle = value,
                    "parent" => parent = value,
                    _ => {}
                }
            }
            _ if word.ends_with(':') => handle = word,
            _ if kind.is_none() => kind = Some(word),
            _ => break,
        }
        rest.next();
    }
    let Some(kind) = kind else {
        return refuse("there is no kind of qdisc", "copy the whole line");
    };
    let [device, kind, handle, parent] = [device, kind, handle, parent].map(str::to_owned);
    Ok(Entry {
        device,
        kind,
        handle,
        parent,
        is_root,
        is_shown,
        options: Ok(rest.map(str::to_owned).collect()),
        notes: Vec::new(),
        counters: (!statistics.is_empty()).then(|| counters(statistics)),
        classes: Vec::new(),
    })
}

/// Reads `Sent 132 bytes 2 pkt (dropped 0, overlimits 0 requeues 0) backlog 0b 0p requeues 0`, and
/// the marks of the lines that follow.
fn counters(words: &[&str]) -> Counters {
    let number = |word: &str| word.trim_end_matches(['p', ',']).parse().unwrap_or(0);
    let after = |mark: &str, distance: usize| {
        let at = words.iter().position(|word| *word == mark);
        at.and_then(|at| words.get(at + distance))
            .copied()
            .unwrap_or("")
    };
    // CAKE has a column for each tin.
    let tins = words.iter().skip_while(|word| **word != "marks").skip(1);
    let tins: u64 = tins.map_while(|word| word.parse::<u64>().ok()).sum();
    let marks = ["ecn_mark", "marked"].map(|mark| number(after(mark, 1)));
    Counters {
        packets: number(after("Sent", 3)),
        bytes: number(after("Sent", 1)),
        drops: number(after("(dropped", 1)),
        marks: marks
            .iter()
            .fold(tins, |sum, marks| sum.saturating_add(*marks)),
        backlog_packets: number(after("backlog", 2)),
        backlog_bytes: size(after("backlog", 1)).unwrap_or(0),
    }
}
