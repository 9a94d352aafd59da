//! A good capture holds the same packets however it is encapsulated, compressed or cut, and tshark
//! decodes the same.

use crate::encapsulations::{ALL, Encapsulation, aggregate};
use crate::files::{Order, Sample, interface, packet, pcap, section, tcp};
use flate2::{Compression, write::GzEncoder};
use goodqueue_trace::read::{Capture, Datagram, Heading, Transport, decode_each};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

/// Fields of a TCP segment of IPv4.
#[derive(Clone, Copy, Debug)]
struct Segment {
    id: u16,
    ends: [(u32, u16); 2],
    seq: u32,
    payload: usize,
}

impl Segment {
    /// Returns the IP packet.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0x45, 0];
        bytes.extend((40 + self.payload as u16).to_be_bytes());
        bytes.extend(self.id.to_be_bytes());
        bytes.extend([0x40, 0, 64, 6, 0, 0]);
        let [source, destination] = self.ends;
        bytes.extend(source.0.to_be_bytes());
        bytes.extend(destination.0.to_be_bytes());
        let mut header = tcp(&[]);
        header[..2].copy_from_slice(&source.1.to_be_bytes());
        header[2..4].copy_from_slice(&destination.1.to_be_bytes());
        header[4..8].copy_from_slice(&self.seq.to_be_bytes());
        bytes.extend(header);
        bytes.resize(40 + self.payload, b'x');
        bytes
    }

    fn is(&self, datagram: &Datagram) -> bool {
        let Transport::Tcp(tcp) = datagram.transport else {
            return false;
        };
        let end = |(address, port): (u32, u16)| (std::net::Ipv4Addr::from(address), port).into();
        datagram.source == end(self.ends[0])
            && datagram.destination == end(self.ends[1])
            && datagram.id == Some(self.id)
            && datagram.ip_bytes as usize == 40 + self.payload
            && tcp.seq == self.seq
            && tcp.payload as usize == self.payload
    }
}

/// Draws segments between hosts of 10.1.0.0/16, on ports without another meaning.
fn segments() -> impl Strategy<Value = Vec<Segment>> {
    let end = || (0x0A01_0000..0x0A01_FFFF_u32, 20_000..30_000_u16);
    let segment = (any::<u16>(), [end(), end()], any::<u32>(), 0..1400_usize);
    let segment = segment.prop_map(|(id, ends, seq, payload)| Segment {
        id,
        ends,
        seq,
        payload,
    });
    prop::collection::vec(segment, 1..8)
}

fn samples(encapsulation: &Encapsulation, segments: &[Segment]) -> Vec<Sample> {
    let frames = segments.iter().enumerate();
    let sample = |(number, segment): (usize, &Segment)| {
        let bytes = (encapsulation.frame)(&segment.bytes());
        Sample {
            time_ns: number as i64 * 1000,
            original: bytes.len() as u32,
            bytes,
        }
    };
    frames.map(sample).collect()
}

fn read(file: &[u8]) -> (Vec<Datagram>, bool) {
    let mut capture = Capture::new(file).unwrap();
    let mut packets = Vec::new();
    while let Some(frame) = capture.next_frame().unwrap() {
        decode_each(&frame, |packet| {
            packets.push(packet.expect("a good frame"));
        });
    }
    (packets, capture.is_cut())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn every_encapsulation_holds_the_same_packets(segments in segments()) {
        for encapsulation in ALL {
            let samples = samples(encapsulation, &segments);
            let (packets, _) = read(&pcap(Order(false), true, encapsulation.link, &samples));
            prop_assert_eq!(packets.len(), segments.len(), "{}", encapsulation.name);
            for ((packet, segment), sample) in packets.iter().zip(&segments).zip(&samples) {
                prop_assert!(segment.is(packet), "{}: {:?} {:?}", encapsulation.name, segment, packet);
                let sent = sample.bytes.len() - encapsulation.metadata;
                prop_assert_eq!(packet.frame_bytes as usize, sent, "{}", encapsulation.name);
            }
        }
    }

    /// Payload that was not captured changes nothing, because lengths are those of the headers.
    #[test]
    fn a_frame_without_its_payload_has_the_same_packet(segments in segments()) {
        for encapsulation in ALL {
            let mut samples = samples(encapsulation, &segments);
            for (sample, segment) in samples.iter_mut().zip(&segments) {
                sample.bytes.truncate(sample.bytes.len() - segment.payload);
            }
            let (packets, _) = read(&pcap(Order(true), false, encapsulation.link, &samples));
            let same = packets.iter().zip(&segments).all(|(packet, segment)| segment.is(packet));
            prop_assert!(same && packets.len() == segments.len(), "{}", encapsulation.name);
        }
    }

    #[test]
    fn compressed_captures_hold_the_same_packets(segments in segments(), parts in 1..4_usize) {
        let samples = samples(&ALL[0], &segments);
        let file = pcap(Order(false), true, 1, &samples);
        // Several compressed parts in a row are one file.
        let pieces = file.chunks(file.len().div_ceil(parts));
        for (name, pack) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("zstd", zstd)] {
            let mut packed: Vec<u8> = pieces.clone().flat_map(pack).collect();
            if name == "zstd" {
                // A frame to be skipped, of three bytes.
                packed.splice(0..0, [0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]);
            }
            let capture = Capture::new(&packed[..]).unwrap();
            prop_assert_eq!(capture.compression(), Some(name));
            let (packets, is_cut) = read(&packed);
            let same = packets.iter().zip(&segments).all(|(packet, segment)| segment.is(packet));
            prop_assert!(same && packets.len() == segments.len() && !is_cut, "{}", name);
        }
    }

    /// A compressed file that is cut or damaged is read up to there, and the damage is reported.
    #[test]
    fn a_damaged_compressed_capture_is_read_up_to_the_damage(
        segments in segments(), place in any::<prop::sample::Index>(), flip in any::<bool>(),
    ) {
        let samples = samples(&ALL[0], &segments);
        let file = pcap(Order(false), true, 1, &samples);
        for pack in [gzip as fn(&[u8]) -> Vec<u8>, zstd] {
            let mut packed = pack(&file);
            let place = 18 + place.index(packed.len() - 18);
            if flip {
                packed[place] ^= 0x10;
            } else {
                packed.truncate(place);
            }
            let Ok(mut capture) = Capture::new(&packed[..]) else { continue };
            let mut frames = 0;
            while let Some(frame) = capture.next_frame().unwrap() {
                frames += 1;
                decode_each(&frame, |_| {});
            }
            prop_assert!(flip || frames <= segments.len());
            prop_assert!(flip || capture.is_cut());
        }
    }
}

