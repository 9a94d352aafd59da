//! Random networks that are graphs: a ring of nodes with chords, where every link has two
//! directions. Flows take routes without loops in both directions around the ring, so that links
//! feed each other in circles.

use super::network::{flow, limit, link, link_with_rate, network};
use goodqueue_sim::{Equipment, FlowConfig, LinkConfig, Network};
use goodqueue_types::LinkId;
use proptest::prelude::*;

/// A flow's route before the graph is known.
#[derive(Clone, Debug)]
struct Wish {
    from: usize,
    /// Index of the link to take at each node.
    turns: Vec<usize>,
    /// True if the reverse route leads forward around the ring, false if backward;
    /// none if it uses the same links as the forward route.
    back: Option<bool>,
}

/// Nodes on a ring, and the ends of all links. The links of the ring come first.
#[derive(Clone, Debug)]
struct Ring {
    nodes: usize,
    links: Vec<(usize, usize)>,
}

/// Draws networks of 3 to 6 nodes, up to 9 links of two directions each, and up to 6 flows.
pub fn graphs() -> impl Strategy<Value = Network> {
    (3..=6_usize)
        .prop_flat_map(|nodes| {
            let chord = (0..nodes, 1..nodes).prop_map(move |(at, step)| (at, (at + step) % nodes));
            (Just(nodes), prop::collection::vec(chord, 0..=3))
        })
        .prop_map(|(nodes, chords)| {
            let ring = (0..nodes).map(|node| (node, (node + 1) % nodes));
            let links = ring.chain(chords).collect();
            Ring { nodes, links }
        })
        .prop_flat_map(|ring| {
            let directions = 2 * ring.links.len();
            // In half of the networks, all links are drop-tail, which need no events.
            let links = prop_oneof![
                prop::collection::vec(plain_link().boxed(), directions),
                prop::collection::vec(link().boxed(), directions),
            ];
            let flow = (flow(directions), wish(ring.nodes));
            let flows = prop::collection::vec(flow, 2..=6).prop_map(move |flows| {
                let along = |(flow, wish): (FlowConfig, Wish)| ring.route(flow, &wish);
                flows.into_iter().map(along).collect()
            });
            network(links, flows)
        })
}

fn plain_link() -> impl Strategy<Value = LinkConfig> {
    (link_with_rate(), limit()).prop_map(|(mut link, limit)| {
        let (framing, drop_list) = (link.framing, std::mem::take(&mut link.drop_list));
        *link = Equipment {
            framing,
            drop_list,
            ..Equipment::drop_tail(limit)
        };
        link
    })
}

fn wish(nodes: usize) -> impl Strategy<Value = Wish> {
    let turns = prop_oneof![
        // The route follows the ring as far as possible.
        Just(vec![0; 5]),
        prop::collection::vec(0_usize..12, 1..=5),
    ];
    (0..nodes, turns, any::<Option<bool>>()).prop_map(|(from, turns, back)| Wish {
        from,
        turns,
        back,
    })
}

impl Ring {
    /// Gives a flow the requested route, as far as the graph permits it.
    fn route(&self, flow: FlowConfig, wish: &Wish) -> FlowConfig {
        let mut been = vec![wish.from];
        let mut forward = Vec::new();
        for turn in &wish.turns {
            let node = been[been.len() - 1];
            // The link that continues around the ring comes first.
            let mut open: Vec<(LinkId, usize)> = self.from(node).collect();
            open.retain(|(_, next)| !been.contains(next));
            let Some((link, next)) = open.get(turn % open.len().max(1)) else {
                break;
            };
            forward.push(*link);
            been.push(*next);
        }
        let end = been[been.len() - 1];
        let reverse = match wish.back {
            None => forward
                .iter()
                .rev()
                .map(|link| LinkId(link.0 ^ 1))
                .collect(),
            Some(onward) => self.around(end, wish.from, onward),
        };
        FlowConfig {
            forward,
            reverse,
            ..flow
        }
    }

    /// Iterates over the directions of links that begin at a node, with the nodes at their ends.
    fn from(&self, node: usize) -> impl Iterator<Item = (LinkId, usize)> + '_ {
        let others = (0..self.links.len()).filter(move |link| *link != node);
        std::iter::once(node).chain(others).filter_map(move |link| {
            let (from, to) = self.links[link];
            match node {
                _ if node == from => Some((LinkId(2 * link as u32), to)),
                _ if node == to => Some((LinkId(2 * link as u32 + 1), from)),
                _ => None,
            }
        })
    }

    fn around(&self, from: usize, to: usize, onward: bool) -> Vec<LinkId> {
        let mut way = Vec::new();
        let mut node = from;
        while node != to {
            if onward {
                way.push(LinkId(2 * node as u32));
                node = (node + 1) % self.nodes;
            } else {
                node = (node + self.nodes - 1) % self.nodes;
                way.push(LinkId(2 * node as u32 + 1));
            }
        }
        way
    }
}
