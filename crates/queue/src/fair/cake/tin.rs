//! A tin: flow queues under COBALT, served by deficit round robin. The flows of one host share its
//! quantum.

use crate::Context;
use crate::fair::cake::cobalt::{CobaltParams, CobaltQueue, CobaltVars};
use crate::fair::cake::hosts::{HostPair, HostTable, QUEUES, WAYS};
use crate::fair::cake::shaper::{TinClock, transmission};
use crate::fair::cake::tins::Share;
use crate::fair::cake::{CakeConfig, CakeIsolation};
use crate::fair::flows::{FlowHash, Flows, Lookup, Round, SetAssociative};
use goodqueue_types::{Direction, DropReason, Packet, RandomStream, Rate, Time};

/// Class of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    /// The queue is not in use.
    Idle,
    /// The queue has sent less than a quantum since it became active.
    Sparse,
    /// The queue is sparse too, but it was empty when it had used up its quantum.
    SparseWaiting,
    /// The queue is a standing queue, so its hosts count it.
    Bulk,
    /// The queue is empty and COBALT's state is still decaying.
    Decaying,
}

#[derive(Clone, Copy, Debug)]
struct FlowState {
    cobalt: CobaltVars,
    hosts: HostPair,
    load: Load,
}

/// Counts of hash lookups, as `tc -s` prints them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CakeWays {
    /// Packets of flows whose queue is not the one that the hash selects directly (`way_inds`).
    pub indirect_hits: u64,
    /// Number of times that a flow took a free queue (`way_miss`).
    pub misses: u64,
    /// Number of times that a flow had to share another flow's queue (`way_cols`).
    pub collisions: u64,
}

/// Result of serving a tin once.
pub enum Turn {
    /// The tin sends this packet.
    Sent(Packet),
    /// The queue that was served was empty, so the caller has to choose a tin again.
    Empty,
}

/// State of one tin.
#[derive(Clone, Debug)]
pub struct Tin {
    isolation: CakeIsolation,
    ingress: bool,
    pub(super) flows: Flows,
    states: Vec<FlowState>,
    queues: SetAssociative,
    hosts: HostTable,
    params: CobaltParams,
    flow_quantum: u32,
    /// Bytes that the tin gets in a round, for tins that take turns because there is no bandwidth.
    /// `deficit` is the number of bytes that remain.
    pub(super) quantum: i64,
    pub(super) deficit: i64,
    pub(super) clock: TinClock,
    pub(super) ways: CakeWays,
    sparse: u32,
    bulk: u32,
}

impl Tin {
    /// Bytes of an empty tin with its tables, and those of two sides of hosts.
    pub const BYTES: usize = size_of::<Self>()
        + QUEUES as usize
            * (Flows::QUEUE_BYTES
                + size_of::<FlowState>()
                + 3 * SetAssociative::QUEUE_BYTES
                + 2 * HostTable::ENTRY_BYTES);

    /// Creates an empty tin with this share.
    pub fn new(config: &CakeConfig, share: Share) -> Self {
        let state = FlowState {
            cobalt: CobaltVars::new(config.first_interval),
            hosts: HostPair::default(),
            load: Load::Idle,
        };
        Self {
            isolation: config.isolation,
            ingress: config.ingress,
            flows: Flows::new(QUEUES),
            states: vec![state; QUEUES as usize],
            queues: SetAssociative::new(QUEUES, WAYS),
            hosts: HostTable::new(config.isolation),
            params: cobalt_params(config, share),
            flow_quantum: flow_quantum(share.threshold),
            quantum: share.quantum,
            deficit: 0,
            clock: TinClock::new(share.threshold),
            ways: CakeWays::default(),
            sparse: 0,
            bulk: 0,
        }
    }

    /// Gives the tin another share. Its packets and the state of its flows stay.
    pub fn set_share(&mut self, config: &CakeConfig, share: Share) {
        self.params = cobalt_params(config, share);
        self.flow_quantum = flow_quantum(share.threshold);
        self.quantum = share.quantum;
        self.clock.set_rate(share.threshold);
    }

    /// Returns what follows from the share, for tests.
    #[cfg(test)]
    pub fn parameters(&self) -> (CobaltParams, u32, i64) {
        (self.params, self.flow_quantum, self.quantum)
    }

