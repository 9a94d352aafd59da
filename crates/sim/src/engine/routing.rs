//! The next hop of each packet, and the places where packets must wait for the event queue.
//!
//! A link whose arrivals all come from one source, in order, needs no events: a later packet cannot
//! overtake an earlier one, so a packet is walked through it at once. Arrivals must only be put in
//! order if several sources meet. Before such links packets wait in *lines*, sorted by arrival, and
//! the event queue holds the head of each line.
//!
//! Packets that left one shared link and take equally long to the next arrive almost in the order
//! in which they join the line. They share a line, so that the event queue holds one entry for each
//! class of round-trip times instead of one for each flow. A packet that would have to pass many
//! other packets waits in a line of its own flow.

use crate::link::Transmitter;
use crate::{LinkConfig, Network};
use goodqueue_types::{Direction, FlowId, LinkId, Packet, RandomStream, Span, mix};
use std::collections::BTreeMap;

/// Value of a hop's line if the packet continues at once, without a line.
pub const AT_ONCE: u32 = u32::MAX;

/// Value of a hop's link if the hop is a stretch of links that only delay.
pub const STRETCH: u32 = u32::MAX;

/// One step of a route.
#[derive(Clone, Debug)]
pub struct Hop {
    /// State of the link, if the link consists of a transmitter alone and no other route uses it.
    /// Most links of a large network are of this kind: the hosts' own.
    pub transmitter: Option<Transmitter>,
    /// Link that the hop crosses, or [`STRETCH`].
    pub link: u32,
    /// Line in which packets wait for the link, or [`AT_ONCE`].
    pub line: u32,
    /// Index of the flow's own line before this link, if packets wait there. For a stretch, the
    /// stretch's index.
    pub own_line: u32,
    /// True if the next place is the host.
    pub last: bool,
    /// True if packets must wait in a line before the next hop.
    pub before_line: bool,
    /// True if the link is a [`ServedLink`](crate::link::served_link::ServedLink).
    pub served: bool,
}

/// Consecutive links that only delay, combined into one delay.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    /// Sum of the links' delays.
    pub delay: Span,
    /// Links of the stretch that are observed, each with its delay from the start of the stretch.
    pub observed: Vec<(u32, Span)>,
    /// All links of the stretch in the same form, if a probe wants packet events at these links.
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
    /// Hops of all routes, one route after the other.
    pub hops: Vec<Hop>,
    /// Stretches of links that only delay.
    pub stretches: Vec<Stretch>,
    /// Index of the first hop of each agent's route, if a link has a queue discipline.
    first_hops: Vec<u32>,
    /// Smallest number of hops before each link on a route, if a link has a queue discipline.
    least_positions: Vec<u32>,
    ties: TieOrder,
    /// Number of lines that flows share.
    pub shared_lines: usize,
    /// Number of lines that belong to one flow.
    pub own_lines: usize,
}

/// Source of a link's packets. The packets of one source come in order of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Feeder {
    /// The sending agent of a flow and direction.
    Agent(usize),
    /// Another link, and the delay from it to here.
    Link(LinkId, Span),
}

/// Returns the index of a flow's direction, which is also that of the agent that sends in it.
#[inline]
fn way(flow: FlowId, direction: Direction) -> usize {
    2 * flow.0 as usize + direction as usize
}

