//! Captures whose times, order or frames are unusual: the packets are read as they are, and a note
//! says what was assumed.

use goodqueue_passive::{FileError, Options, Reading, Report, analyze_files};
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;

const SECOND: i64 = 1_000_000_000;
const MS: i64 = 1_000_000;
/// Round-trip time of the transfers.
const ROUND_TRIP: i64 = 40 * MS + 123_457;
const START: i64 = 1_700_000_000 * SECOND;

/// A frame with its time.
type Timed = (i64, Vec<u8>);

fn segment(
    number: u16,
    port: u16,
    from_client: bool,
    tcp: (u32, u32, u8),
    payload: u16,
) -> Vec<u8> {
    let (mut source, mut destination) = (([10, 0, 0, 1], port), ([192, 0, 2, 9], 443));
    if !from_client {
        std::mem::swap(&mut source, &mut destination);
    }
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    if !from_client {
        frame[..12].rotate_left(6);
    }
    frame.extend([0x45, 0]);
    frame.extend((40 + payload).to_be_bytes());
    frame.extend(number.to_be_bytes());
    frame.extend([0x40, 0, 64, 6, 0, 0]);
    frame.extend(source.0);
    frame.extend(destination.0);
    frame.extend(source.1.to_be_bytes());
    frame.extend(destination.1.to_be_bytes());
    frame.extend(tcp.0.to_be_bytes());
    frame.extend(tcp.1.to_be_bytes());
    frame.extend([0x50, tcp.2, 0xFF, 0xFF, 0, 0, 0, 0]);
    frame.resize(frame.len() + usize::from(payload), 0);
    frame
}

/// Returns a transfer with a handshake, in which four segments are sent in each of `rounds` round
/// trips, and each is acknowledged.
fn transfer(start: i64, port: u16, rounds: u32) -> Vec<Timed> {
    let mut frames = vec![
        (start, segment(1, port, true, (0, 0, 2), 0)),
        (start + ROUND_TRIP, segment(1, port, false, (0, 1, 0x12), 0)),
        (
            start + ROUND_TRIP + 51_003,
            segment(2, port, true, (1, 1, 0x10), 0),
        ),
    ];
    for round in 0..rounds {
        let time = start + (i64::from(round) + 1) * (ROUND_TRIP + MS) + MS;
        for part in 0..4 {
            let (number, later) = (4 * round + part, i64::from(part) * 211_007);
            let seq = 1 + 1460 * number;
            let id = 3 + number as u16;
            frames.push((time + later, segment(id, port, true, (seq, 1, 0x10), 1460)));
            let ack = segment(id, port, false, (1, seq + 1460, 0x10), 0);
            frames.push((time + later + ROUND_TRIP, ack));
        }
    }
    frames.sort_by_key(|(time, _)| *time);
    frames
}

fn pcap(link: u32, snap: usize, frames: &[Timed]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xA1B2_3C4D_u32, 0x0004_0002, 0, 0, 262_144, link] {
        file.extend(word.to_le_bytes());
    }
    for (time, frame) in frames {
        let captured = frame.len().min(snap);
        for word in [
            (time / SECOND) as u32,
            (time % SECOND) as u32,
            captured as u32,
            frame.len() as u32,
        ] {
            file.extend(word.to_le_bytes());
        }
        file.extend(&frame[..captured]);
    }
    file
}

fn write(name: &str, content: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).expect("a disk with room");
    path
}

fn analysed(name: &str, frames: &[Timed]) -> (Report, Reading) {
    let path = write(name, &pcap(1, 100, frames));
    let options = Options {
        path,
        ..Options::default()
    };
    let (report, mut readings) = analyze_files(&options, |_| true).expect("a capture");
    (report, readings.remove(0))
}

fn refused(name: &str, file: &[u8]) -> String {
    let options = Options {
        path: write(name, file),
        ..Options::default()
    };
    analyze_files(&options, |_| true)
        .expect_err("no packets")
        .to_string()
}

#[track_caller]
fn has_note(report: &Report, parts: &[&str]) {
    let found = report
        .notes
        .iter()
        .any(|note| parts.iter().all(|part| note.contains(part)));
    assert!(found, "{parts:?}: {:#?}", report.notes);
}

