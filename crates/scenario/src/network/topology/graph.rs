//! Nodes, the links that join them, and paths between them.

use goodqueue_types::{LinkId, Span};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Returns one direction of a link by its number in the network: link k is 2k forward and 2k + 1
/// backward.
pub(crate) fn directed(link: usize, backward: bool) -> LinkId {
    LinkId((2 * link + usize::from(backward)) as u32)
}

/// Returns the link of a direction, and true if the direction is backward.
pub(crate) fn link_of(direction: LinkId) -> (usize, bool) {
    (direction.0 as usize / 2, direction.0 % 2 == 1)
}

/// Named nodes, and the two nodes that each link joins.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Graph {
    pub nodes: Vec<String>,
    /// Ends of each link: forward is from the first to the second.
    ends: Vec<(usize, usize)>,
    /// Links that touch each node, in the order of the file.
    touching: Vec<Vec<usize>>,
}

/// Place at which a walk stopped, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stray {
    /// The link at this place of the route does not touch the current node.
    Gap { place: usize, node: usize },
    /// The link at this place leads to a node that was visited before.
    Loop { place: usize, node: usize },
}

impl Graph {
    /// Returns a row of nodes 0 to `links`, each joined to the next.
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

    /// Returns the links that touch a node, in the order of the file.
    pub(crate) fn touching(&self, node: usize) -> &[usize] {
        &self.touching[node]
    }

    /// Crosses a link from one of its ends to the other.
    fn cross(&self, link: usize, node: usize) -> Option<(LinkId, usize)> {
        let (from, to) = self.ends[link];
        match node {
            _ if node == from => Some((directed(link, false), to)),
            _ if node == to => Some((directed(link, true), from)),
            _ => None,
        }
    }

    /// Walks over these links one after the other. Returns their directions and the last node.
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

/// Returns the same links in the opposite direction.
pub(crate) fn back(way: &[LinkId]) -> Vec<LinkId> {
    let turned = way.iter().rev().map(|direction| {
        let (link, backward) = link_of(*direction);
        directed(link, !backward)
    });
    turned.collect()
}

/// Distance of two nodes: propagation in both directions, then number of links.
type Distance = (Span, usize);

/// Search for shortest paths. The length is the propagation in both directions, as the reverse path
/// uses the same links. Among equal ones the path with the fewest links is taken. Among these it is
/// the one whose link comes first in the file where they diverge, seen from the start. So the paths
/// from a to b and from b to a have equal lengths.
pub(crate) struct Router<'a> {
    graph: &'a Graph,
    /// Propagation delay of each link, both directions.
    round_trips: Vec<Span>,
    /// Distances of all nodes that reach a destination, by destination.
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

    /// Returns the path from one node to another, if there is one.
    pub(crate) fn shortest(&mut self, from: usize, to: usize) -> Option<Vec<LinkId>> {
        let distances = self
            .distances
            .entry(to)
            .or_insert_with(|| distances(self.graph, &self.round_trips, to));
        distances[from]?;
        let mut way = Vec::new();
        let mut node = from;
        while node != to {
            // The step takes the first link in the file that is on a shortest path.
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

/// Runs Dijkstra's algorithm from the destination.
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