    /// Returns true if the tin has a sparse or a bulk flow.
    pub fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// Appends a packet to the queue of its flow.
    ///
    /// # Errors
    /// Returns the packet if the context's buffer has no room for it.
    pub fn push(
        &mut self,
        context: &mut Context<'_>,
        hash: FlowHash,
        packet: Packet,
    ) -> Result<(), Packet> {
        let flow = self.queue_of(hash, &packet);
        self.flows.push(context, flow, packet)?;
        let state = &mut self.states[flow as usize];
        match state.load {
            Load::Idle | Load::Decaying => {
                state.load = Load::Sparse;
                self.sparse += 1;
                let quantum = self
                    .hosts
                    .quantum(state.hosts, self.flow_quantum, context.random);
                self.flows.leave(flow);
                self.flows.activate(flow, Round::New, quantum);
            }
            Load::SparseWaiting => self.make_bulk(flow),
            Load::Sparse | Load::Bulk => {}
        }
        Ok(())
    }

    /// Returns the queue of a packet's flow. Records the hosts of the flow if the queue did not
    /// belong to it before.
    fn queue_of(&mut self, hash: FlowHash, packet: &Packet) -> u32 {
        if self.isolation == CakeIsolation::FlowBlind {
            return 0;
        }
        let (source, destination) = host_hashes(hash, packet);
        let mut key = 0;
        if self.isolation.separates_flows() {
            key = hash.flow(packet);
        } else {
            key ^= if self.isolation.sees_sources() {
                source
            } else {
                0
            };
            key ^= if self.isolation.sees_destinations() {
                destination
            } else {
                0
            };
        }
        let states = &self.states;
        let in_use = |queue: u32| states[queue as usize].load != Load::Idle;
        let (queue, lookup) = self.queues.queue(key, in_use);
        let state = &mut self.states[queue as usize];
        match lookup {
            Lookup::Direct => {}
            Lookup::Hit => self.ways.indirect_hits += 1,
            Lookup::Miss => self.ways.misses += 1,
            Lookup::Collision => self.ways.collisions += 1,
        }
        if state.load == Load::Idle || lookup == Lookup::Collision {
            // A bulk queue that another flow takes over counts for the hosts of that flow.
            if state.load == Load::Bulk {
                self.hosts.remove(state.hosts);
            }
            state.hosts = self.hosts.pair(source, destination);
            if state.load == Load::Bulk {
                self.hosts.add(state.hosts);
            }
        }
        queue
    }

    fn make_bulk(&mut self, flow: u32) {
        let state = &mut self.states[flow as usize];
        state.load = Load::Bulk;
        self.hosts.add(state.hosts);
        self.sparse -= 1;
        self.bulk += 1;
    }

    /// Serves the tin once. Calls `dropped` with the bytes on the wire of each packet that it
    /// drops, for the shaper. `wire_bytes` gives the bytes of a packet on the wire. For each packet
    /// sent, at most one decaying queue is visited: `visit_decaying` is true while this visit is
    /// still due.
    pub fn serve(
        &mut self,
        context: &mut Context<'_>,
        wire_bytes: impl Fn(&Context<'_>, &Packet) -> u64,
        visit_decaying: &mut bool,
        mut dropped: impl FnMut(u64),
    ) -> Turn {
        'flows: loop {
            let Some(flow) = self.next_flow(std::mem::take(visit_decaying)) else {
                return Turn::Empty;
            };
            if self.flows.deficit(flow) <= 0 {
                self.next_round(context, flow);
                if self.flows.first(Round::New).is_none() {
                    self.skip_rounds(context.random);
                }
                continue;
            }
            loop {
                let Some(mut packet) = self.flows.pop(context, flow) else {
                    self.found_empty(context.now, flow);
                    return Turn::Empty;
                };
                let bytes = wire_bytes(context, &packet);
                let queue = CobaltQueue {
                    is_last: self.flows.head(flow).is_none(),
                    bulk_flows: if self.ingress { self.bulk } else { 0 },
                };
                let cobalt = &mut self.states[flow as usize].cobalt;
                let reason = cobalt.decide(&self.params, context, &mut packet, queue);
                if reason.is_none() || self.ingress {
                    self.flows.charge(flow, bytes);
                    self.deficit -= bytes as i64;
                    self.clock.charge(context.now, bytes);
                }
                let Some(reason) = reason else {
                    return Turn::Sent(packet);
                };
                context.drop(packet, reason);
                if self.ingress {
                    dropped(bytes);
                    continue 'flows;
                }
            }
        }
    }