fn clock_notes(report: &Report) -> usize {
    let words = ["clock", "no packets for", "sorted"];
    let is_one = |note: &&String| words.iter().any(|word| note.contains(word));
    report.notes.iter().filter(is_one).count()
}

/// Returns true if the base round-trip times of `flows` flows are right within the time in which a
/// host answers.
fn is_right(report: &Report, flows: usize) -> bool {
    let right = |rtt: i64| (ROUND_TRIP..ROUND_TRIP + MS).contains(&rtt);
    let bases = base(report);
    bases.len() == flows && bases.into_iter().all(|rtt| rtt.is_some_and(right))
}

fn base(report: &Report) -> Vec<Option<i64>> {
    report.flows.iter().map(|flow| flow.rtt.base).collect()
}

#[test]
fn an_ordinary_capture_has_no_note_on_its_clock() {
    let (report, reading) = analysed("ordinary.pcap", &transfer(START, 40_000, 20));
    assert_eq!(reading.skipped.iter().count(), 0);
    assert_eq!((clock_notes(&report), reading.resolution_ns), (0, 1));
    assert!(is_right(&report, 1));
}

/// A pause may be of any length from an hour to a year, and may follow or precede a single packet.
#[test]
fn all_packets_around_a_pause_are_read() {
    for hours in [2, 30, 24 * 100] {
        let second = START + hours * 3600 * SECOND;
        let frames = [transfer(START, 40_000, 5), transfer(second, 40_001, 5)].concat();
        let (report, reading) = analysed("pause.pcap", &frames);
        assert_eq!(reading.packets, frames.len() as u64, "{hours}");
        assert!(is_right(&report, 2), "{hours}: {:?}", base(&report));
        has_note(
            &report,
            &["no packets for", "until frame 44", "include this time"],
        );
        assert!(report.duration > hours * 3600 * SECOND);
    }
    let mut frames = transfer(START, 40_000, 5);
    for hours in [3, 6, 9] {
        let time = START + hours * 3600 * SECOND;
        frames.push((time, segment(99, 40_000, true, (5 * 4 * 1460, 1, 0x10), 0)));
    }
    let (report, reading) = analysed("keepalives.pcap", &frames);
    assert_eq!(reading.packets, frames.len() as u64);
    has_note(&report, &["no packets for 3.00 h", "longest of 3 pauses"]);
}

/// The stretches before and after are joined, so that no figure has the length of the step.
#[test]
fn a_clock_that_is_set_divides_the_capture() {
    let steps = [
        // The clock steps from 1970 to the time of NTP, from the time of the firmware, and back.
        (
            -(START - 100 * SECOND),
            START - 100 * SECOND,
            "forward by 53.9 years",
        ),
        (0, 3 * 3600 * SECOND, "forward by 3.00 h"),
        (0, -300 * MS, "back by 300 ms"),
        (0, -5 * SECOND, "back by 5.00 s"),
        (0, -2 * 3600 * SECOND, "back by 2.00 h"),
    ];
    for (offset, step, words) in steps {
        let mut frames = transfer(START, 40_000, 30);
        // The clock is set while data are in flight.
        let place = 3 + 8 * 15 + 5;
        for (number, (time, _)) in frames.iter_mut().enumerate() {
            *time += offset + if number >= place { step } else { 0 };
        }
        let (report, reading) = analysed("set.pcap", &frames);
        assert_eq!(reading.packets, frames.len() as u64, "{step}");
        assert!(report.duration < 2 * SECOND, "{step}: {}", report.duration);
        has_note(&report, &["the clock was set", words, "at frame 129"]);
        let bases = base(&report);
        assert!(
            bases.iter().flatten().all(|rtt| *rtt >= ROUND_TRIP),
            "{step}: {bases:?}"
        );
        assert_eq!(bases.len(), 2);
    }
}

