//! Sentences about what a file's reader had to assume or to leave out.

use super::Reading;
use super::clock::{Findings, Jump};
use super::stream::Frames;
use goodqueue_trace::read::{LinkType, Skip};

/// Resolution from which on figures suffer, in nanoseconds.
const COARSE: i64 = 1_000_000;

/// Units of times with their lengths in seconds.
const UNITS: [(f64, &str); 6] = [
    (365.25 * 86_400.0, "years"),
    (86_400.0, "days"),
    (3600.0, "h"),
    (1.0, "s"),
    (1e-3, "ms"),
    (1e-6, "µs"),
];

/// Returns a time in words, with three digits in its largest unit.
fn words(nanoseconds: i64) -> String {
    let seconds = nanoseconds.unsigned_abs() as f64 * 1e-9;
    let unit = UNITS.iter().find(|(length, _)| seconds >= *length);
    let (length, name) = unit.unwrap_or(&UNITS[5]);
    let value = seconds / length;
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {name}")
}

/// Returns the place of a jump in words.
fn place(jump: &Jump) -> String {
    let since = words(jump.since_start);
    format!("at frame {}, {since} after the first packet", jump.frame)
}

fn step(jump: &Jump) -> String {
    let direction = if jump.length < 0 { "back" } else { "forward" };
    format!("{direction} by {} {}", words(jump.length), place(jump))
}

/// Says why stretches cannot be analysed.
pub fn not_comparable(findings: &Findings) -> Option<String> {
    let first = findings.steps.first()?;
    Some(format!(
        "its clock was set {}, so its times cannot be compared with those of another file; analyse \
         the frames before and after that place on their own (editcap -r FILE OUT 1-{})",
        step(first),
        first.frame.saturating_sub(1),
    ))
}

/// Says that the packets of a file are not in order of time.
pub fn not_in_order(findings: &Findings) -> String {
    let first = findings.steps.first().map(step).unwrap_or_default();
    format!(
        "its times jump more than {} times, first {first}, so it is not in order of time; \
         \"reordercap FILE OUT\" sorts it",
        findings.steps.len() - 1
    )
}

/// Says that frames of a link type are not read, and what helps.
pub fn unknown_link(link: LinkType) -> String {
    format!(
        "frames of link type {link} are not read; if they are Ethernet frames or IP packets in fact, \
         \"editcap -T ether FILE OUT\" or \"-T rawip\" says so; \"tcpdump -L\" lists the link types of \
         an interface, and \"tcpdump -y EN10MB\" captures Ethernet frames"
    )
}

/// Says that frames are encrypted.
pub fn encrypted(count: u64) -> String {
    format!(
        "frames of IEEE 802.11 that are encrypted and not read: {count}; capture at the access point \
         or at the station without monitor mode, or decrypt them with \"airdecap-ng\""
    )
}

/// Returns the notes on a file.
pub fn notes(reading: &Reading, findings: &Findings, frames: &Frames) -> Vec<String> {
    let mut notes = Vec::new();
    clock_notes(findings, &mut notes);
    let odd = reading.skipped.count(Skip::OddTime);
    if odd > reading.frames / 100 && odd > 1 {
        notes.push(format!(
            "the times of {odd} packets contradict those around them, so they are left out; if \
             captures with different clocks were merged, \"editcap -t SECONDS FILE OUT\" shifts one \
             of them before mergecap"
        ));
    }
    if frames.cut.frames > 0 {
        let share = frames.cut.bytes as f64 / frames.all.bytes.max(1) as f64;
        notes.push(format!(
            "the captured part of {} frames ends within their headers, so flows, losses and rates \
             lack them; rates are too low by up to {:.1} %, their share of the bytes (tcpdump -s 128 \
             captures all headers)",
            frames.cut.frames,
            share * 100.0
        ));
    }
    if frames.without_options > 0 {
        notes.push(format!(
            "the captured part of {} packets ends within their TCP options, so window scale, SACK \
             blocks and timestamps may be missing; lengths, and with them rates, are those of the IP \
             headers and are right (tcpdump -s 128 captures all headers)",
            frames.without_options
        ));
    }
    let encrypted_frames = reading.skipped.count(Skip::Encrypted);
    if encrypted_frames > 0 {
        notes.push(encrypted(encrypted_frames));
    }
    if let Some((link, count)) = frames.unknown_link {
        notes.push(format!("{count} {}", unknown_link(link)));
    }
    notes
}

fn clock_notes(findings: &Findings, notes: &mut Vec<String>) {
    if let Some(longest) = &findings.longest_pause {
        let others = match findings.pauses {
            1 => String::new(),
            count => format!(", the longest of {count} pauses of more than an hour"),
        };
        notes.push(format!(
            "no packets for {} until frame {}, {} after the first packet{others}; rates that are \
             averages over the capture include this time",
            words(longest.length),
            longest.frame,
            words(longest.since_start + longest.length),
        ));
    }
    if !findings.steps.is_empty() {
        let steps: Vec<_> = findings.steps.iter().take(3).map(step).collect();
        let more = match findings.steps.len() - steps.len() {
            0 => String::new(),
            count => format!(" and {count} more times"),
        };
        notes.push(format!(
            "the clock was set during the capture: {}{more}; the stretches between are joined without \
             the unknown time, and a connection that spans several counts as a flow in each",
            steps.join("; "),
        ));
    }
    let (late, longest) = findings.late;
    if late > 0 {
        notes.push(format!(
            "packets that were recorded after later ones: {late}, by up to {}; they were sorted by \
             time",
            words(longest)
        ));
    }
    let resolution = findings.resolution.nanoseconds();
    if resolution >= COARSE {
        notes.push(format!(
            "the clock of the capture has a resolution of {}; no shorter time can be measured",
            words(resolution)
        ));
    }
}
