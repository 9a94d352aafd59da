//! Changed packets, messages and records of a probe through their readers. Nothing may panic, and what
//! is accepted must survive being written and read again.

use crate::below;
use goodqueue_probe::net::{
    Body, Datagram, MAX_FIELDS, Message, SECRET, Token, read_records, write_records,
};
use goodqueue_probe::{Feedback, Path, Pattern, Phase, Receiver, Record, Sender, Stream};
use goodqueue_types::RandomStream;
use std::error::Error;
use std::time::{Duration, Instant};

/// Tries inputs for this number of seconds.
pub fn run_for(seconds: u64, seed: u64) -> Result<(), Box<dyn Error>> {
    let mut random = RandomStream::new(seed, "fuzz probe", 0);
    let seeds = inputs()?;
    let (begin, mut rounds, mut refused) = (Instant::now(), 0_u64, 0_u64);
    let mut slowest = Duration::ZERO;
    while begin.elapsed().as_secs() < seconds {
        let mut bytes = seeds[below(&mut random, seeds.len())].clone();
        for _ in 0..below(&mut random, 8) {
            change(&mut bytes, &mut random);
        }
        let one = Instant::now();
        refused += u64::from(!survives(&bytes)?);
        slowest = slowest.max(one.elapsed());
        rounds += 1;
    }
    println!("probe: {rounds} inputs, {refused} refused, slowest {slowest:?}");
    Ok(())
}

/// Returns a packet of each kind, messages and records.
fn inputs() -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let token = Token::new(b"a token of a fuzzer").ok_or("the token is too short")?;
    let key = &token.session(&[1; SECRET], &[2; SECRET]).datagrams[0];
    let (sequence, sent) = (7, 1_000_000);
    let bodies = [
        Body::Open,
        Body::Nonce([3; 16]),
        Body::Echo([4; 16]),
        Body::Data { sequence, sent },
        Body::Ping { sequence, sent },
        Body::Pong {
            sequence,
            sent,
            turned: 5,
            held: 6,
        },
        Body::Feedback(Feedback::default()),
    ];
    let phase = Phase {
        path: Path::Down,
        pattern: Pattern::Trains {
            count: 12,
            length: 16,
            interval_us: 100_000,
        },
    };
    let messages = [
        Message::Verified,
        Message::Phase { number: 3, phase },
        Message::Done { sent: [4, 5] },
        Message::Records {
            count: 6,
            missed: 0,
        },
        Message::Hello {
            version: 1,
            challenge: [9; SECRET],
        },
    ];
    let records: Vec<_> = (0..20).map(record).collect();
    let mut all = vec![write_records(&records)];
    for body in bodies {
        let mut bytes = Vec::new();
        let (phase, lane) = (2, 1);
        Datagram { phase, lane, body }.write(key, 68, &mut bytes);
        all.push(bytes);
    }
    for message in messages {
        all.push(serde_json::to_vec(&message)?);
    }
    Ok(all)
}

fn record(sequence: u32) -> Record {
    let sent = i64::from(sequence) * 1_000_000;
    Record {
        stream: Stream::Main,
        sequence,
        sent,
        received: sent + 20_000_000,
        bytes: 1400,
        ecn: 0,
    }
}

/// Changes, removes or adds a byte.
fn change(bytes: &mut Vec<u8>, random: &mut RandomStream) {
    let place = below(random, bytes.len() + 1);
    let byte = below(random, 256) as u8;
    match below(random, 4) {
        0 => bytes.insert(place, byte),
        1 => bytes.truncate(place),
        _ => {
            if let Some(old) = bytes.get_mut(place) {
                *old ^= byte;
            }
        }
    }
}

/// Returns true if one of the readers accepts the bytes. What they accept must be written the same, and
/// a sender and a receiver must take it.
fn survives(bytes: &[u8]) -> Result<bool, Box<dyn Error>> {
    let mut accepted = false;
    if let Some((datagram, length)) = Datagram::parse(bytes) {
        accepted = true;
        if length > MAX_FIELDS {
            return Err(format!("{length} bytes of fields in {bytes:?}").into());
        }
        if let Body::Feedback(feedback) = datagram.body {
            hear(feedback);
        }
    }
    if let Ok(Message::Phase { phase, .. }) = Message::read(bytes) {
        accepted = true;
        // A phase that passes the check must end.
        if phase.check(1_000_000_000).is_ok() && phase.pattern.longest_ns() > 30_000_000_000 {
            return Err(format!("a phase of {} ns", phase.pattern.longest_ns()).into());
        }
    }
    if let Some(records) = read_records(bytes) {
        accepted = true;
        if read_records(&write_records(&records)).as_ref() != Some(&records) {
            return Err(format!("records change: {bytes:?}").into());
        }
    }
    Ok(accepted)
}

/// Lets a sender and a receiver take feedback and a record with any figures.
fn hear(feedback: Feedback) {
    let pattern = Pattern::Ramp {
        from_bps: 1_000_000,
        most_bps: 10_000_000,
        bytes: 1400,
        window_us: 50_000,
        sparse_us: 20_000,
        after_loss_ms: 300,
        longest_ms: 10_000,
    };
    let mut sender = Sender::new(pattern, 0);
    for step in 0..50 {
        let now = step * 1_000_000;
        sender.send(now);
        sender.hear(now, feedback);
        sender.next_send();
    }
    let mut receiver = Receiver::new(&pattern);
    let sent = feedback.time.wrapping_sub(feedback.delay) >> 4;
    receiver.receive(Record {
        sent,
        received: feedback.time,
        ..record(feedback.next)
    });
}
