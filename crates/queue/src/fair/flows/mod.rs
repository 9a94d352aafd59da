//! Many queues served in turn, the common part of DRR, SFQ, FQ-CoDel, FQ-PIE and CAKE.

mod check;
mod examples;
#[cfg(test)]
mod fuzz;
mod hash;
mod memory;
#[cfg(test)]
pub(crate) mod rig;
mod set_associative;

pub use check::{refuse_flows, refuse_memory, refuse_quantum};
pub use examples::fair_queues;
pub use hash::{FlowHash, scale};
pub use memory::truesize;
pub use set_associative::{Lookup, SetAssociative};

use crate::{Backlog, Chain, Context, PacketPool};
use goodqueue_types::Packet;

const NONE: u32 = u32::MAX;

/// Round in which a flow takes part. A round is a list, and its first flow is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// The flow has nothing to send and is in no round.
    Out,
    /// Flows that have just become active. They are served before the others (RFC 8290 section
    /// 4.2).
    New,
    /// Flows that have passed the new round, or all flows in plain round robin.
    Old,
    /// Empty flows whose control law has not decayed yet (CAKE).
    Decaying,
}

/// Queues for flows or for buckets of flows, with their places in the rounds. The packets of all
/// queues share one pool.
#[derive(Clone, Debug)]
pub struct Flows {
    pool: PacketPool,
    queues: Vec<Flow>,
    rounds: [Ends; 3],
    backlog: Backlog,
    memory: u64,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    chain: Chain,
    deficit: i64,
    previous: u32,
    next: u32,
    round: Round,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

impl Flows {
    /// Bytes of an empty queue.
    pub const QUEUE_BYTES: usize = size_of::<Flow>();

    /// Creates `count` empty queues.
    pub fn new(count: u32) -> Self {
        let mut flows = Self {
            pool: PacketPool::default(),
            queues: Vec::new(),
            rounds: [Ends {
                first: NONE,
                last: NONE,
            }; 3],
            backlog: Backlog::default(),
            memory: 0,
        };
        flows.grow_to(count);
        flows
    }

    /// Adds empty queues until there are `count`.
    pub fn grow_to(&mut self, count: u32) {
        let idle = Flow {
            chain: Chain::default(),
            deficit: 0,
            previous: NONE,
            next: NONE,
            round: Round::Out,
        };
        if count as usize > self.queues.len() {
            self.queues.resize(count as usize, idle);
        }
    }
}

/// Operations on packets.
impl Flows {
    /// Appends a packet to a flow's queue.
    ///
    /// # Errors
    /// Returns the packet if the context's buffer has no room for it.
    #[inline]
    pub fn push(
        &mut self,
        context: &mut Context<'_>,
        flow: u32,
        packet: Packet,
    ) -> Result<(), Packet> {
        let bytes = context.frame_bytes(&packet);
        self.push_frame(context, flow, packet, bytes)
    }

    /// Appends a packet, whose frame takes `bytes` bytes, to a flow's queue.
    ///
    /// # Errors
    /// Returns the packet if the context's buffer has no room for it.
    #[inline]
    pub fn push_frame(
        &mut self,
        context: &mut Context<'_>,
        flow: u32,
        packet: Packet,
        bytes: u64,
    ) -> Result<(), Packet> {
        let chain = &mut self.queues[flow as usize].chain;
        self.pool.push(context, chain, packet, bytes)?;
        self.backlog.add(bytes);
        self.memory += truesize(bytes);
        Ok(())
    }

    /// Removes and returns the first packet of a flow.
    #[inline]
    pub fn pop(&mut self, context: &mut Context<'_>, flow: u32) -> Option<Packet> {
        Some(self.pop_frame(context, flow)?.0)
    }

    /// Removes and returns the first packet of a flow, with the bytes of its frame.
    #[inline]
    pub fn pop_frame(&mut self, context: &mut Context<'_>, flow: u32) -> Option<(Packet, u64)> {
        let chain = &mut self.queues[flow as usize].chain;
        let (packet, bytes) = self.pool.pop(context, chain)?;
        self.forget(bytes);
        Some((packet, bytes))
    }

    /// Removes and returns the last packet of a flow.
    pub fn pop_back(&mut self, context: &mut Context<'_>, flow: u32) -> Option<Packet> {
        let chain = &mut self.queues[flow as usize].chain;
        let (packet, bytes) = self.pool.pop_back(context, chain)?;
        self.forget(bytes);
        Some(packet)
    }

    #[inline]
    fn forget(&mut self, bytes: u64) {
        self.backlog.remove(bytes);
        self.memory -= truesize(bytes);
    }

    /// Returns the first packet of a flow.
    #[inline]
    pub fn head(&self, flow: u32) -> Option<&Packet> {
        self.pool.head(&self.queues[flow as usize].chain)
    }

    /// Returns the backlog of all queues.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Returns the backlog of one queue.
    #[inline]
    pub fn backlog_of(&self, flow: u32) -> Backlog {
        self.queues[flow as usize].chain.backlog()
    }

