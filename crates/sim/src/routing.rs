//! Where packets go next, and where they must wait for the event queue.
//!
//! A link whose arrivals all come from one source, in order, needs no events: what arrives next
//! cannot overtake what arrived before, so a packet is walked through it at once. Only where
//! several sources meet must arrivals be put in order. There packets wait in *lines*, sorted by
//! arrival, and the event queue holds the head of each line.
//!
//! Packets that left one shared link and take equally long to the next arrive almost in the order
//! in which they are put in line. They share a line, so that the event queue holds one entry for
//! each class of round-trip times and not one for each flow. A packet that would have to pass
//! many others waits in a line of its flow's own.

use crate::link::Transmitter;
use crate::{LinkConfig, Network};
use goodqueue_types::{Direction, FlowId, LinkId, Packet, RandomStream, Span, mix};
use std::collections::BTreeMap;

/// No line: the packet goes on at once.
pub const AT_ONCE: u32 = u32::MAX;

/// No link: the hop is a stretch of links that only delay.
pub const STRETCH: u32 = u32::MAX;

/// One step of a route.
#[derive(Clone, Debug)]
pub struct Hop {
    /// The transmitter, where the link is its transmitter alone and no other route uses it. Most
    /// links of a large network are such: the hosts' own.
    pub transmitter: Option<Transmitter>,
    /// The link to cross, or [`STRETCH`].
    pub link: u32,
    /// The line in which to wait for it, or [`AT_ONCE`].
    pub line: u32,
    /// Among the flows' own lines, the one before this link, where there is a line; the stretch, if
    /// it is one.
    pub own_line: u32,
    /// Whether the host comes next.
    pub last: bool,
    /// Whether the link is a [`ServedLink`](crate::served_link::ServedLink).
    pub served: bool,
}

/// Links that only delay, one after the other, folded into one delay.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    /// The sum of their delays.
    pub delay: Span,
    /// Those of them that are observed, and how far from the beginning they are.
    pub observed: Vec<(u32, Span)>,
    /// All of them likewise, if somebody wants to see packets there.
    pub unfolded: Vec<(u32, Span)>,
}

impl Stretch {
    fn extend(&mut self, link: LinkId, config: &LinkConfig, unfold: bool) {
        if unfold {
            self.unfolded.push((link.0, self.delay));
        }
        if config.observed {
            self.observed.push((link.0, self.delay));
        }
        self.delay += config.delay;
    }
}

/// All routes, and the order of simultaneous arrivals.
#[derive(Debug)]
pub struct Routing {
    /// Steps of all routes, one route after the other.
    pub hops: Vec<Hop>,
    /// Stretches of links that only delay.
    pub stretches: Vec<Stretch>,
    ties: TieOrder,
    /// How many lines flows share.
    pub shared_lines: usize,
    /// How many lines are a flow's own.
    pub own_lines: usize,
}

/// What feeds a link: its packets come in order of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Feeder {
    /// The agent that sends (flow, direction).
    Agent(usize),
    /// Another link, this long after it.
    Link(LinkId, Span),
}

/// Index of a flow's direction, and of the agent that sends that way.
#[inline]
fn way(flow: FlowId, direction: Direction) -> usize {
    2 * flow.0 as usize + direction as usize
}