impl Routing {
    /// Computes the routes of a network, and for each sending agent the index in `hops` of its
    /// first hop. Stretches keep the links that they combine if `unfold` is true.
    ///
    /// Every loop of cause and effect passes the event queue at least once. If links feed each
    /// other in a circle, one of them is also fed from outside, because every route begins at a
    /// host, and so has two feeders. A loop through hosts follows a flow's route in both
    /// directions.
    ///
    /// # Panics
    /// Panics if a flow crosses no link with a rate.
    pub fn new(network: &Network, unfold: bool) -> (Self, Vec<u32>) {
        let ways: Vec<&[LinkId]> = network
            .flows
            .iter()
            .flat_map(|flow| [flow.forward.as_slice(), flow.reverse.as_slice()])
            .collect();
        let mut shared = shared_links(network, &ways);
        // A link with a queue discipline also depends on the ends of its transmissions, so its
        // arrivals need the event queue.
        for (shared, link) in shared.iter_mut().zip(&network.links) {
            *shared |= link.fifo_limit().is_none();
        }
        // If no link of a flow used the event queue, both ends of the flow would answer each other
        // endlessly, so one of its links must use it.
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
            first_hops: Vec::new(),
            least_positions: Vec::new(),
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
                    before_line: false,
                    served: config.fifo_limit().is_none(),
                });
            }
            let route = &mut routing.hops[first..];
            for at in 1..route.len() {
                route[at - 1].before_line = route[at].line != AT_ONCE;
            }
            if let Some(hop) = route.last_mut() {
                hop.last = true;
            }
        }
        routing.shared_lines = classes.len();
        if routing.hops.iter().any(|hop| hop.served) {
            routing.find_positions(network.links.len(), &first_hops);
        }
        (routing, first_hops)
    }

    /// Fills in what [`hop`](Self::hop) needs.
    fn find_positions(&mut self, links: usize, first_hops: &[u32]) {
        self.first_hops = first_hops.to_vec();
        self.least_positions = vec![u32::MAX; links];
        let ends = first_hops.iter().skip(1).copied();
        let ends = ends.chain([self.hops.len() as u32]);
        for (first, end) in first_hops.iter().copied().zip(ends) {
            for (position, hop) in (0..).zip(&self.hops[first as usize..end as usize]) {
                if let Some(least) = self.least_positions.get_mut(hop.link as usize) {
                    *least = position.min(*least);
                }
            }
        }
    }

    /// Adds a link to the last hop of the route that begins with the `first` hop, if it is a
    /// stretch. Otherwise appends a stretch.
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
                before_line: false,
                served: false,
            });
            self.stretches.push(Stretch::default());
        }
        let last = self.stretches.len() - 1;
        self.stretches[last].extend(link, config, unfold);
    }

    /// Returns the line in which a host's packets first wait, given its first hop, or [`AT_ONCE`]
    /// if they wait nowhere.
    pub fn first_line(&self, first_hop: u32) -> u32 {
        let mut route = self.hops[first_hop as usize..].iter();
        let wait_or_end = route.find(|hop| hop.line != AT_ONCE || hop.last);
        wait_or_end.map_or(AT_ONCE, |hop| hop.line)
    }

    /// Returns true if a host's packets reach the other end at the instant of sending, given its
    /// first hop.
    ///
    /// If timers of both hosts fire at that instant, this host's timer comes first, because its
    /// packets affect the other host. The order of host numbers would not be sufficient: the engine
    /// works ahead at this host, so the other timer might have fired already.
    pub fn is_instant(&self, first_hop: u32) -> bool {
        let hop = &self.hops[first_hop as usize];
        let stretch = (hop.link == STRETCH && hop.last).then_some(hop.own_line);
        stretch.is_some_and(|stretch| self.stretches[stretch as usize].delay == Span::ZERO)
    }

    /// Returns the hop at which the route of a sending agent crosses a link with a queue
    /// discipline.
    #[inline]
    pub fn hop(&self, agent: usize, link: u32) -> u32 {
        // In most networks the link has the same place in all routes, so the search usually ends at
        // the first hop.
        let from = self.first_hops[agent] + self.least_positions[link as usize];
        let mut route = self.hops[from as usize..].iter();
        let position = route.position(|hop| hop.link == link);
        from + position.expect("the packet's route has this link") as u32
    }

    /// Returns the link before this one on the route of a sending agent, unless it only delays.
    pub fn link_before(&self, agent: usize, link: u32) -> Option<u32> {
        let hop = self.hop(agent, link);
        let before = (hop > self.first_hops[agent]).then(|| self.hops[hop as usize - 1].link);
        before.filter(|link| *link != STRETCH)
    }

    /// Returns a packet's place among simultaneous arrivals.
    #[inline]
    pub fn rank(&self, packet: &Packet) -> u32 {
        self.ties.rank(packet)
    }
}

/// Returns the last shared link among links in backward order, and the propagation delay from it to
/// here.
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

/// Returns for each link if it has more than one feeder.
fn shared_links(network: &Network, ways: &[&[LinkId]]) -> Vec<bool> {
    let mut feeder: Vec<Option<Feeder>> = vec![None; network.links.len()];
    let mut shared = vec![false; network.links.len()];
    for (index, links) in ways.iter().enumerate() {
        let mut from = Feeder::Agent(index);
        for link in *links {
            let at = link.0 as usize;
            if network.links[at].only_delays() {
                // Packets that leave a link for two places at different distances do not reach a
                // third in order. Packets that leave a host belong to one flow and direction.
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

/// Order of packets that arrive at a link at the same instant: a hash of seed, flow, direction and
/// time of sending. Packets that one host sends at once stay in order. An order by flow alone would
/// last for the whole run. If senders and bottleneck have the same rate, many arrivals are
/// simultaneous, and a flow that always came first would shut the other flows out of a full queue.
#[derive(Clone, Debug)]
pub struct TieOrder {
    /// Hash key of each flow and direction.
    keys: Vec<u64>,
    /// Number of low bits of a rank that hold flow and direction, so that no two ranks are equal.
    way_bits: u32,
}

impl TieOrder {
    /// Creates the order that belongs to a seed.
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

    /// Returns a packet's place among simultaneous arrivals, below 2³⁰. Packets of different flows
    /// or directions have different places.
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
    fn simultaneous_packets_of_two_flows_come_first_equally_often() {
        let order = TieOrder::new(1, 10);
        for flow in 1..10 {
            let wins = (0..10_000)
                .map(|sent| {
                    let mine = order.rank(&packet(flow, Direction::Forward, sent));
                    mine < order.rank(&packet(0, Direction::Forward, sent))
                })
                .filter(|first| *first)
                .count();
            // The tolerance is four standard deviations of a fair coin.
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
