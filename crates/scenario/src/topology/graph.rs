//! Nodes, the links that join them, and ways from one to another.

use goodqueue_types::{LinkId, Span};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// One direction of a link, as the network numbers it: link k is 2k forward and 2k + 1 backward.
pub(crate) fn directed(link: usize, backward: bool) -> LinkId {
    LinkId((2 * link + usize::from(backward)) as u32)
}

/// The link of a direction, and whether it is the backward one.
pub(crate) fn link_of(direction: LinkId) -> (usize, bool) {
    (direction.0 as usize / 2, direction.0 % 2 == 1)
}

/// Named nodes, and which two of them each link joins.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Graph {
    pub nodes: Vec<String>,
    /// By link: forward is from the first to the second.
    ends: Vec<(usize, usize)>,
    /// By node: the links that touch it, in the order of the file.
    touching: Vec<Vec<usize>>,
}

/// Where a walk stopped, and why it cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stray {
    /// The link at this place of the route does not touch the node where the walk is.
    Gap { place: usize, node: usize },
    /// The link at this place leads to a node where the walk has been.
    Loop { place: usize, node: usize },
}

impl Graph {
    /// Nodes 0 to `links`, each joined to the next.
    pub(crate) fn row(links: usize) -> Self {
        let mut graph = Self::default();
        for node in 0..=links {
            graph.add_node(node.to_string());
        }
        for link in 0..links {
            graph.add_link(link, link + 1);
        }
        graph
    }

    pub(crate) fn add_node(&mut self, name: String) -> usize {
        self.nodes.push(name);
        self.touching.push(Vec::new());
        self.nodes.len() - 1
    }

    pub(crate) fn add_link(&mut self, from: usize, to: usize) {
        let link = self.ends.len();
        self.ends.push((from, to));
        self.touching[from].push(link);
        self.touching[to].push(link);
    }

    pub(crate) fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node == name)
    }

    pub(crate) fn ends(&self, link: usize) -> (usize, usize) {
        self.ends[link]
    }

    /// Links that touch a node, in the order of the file.
    pub(crate) fn touching(&self, node: usize) -> &[usize] {
        &self.touching[node]
    }

    /// Over a link from one of its ends to the other.
    fn cross(&self, link: usize, node: usize) -> Option<(LinkId, usize)> {
        let (from, to) = self.ends[link];
        match node {
            _ if node == from => Some((directed(link, false), to)),
            _ if node == to => Some((directed(link, true), from)),
            _ => None,
        }
    }

    /// Walks over these links one after the other: their directions and the node at the end.
    pub(crate) fn walk(&self, from: usize, links: &[usize]) -> Result<(Vec<LinkId>, usize), Stray> {
        let mut node = from;
        let mut been = vec![from];
        let mut way = Vec::with_capacity(links.len());
        for (place, link) in links.iter().enumerate() {
            let crossed = self.cross(*link, node);
            let (direction, next) = crossed.ok_or(Stray::Gap { place, node })?;
            if been.contains(&next) {
                return Err(Stray::Loop { place, node: next });
            }
            been.push(next);
            way.push(direction);
            node = next;
        }
        Ok((way, node))
    }
}

/// The same links the other way.
pub(crate) fn back(way: &[LinkId]) -> Vec<LinkId> {
    let turned = way.iter().rev().map(|direction| {
        let (link, backward) = link_of(*direction);
        directed(link, !backward)
    });
    turned.collect()
}

/// How far a node is from another: propagation there and back, then links.
type Distance = (Span, usize);

/// Shortest ways: the least propagation there and back, as the way back is over the same links;
/// of equal ones the fewest links; of equal ones the one whose link comes first in the file where
/// they part, seen from the start. So the ways from a to b and from b to a are equally long.
pub(crate) struct Router<'a> {
    graph: &'a Graph,
    /// By link.
    round_trips: Vec<Span>,
    /// By destination: the distance of every node that reaches it.
    distances: BTreeMap<usize, Vec<Option<Distance>>>,
}

impl<'a> Router<'a> {
    pub(crate) fn new(graph: &'a Graph, round_trips: Vec<Span>) -> Self {
        Self {
            graph,
            round_trips,
            distances: BTreeMap::new(),
        }
    }

    /// The way from one node to another, if there is any.
    pub(crate) fn shortest(&mut self, from: usize, to: usize) -> Option<Vec<LinkId>> {
        let distances = self
            .distances
            .entry(to)
            .or_insert_with(|| distances(self.graph, &self.round_trips, to));
        distances[from]?;
        let mut way = Vec::new();
        let mut node = from;
        while node != to {
            // The first in the file of the links that are on a shortest way.
            let step = self.graph.touching(node).iter().find_map(|link| {
                let (direction, next) = self.graph.cross(*link, node)?;
                let (span, links) = distances[next]?;
                let through = (span + self.round_trips[*link], links + 1);
                (distances[node] == Some(through)).then_some((direction, next))
            });
            let (direction, next) = step.expect("a node at a distance has a next one");
            way.push(direction);
            node = next;
        }
        Some(way)
    }
}

/// Dijkstra's algorithm from the destination on.
fn distances(graph: &Graph, round_trips: &[Span], to: usize) -> Vec<Option<Distance>> {
    let mut distances: Vec<Option<Distance>> = vec![None; graph.nodes.len()];
    let mut reached = BinaryHeap::from([Reverse(((Span::ZERO, 0), to))]);
    while let Some(Reverse((distance, node))) = reached.pop() {
        if distances[node].is_some() {
            continue;
        }
        distances[node] = Some(distance);
        for link in graph.touching(node) {
            if let Some((_, next)) = graph.cross(*link, node) {
                let further = (distance.0 + round_trips[*link], distance.1 + 1);
                reached.push(Reverse((further, next)));
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests;
