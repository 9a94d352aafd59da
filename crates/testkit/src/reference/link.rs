//! A link of the reference engine.

use crate::Mutation;
use crate::plain_service::PlainService;
use goodqueue_queue::{Backlog, BufferPool, Configuration, Context, Discipline, Limit, Verdict};
use goodqueue_sim::{Buffer, LinkConfig, LinkMeter, LossProcess, Network, SharedBuffer};
use goodqueue_types::{Packet, RandomStream, Time};

/// A queue, the frame in transmission, and counters.
pub struct Link<'a> {
    pub config: &'a LinkConfig,
    pub queue: Discipline,
    pub in_service: Option<Packet>,
    /// Where the rate changes.
    pub varying: Option<PlainService<'a>>,
    /// Whether the link loses what it transmits now.
    pub loses: bool,
    /// When the queue said it will be ready, if it held back what it has.
    pub ready_at: Option<Time>,
    random: RandomStream,
    loss: Option<LossProcess>,
    buffer: Buffer,
    pub reported: Backlog,
    pub arrivals: u64,
    pub drops: u64,
    pub meter: Option<LinkMeter>,
}

impl<'a> Link<'a> {
    pub fn new(
        network: &'a Network,
        index: usize,
        meter: Option<LinkMeter>,
        mutation: Option<Mutation>,
    ) -> Self {
        let config = &network.links[index];
        let mut queue = config.queue.clone();
        match (mutation, queue.limit()) {
            (Some(Mutation::LimitOffByOne), Limit::Packets(limit)) => {
                queue.set_limit(Limit::Packets(limit + 1));
            }
            (Some(Mutation::LimitOffByOne), Limit::Bytes(limit)) => {
                queue.set_limit(Limit::Bytes(limit + 1));
            }
            _ => {}
        }
        let stream = |purpose| RandomStream::new(network.seed, purpose, index as u64);
        let (mut random, loss) = (stream("queue"), stream("loss"));
        Self {
            config,
            queue: queue.build(&mut random),
            in_service: None,
            varying: PlainService::new(network, index),
            loses: false,
            ready_at: None,
            random,
            loss: config.loss.map(|config| LossProcess::new(config, loss)),
            buffer: match mutation {
                Some(Mutation::BuffersNotShared) => Buffer::Own(BufferPool::unlimited()),
                _ => Buffer::new(network, index),
            },
            reported: Backlog::default(),
            arrivals: 0,
            drops: 0,
            meter,
        }
    }

    /// Calls the queue, and returns its answer and what it dropped and marked.
    pub fn with_queue<T>(
        &mut self,
        now: Time,
        shared: &mut [SharedBuffer],
        call: impl FnOnce(&mut Discipline, &mut Context<'_>) -> T,
    ) -> (T, Vec<Verdict>) {
        let mut verdicts = Vec::new();
        let mut context = Context {
            now,
            framing: self.config.framing,
            random: &mut self.random,
            account: self.buffer.account(shared, now),
            verdicts: &mut verdicts,
        };
        (call(&mut self.queue, &mut context), verdicts)
    }

    /// Whether the link loses the next packet, before the queue or after the transmission.
    pub fn loses(&mut self, packet: &Packet, after_transmission: bool) -> bool {
        let bytes = self.frame_bytes(packet);
        match &mut self.loss {
            Some(loss) if loss.is_after_transmission() == after_transmission => {
                loss.loses(packet, bytes)
            }
            _ => false,
        }
    }

    pub fn frame_bytes(&self, packet: &Packet) -> u64 {
        self.config.framing.frame_bytes(packet.size)
    }
}
