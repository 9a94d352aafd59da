//! Captures of a run, read back by an independent reader.

use goodqueue_scenario::{Scenario, Tap, endpoints};
use goodqueue_sim::{Outcome, run_traced};
use goodqueue_trace::write::{Capture, InterfaceInfo, TraceWriter};
use goodqueue_types::{DropReason, PacketEvent, PacketSink};
use std::io::Write;
use std::sync::{Arc, Mutex};

/// Captures in memory.
struct Taps(Vec<Capture<Shared>>);

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("one thread").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl PacketSink for Taps {
    fn packet(&mut self, event: &PacketEvent) {
        for capture in &mut self.0 {
            capture.packet(event).expect("memory");
        }
    }
}

/// Packet in the file.
#[derive(Debug)]
struct Packet {
    time_ns: u64,
    frame: Vec<u8>,
    length: usize,
    comment: String,
}

/// Reads a little-endian pcapng file of one section and one interface, block by block.
fn packets(file: &[u8]) -> Vec<Packet> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let half = |at: usize| u16::from_le_bytes(file[at..at + 2].try_into().expect("two bytes"));
    let (mut at, mut packets, mut kinds) = (0, Vec::new(), Vec::new());
    while at < file.len() {
        let (kind, length) = (word(at), word(at + 4) as usize);
        assert_eq!(length % 4, 0);
        assert_eq!(word(at + length - 4) as usize, length);
        kinds.push(kind);
        if kind == 6 {
            let captured = word(at + 20) as usize;
            let mut option = at + 28 + captured.next_multiple_of(4);
            let mut comment = String::new();
            while half(option) != 0 {
                let bytes = half(option + 2) as usize;
                if half(option) == 1 {
                    let text = file[option + 4..option + 4 + bytes].to_vec();
                    comment = String::from_utf8(text).expect("text");
                }
                option += 4 + bytes.next_multiple_of(4);
            }
            assert_eq!(option + 8, at + length);
            packets.push(Packet {
                time_ns: u64::from(word(at + 12)) << 32 | u64::from(word(at + 16)),
                frame: file[at + 28..at + 28 + captured].to_vec(),
                length: word(at + 24) as usize,
                comment,
            });
        }
        at += length;
    }
    assert_eq!(kinds[..2], [0x0A0D_0D0A, 1]);
    packets
}

/// Returns true if an RFC 1071 checksum holds, computed as in its C code: bytes in pairs, carries
/// added at once.
fn holds(bytes: impl Iterator<Item = u8>) -> bool {
    let (mut sum, mut high) = (0_u32, None);
    for byte in bytes.chain([0]) {
        match high.take() {
            None => high = Some(byte),
            Some(first) => {
                sum += u32::from(first) * 256 + u32::from(byte);
                if sum > 0xFFFF {
                    sum -= 0xFFFF;
                }
            }
        }
    }
    sum == 0xFFFF
}

/// Checks every length and checksum of an uncut frame. Returns its protocol.
fn check(packet: &Packet) -> u8 {
    let frame = &packet.frame;
    assert_eq!(frame.len(), packet.length);
    assert_eq!(frame[12..14], [8, 0]);
    let ip = &frame[14..];
    assert_eq!(usize::from(ip[2]) * 256 + usize::from(ip[3]), ip.len());
    assert!(holds(ip[..20].iter().copied()), "{packet:?}");
    let (protocol, rest) = (ip[9], &ip[20..]);
    if protocol == 1 {
        assert!(holds(rest.iter().copied()), "{packet:?}");
        return protocol;
    }
    let [high, low] = (rest.len() as u16).to_be_bytes();
    let kind_and_length = [0, protocol, high, low];
    let pseudo = ip[12..20].iter().chain(&kind_and_length);
    assert!(holds(pseudo.chain(rest).copied()), "{packet:?}");
    protocol
}

fn captured(text: &str, snap: u32, points: &[&str]) -> (Outcome, Vec<Vec<Packet>>) {
    let scenario = Scenario::parse(text.as_bytes(), "test.toml", &[]).expect("valid");
    let network = scenario.network();
    let endpoints = endpoints(&network);
    let files: Vec<Shared> = points.iter().map(|_| Shared::default()).collect();
    let taps = points.iter().zip(&files).map(|(point, file)| {
        let name = (*point).to_owned();
        let Ok(Tap::Capture(at)) = scenario.tap(&network, point) else {
            panic!("{point} is no point")
        };
        let interface = InterfaceInfo { name, snap };
        Capture::new(file.clone(), at, &interface, endpoints.clone()).expect("memory")
    });
    let mut taps = Taps(taps.collect());
    let outcome = run_traced(&network, &mut taps, |_| true).expect("nothing stops it");
    for tap in &mut taps.0 {
        tap.finish().expect("memory");
    }
    let read = |file: &Shared| packets(&file.0.lock().expect("one thread"));
    (outcome, files.iter().map(read).collect())
}