    /// Returns the bytes of kernel memory that the waiting packets would take: see [`truesize`].
    #[inline]
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Returns the flows of the new round and then those of the old round. Every flow with packets
    /// is in one of them.
    pub fn active(&self) -> impl Iterator<Item = u32> {
        let next = |flow: &u32| {
            let next = self.queues[*flow as usize].next;
            (next != NONE).then_some(next)
        };
        let round = move |round| std::iter::successors(self.first(round), next);
        round(Round::New).chain(round(Round::Old))
    }

    /// Returns the queue with the most bytes, or the one with the lowest index among equals.
    /// Returns `None` if all queues are empty.
    pub fn fattest(&self) -> Option<u32> {
        let (mut most, mut fattest) = (0, NONE);
        for round in [Round::New, Round::Old] {
            let mut flow = self.rounds[place(round)].first;
            while let Some(queue) = self.queues.get(flow as usize) {
                let bytes = queue.chain.backlog().bytes;
                if bytes > most || bytes == most && flow < fattest && !queue.chain.is_empty() {
                    (most, fattest) = (bytes, flow);
                }
                flow = queue.next;
            }
        }
        (fattest != NONE).then_some(fattest)
    }

    /// Returns the indices of all queues.
    pub fn indices(&self) -> std::ops::Range<u32> {
        0..self.queues.len() as u32
    }
}

/// Operations of deficit round robin.
impl Flows {
    /// Returns the round of a flow.
    #[inline]
    pub fn round(&self, flow: u32) -> Round {
        self.queues[flow as usize].round
    }

    /// Returns the flow that is served next in a round.
    #[inline]
    pub fn first(&self, round: Round) -> Option<u32> {
        let first = self.rounds[place(round)].first;
        (first != NONE).then_some(first)
    }

    /// Returns the bytes that a flow may still send in this turn. They are negative after it has
    /// sent more than its deficit.
    #[inline]
    pub fn deficit(&self, flow: u32) -> i64 {
        self.queues[flow as usize].deficit
    }

    /// Subtracts a frame that a flow has sent from its deficit.
    #[inline]
    pub fn charge(&mut self, flow: u32, frame_bytes: u64) {
        self.queues[flow as usize].deficit -= frame_bytes as i64;
    }

    /// Puts an inactive flow at the end of a round, with this deficit in bytes.
    #[inline]
    pub fn activate(&mut self, flow: u32, round: Round, quantum: i64) {
        if self.round(flow) == Round::Out {
            self.queues[flow as usize].deficit = quantum;
            self.append(flow, round);
        }
    }

    /// Returns the flow that is served next: the first one with a positive deficit, new flows
    /// before old ones. Each flow before it gets another quantum and moves to the end of the old
    /// round.
    #[inline]
    pub fn turn(&mut self, quantum: i64) -> Option<u32> {
        loop {
            let flow = self.first(Round::New).or_else(|| self.first(Round::Old))?;
            if self.queues[flow as usize].deficit > 0 {
                return Some(flow);
            }
            self.replenish(flow, quantum);
        }
    }

    /// Ends a flow's turn. The flow gets a quantum for the next one and moves to the end of the old
    /// round.
    #[inline]
    pub fn replenish(&mut self, flow: u32, quantum: i64) {
        self.queues[flow as usize].deficit += quantum;
        self.move_to(flow, Round::Old);
    }

    /// Gives quanta to the flows of the old round in turn, up to the first that may send or that has
    /// no quantum, which is served next. This does the same as [`replenish`](Self::replenish) for
    /// each flow before it, and turns the round once at the end.
    #[inline]
    pub fn replenish_in_turn(&mut self, mut quantum: impl FnMut(u32) -> Option<i64>) {
        let Some(first) = self.first(Round::Old) else {
            return;
        };
        let queues = &mut self.queues[..];
        let mut flow = first;
        loop {
            let queue = &mut queues[flow as usize];
            if queue.deficit > 0 {
                break;
            }
            let Some(quantum) = quantum(flow) else {
                break;
            };
            queue.deficit += quantum;
            flow = if queue.next == NONE {
                first
            } else {
                queue.next
            };
        }
        self.turn_to(flow);
    }

    /// Moves all flows before a flow of the old round to the end of the round, in their order.
    fn turn_to(&mut self, flow: u32) {
        let ends = &mut self.rounds[place(Round::Old)];
        if ends.first == flow {
            return;
        }
        let (first, last) = (ends.first, ends.last);
        let before = self.queues[flow as usize].previous;
        (ends.first, ends.last) = (flow, before);
        self.queues[last as usize].next = first;
        self.queues[first as usize].previous = last;
        self.queues[flow as usize].previous = NONE;
        self.queues[before as usize].next = NONE;
    }

    /// Ends the turn of a flow that has nothing to send. A new flow passes through the old round
    /// first: otherwise a flow that becomes active again and again would starve the old ones (RFC
    /// 8290 section 4.2).
    #[inline]
    pub fn rest(&mut self, flow: u32) {
        if self.round(flow) == Round::New && self.first(Round::Old).is_some() {
            self.move_to(flow, Round::Old);
        } else {
            self.leave(flow);
        }
    }

