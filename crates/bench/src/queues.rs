//! Cost of each queue discipline for a packet's enqueue and its dequeue together: user CPU time in
//! nanoseconds, and instructions by callgrind.

use crate::counts::{callgrind, compiler, valgrind_is_installed};

use goodqueue_queue::{
    BufferPool, Configuration, Context, Discipline, QueueConfig, QueueDiscipline, Verdict, examples,
};
use goodqueue_types::{
    Body, Direction, Ecn, FlowId, Framing, Hosts, Packet, RandomStream, Segment, Span, Time,
};
use serde::Serialize;
use std::fmt::Write;
use std::fs;

/// Number of flows in the stream of packets.
const FLOWS: u32 = 100;
/// Number of packets that should wait, as far as the discipline permits it.
const BACKLOG: u64 = 50;
/// Transmission time of 1500 bytes at 10 Mb/s.
const SERVICE: Span = Span::from_micros(1_200);
/// Number of packets between two readings of the clock.
const BATCH: u64 = 100_000;
/// Minimum user CPU time of a measurement, in seconds, so that the resolution of the clock does not
/// matter.
const LONG_ENOUGH_S: f64 = 0.3;

/// Cost of one discipline.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct QueueCost {
    /// Name of the discipline in the list of examples.
    pub queue: &'static str,
    /// User CPU time per offered packet, in nanoseconds.
    pub ns_per_packet: f64,
    /// Share of the offered packets that were dropped.
    pub drop_share: f64,
}

/// Measures every discipline.
pub fn measure_all() -> impl Iterator<Item = QueueCost> {
    examples().into_iter().map(|(name, config)| {
        let mut stream = Stream::new(&config);
        stream.run(BATCH);
        let (begin, offered, dropped) = (super::measure::user_s(), stream.offered, stream.dropped);
        loop {
            stream.run(BATCH);
            let elapsed = super::measure::user_s() - begin;
            if elapsed >= LONG_ENOUGH_S {
                let packets = (stream.offered - offered) as f64;
                return QueueCost {
                    queue: name,
                    ns_per_packet: elapsed * 1e9 / packets,
                    drop_share: (stream.dropped - dropped) as f64 / packets,
                };
            }
        }
    })
}

/// File of the committed instructions, a line for each discipline with tabs between the columns.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/queues.tsv");
/// Head of the file.
const HEAD: &str = "\
# Instructions for each offered packet: enqueue, dequeue and the loop that offers it, by callgrind.
# `goodqueue-bench --queue-counts` writes this file.
";

/// Counts the instructions of every discipline, and writes the file. Returns false without valgrind.
pub fn write_counts() -> bool {
    if !valgrind_is_installed() {
        eprintln!("error: instructions are counted by valgrind, which is not installed");
        return false;
    }
    let mut text = format!("{HEAD}# {}\n", compiler());
    text.push_str("queue\tinstructions per packet\tdropped, %\n");
    for (name, _) in examples() {
        let (dropped, instructions) = callgrind("*queues*counted*", &[name, "--queue-once"]);
        let each = instructions as f64 / BATCH as f64;
        let row = format!("{name}\t{each:.0}\t{}", dropped.trim());
        println!("{row}");
        let _ = writeln!(text, "{row}");
    }
    fs::write(FILE, text).expect("the file can be written");
    true
}

/// Offers a batch of packets to a discipline in its steady state, and returns the share in per cent
/// that was dropped. Callgrind counts this.
pub fn once(name: &str) -> f64 {
    let found = examples().into_iter().find(|(known, _)| *known == name);
    let (_, config) = found.expect("the parent names known disciplines");
    let mut stream = Stream::new(&config);
    stream.run(BATCH);
    let (offered, dropped) = (stream.offered, stream.dropped);
    counted(&mut stream, offered + BATCH);
    100.0 * (stream.dropped - dropped) as f64 / (stream.offered - offered) as f64
}

/// Runs a stream until it has offered so many packets. Callgrind counts instructions only in this
/// function, which it finds by name.
#[inline(never)]
fn counted(stream: &mut Stream, offered: u64) {
    while stream.offered < offered {
        stream.run(1);
    }
}

/// A discipline under load.
struct Stream {
    queue: Discipline,
    random: RandomStream,
    buffer: BufferPool,
    verdicts: Vec<Verdict>,
    packets: Vec<Packet>,
    offered: u64,
    dropped: u64,
    now: Time,
}

impl Stream {
    fn new(config: &QueueConfig) -> Self {
        let mut random = RandomStream::new(1, "queue", 0);
        let packet = |flow| Packet {
            flow: FlowId(flow),
            direction: Direction::Forward,
            ecn: Ecn::NotCapable,
            dscp: 0,
            more_segments: 0,
            hosts: Hosts {
                client: flow as u16 % 10,
                server: flow as u16,
            },
            connection: 0,
            size: 1500,
            number: 0,
            sent: Time::ZERO,
            arrived: Time::ZERO,
            body: Body::Tcp(Segment {
                payload: 1448,
                header: 52,
                ..Segment::default()
            }),
        };
        Self {
            queue: config.build(&mut random),
            random,
            buffer: BufferPool::unlimited(),
            verdicts: Vec::new(),
            packets: (0..FLOWS).map(packet).collect(),
            offered: 0,
            dropped: 0,
            now: Time::ZERO,
        }
    }

    /// Dequeues `packets` packets, and enqueues one before each dequeue. It enqueues two while
    /// fewer packets wait than `BACKLOG`, so that an active queue has a typical load.
    fn run(&mut self, packets: u64) {
        for _ in 0..packets {
            self.offer();
            if self.queue.backlog().packets < BACKLOG {
                self.offer();
            }
            let mut context = Context {
                now: self.now,
                framing: Framing::bytes(14),
                random: &mut self.random,
                account: self.buffer.account(0),
                verdicts: &mut self.verdicts,
                split: &mut 0,
            };
            std::hint::black_box(self.queue.dequeue(&mut context));
            self.count_drops();
            self.now += SERVICE;
        }
    }

    fn offer(&mut self) {
        let at = (self.offered % u64::from(FLOWS)) as usize;
        let mut packet = self.packets[at];
        packet.number = self.offered;
        packet.arrived = self.now;
        self.offered += 1;
        let mut context = Context {
            now: self.now,
            framing: Framing::bytes(14),
            random: &mut self.random,
            account: self.buffer.account(0),
            verdicts: &mut self.verdicts,
            split: &mut 0,
        };
        self.queue.enqueue(&mut context, packet);
        self.count_drops();
    }

    fn count_drops(&mut self) {
        let verdicts = self.verdicts.drain(..);
        let drops = verdicts.filter(|verdict| matches!(verdict, Verdict::Dropped(..)));
        self.dropped += drops.count() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_discipline_has_committed_instructions() {
        let text = fs::read_to_string(FILE).expect("crates/bench/queues.tsv can be read");
        let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        let rows: Vec<&str> = lines
            .filter_map(|line| Some(line.split_once('\t')?.0))
            .collect();
        let known: Vec<&str> = examples().into_iter().map(|(name, _)| name).collect();
        assert_eq!(rows, known, "`goodqueue-bench --queue-counts` writes them");
    }
}