fn example(number: u32) -> Segment {
    Segment {
        id: number as u16 + 1,
        ends: [(0x0A01_0001, 20_000), (0x0A01_0002, 20_001)],
        seq: 1000 * number,
        payload: 100 + number as usize,
    }
}

#[test]
fn the_parts_of_an_aggregate_are_packets() {
    let segments: Vec<_> = (0..3).map(example).collect();
    let packets: Vec<_> = segments.iter().map(Segment::bytes).collect();
    let parts: Vec<_> = packets.iter().map(Vec::as_slice).collect();
    let sample = |bytes: Vec<u8>| Sample {
        time_ns: 5,
        original: bytes.len() as u32,
        bytes,
    };
    let frame = aggregate(&parts);
    let radiotap = [&[0, 0, 8, 0, 0, 0, 0, 0], &frame[..]].concat();
    for (link, frame) in [(105, frame), (127, radiotap)] {
        let (found, _) = read(&pcap(Order(false), true, link, &[sample(frame)]));
        assert_eq!(found.len(), 3);
        for (packet, segment) in found.iter().zip(&segments) {
            assert!(segment.is(packet));
            assert_eq!(packet.frame_bytes, packet.ip_bytes + 14 + 8);
            assert_eq!(packet.heading, Heading::In);
        }
    }
}

/// The most that a compressed bomb can cost is the damage that is tolerated in a row.
#[test]
fn compressed_zeros_end_early() {
    let header = pcap(Order(false), false, 1, &samples(&ALL[0], &[example(0)]));
    let zeros = vec![0; 1 << 27];
    for bomb in [
        [gzip(&header), gzip(&zeros)].concat(),
        [gzip(&[section(Order(false)), zeros].concat())].concat(),
    ] {
        let mut capture = Capture::new(&bomb[..]).unwrap();
        while capture.next_frame().unwrap().is_some() {}
        assert!(capture.is_cut());
        assert!(capture.position() < (1 << 26) + (1 << 20));
    }
}

/// Returns the first fields of each frame that tshark prints, or none if it is not installed.
fn tshark(file: &PathBuf) -> Option<Vec<String>> {
    let fields = [
        "ip.src",
        "ip.dst",
        "tcp.srcport",
        "tcp.dstport",
        "tcp.seq_raw",
        "tcp.len",
        "ip.id",
    ];
    let mut command = Command::new("tshark");
    command.args(["-n", "-T", "fields", "-E", "occurrence=l", "-r"]);
    command.arg(file);
    for field in fields {
        command.args(["-e", field]);
    }
    // The label of the pseudowire with a control word.
    command.args(["-d", "mpls.label==768,pwethcw"]);
    for setting in ["mpls.flowlabel_in_mpls_header:FALSE", "ip.defragment:FALSE"] {
        command.args(["-o", setting]);
    }
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).expect("text");
    Some(text.lines().map(str::to_owned).collect())
}

/// An independent program finds the same addresses, ports, numbers and lengths. One file holds all
/// encapsulations, each on an interface of its own.
#[test]
fn tshark_decodes_the_same() {
    let order = Order(false);
    let known: Vec<_> = ALL.iter().filter(|one| one.tshark).collect();
    let mut file = section(order);
    for encapsulation in &known {
        file.extend(interface(order, encapsulation.link, None));
    }
    for (number, encapsulation) in known.iter().enumerate() {
        let sample = &samples(encapsulation, &[example(number as u32)])[0];
        file.extend(packet(
            order,
            6,
            number as u16,
            1000 * number as u64,
            sample,
            None,
        ));
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("encapsulations.pcapng");
    fs::write(&path, &file).unwrap();
    let Some(lines) = tshark(&path) else {
        println!("tshark is not installed");
        return;
    };
    let (packets, _) = read(&file);
    assert_eq!(packets.len(), known.len());
    assert_eq!(lines.len(), known.len());
    let mut different = Vec::new();
    for ((packet, line), encapsulation) in packets.iter().zip(&lines).zip(&known) {
        let Transport::Tcp(tcp) = packet.transport else {
            panic!("{}", encapsulation.name)
        };
        let ours = format!(
            "{}\t{}\t{}\t{}\t{}\t{}\t0x{:04x}",
            packet.source.ip(),
            packet.destination.ip(),
            packet.source.port(),
            packet.destination.port(),
            tcp.seq,
            tcp.payload,
            packet.id.unwrap_or_default(),
        );
        if ours != *line {
            different.push(format!(
                "{}: {ours} and by tshark {line}",
                encapsulation.name
            ));
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}