    /// Moves a flow to the end of a round, which may be its own.
    #[inline]
    pub fn move_to(&mut self, flow: u32, round: Round) {
        self.leave(flow);
        self.append(flow, round);
    }

    /// Removes a flow from its round.
    #[inline]
    pub fn leave(&mut self, flow: u32) {
        let Flow {
            previous,
            next,
            round,
            ..
        } = self.queues[flow as usize];
        if round == Round::Out {
            return;
        }
        match self.queues.get_mut(previous as usize) {
            Some(before) => before.next = next,
            None => self.rounds[place(round)].first = next,
        }
        match self.queues.get_mut(next as usize) {
            Some(after) => after.previous = previous,
            None => self.rounds[place(round)].last = previous,
        }
        self.queues[flow as usize].round = Round::Out;
    }

    fn append(&mut self, flow: u32, round: Round) {
        let ends = &mut self.rounds[place(round)];
        let last = std::mem::replace(&mut ends.last, flow);
        match self.queues.get_mut(last as usize) {
            Some(before) => before.next = flow,
            None => ends.first = flow,
        }
        let flow = &mut self.queues[flow as usize];
        (flow.previous, flow.next, flow.round) = (last, NONE, round);
    }
}

/// Returns the index at which a round's ends are stored.
fn place(round: Round) -> usize {
    match round {
        Round::New => 0,
        Round::Old => 1,
        Round::Decaying | Round::Out => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(flows: &Flows, round: Round) -> Vec<u32> {
        let active = flows.active();
        active.filter(|flow| flows.round(*flow) == round).collect()
    }

    /// Quanta given in turn leave the same order as moving the flows one after the other.
    #[test]
    fn quanta_given_in_turn_move_the_flows_before() {
        for given in 0..12 {
            let mut turned = Flows::new(5);
            for flow in [3, 1, 4, 0, 2] {
                turned.activate(flow, Round::Old, -150);
            }
            let mut moved = turned.clone();
            let mut left = given;
            turned.replenish_in_turn(|_| {
                left -= 1;
                (left >= 0).then_some(100)
            });
            for _ in 0..given {
                let first = moved.first(Round::Old).unwrap();
                if moved.deficit(first) <= 0 {
                    moved.replenish(first, 100);
                }
            }
            assert_eq!(order(&turned, Round::Old), order(&moved, Round::Old));
            // Both ends and all links are equal, so the rounds stay equal from now on.
            for flow in [4, 3, 2, 1, 0] {
                assert_eq!(turned.deficit(flow), moved.deficit(flow));
                turned.move_to(flow, Round::New);
                moved.move_to(flow, Round::New);
                assert_eq!(order(&turned, Round::Old), order(&moved, Round::Old));
            }
        }
    }

    #[test]
    fn flows_join_at_the_end_and_leave_from_anywhere() {
        let mut flows = Flows::new(5);
        for flow in [3, 1, 4, 0] {
            flows.activate(flow, Round::New, 100);
        }
        flows.activate(4, Round::New, 7);
        assert_eq!(order(&flows, Round::New), [3, 1, 4, 0]);
        assert_eq!(flows.deficit(4), 100, "an active flow keeps its deficit");
        flows.leave(1);
        flows.leave(1);
        flows.leave(0);
        flows.move_to(3, Round::Old);
        flows.activate(0, Round::New, 100);
        assert_eq!(order(&flows, Round::New), [4, 0]);
        assert_eq!(order(&flows, Round::Old), [3]);
        flows.leave(3);
        assert_eq!(
            (flows.first(Round::Old), flows.round(3)),
            (None, Round::Out)
        );
    }

    #[test]
    fn a_turn_goes_to_the_first_flow_with_credit_new_ones_before_old_ones() {
        let mut flows = Flows::new(3);
        flows.activate(0, Round::Old, 100);
        flows.activate(1, Round::New, 100);
        assert_eq!(flows.turn(100), Some(1));
        flows.charge(1, 100);
        assert_eq!(flows.turn(100), Some(0));
        flows.charge(0, 101);
        assert_eq!(flows.turn(100), Some(1));
        assert_eq!(order(&flows, Round::Old), [1, 0]);
        assert_eq!((flows.deficit(0), flows.deficit(1)), (99, 100));
        flows.rest(1);
        flows.rest(0);
        assert_eq!(flows.turn(100), None);
    }

    #[test]
    fn an_empty_new_flow_passes_through_the_old_round() {
        let mut flows = Flows::new(2);
        flows.activate(0, Round::New, 1);
        flows.rest(0);
        assert_eq!(flows.round(0), Round::Out, "nobody to protect");
        flows.activate(1, Round::Old, 1);
        flows.activate(0, Round::New, 1);
        flows.rest(0);
        assert_eq!(order(&flows, Round::Old), [1, 0]);
    }
}
