//! Texts changed in a few places: pieces of other texts, values at the ends of their ranges, damage.

use crate::below;
use goodqueue_types::RandomStream;

/// Pieces that give interesting files at a wrong place.
const PIECES: [&str; 48] = [
    "=",
    "\"",
    "{",
    "}",
    "[",
    "]",
    "\n",
    ".",
    ",",
    "#",
    "'",
    "\\",
    "-1",
    "0",
    "1",
    "nan",
    "inf",
    "1e999",
    "-0.0",
    "1e-300",
    "99999999999999999999",
    "9223372036854775807",
    "true",
    "false",
    "\"\"",
    "\"0s\"",
    "\"1ps\"",
    "\"10ms\"",
    "\"1000000s\"",
    "\"0bps\"",
    "\"1bps\"",
    "\"10Tbps\"",
    "\"0p\"",
    "\"1p\"",
    "\"1000000000p\"",
    "\"1B\"",
    "\"1TB\"",
    "\"1bdp\"",
    "\"1000bdp\"",
    "\"0%\"",
    "\"100%\"",
    "\"unlimited\"",
    "\"none\"",
    "[[flow]]\n",
    "kind = ",
    "{ from = 1, to = 9, points = 3 }",
    "\u{fffd}",
    "\u{2028}",
];

/// Lines that ask for much with few words.
const BOMBS: [&str; 28] = [
    "count = 10000000",
    "count = 1000000",
    "count = 1000",
    "duration = \"1000000s\"",
    "duration = \"1ns\"",
    "seeds = 10000000",
    "ports = 1000",
    "mss = 1",
    "receive_window = \"1GiB\"",
    "initial_window = \"1000000p\"",
    "peak_window = \"100000000p\"",
    "from = \"*\"",
    "to = [\"*\", \"*\", \"*\"]",
    "queue = { kind = \"fq_codel\", flows = 65536 }",
    "queue = { kind = \"fpq\", limit = \"1000000000p\", count_bits = 100000000, count_interval = \"1ns\" }",
    "queue = { kind = \"prio\", bands = [{ kind = \"cake\" }, { kind = \"cake\" }, { kind = \"cake\" }] }",
    "bottleneck = { rate = \"10Tbps\", delay = \"0s\", queue = { limit = \"unlimited\" } }",
    "bottleneck = { delay = \"1s\", queue = { limit = \"9p\" }, service = { kind = \"uniform\", from = \"1bps\", to = \"9bps\", interval = \"1ps\" } }",
    "workload = { kind = \"transfers\", size = \"1B\", load = \"1000Mbps\" }",
    "workload = { kind = \"transfers\", size = \"1000GB\", interval = \"1ps\" }",
    "workload = { kind = \"game\", interval = \"1ns\" }",
    "workload = { kind = \"cbr\", interval = \"1ps\" }",
    "workload = { kind = \"bursts\", interval = \"1us\", packets = 1000000 }",
    "workload = { kind = \"on_off\", interval = \"1ps\", on = \"1ps\", off = \"0s\" }",
    "workload = { kind = \"exchanges\", request = \"1B\", reply = \"1B\", pause = \"0s\" }",
    "workload = { kind = \"web\", think = \"0s\", objects = 10000, parallel = 256, persistent = false }",
    "flow.bulk.count = { from = 1, to = 90000, step = 1 }",
    "topology.bottleneck.queue.limit = { from = \"1p\", to = \"99000p\", step = \"1p\" }",
];

/// One text of the corpus, changed in one place or a few: most changes make a text that is refused.
pub fn text(corpus: &[Vec<u8>], random: &mut RandomStream) -> Vec<u8> {
    let mut text = corpus[below(random, corpus.len())].clone();
    loop {
        change(&mut text, corpus, random);
        if below(random, 3) > 0 {
            return text;
        }
    }
}

fn change(text: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut RandomStream) {
    let (place, end) = stretch(text, random);
    let other = &corpus[below(random, corpus.len())];
    match below(random, 11) {
        10 => bomb(text, random),
        0 => text.truncate(place),
        1 => drop(text.drain(place..end)),
        2 => {
            let copy = text[place..end].to_vec();
            let to = below(random, text.len() + 1);
            drop(text.splice(to..to, copy));
        }
        3 => {
            let (from, to) = stretch(other, random);
            drop(text.splice(place..end, other[from..to].to_vec()));
        }
        4 => {
            let (from, to) = line(other, random);
            let (at, _) = line(text, random);
            drop(text.splice(at..at, other[from..to].to_vec()));
        }
        5 => {
            let (from, to) = line(text, random);
            drop(text.drain(from..to));
        }
        6 if place < text.len() => text[place] ^= 1 << below(random, 8),
        7 => digits(text, random),
        _ => value(text, random),
    }
}

/// Up to 40 bytes somewhere.
fn stretch(text: &[u8], random: &mut RandomStream) -> (usize, usize) {
    let place = below(random, text.len() + 1);
    (place, (place + below(random, 40)).min(text.len()))
}

/// A line with its end.
fn line(text: &[u8], random: &mut RandomStream) -> (usize, usize) {
    let place = below(random, text.len() + 1);
    let newline = |byte: &u8| *byte == b'\n';
    let start = text[..place]
        .iter()
        .rposition(newline)
        .map_or(0, |at| at + 1);
    let end = text[place..].iter().position(newline);
    (start, end.map_or(text.len(), |at| place + at + 1))
}

/// Puts a line that asks for much in the place of one with the same key, or before any line.
fn bomb(text: &mut Vec<u8>, random: &mut RandomStream) {
    let bomb = BOMBS[below(random, BOMBS.len())];
    let key = bomb.split('=').next().unwrap_or(bomb).as_bytes();
    let starts = |at: &usize| (*at == 0 || text[at - 1] == b'\n') && text[*at..].starts_with(key);
    let same: Vec<usize> = (0..text.len()).filter(starts).collect();
    let (from, to) = if same.is_empty() {
        let (start, _) = line(text, random);
        (start, start)
    } else {
        let start = same[below(random, same.len())];
        let end = text[start..].iter().position(|byte| *byte == b'\n');
        (start, end.map_or(text.len(), |end| start + end + 1))
    };
    drop(text.splice(from..to, format!("{bomb}\n").into_bytes()));
}

/// Puts other digits in the place of a number.
fn digits(text: &mut Vec<u8>, random: &mut RandomStream) {
    let from = below(random, text.len() + 1);
    let Some(start) = text[from..].iter().position(u8::is_ascii_digit) else {
        return;
    };
    let start = from + start;
    let length = text[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let number = random.bits() >> below(random, 64);
    drop(text.splice(start..start + length, number.to_string().into_bytes()));
}

/// Replaces a value, which begins after `=`, a space or `[` and ends at a delimiter, by a piece.
fn value(text: &mut Vec<u8>, random: &mut RandomStream) {
    let from = below(random, text.len() + 1);
    let ends = |byte: &u8| b" ,}]\n".contains(byte);
    let start = text[from..].iter().position(|byte| b"= [".contains(byte));
    let start = start.map_or(text.len(), |at| (from + at + 1).min(text.len()));
    let length = text[start..].iter().position(ends).unwrap_or(0);
    let piece = PIECES[below(random, PIECES.len())].bytes();
    drop(text.splice(start..start + length, piece));
}