impl Routing {
    /// Routes for a network, and where in `hops` that of each sending agent begins; stretches keep what
    /// is folded into them if `unfold` says so. Every loop of
    /// cause and effect passes the event queue at least once: where links feed each other in a circle
    /// one is fed from outside, too, as every route begins at a host, and so has two feeders; and a
    /// loop through hosts is a flow's way there and back.
    ///
    /// # Panics
    /// If a flow crosses no link with a rate.
    pub fn new(network: &Network, unfold: bool) -> (Self, Vec<u32>) {
        let ways: Vec<&[LinkId]> = network
            .flows
            .iter()
            .flat_map(|flow| [flow.forward.as_slice(), flow.reverse.as_slice()])
            .collect();
        let mut shared = shared_links(network, &ways);
        // What a link with a queue discipline does depends on its transmissions' ends, too.
        for (shared, link) in shared.iter_mut().zip(&network.links) {
            *shared |= link.fifo_limit().is_none();
        }
        // A flow that meets no other would answer itself for ever: make it pass the event queue.
        for flow in &network.flows {
            let meets = flow
                .forward
                .iter()
                .chain(&flow.reverse)
                .any(|l| shared[l.0 as usize]);
            if !meets {
                let links = flow.forward.iter().chain(&flow.reverse);
                let mut with_rates = links.filter(|l| !network.links[l.0 as usize].only_delays());
                let first = with_rates
                    .next()
                    .expect("every flow crosses a link with a rate");
                shared[first.0 as usize] = true;
            }
        }
        let mut routing = Self {
            hops: Vec::with_capacity(ways.iter().map(|links| links.len()).sum()),
            stretches: Vec::new(),
            ties: TieOrder::new(network.seed, network.flows.len()),
            shared_lines: 0,
            own_lines: 0,
        };
        let mut first_hops = Vec::with_capacity(ways.len());
        let mut users = vec![0; network.links.len()];
        for link in ways.iter().copied().flatten() {
            users[link.0 as usize] += 1;
        }
        let mut classes = BTreeMap::new();
        for (index, links) in ways.iter().enumerate() {
            let first = routing.hops.len();
            first_hops.push(first as u32);
            for (position, link) in links.iter().enumerate() {
                let config = &network.links[link.0 as usize];
                if config.only_delays() {
                    routing.stretch(first, *link, config, unfold);
                    continue;
                }
                let (mut line, own_line) = (AT_ONCE, routing.own_lines as u32);
                if shared[link.0 as usize] {
                    let before = links[..position].iter().rev();
                    let loop_before = before.chain(ways[index ^ 1].iter().rev());
                    let class = (link, transit(network, &shared, loop_before));
                    let new = classes.len() as u32;
                    line = *classes.entry(class).or_insert(new);
                    routing.own_lines += 1;
                }
                let own = users[link.0 as usize] == 1;
                routing.hops.push(Hop {
                    transmitter: Transmitter::new(config).filter(|_| own),
                    link: link.0,
                    line,
                    own_line,
                    last: false,
                    served: config.fifo_limit().is_none(),
                });
            }
            if let Some(hop) = routing.hops.last_mut().filter(|_| !links.is_empty()) {
                hop.last = true;
            }
        }
        routing.shared_lines = classes.len();
        (routing, first_hops)
    }

    /// Makes the last hop of the way that begins with the `first` longer if it is a stretch, else adds one.
    fn stretch(&mut self, first: usize, link: LinkId, config: &LinkConfig, unfold: bool) {
        let begun = self.hops.len() > first;
        let after_stretch = begun && self.hops.last().is_some_and(|hop| hop.link == STRETCH);
        if !after_stretch {
            self.hops.push(Hop {
                transmitter: None,
                link: STRETCH,
                line: AT_ONCE,
                own_line: self.stretches.len() as u32,
                last: false,
                served: false,
            });
            self.stretches.push(Stretch::default());
        }
        let last = self.stretches.len() - 1;
        self.stretches[last].extend(link, config, unfold);
    }

    /// The line in which a host's packets first wait, given its first hop; [`AT_ONCE`] if they go
    /// all the way at once.
    pub fn first_line(&self, first_hop: u32) -> u32 {
        let mut route = self.hops[first_hop as usize..].iter();
        let wait_or_end = route.find(|hop| hop.line != AT_ONCE || hop.last);
        wait_or_end.map_or(AT_ONCE, |hop| hop.line)
    }

    /// Whether what a host sends is at the other end at that instant, given its first hop.
    ///
    /// Of two timers of that instant this host's is then the cause and the other end's the effect.
    /// The order of hosts would not do: the engine works ahead at this host, and would find the
    /// other's timer done or not, depending on how far.
    pub fn is_instant(&self, first_hop: u32) -> bool {
        let hop = &self.hops[first_hop as usize];
        let stretch = (hop.link == STRETCH && hop.last).then_some(hop.own_line);
        stretch.is_some_and(|stretch| self.stretches[stretch as usize].delay == Span::ZERO)
    }

    /// The step that a link is of the route that begins with the `first`.
    pub fn hop(&self, first: u32, link: u32) -> u32 {
        let mut route = self.hops[first as usize..].iter();
        let position = route.position(|hop| hop.link == link);
        first + position.expect("the packet's route has this link") as u32
    }

    /// A packet's place among simultaneous arrivals.
    #[inline]
    pub fn rank(&self, packet: &Packet) -> u32 {
        self.ties.rank(packet)
    }
}

