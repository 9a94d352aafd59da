//! A shaper after Linux `cake`. It has tins of different priority, each tin has queues for flows
//! and hosts, and each queue is controlled by COBALT.

mod cobalt;
mod config;
mod hosts;
mod shaper;
mod tin;
mod tins;

pub use config::{
    CakeCells, CakeConfig, CakeDiffserv, CakeFirstInterval, CakeFraming, CakeIsolation,
};
pub use tin::CakeWays;

use crate::fair::flows::FlowHash;
use crate::{Backlog, Context, QueueDiscipline};
use goodqueue_types::{DropReason, Packet, RandomStream, Rate, Time};
use shaper::Shaper;
use tin::{Tin, Turn};

/// State of CAKE: tins behind a shaper.
#[derive(Clone, Debug)]
pub struct Cake {
    config: CakeConfig,
    hash: FlowHash,
    shaper: Shaper,
    tins: Vec<Tin>,
    memory_limit: u64,
    /// Packets and bytes of all tins, and the kernel memory that they would take.
    backlog: Backlog,
    memory: u64,
    /// Index of the tin that is served now if there is no bandwidth.
    current: usize,
}

impl Cake {
    pub(crate) fn new(config: CakeConfig, random: &mut RandomStream) -> Self {
        let shares = tins::shares(config.diffserv, config.bandwidth);
        let tin = |share| Tin::new(&config, share);
        Self {
            hash: FlowHash::new(random),
            shaper: Shaper::new(config.bandwidth),
            tins: shares.into_iter().map(tin).collect(),
            memory_limit: config.memory(),
            backlog: Backlog::default(),
            memory: 0,
            current: 0,
            config,
        }
    }

    /// Returns the counts of hash lookups, tin by tin.
    pub fn ways(&self) -> impl Iterator<Item = CakeWays> {
        self.tins.iter().map(|tin| tin.ways)
    }

    /// Returns a function that gives the bytes of a packet in the accounts of shaper, tins and
    /// flows.
    fn wire_bytes(config: &CakeConfig) -> impl Fn(&Context<'_>, &Packet) -> u64 + use<> {
        let framing = config.framing.0;
        move |context, packet| match framing {
            Some(framing) => packet.frame_bytes(framing),
            None => context.frame_bytes(packet),
        }
    }

    /// Does something with a tin, and adds the change of its backlog to that of all tins.
    #[inline]
    fn with_tin<T>(&mut self, index: usize, act: impl FnOnce(&mut Tin, &mut Shaper) -> T) -> T {
        let tin = &mut self.tins[index];
        let (before, memory) = (tin.flows.backlog(), tin.flows.memory());
        let done = act(tin, &mut self.shaper);
        let after = tin.flows.backlog();
        self.backlog.packets = self.backlog.packets + after.packets - before.packets;
        self.backlog.bytes = self.backlog.bytes + after.bytes - before.bytes;
        self.memory = self.memory + tin.flows.memory() - memory;
        done
    }

    fn is_overloaded(&self) -> bool {
        self.memory > self.memory_limit || self.config.limit.is_exceeded_by(self.backlog)
    }

    /// Drops a packet from the longest queue of all tins.
    #[cold]
    fn drop_from_fattest(&mut self, context: &mut Context<'_>) {
        let fattest = |(index, tin): (usize, &Tin)| {
            let flow = tin.flows.fattest()?;
            Some((tin.flows.backlog_of(flow).bytes, index, flow))
        };
        let all = self.tins.iter().enumerate().filter_map(fattest);
        let Some((_, index, flow)) = all.max_by_key(|(bytes, ..)| *bytes) else {
            return;
        };
        let wire_bytes = Self::wire_bytes(&self.config);
        let ingress = self.config.ingress;
        self.with_tin(index, |tin, shaper| {
            let bytes = tin.drop_overflow(context, flow, wire_bytes);
            if ingress {
                shaper.dropped(bytes);
            }
        });
    }

    fn choose_tin(&mut self, now: Time) -> Option<usize> {
        if self.shaper.is_limited() {
            self.tin_by_clock(now)
        } else {
            self.tin_by_turn()
        }
    }

    /// Returns the highest tin that is within its threshold. If there is none, returns the tin that
    /// will be within its threshold first.
    fn tin_by_clock(&self, now: Time) -> Option<usize> {
        let mut best = None;
        let mut earliest = Time::MAX;
        for (index, tin) in self.tins.iter().enumerate() {
            let next = tin.clock.next();
            if tin.is_active() && (next <= now || next <= earliest) {
                (best, earliest) = (Some(index), next);
            }
        }
        best
    }

    /// Returns the tin that is served next by deficit round robin.
    fn tin_by_turn(&mut self) -> Option<usize> {
        if !self.tins.iter().any(Tin::is_active) {
            return None;
        }
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.is_active() {
                return Some(self.current);
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }
}

impl QueueDiscipline for Cake {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        if self.config.split_gso && packet.segments() > 1 {
            let pieces = context.split(&packet);
            return pieces.for_each(|piece| self.enqueue(context, piece));
        }
        let index = tins::tin_of(self.config.diffserv, packet.dscp);
        let (is_idle, hash) = (self.backlog.packets == 0, self.hash);
        let pushed = self.with_tin(index, |tin, shaper| {
            if tin.flows.backlog().packets == 0 {
                tin.clock.forget_pause(context.now);
                if is_idle {
                    shaper.forget_pause(context.now);
                }
            }
            tin.push(context, hash, packet)
        });
        if let Err(packet) = pushed {
            return context.drop(packet, DropReason::Overlimit);
        }
        while self.is_overloaded() {
            self.drop_from_fattest(context);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let wire_bytes = Self::wire_bytes(&self.config);
        let mut visit_decaying = true;
        while self.backlog.packets > 0 {
            if self.shaper.held_until(context.now).is_some() {
                return None;
            }
            let index = self.choose_tin(context.now)?;
            let turn = self.with_tin(index, |tin, shaper| {
                tin.serve(context, &wire_bytes, &mut visit_decaying, |bytes| {
                    shaper.dropped(bytes);
                })
            });
            if let Turn::Sent(packet) = turn {
                self.shaper.sent(wire_bytes(context, &packet));
                return Some(packet);
            }
        }
        None
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        let waiting = self.backlog.packets > 0;
        waiting.then(|| self.shaper.held_until(now).unwrap_or(now))
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Sets the bandwidth with all that follows from it: thresholds, targets, quanta and memory.
    fn set_rate(&mut self, rate: Rate) {
        self.config.bandwidth = Some(rate);
        self.shaper.set_rate(Some(rate));
        self.memory_limit = self.config.memory();
        let shares = tins::shares(self.config.diffserv, self.config.bandwidth);
        for (tin, share) in self.tins.iter_mut().zip(shares) {
            tin.set_share(&self.config, share);
        }
    }
}

#[cfg(test)]
mod tests;
