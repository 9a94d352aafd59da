//! Round trips of files that are built from the format specifications. A damaged file is read up to
//! the damage and after it, and no input panics.

use crate::files::{
    Order, Sample, block, interface, packet, pcap, samples, section, simple_packet,
};
use goodqueue_trace::read::{Capture, Format, LinkType, Ns2Trace, ReadError, Skip, decode_each};
use proptest::prelude::*;
use std::io::{self, Read};

fn read_all(file: &[u8]) -> (Vec<Sample>, Capture<&[u8]>) {
    let mut capture = Capture::new(file).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = capture.next_frame().unwrap() {
        frames.push(Sample {
            time_ns: frame.time_ns,
            bytes: frame.bytes.to_vec(),
            original: frame.original_len,
        });
    }
    (frames, capture)
}

fn pcapng(order: Order, kind: u32, frames: &[Sample]) -> Vec<u8> {
    let mut file = [section(order), interface(order, 101, None)].concat();
    for frame in frames {
        file.extend(packet(
            order,
            kind,
            0,
            frame.time_ns as u64 / 1000,
            frame,
            None,
        ));
    }
    file
}

/// A reader that returns one byte at a time, as a slow pipe may.
struct Dribble<'a>(&'a [u8]);

impl Read for Dribble<'_> {
    fn read(&mut self, memory: &mut [u8]) -> io::Result<usize> {
        let count = memory.len().min(1);
        self.0.read(&mut memory[..count])
    }
}

/// Link types that are read.
const LINKS: [u16; 36] = [
    0, 1, 8, 9, 10, 12, 50, 51, 100, 101, 104, 105, 107, 108, 109, 113, 117, 119, 123, 127, 149,
    163, 166, 192, 204, 205, 206, 228, 239, 240, 258, 274, 276, 281, 283, 284,
];

proptest! {
    #[test]
    fn pcap_is_read_back(
        frames in samples(), big in any::<bool>(), nanoseconds in any::<bool>(),
    ) {
        let file = pcap(Order(big), nanoseconds, 101, &frames);
        let (read, capture) = read_all(&file);
        prop_assert_eq!(read, frames);
        prop_assert_eq!(capture.tally().iter().count(), 0);
        let format = if nanoseconds { Format::PcapNanoseconds } else { Format::Pcap };
        prop_assert_eq!(capture.format(), format);
    }

    #[test]
    fn pcapng_is_read_back(frames in samples(), big in any::<bool>(), obsolete in any::<bool>()) {
        let file = pcapng(Order(big), if obsolete { 2 } else { 6 }, &frames);
        let (read, capture) = read_all(&file);
        prop_assert_eq!(read, frames);
        prop_assert_eq!(capture.tally().iter().count(), 0);
        prop_assert_eq!(capture.interfaces(), 1);
    }

    /// The reader returns the complete frames of a capture that is cut anywhere, and reports the
    /// cut.
    #[test]
    fn a_cut_file_is_read_up_to_the_cut(
        frames in samples(), ng in any::<bool>(), place in any::<prop::sample::Index>(),
    ) {
        let file = if ng { pcapng(Order(false), 6, &frames) } else { pcap(Order(false), true, 101, &frames) };
        let start = if ng { 28 + 20 } else { 24 };
        let cut = start + place.index(file.len() - start + 1);
        let (read, capture) = read_all(&file[..cut]);
        prop_assert_eq!(&read[..], &frames[..read.len()]);
        let record = |frame: &Sample| if ng { 32 + frame.bytes.len().next_multiple_of(4) } else { 16 + frame.bytes.len() };
        let mut whole = start;
        let count = frames.iter().take_while(|frame| { whole += record(frame); whole <= cut }).count();
        prop_assert_eq!(read.len(), count);
        let rest: usize = frames[..count].iter().map(record).sum();
        prop_assert_eq!(capture.is_cut(), start + rest != cut);
    }

    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..4000), start in 0..6_usize) {
        let starts = [
            vec![],
            pcap(Order(true), false, 1, &[]),
            pcap(Order(false), true, 276, &[]),
            section(Order(false)),
            [section(Order(true)), interface(Order(true), 113, Some(0xFF))].concat(),
            [section(Order(false)), interface(Order(false), 9, Some(9))].concat(),
        ];
        survives(&[starts[start].clone(), bytes].concat());
    }

    #[test]
    fn damaged_captures_are_taken(
        frames in samples(), ng in any::<bool>(),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut file = if ng { pcapng(Order(false), 6, &frames) } else { pcap(Order(false), false, 101, &frames) };
        for (place, value) in hits {
            let place = place.index(file.len());
            file[place] = value;
        }
        survives(&file);
    }

    #[test]
    fn any_frame_is_taken_apart(link in prop::sample::select(LINKS.to_vec()), bytes in prop::collection::vec(any::<u8>(), 0..160), ethernet in any::<bool>()) {
        let start = if ethernet { crate::files::tcp_over_ethernet(&[], 100) } else { Vec::new() };
        let bytes = [start, bytes].concat();
        let original = bytes.len() as u32;
        survives(&pcap(Order(false), true, link, &[Sample { time_ns: 1, bytes, original }]));
    }

    #[test]
    fn a_slow_stream_gives_the_same(frames in samples()) {
        let file = pcapng(Order(false), 6, &frames);
        let mut capture = Capture::new(Dribble(&file)).unwrap();
        let mut count = 0;
        while let Some(frame) = capture.next_frame().unwrap() {
            prop_assert_eq!(frame.bytes, &frames[count].bytes[..]);
            count += 1;
        }
        prop_assert_eq!(count, frames.len());
    }

    #[test]
    fn any_text_is_taken(text in "[+rd -][0-9 .a-z\n+-]{0,200}") {
        let mut trace = Ns2Trace::new(text.as_bytes());
        while trace.next_record().unwrap().is_some() {}
    }
}

