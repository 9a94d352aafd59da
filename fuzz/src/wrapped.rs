//! Captures in other encapsulations, with clocks that jump, and compressed.

use crate::below;
use flate2::{Compression, write::GzEncoder};
use goodqueue_types::RandomStream;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Bytes of pcap's file header and of a record's.
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// Link types whose frames begin in other ways.
const LINKS: [u32; 36] = [
    0, 1, 8, 9, 10, 12, 50, 51, 100, 101, 104, 105, 107, 108, 109, 113, 117, 119, 123, 127, 149,
    163, 166, 192, 204, 205, 206, 228, 239, 240, 258, 274, 276, 281, 283, 284,
];

/// Starts of frames by link type, up to the IP packet.
const STARTS: [(u32, &[u8]); 16] = [
    (1, b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x88\x47\0\x01\x01\x40"),
    (1, b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x88\x64\x11\0\0\x01\0\0\0\x21"),
    (1, b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01\xDA\xDA\0\0\xC0\x08\0\0\x08\0"),
    // GRE and VXLAN behind IPv4.
    (101, b"\x45\0\x05\xDC\0\x01\0\0\x40\x2F\0\0\x0A\0\0\x01\x0A\0\0\x02\x30\0\x08\0\0\0\0\x07\0\0\0\x01"),
    (101, b"\x45\0\x05\xDC\0\x01\0\0\x40\x11\0\0\x0A\0\0\x01\x0A\0\0\x02\xC3\x50\x12\xB5\x05\xC8\0\0\x08\0\0\0\0\0\x07\0\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x08\0"),
    (101, b"\x45\0\x05\xDC\0\x01\0\0\x40\x11\0\0\x0A\0\0\x01\x0A\0\0\x02\xC3\x50\x08\x68\x05\xC8\0\0\x34\xFF\0\0\0\0\0\x01\0\0\0\x85\x01\0\0\0"),
    (101, b"\x45\0\x05\xDC\0\x01\0\0\x40\x11\0\0\x0A\0\0\x01\x0A\0\0\x02\xC3\x50\x06\xA5\x05\xC8\0\0\0\x02\0\x01\0\x02\xFF\x03\0\x21"),
    (101, b"\x45\0\x05\xDC\0\x01\0\0\x40\x04\0\0\x0A\0\0\x01\x0A\0\0\x02"),
    (104, b"\x0F\0\x08\0"),
    (107, b"\x18\x41\x03\xCC"),
    (113, b"\0\x04\0\x01\0\x06\x02\0\0\0\0\x01\0\0\x08\0"),
    (127, b"\0\0\x08\0\0\0\0\0\x08\x01\0\0\x02\0\0\0\0\x09\x02\0\0\0\0\x01\x02\0\0\0\0\x02\0\0\xAA\xAA\x03\0\0\0\x08\0"),
    (105, b"\x88\x01\0\0\x02\0\0\0\0\x09\x02\0\0\0\0\x01\x02\0\0\0\0\x02\0\0\x80\0\x02\0\0\0\0\x02\x02\0\0\0\0\x01\0\x90\xAA\xAA\x03\0\0\0\x08\0"),
    (239, b"\x02\0\0\x05\x08\0\x05\0\0\0\0\x02\x08\x02\x09\0"),
    (276, b"\x08\0\0\0\0\0\0\x02\0\x01\x04\x06\x02\0\0\0\0\x01\0\0"),
    (283, b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01\xC0\x18\0\0\x08\0"),
];

/// Returns a capture of Ethernet frames with other frames, other times, or another link type in its
/// header. Other files are returned as they are.
pub fn changed(file: Vec<u8>, random: &mut RandomStream) -> Vec<u8> {
    let is_pcap = matches!(file.get(..4), Some([0xD4 | 0x4D, 0xC3 | 0x3C, 0xB2, 0xA1]));
    if !is_pcap || file.len() < FILE_HEADER {
        return file;
    }
    match below(random, 6) {
        0 => relabelled(file, LINKS[below(random, LINKS.len())]),
        1 | 2 => wrapped(&file, STARTS[below(random, STARTS.len())]),
        3 => with_steps(file, random),
        _ => file,
    }
}

/// Returns a file, mostly as it is and sometimes compressed.
pub fn packed(file: Vec<u8>, random: &mut RandomStream) -> Vec<u8> {
    match below(random, 8) {
        0 => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            let written = encoder.write_all(&file).and_then(|()| encoder.finish());
            written.unwrap_or(file)
        }
        1 => compress_to_vec(&file[..], CompressionLevel::Fastest),
        _ => file,
    }
}

fn relabelled(mut file: Vec<u8>, link: u32) -> Vec<u8> {
    file[20..FILE_HEADER].copy_from_slice(&link.to_le_bytes());
    file
}

/// Returns the places of the records.
fn records(file: &[u8]) -> Vec<usize> {
    let (mut places, mut at) = (Vec::new(), FILE_HEADER);
    while let Some(length) = file.get(at + 8..at + 12) {
        let length = u32::from_le_bytes(length.try_into().unwrap_or_default()) as usize;
        if file.len() - at < RECORD_HEADER + length {
            break;
        }
        places.push(at);
        at += RECORD_HEADER + length;
    }
    places
}

fn wrapped(file: &[u8], (link, start): (u32, &[u8])) -> Vec<u8> {
    let mut made = relabelled(file[..FILE_HEADER].to_vec(), link);
    for at in records(file) {
        let field = |place: usize| {
            let bytes = file[at + place..at + place + 4].try_into();
            u32::from_le_bytes(bytes.unwrap_or_default())
        };
        let (captured, original) = (field(8) as usize, field(12));
        let Some(packet) = file[at + RECORD_HEADER..][..captured].get(ETHERNET..) else {
            continue;
        };
        made.extend(&file[at..at + 8]);
        made.extend(((start.len() + packet.len()) as u32).to_le_bytes());
        let original = original.wrapping_add(start.len() as u32);
        made.extend(original.wrapping_sub(ETHERNET as u32).to_le_bytes());
        made.extend(start);
        made.extend(packet);
    }
    made
}

/// Sets the clock at some records, by anything from a fraction of a second to decades.
fn with_steps(mut file: Vec<u8>, random: &mut RandomStream) -> Vec<u8> {
    let places = records(&file);
    let (mut seconds, mut fraction) = (0_u32, 0_u32);
    for at in places {
        if below(random, 100) == 0 {
            seconds = (random.bits() as u32) >> below(random, 32);
            fraction = (random.bits() as u32) >> below(random, 32);
        }
        let odd = below(random, 200) == 0;
        for (place, step) in [(at, seconds), (at + 4, fraction)] {
            let old = u32::from_le_bytes(file[place..place + 4].try_into().unwrap_or_default());
            let new = old.wrapping_add(if odd { random.bits() as u32 } else { step });
            let new = if place == at { new } else { new % 1_000_000 };
            file[place..place + 4].copy_from_slice(&new.to_le_bytes());
        }
    }
    file
}