    fn next_flow(&self, visit_decaying: bool) -> Option<u32> {
        let decaying = self.flows.first(Round::Decaying);
        let first = if visit_decaying { decaying } else { None };
        first
            .or_else(|| self.flows.first(Round::New))
            .or_else(|| self.flows.first(Round::Old))
            .or(decaying)
    }

    /// Gives the flow its quantum for the next round, after it has used up the last.
    fn next_round(&mut self, context: &mut Context<'_>, flow: u32) {
        if self.states[flow as usize].load == Load::Sparse {
            if self.flows.head(flow).is_some() {
                self.make_bulk(flow);
            } else {
                self.states[flow as usize].load = Load::SparseWaiting;
            }
        }
        let hosts = self.states[flow as usize].hosts;
        let quantum = self.hosts.quantum(hosts, self.flow_quantum, context.random);
        self.flows.replenish(flow, quantum);
    }

    /// Gives quanta to the flows of the old round in turn, up to one that may send or has an end of
    /// its sparse time to note. This does the same as [`next_round`](Self::next_round) for each of
    /// them. A frame can take 50 rounds of many flows, because the flows of a host share its
    /// quantum, and every quantum is rounded at random. The flows therefore stay where they are,
    /// and the round turns once at the end.
    fn skip_rounds(&mut self, random: &mut RandomStream) {
        let states = &self.states[..];
        let mut quantum = self.hosts.quanta(self.flow_quantum, random);
        self.flows.replenish_in_turn(|flow| {
            let state = &states[flow as usize];
            (state.load != Load::Sparse).then(|| quantum(state.hosts))
        });
    }

    fn found_empty(&mut self, now: Time, flow: u32) {
        let state = &mut self.states[flow as usize];
        state.cobalt.queue_empty(&self.params, now);
        match state.load {
            Load::Sparse | Load::SparseWaiting => self.sparse -= 1,
            Load::Bulk => {
                self.bulk -= 1;
                self.hosts.remove(state.hosts);
            }
            Load::Idle | Load::Decaying => {}
        }
        if state.cobalt.is_decaying(now) {
            state.load = Load::Decaying;
            self.flows.move_to(flow, Round::Decaying);
        } else {
            state.load = Load::Idle;
            self.flows.leave(flow);
        }
    }

    /// Drops the oldest packet of a queue because the memory limit is reached. Returns its bytes on
    /// the wire.
    pub fn drop_overflow(
        &mut self,
        context: &mut Context<'_>,
        flow: u32,
        wire_bytes: impl Fn(&Context<'_>, &Packet) -> u64,
    ) -> u64 {
        let Some(packet) = self.flows.pop(context, flow) else {
            return 0;
        };
        self.states[flow as usize]
            .cobalt
            .queue_full(&self.params, context.now);
        let bytes = wire_bytes(context, &packet);
        if self.ingress {
            self.clock.charge(context.now, bytes);
        }
        context.drop(packet, DropReason::Overlimit);
        bytes
    }
}

/// Returns the parameters of COBALT in a tin with this share.
fn cobalt_params(config: &CakeConfig, share: Share) -> CobaltParams {
    let mtu_time = transmission(share.threshold, u64::from(config.mtu));
    CobaltParams::new(config.target(), config.rtt, mtu_time)
}

/// Returns the quantum of a flow in bytes. Linux takes what the threshold sends in 1/4096 s, at
/// least 300 and at most 1514.
fn flow_quantum(threshold: Option<Rate>) -> u32 {
    threshold.map_or(1514, |rate| (rate.0 / 8 / 4096).clamp(300, 1514) as u32)
}

/// Returns the hashes of a packet's sending and receiving host.
fn host_hashes(hash: FlowHash, packet: &Packet) -> (u32, u32) {
    let (client, server) = (packet.hosts.client, packet.hosts.server);
    let (source, destination) = match packet.direction {
        Direction::Forward => (client, server),
        Direction::Reverse => (server, client),
    };
    // The side is part of the key, so a host hashes differently as sender and as receiver.
    let key = |side: u64, host: u16| side << 40 | u64::from(host);
    (
        hash.number(key(1, source)),
        hash.number(key(2, destination)),
    )
}

#[cfg(test)]
mod tests;