/// Smallest number of header bytes of a record, over both formats.
const FIELDS: u64 = 16;

/// Reads and decodes all frames. Each record must lie behind the previous record and the damaged
/// bytes between them, so that no byte is used twice. The reader must not skip bytes: it must reach
/// the end of the file or of its truncated part.
fn survives(file: &[u8]) {
    let Ok(mut capture) = Capture::new(file) else {
        return;
    };
    let (mut behind, mut damaged) = (0, 0);
    loop {
        let length = capture.next_frame().unwrap().map(|frame| {
            decode_each(&frame, |_| {});
            frame.bytes.len() as u64
        });
        let now = capture.tally().count(Skip::DamagedBytes);
        behind += now - damaged;
        damaged = now;
        assert!(capture.position() >= behind);
        let Some(length) = length else { break };
        behind = capture.position() + FIELDS + length;
    }
    assert!(capture.is_cut() || capture.position() == file.len() as u64);
}

#[test]
fn resolutions_interfaces_options_and_unknown_blocks() {
    let order = Order(false);
    let frame = Sample {
        time_ns: 0,
        bytes: vec![1, 2, 3],
        original: 70,
    };
    let file = [
        section(order),
        interface(order, 1, Some(9)),
        interface(order, 101, Some(0x8A)),
        block(order, 5, &[0; 16]),
        packet(
            order,
            6,
            0,
            1_700_000_000_123_456_789,
            &frame,
            Some("dropped"),
        ),
        packet(order, 6, 1, 1536, &frame, None),
        packet(order, 6, 7, 1, &frame, None),
        simple_packet(order, &frame),
        section(Order(true)),
        interface(Order(true), 113, Some(6)),
        packet(Order(true), 6, 0, 5, &frame, None),
    ]
    .concat();
    let mut capture = Capture::new(&file[..]).unwrap();
    let mut seen = Vec::new();
    while let Some(frame) = capture.next_frame().unwrap() {
        seen.push((frame.time_ns, frame.link, frame.interface));
    }
    let expected = [
        (1_700_000_000_123_456_789, LinkType::ETHERNET, 0),
        (1_500_000_000, LinkType::RAW, 1),
        (0, LinkType::ETHERNET, 0),
        (5000, LinkType::LINUX_SLL, 0),
    ];
    assert_eq!(seen, expected);
    let left_out: Vec<_> = capture.tally().iter().collect();
    assert_eq!(
        left_out,
        [(Skip::OtherBlock, 1), (Skip::UnknownInterface, 1)]
    );
}

#[test]
fn damage_in_the_middle_costs_the_record_it_hits() {
    let frames: Vec<_> = (0..10)
        .map(|i| Sample {
            time_ns: 1_700_000_000_000_000_000 + i * 1000,
            bytes: vec![0x45; 60],
            original: 60,
        })
        .collect();
    let mut file = pcap(Order(false), true, 101, &frames);
    // This is the captured length of the fourth record.
    let place = 24 + 3 * 76 + 8;
    file[place..place + 4].fill(0xFF);
    let (read, capture) = read_all(&file);
    assert_eq!(
        (read.len(), capture.tally().count(Skip::DamagedBytes)),
        (9, 76)
    );

    let mut file = pcapng(Order(false), 6, &frames);
    let place = 28 + 20 + 3 * 92 + 4;
    file[place..place + 4].fill(0xF0);
    let (read, capture) = read_all(&file);
    assert_eq!(
        (read.len(), capture.tally().count(Skip::DamagedBytes)),
        (9, 92)
    );
}

#[test]
fn files_that_are_not_captures_are_refused() {
    for (start, word) in [
        (&b""[..], "empty"),
        (b"\xFD7zXZ\0", "xz -dc"),
        (b"time,packets\n1,2\n", "text"),
        (
            b"+ 0.1 0 2 tcp 1040 ------- 1 0.0 3.0 0 0\n",
            "trace of ns-2",
        ),
        (b"r 12 0 2 ack 40 ------- 1", "not a pipe"),
        (b"d roid", "text"),
        (b"\xFF\xFF\xFF\xFF", "no known number"),
    ] {
        let Err(error) = Capture::new(start) else {
            panic!("{word}")
        };
        assert!(matches!(error, ReadError::NotACapture(_)));
        assert!(error.to_string().contains(word), "{error}");
    }
}