fn scenario(queue: &str, loss: &str, profile: &str) -> String {
    format!(
        "schema_version = 1\nduration = \"8s\"\nseed = 3\n[topology]\nshape = \"dumbbell\"\n\
         access = {{ rate = \"100Mbps\", delay = \"2ms\" }}\n\
         bottleneck = {{ rate = \"5Mbps\", delay = \"10ms\", queue = {queue}{loss} }}\n\
         [[flow]]\nname = \"bulk\"\ncount = 3\nworkload = {{ kind = \"bulk\" }}\ntcp = {profile}\n\
         [[flow]]\nname = \"ping\"\nworkload = {{ kind = \"ping\", interval = \"50ms\" }}\n\
         [[flow]]\nname = \"cbr\"\n\
         workload = {{ kind = \"cbr\", rate = \"200kbps\", packet = \"333B\" }}\n"
    )
}

const TAIL: &str = "{ kind = \"drop_tail\", limit = \"20p\" }";
const CODEL: &str = "{ kind = \"codel\", limit = \"1000p\", ecn = true }";
const LINUX: &str = "{ profile = \"linux\", ecn = \"rfc3168\" }";
const NS2: &str = "{ profile = \"ns2\", recovery = \"sack\" }";
const POINTS: [&str; 4] = ["sender", "receiver", "before", "after"];

#[test]
fn every_length_and_checksum_holds() {
    for (queue, profile) in [(TAIL, NS2), (CODEL, LINUX), (TAIL, "{ profile = \"rfc\" }")] {
        let (_, captures) = captured(&scenario(queue, "", profile), 262_144, &POINTS);
        for capture in captures {
            assert!(capture.is_sorted_by_key(|packet| packet.time_ns));
            let mut protocols: Vec<u8> = capture.iter().map(check).collect();
            protocols.sort_unstable();
            protocols.dedup();
            assert_eq!(protocols, [1, 6, 17]);
        }
    }
}

#[test]
fn captures_are_cut_and_record_the_true_length() {
    let text = scenario(TAIL, "", LINUX);
    let whole = captured(&text, 262_144, &POINTS).1;
    let cut = captured(&text, 128, &POINTS).1;
    for (whole, cut) in whole.iter().flatten().zip(cut.iter().flatten()) {
        assert_eq!((whole.time_ns, whole.length), (cut.time_ns, cut.length));
        assert_eq!(cut.frame, whole.frame[..whole.length.min(128)]);
    }
}

#[test]
fn drops_and_marks_are_in_the_comments() {
    let on_arrival = ", loss = { probability = \"2%\" }";
    let on_the_way = ", loss = { probability = \"2%\", after_transmission = true }";
    for (queue, loss, profile) in [
        (TAIL, "", LINUX),
        (CODEL, "", LINUX),
        (TAIL, on_arrival, NS2),
        (CODEL, on_the_way, LINUX),
    ] {
        let text = scenario(queue, loss, profile);
        let (outcome, captures) = captured(&text, 128, &["before", "after"]);
        let link = &outcome.links[0];
        let count = |capture: &[Packet], word: &str| {
            let said = capture
                .iter()
                .filter(|packet| packet.comment.contains(word));
            said.count() as u64
        };
        let [before, after] = &captures[..] else {
            unreachable!()
        };
        let late = if loss == on_the_way {
            link.drops_by[DropReason::LinkLoss as usize]
        } else {
            0
        };
        let (early, marks) = (link.drops - late, link.marks);
        assert!(early + marks > 0 && (late > 0) == (loss == on_the_way));
        assert_eq!(count(before, "dropped by bottleneck: "), early);
        assert_eq!(count(after, "dropped by bottleneck: link_loss"), late);
        assert_eq!(count(before, "marked by bottleneck: "), marks);
        assert_eq!(count(after, "marked by bottleneck: "), marks);
        // Both captures contain the same packets, except dropped ones and those that wait at the
        // end.
        let missing = (before.len() - after.len()) as u64;
        let most = link.backlog_packets.max.expect("something waited") as u64;
        assert!(
            (early..=early + most).contains(&missing),
            "{missing} {early}"
        );
    }
}

/// The test shows the order and counts of a capture with reordered and duplicated packets.
#[test]
fn copies_and_reordered_packets_are_observed_on_arrival() {
    let impaired = ", jitter = { law = \"uniform\", from = \"0ms\", to = \"4ms\", order = \"free\" }, \
                    duplicate = { probability = \"5%\" }, \
                    loss = { probability = \"2%\", after_transmission = true }";
    let text = scenario(CODEL, impaired, LINUX);
    let (outcome, captures) = captured(&text, 128, &POINTS);
    for capture in &captures {
        assert!(capture.is_sorted_by_key(|packet| packet.time_ns));
    }
    let totals = outcome.totals;
    assert!(totals.duplicated > 0);
    let [sender, receiver, before, after] = &captures[..] else {
        unreachable!()
    };
    // Each packet that was sent and delivered is captured at its end.
    let seen = (sender.len() + receiver.len()) as u64;
    assert_eq!(seen, totals.sent + totals.delivered);
    let dropped = |capture: &[Packet]| {
        let said = capture.iter().filter(|p| p.comment.contains("dropped"));
        said.count() as u64
    };
    assert_eq!(dropped(before) + dropped(after), totals.dropped);
}
