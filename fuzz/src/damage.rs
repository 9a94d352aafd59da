//! Files given as seeds, cut short and damaged: short inputs make many rounds.

use crate::below;
use crate::captures::Input;
use crate::wrapped;
use goodqueue_types::RandomStream;

/// Largest number of bytes that are taken from the beginning of a seed, where its headers are.
const LONGEST: usize = 40_000;

/// One file, or two that follow one another among the seeds and so may show the same packets: both are
/// cut at the same part, so that their packets interleave.
pub fn input(seeds: &[Vec<u8>], random: &mut RandomStream) -> Input {
    let length = 1 + below(random, LONGEST);
    let first = below(random, seeds.len().max(1));
    let two = below(random, 2) == 0;
    let files = (first..=first + usize::from(two))
        .map(|index| file(seeds.get(index).or(seeds.first()), length, random))
        .collect();
    Input {
        files,
        drops: (below(random, 4) == 0).then(|| drops(random)),
        link_rate_bps: (below(random, 4) == 0).then(|| random.bits() >> below(random, 64)),
    }
}

/// Without a seed any bytes are a file.
fn file(seed: Option<&Vec<u8>>, length: usize, random: &mut RandomStream) -> Vec<u8> {
    let mut bytes = match seed {
        None => (0..length / 20).map(|_| random.bits() as u8).collect(),
        Some(seed) => seed[..length.min(seed.len())].to_vec(),
    };
    bytes = wrapped::changed(bytes, random);
    for _ in 0..below(random, 30) {
        if bytes.is_empty() {
            break;
        }
        damage(&mut bytes, random);
    }
    bytes = wrapped::packed(bytes, random);
    if below(random, 8) == 0 && !bytes.is_empty() {
        damage(&mut bytes, random);
    }
    bytes
}

/// Times in seconds, mostly those of a capture that began when its machine did or in our days.
fn drops(random: &mut RandomStream) -> Vec<f64> {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1.0];
    (0..below(random, 300))
        .map(|_| match below(random, 20) {
            0 => odd[below(random, odd.len())],
            1 => 1.79e9 * random.unit(),
            _ => 20.0 * random.unit(),
        })
        .collect()
}

fn damage(bytes: &mut Vec<u8>, random: &mut RandomStream) {
    let place = below(random, bytes.len());
    let interesting = [
        0_u32,
        1,
        0xFF,
        0x7FFF_FFFF,
        0x8000_0000,
        0xFFFF_FFFF,
        0x0A0D_0D0A,
    ];
    match below(random, 6) {
        0 => bytes[place] = random.bits() as u8,
        1 => bytes[place] ^= 1 << below(random, 8),
        2 => {
            let value = interesting[below(random, interesting.len())];
            for (byte, new) in bytes[place..].iter_mut().zip(value.to_le_bytes()) {
                *byte = new;
            }
        }
        3 => {
            let length = below(random, 64).min(bytes.len() - place);
            bytes.drain(place..place + length);
        }
        4 => {
            let length = below(random, 200).min(bytes.len() - place);
            let copy = bytes[place..place + length].to_vec();
            let to = below(random, bytes.len());
            bytes.splice(to..to, copy);
        }
        _ => bytes.truncate(place),
    }
}
