//! A test rig for disciplines: a clock, a buffer, and a record of drops and marks.

use crate::{
    BufferPool, Configuration, Context, QueueConfig, QueueDiscipline, Verdict, conformance,
};
use goodqueue_types::{Body, DropReason, Ecn, Framing, Packet, RandomStream, Segment, Span, Time};

/// Checks that a discipline conforms with every discipline inside.
pub fn check_all_inside(outer: impl Fn(QueueConfig) -> QueueConfig) {
    for (name, inner) in crate::examples() {
        let result = conformance::check_config(&outer(inner), 1);
        let report = result.unwrap_or_else(|violation| panic!("{name}: {violation}"));
        assert!(report.sent > 1_000, "{name}");
    }
}

/// Discipline with its environment, without link-layer framing unless it is set.
#[derive(Debug)]
pub struct Rig<Q> {
    pub queue: Q,
    pub now: Time,
    pub framing: Framing,
    random: RandomStream,
    buffer: BufferPool,
    pub verdicts: Vec<Verdict>,
    pub split: u64,
    sent: u64,
}

impl<Q: QueueDiscipline> Rig<Q> {
    pub fn new<C: Configuration<Queue = Q>>(config: &C) -> Self {
        Self::seeded(config, 1)
    }

    pub fn seeded<C: Configuration<Queue = Q>>(config: &C, seed: u64) -> Self {
        let mut random = RandomStream::new(seed, "test", 0);
        Self {
            queue: config.build(&mut random),
            now: Time::ZERO,
            framing: Framing::default(),
            random,
            buffer: BufferPool::unlimited(),
            verdicts: Vec::new(),
            split: 0,
            sent: 0,
        }
    }

    /// Advances the clock to this instant.
    pub fn at(&mut self, since_start: Span) -> &mut Self {
        self.now = Time::ZERO + since_start;
        self
    }

    pub fn call<T>(&mut self, call: impl FnOnce(&mut Q, &mut Context<'_>) -> T) -> T {
        let mut context = Context {
            now: self.now,
            framing: self.framing,
            random: &mut self.random,
            account: self.buffer.account(0),
            verdicts: &mut self.verdicts,
            split: &mut self.split,
        };
        call(&mut self.queue, &mut context)
    }

    /// Offers `packets` packets of `size` bytes.
    pub fn enqueue(&mut self, packets: usize, size: u32, ecn: Ecn) {
        for _ in 0..packets {
            let packet = Packet {
                number: self.sent,
                size,
                ecn,
                arrived: self.now,
                body: Body::Datagram,
                ..Packet::default()
            };
            self.sent += 1;
            self.call(|queue, context| queue.enqueue(context, packet));
        }
    }

    /// Offers a super-segment of this number of segments with `payload` bytes each.
    pub fn enqueue_super(&mut self, segments: u32, payload: u32) {
        let segment = |index: u32| {
            let segment = Segment {
                seq: u64::from(index * payload),
                payload,
                header: 40,
                ..Segment::default()
            };
            Packet {
                size: segment.ip_bytes(),
                arrived: self.now,
                body: Body::Tcp(segment),
                ..Packet::default()
            }
        };
        let mut whole = segment(0);
        assert!((1..segments).all(|index| whole.absorb(&segment(index))));
        self.call(|queue, context| queue.enqueue(context, whole));
    }

    pub fn dequeue(&mut self) -> Option<Packet> {
        self.call(QueueDiscipline::dequeue)
    }

    pub fn waiting(&self) -> u64 {
        self.queue.backlog().packets
    }

    pub fn drops(&self, reason: DropReason) -> usize {
        let dropped =
            |verdict: &&Verdict| matches!(verdict, Verdict::Dropped(_, why) if *why == reason);
        self.verdicts.iter().filter(dropped).count()
    }

    pub fn marks(&self, reason: DropReason) -> usize {
        let marked =
            |verdict: &&Verdict| matches!(verdict, Verdict::Marked(_, why) if *why == reason);
        self.verdicts.iter().filter(marked).count()
    }
}