#[test]
fn stretches_are_not_compared_with_another_file() {
    let mut frames = transfer(START, 40_000, 20);
    for (time, _) in &mut frames[60..] {
        *time -= 10 * SECOND;
    }
    let whole = write("whole.pcap", &pcap(1, 100, &transfer(START, 40_000, 20)));
    let set = write("two-stretches.pcap", &pcap(1, 100, &frames));
    let both = |path: &PathBuf, after: Option<&PathBuf>, drops| {
        let options = Options {
            path: path.clone(),
            after: after.cloned(),
            drops,
            ..Options::default()
        };
        analyze_files(&options, |_| true).expect_err("two clocks")
    };
    for error in [
        both(&set, Some(&whole), None),
        both(&whole, Some(&set), None),
        both(&set, None, Some(vec![1.7e9])),
    ] {
        assert!(matches!(error, FileError::NoPackets(..)));
        let text = error.to_string();
        assert!(
            text.contains("back by ") && text.contains("at frame 61"),
            "{text}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A flipped bit of the seconds changes a time by at least a second, and the record is left out.
    #[test]
    fn a_damaged_time_costs_one_packet(place in 1..160_usize, bit in 0..31_u32) {
        let mut frames = transfer(START, 40_000, 20);
        let good = frames.len() as u64;
        let seconds = (frames[place].0 / SECOND) ^ (1 << bit);
        frames[place].0 = seconds * SECOND + frames[place].0 % SECOND;
        let (report, reading) = analysed("damaged.pcap", &frames);
        prop_assert_eq!(reading.packets, good - 1);
        prop_assert!(report.duration < 2 * SECOND);
        prop_assert_eq!(clock_notes(&report), 0);
    }

    /// Records that a program wrote some milliseconds late are sorted, and the analysis is that of
    /// the sorted file.
    #[test]
    fn late_records_are_sorted(places in prop::collection::vec(1..150_usize, 1..10)) {
        let mut frames = transfer(START, 40_000, 20);
        for place in places {
            let late = frames.remove(place);
            frames.insert(place + 2, late);
        }
        let is_late = frames.windows(2).any(|pair| pair[1].0 < pair[0].0);
        let (report, reading) = analysed("late.pcap", &frames);
        prop_assert_eq!(reading.packets, frames.len() as u64);
        prop_assert_eq!(clock_notes(&report), usize::from(is_late));
        frames.sort_by_key(|(time, _)| *time);
        let (sorted, _) = analysed("sorted.pcap", &frames);
        prop_assert_eq!(base(&report), base(&sorted));
        prop_assert_eq!(report.link.packets, sorted.link.packets);
    }
}

#[test]
fn a_file_without_order_is_refused() {
    let frames: Vec<_> = transfer(START, 40_000, 60)
        .chunks(20)
        .rev()
        .flat_map(<[Timed]>::to_vec)
        .collect();
    let text = refused("no-order.pcap", &pcap(1, 100, &frames));
    assert!(text.contains("reordercap"), "{text}");
}

#[test]
fn a_coarse_clock_is_noted() {
    for (unit, words) in [(MS, "1.00 ms"), (10 * MS, "10.0 ms")] {
        let mut frames = transfer(START, 40_000, 20);
        for (time, _) in &mut frames {
            *time = *time / unit * unit;
        }
        let (report, reading) = analysed("coarse.pcap", &frames);
        assert_eq!((reading.resolution_ns, report.resolution), (unit, unit));
        has_note(&report, &["resolution of", words]);
    }
}

#[test]
fn cut_headers_are_noted() {
    let frames = transfer(START, 40_000, 20);
    let path = write("cut.pcap", &pcap(1, 50, &frames));
    let mut capture = pcap(1, 100, &frames[..40]);
    capture.extend_from_slice(&pcap(1, 40, &frames[40..])[24..]);
    let text = refused("cut.pcap", &fs::read(&path).expect("the file"));
    assert!(text.contains("cut_header 163"), "{text}");
    let options = Options {
        path: write("partly-cut.pcap", &capture),
        ..Options::default()
    };
    let (report, _) = analyze_files(&options, |_| true).expect("packets");
    has_note(
        &report,
        &["captured part of 123 frames", "rates are too low"],
    );
}

#[test]
fn frames_that_are_not_read_are_named_with_a_remedy() {
    let frames = [(START, vec![0; 60])];
    let text = refused("usb.pcap", &pcap(189, 100, &frames));
    assert!(
        text.contains("189 (USB_LINUX)") && text.contains("editcap -T"),
        "{text}"
    );
    let mut encrypted = vec![0; 60];
    encrypted[..2].copy_from_slice(&[0x08, 0x41]);
    let text = refused("wifi.pcap", &pcap(105, 100, &[(START, encrypted)]));
    assert!(
        text.contains("encrypted 1") && text.contains("airdecap-ng"),
        "{text}"
    );
}
