//! A test rig for disciplines: a clock, a buffer, and a record of drops and marks.

use crate::{BufferPool, Configuration, Context, QueueDiscipline, Verdict};
use goodqueue_types::{Body, DropReason, Ecn, Framing, Packet, RandomStream, Span, Time};

/// Discipline with its environment, without link-layer framing.
#[derive(Debug)]
pub struct Rig<Q> {
    pub queue: Q,
    pub now: Time,
    random: RandomStream,
    buffer: BufferPool,
    pub verdicts: Vec<Verdict>,
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
            random,
            buffer: BufferPool::unlimited(),
            verdicts: Vec::new(),
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
            framing: Framing::default(),
            random: &mut self.random,
            account: self.buffer.account(0),
            verdicts: &mut self.verdicts,
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