/// The last shared link among links walked backward, and the propagation from it to here.
fn transit<'a>(
    network: &Network,
    shared: &[bool],
    backward: impl Iterator<Item = &'a LinkId>,
) -> (Option<LinkId>, Span) {
    let mut delay = Span::ZERO;
    for link in backward {
        delay += network.links[link.0 as usize].delay;
        if shared[link.0 as usize] {
            return (Some(*link), delay);
        }
    }
    (None, delay)
}

/// Which links have more than one feeder.
fn shared_links(network: &Network, ways: &[&[LinkId]]) -> Vec<bool> {
    let mut feeder: Vec<Option<Feeder>> = vec![None; network.links.len()];
    let mut shared = vec![false; network.links.len()];
    for (index, links) in ways.iter().enumerate() {
        let mut from = Feeder::Agent(index);
        for link in *links {
            let at = link.0 as usize;
            if network.links[at].only_delays() {
                // What leaves a link for two places at different distances does not reach a third
                // in order; what leaves a host is of one flow and one way.
                if let Feeder::Link(_, after) = &mut from {
                    *after += network.links[at].delay;
                }
                continue;
            }
            shared[at] |= feeder[at].is_some_and(|known| known != from);
            feeder[at] = Some(from);
            from = Feeder::Link(*link, Span::ZERO);
        }
    }
    shared
}

/// The order of packets that arrive at a link at the same instant: a hash of seed, flow, direction
/// and the time of sending; what one host sends at once stays in order. An order of flows alone
/// would last for the whole run; where senders and bottleneck have the same rate, arrivals tie all
/// the time, and the flow that always comes first would shut the others out of a full queue.
#[derive(Clone, Debug)]
pub struct TieOrder {
    /// One per flow and direction.
    keys: Vec<u64>,
    /// How many low bits of a rank tell flow and direction, so that no two ranks are equal.
    way_bits: u32,
}

impl TieOrder {
    /// The order that belongs to a seed.
    pub fn new(seed: u64, flows: usize) -> Self {
        let ways = 2 * flows as u64;
        let keys = (0..ways)
            .map(|way| RandomStream::new(seed, "tie", way).bits())
            .collect();
        Self {
            keys,
            way_bits: ways.next_power_of_two().trailing_zeros(),
        }
    }

    /// A packet's place among simultaneous arrivals, below 2³⁰; packets of different flows or
    /// directions have different places.
    #[inline]
    pub fn rank(&self, packet: &Packet) -> u32 {
        let way = way(packet.flow, packet.direction);
        let hash = (mix(self.keys[way] ^ packet.sent.0) >> 34) as u32;
        hash >> self.way_bits << self.way_bits | way as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::Time;

    fn packet(flow: u32, direction: Direction, sent: u64) -> Packet {
        Packet {
            flow: FlowId(flow),
            direction,
            sent: Time(sent),
            ..Packet::default()
        }
    }

    #[test]
    fn no_two_flows_or_directions_share_a_rank() {
        let order = TieOrder::new(1, 50);
        for sent in 0..100 {
            let mut ranks: Vec<u32> = (0..50)
                .flat_map(|flow| [(flow, Direction::Forward), (flow, Direction::Reverse)])
                .map(|(flow, direction)| order.rank(&packet(flow, direction, sent)))
                .collect();
            ranks.sort_unstable();
            ranks.dedup();
            assert_eq!(ranks.len(), 100);
            assert!(ranks[99] < 1 << 30);
        }
    }

    #[test]
    fn flows_that_always_meet_come_first_equally_often() {
        let order = TieOrder::new(1, 10);
        for flow in 1..10 {
            let wins = (0..10_000)
                .map(|sent| {
                    let mine = order.rank(&packet(flow, Direction::Forward, sent));
                    mine < order.rank(&packet(0, Direction::Forward, sent))
                })
                .filter(|first| *first)
                .count();
            // Four standard deviations of a fair coin.
            assert!(
                (4800..=5200).contains(&wins),
                "flow {flow} came first {wins} times"
            );
        }
    }

    #[test]
    fn the_seed_decides() {
        let rank = |seed| TieOrder::new(seed, 1).rank(&packet(0, Direction::Forward, 0));
        assert_eq!(rank(1), rank(1));
        assert_ne!(rank(1), rank(2));
    }
}
