//! What a queue discipline costs: nanoseconds of user CPU time per packet, for its enqueue and its
//! dequeue together.

use goodqueue_queue::{
    BufferPool, Configuration, Context, Discipline, QueueConfig, QueueDiscipline, Verdict, examples,
};
use goodqueue_types::{
    Body, Direction, Ecn, FlowId, Framing, Hosts, Packet, RandomStream, Segment, Span, Time,
};
use serde::Serialize;

/// Flows of the stream.
const FLOWS: u32 = 100;
/// Packets that come before the link takes the first: they wait, as far as the discipline lets them.
const BACKLOG: u64 = 50;
/// 1500 bytes at 10 Mb/s.
const SERVICE: Span = Span::from_micros(1_200);
/// Packets between two looks at the clock.
const BATCH: u64 = 100_000;
/// As long as that, so that the clock's steps do not matter.
const LONG_ENOUGH_S: f64 = 0.3;

/// What one discipline cost.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct QueueCost {
    /// Name in the list of examples.
    pub queue: &'static str,
    /// Nanoseconds per packet offered.
    pub ns_per_packet: f64,
    /// Share of the packets that were dropped.
    pub drop_share: f64,
}

/// Measures every discipline.
pub fn measure_all() -> impl Iterator<Item = QueueCost> {
    examples().into_iter().map(|(name, config)| {
        let mut stream = Stream::new(&config);
        stream.run(BATCH);
        let (begin, dropped) = (super::measure::user_s(), stream.dropped);
        let mut packets = 0;
        loop {
            stream.run(BATCH);
            packets += BATCH;
            let elapsed = super::measure::user_s() - begin;
            if elapsed >= LONG_ENOUGH_S {
                return QueueCost {
                    queue: name,
                    ns_per_packet: elapsed * 1e9 / packets as f64,
                    drop_share: (stream.dropped - dropped) as f64 / packets as f64,
                };
            }
        }
    })
}

/// A discipline that is offered a packet for each that it sends.
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

    /// Offers so many packets; the link takes one for each, once the backlog stands.
    fn run(&mut self, packets: u64) {
        for _ in 0..packets {
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
            };
            self.queue.enqueue(&mut context, packet);
            if self.offered > BACKLOG {
                std::hint::black_box(self.queue.dequeue(&mut context));
                self.now += SERVICE;
            } else {
                self.now += Span(SERVICE.0 / 2);
            }
            self.dropped += self
                .verdicts
                .drain(..)
                .filter(|verdict| matches!(verdict, Verdict::Dropped(..)))
                .count() as u64;
        }
    }
}
