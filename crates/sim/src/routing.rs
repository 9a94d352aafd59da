//! Where packets go next, and where they must wait for the event queue.
//!
//! A link whose arrivals all come from one source, in order, needs no events: what arrives next
//! cannot overtake what arrived before, so a packet is walked through it at once. Only where
//! several sources meet must arrivals be put in order. There each source keeps a line, a FIFO of
//! packets with their arrival times, and the event queue holds the head of each line.

use crate::Network;
use goodqueue_types::{Direction, FlowId, LinkId, Packet, RandomStream};
use std::collections::BTreeMap;
use std::ops::Range;

/// No line: the packet goes on at once.
pub const AT_ONCE: u32 = u32::MAX;

/// One step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The link to cross.
    pub link: u32,
    /// The line in which to wait for it, or [`AT_ONCE`].
    pub line: u32,
}

/// All routes, and the order of simultaneous arrivals.
#[derive(Debug)]
pub struct Routing {
    /// Steps of all routes, one route after the other.
    pub hops: Vec<Hop>,
    /// Where the route of (flow, direction) lies in `hops`, at `2 · flow + direction`.
    pub routes: Vec<Range<u32>>,
    /// Place of (flow, direction) among simultaneous arrivals at a link: a keyed permutation.
    pub ranks: Vec<u32>,
    /// How many lines there are.
    pub lines: usize,
}

/// What feeds a link: its packets come in order of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Feeder {
    /// The agent that sends (flow, direction).
    Agent(usize),
    /// Another link, directly.
    Link(LinkId),
}

/// Index of a flow's direction.
#[inline]
fn way(flow: FlowId, direction: Direction) -> usize {
    2 * flow.0 as usize + direction as usize
}

impl Routing {
    /// Routes for a network. Every loop of cause and effect passes the event queue at least once.
    pub fn new(network: &Network) -> Self {
        let ways: Vec<&[LinkId]> = network
            .flows
            .iter()
            .flat_map(|flow| [flow.forward.as_slice(), flow.reverse.as_slice()])
            .collect();
        let mut shared = shared_links(network, &ways);
        // A flow that meets no other would answer itself for ever: make it pass the event queue.
        for flow in &network.flows {
            let meets = flow.forward.iter().chain(&flow.reverse).any(|l| shared[l.0 as usize]);
            if !meets && let Some(first) = flow.forward.first() {
                shared[first.0 as usize] = true;
            }
        }
        let mut lines = BTreeMap::new();
        let mut hops = Vec::new();
        let mut routes = Vec::new();
        for (index, links) in ways.iter().enumerate() {
            let begin = hops.len() as u32;
            let mut from = Feeder::Agent(index);
            for link in *links {
                let line = if shared[link.0 as usize] {
                    let next = lines.len() as u32;
                    *lines.entry((from, *link)).or_insert(next)
                } else {
                    AT_ONCE
                };
                hops.push(Hop { link: link.0, line });
                // What leaves a link is in order of time, whatever fed it.
                from = Feeder::Link(*link);
            }
            routes.push(begin..hops.len() as u32);
        }
        let ranks = tie_ranks(network.seed, network.flows.len());
        Self { hops, routes, ranks, lines: lines.len() }
    }
}

impl Routing {
    /// The steps of a flow's direction, as indices into `hops`.
    #[inline]
    pub fn route(&self, flow: FlowId, direction: Direction) -> Range<u32> {
        self.routes[way(flow, direction)].clone()
    }

    /// A packet's place among simultaneous arrivals.
    #[inline]
    pub fn rank(&self, packet: &Packet) -> u32 {
        self.ranks[way(packet.flow, packet.direction)]
    }
}

/// Which links have more than one feeder.
fn shared_links(network: &Network, ways: &[&[LinkId]]) -> Vec<bool> {
    let mut feeder: Vec<Option<Feeder>> = vec![None; network.links.len()];
    let mut shared = vec![false; network.links.len()];
    for (index, links) in ways.iter().enumerate() {
        let mut from = Feeder::Agent(index);
        for link in *links {
            let at = link.0 as usize;
            shared[at] |= feeder[at].is_some_and(|known| known != from);
            feeder[at] = Some(from);
            from = Feeder::Link(*link);
        }
    }
    shared
}

/// The places of packets that arrive at a link at the same instant: a permutation that depends on
/// the seed alone, so that no flow is favoured for ever. That of flow `i` is at `2i` for forward
/// packets and at `2i + 1` for reverse ones.
pub fn tie_ranks(seed: u64, flows: usize) -> Vec<u32> {
    let ways = 2 * flows;
    let mut order: Vec<(u64, usize)> = (0..ways)
        .map(|way| (RandomStream::new(seed, "tie", way as u64).bits(), way))
        .collect();
    order.sort_unstable();
    let mut ranks = vec![0; ways];
    for (rank, (_, way)) in order.into_iter().enumerate() {
        ranks[way] = rank as u32;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_a_permutation_that_the_seed_decides() {
        let one = tie_ranks(1, 50);
        let mut sorted = one.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        assert_eq!(one, tie_ranks(1, 50));
        assert_ne!(one, tie_ranks(2, 50));
    }
}
