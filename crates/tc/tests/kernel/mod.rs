//! Trees of `htb` that a kernel has served, and ours with the same packets.

use goodqueue_queue::{BufferPool, Configuration, Context, Discipline, QueueDiscipline, Verdict};
use goodqueue_tc::parse_qdisc;
use goodqueue_types::{Body, FlowId, Framing, Packet, RandomStream, Span, Time};

/// A tree, the packets that were offered to it while it was closed, and when they left.
pub struct Record {
    /// Lines of `tc`.
    pub tc: String,
    /// Index of the leaf, and bytes of the frame, of each packet.
    offered: Vec<(u32, u32)>,
    /// Packets in the order in which they left, each with the time since the first.
    left: Vec<(u64, Span)>,
}

/// Order and rates of our `htb` for the packets of a record.
pub struct Replay {
    /// Number of packets.
    pub packets: usize,
    /// Number of places of the order at which our packet is the kernel's, with the kernel's times.
    pub same: usize,
    /// Number of them at which another packet was ready, too, when the kernel noted the time.
    pub late: usize,
    /// Rate of each leaf until its last packet has left, in bit/s, of the kernel and of ours with
    /// times of its own.
    pub rates: Vec<[f64; 2]>,
}

/// Reads the trees of a record.
pub fn records(text: &str) -> Vec<Record> {
    let pairs = |line: &str| -> Vec<(u64, u64)> {
        let pairs = line.split(' ').skip(1).map(|pair| {
            let (first, second) = pair.split_once(':').expect("a pair");
            let number = |text: &str| text.parse().expect("a number");
            (number(first), number(second))
        });
        pairs.collect()
    };
    let trees = text.split("tree ").skip(1).map(|tree| {
        let lines = |word| tree.lines().filter(move |line| line.starts_with(word));
        let offered = pairs(lines("offered").next().expect("packets"));
        let left = pairs(lines("left").next().expect("packets"));
        Record {
            tc: lines("tc").collect::<Vec<_>>().join("\n"),
            offered: offered
                .into_iter()
                .map(|(leaf, size)| (leaf as u32, size as u32))
                .collect(),
            left: left
                .into_iter()
                .map(|(packet, ns)| (packet, Span(1_000 * ns)))
                .collect(),
        }
    });
    trees.collect()
}

/// The queue of a record, in which all packets wait.
#[derive(Clone)]
struct Closed {
    queue: Discipline,
    random: RandomStream,
    buffer: BufferPool,
    verdicts: Vec<Verdict>,
}

/// Time from the arrivals until the first packet may leave, in which every bucket is full again.
const SETTLED: Span = Span::from_millis(1_500);

impl Closed {
    fn new(record: &Record) -> Self {
        let mut random = RandomStream::new(1, "queue", 0);
        let qdisc = parse_qdisc(&record.tc).unwrap_or_else(|error| panic!("{error}"));
        let mut closed = Self {
            queue: qdisc.queue.build(&mut random),
            random,
            buffer: BufferPool::unlimited(),
            verdicts: Vec::new(),
        };
        for (number, (leaf, size)) in record.offered.iter().enumerate() {
            let packet = Packet {
                flow: FlowId(*leaf),
                number: number as u64,
                size: *size,
                body: Body::Datagram,
                ..Packet::default()
            };
            closed.call(Time::ZERO, |queue, context| queue.enqueue(context, packet));
        }
        assert!(closed.verdicts.is_empty(), "no packet is dropped");
        closed
    }

    fn call<T>(
        &mut self,
        now: Time,
        call: impl FnOnce(&mut Discipline, &mut Context<'_>) -> T,
    ) -> T {
        let mut context = Context {
            now,
            framing: Framing::default(),
            random: &mut self.random,
            account: self.buffer.account(0),
            verdicts: &mut self.verdicts,
            split: &mut 0,
        };
        call(&mut self.queue, &mut context)
    }

    /// Returns the time and the number of the first packet that may leave from a time on.
    fn first(&mut self, mut now: Time) -> Option<(Time, u64)> {
        loop {
            if let Some(packet) = self.call(now, QueueDiscipline::dequeue) {
                return Some((now, packet.number));
            }
            now = self.queue.next_ready(now)?;
        }
    }

    /// Lets packets leave as soon as they may.
    fn open(mut self) -> Vec<(u64, Span)> {
        let start = Time::ZERO + SETTLED;
        let mut now = start;
        let packets = std::iter::from_fn(|| {
            let (at, packet) = self.first(now)?;
            now = at;
            Some((packet, at - start))
        });
        packets.collect()
    }
}

/// Time within which the first burst leaves. A class without packets after it has no rate.
const FIRST_BURST: Span = Span::from_millis(10);

/// Longest time between the kernel's choice of a packet, which follows a timer, and its stamp.
const LATENCY: Span = Span::from_micros(100);

/// Serves the packets of a record.
pub fn replay(record: &Record) -> Replay {
    let mut closed = Closed::new(record);
    let (mut same, mut late) = (0, 0);
    let mut last = Time::ZERO + SETTLED;
    for (packet, at) in &record.left {
        let stamp = last.max(Time::ZERO + SETTLED + *at);
        let mut early = closed.clone();
        let (_, ours) = closed.first(stamp).expect("packets are left");
        let (chosen, first) = early.first(last).expect("packets are left");
        if ours == *packet {
            same += 1;
        } else if first == *packet && stamp <= chosen + LATENCY {
            // The kernel chose this packet when it became ready, and stamped it when another was, too.
            (same, late) = (same + 1, late + 1);
            closed = early;
        }
        last = stamp;
    }
    let leaves = 1 + record
        .offered
        .iter()
        .map(|(leaf, _)| *leaf)
        .max()
        .unwrap_or(0);
    let free = Closed::new(record).open();
    let rates = (0..leaves).filter_map(|leaf| {
        let of = |left: &[(u64, Span)]| {
            let mut own = left
                .iter()
                .filter(|(packet, _)| record.offered[*packet as usize].0 == leaf);
            let bytes: u32 = own
                .clone()
                .map(|(packet, _)| record.offered[*packet as usize].1)
                .sum();
            let last = own.next_back().filter(|(_, at)| *at >= FIRST_BURST);
            last.map(|(_, at)| f64::from(bytes) * 8.0 / at.as_secs_f64())
        };
        Some([of(&record.left)?, of(&free)?])
    });
    Replay {
        packets: record.left.len(),
        same,
        late,
        rates: rates.collect(),
    }
}
