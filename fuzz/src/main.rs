//! Damages captures at random and puts them through the readers and the passive analysis, with
//! overflow checks on. Nothing may panic, hang or take more than a bounded amount of memory.
//!
//! `cargo run --release --manifest-path fuzz/Cargo.toml -- SECONDS SEED [CAPTURE…]`: an input that
//! panics is written to `fuzz/crash-<number>`, and the program ends.

use goodqueue_passive::{Analyzer, Tap, Thresholds};
use goodqueue_trace::read::{Capture, Ns2Totals, Ns2Trace, decode};
use goodqueue_types::RandomStream;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Of a capture, so many bytes are taken from a random place: short inputs make many rounds.
const LONGEST: usize = 40_000;
/// An input that takes longer hangs.
const SLOWEST: Duration = Duration::from_secs(5);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().ok_or("say how many seconds")?.parse()?;
    let seed: u64 = arguments.next().ok_or("give a seed")?.parse()?;
    let seeds = arguments.map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    let mut random = RandomStream::new(seed, "fuzz", 0);
    let (begin, mut round, mut packets) = (Instant::now(), 0_u64, 0_u64);
    let mut told = Duration::ZERO;
    while begin.elapsed().as_secs() < seconds {
        let inputs = [input(&seeds, &mut random), input(&seeds, &mut random)];
        let started = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&inputs)));
        if outcome.is_err() || started.elapsed() > SLOWEST {
            for (index, input) in inputs.iter().enumerate() {
                std::fs::write(format!("fuzz/crash-{round}-{index}"), input)?;
            }
            return Err(format!("round {round} of seed {seed} panics or hangs").into());
        }
        packets += outcome.unwrap_or(0);
        round += 1;
        if begin.elapsed() > told + Duration::from_secs(60) {
            told = begin.elapsed();
            println!("{:5} s: {round} rounds, {packets} packets, {}", told.as_secs(), memory());
        }
    }
    println!("{seconds} s: {round} rounds, {packets} packets, {}: no fault", memory());
    Ok(())
}

/// The most memory so far, where the system tells.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.unwrap_or("memory unknown").to_owned()
}

fn below(random: &mut RandomStream, limit: usize) -> usize {
    (random.unit() * limit as f64) as usize
}

/// A stretch of a capture behind that capture's header, damaged.
fn input(seeds: &[Vec<u8>], random: &mut RandomStream) -> Vec<u8> {
    let mut bytes = match seeds {
        [] => (0..below(random, 2000)).map(|_| random.bits() as u8).collect(),
        seeds => stretch(&seeds[below(random, seeds.len())], random),
    };
    if bytes.is_empty() {
        return bytes;
    }
    for _ in 0..below(random, 30) {
        damage(&mut bytes, random);
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// The first part of a capture: records stay in step with the header.
fn stretch(seed: &[u8], random: &mut RandomStream) -> Vec<u8> {
    let length = seed.len().min(1 + below(random, LONGEST));
    seed[..length].to_vec()
}

fn damage(bytes: &mut Vec<u8>, random: &mut RandomStream) {
    let place = below(random, bytes.len());
    let interesting = [0_u32, 1, 0xFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x0A0D_0D0A];
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

/// Everything that is read from files, with both as captures of the two sides of a link.
fn run(inputs: &[Vec<u8>; 2]) -> u64 {
    let mut analyzer = Analyzer::new(Thresholds::default(), true);
    let mut single = Analyzer::new(Thresholds::default(), false);
    let mut packets = 0;
    for (tap, input) in [Tap::First, Tap::Second].into_iter().zip(inputs) {
        let mut totals = Ns2Totals::default();
        let mut trace = Ns2Trace::new(&input[..]);
        while let Ok(Some(record)) = trace.next_record() {
            totals.add(&record);
        }
        let Ok(mut capture) = Capture::new(&input[..]) else { continue };
        while let Ok(Some(frame)) = capture.next_frame() {
            if let Ok(datagram) = decode(&frame) {
                packets += 1;
                analyzer.packet(tap, frame.time_ns, &datagram);
                single.packet(Tap::First, frame.time_ns, &datagram);
            }
        }
        assert!(capture.position() <= input.len() as u64);
    }
    for analyzer in [analyzer, single] {
        let report = analyzer.finish(None, None, 1);
        let _ = report.summary_json(&[]).to_string();
    }
    packets
}
