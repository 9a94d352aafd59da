//! Nodes and links of each shape. Star and tree write out the tables of a graph's links, so that
//! all links are read in the same way.

use super::graph::Graph;
use super::{Shape, UsualEnds};
use crate::language::bounds::{MAX_DRAWN, values};
use crate::language::document::{Entry, Node, Table, Value};
use crate::language::error::{Checked, Origin, nearest, shorten};
use crate::language::reader::Reader;
use crate::language::spec::{BOTTLENECK, CHAIN_LINK, GRAPH_LINK, MAX_LINKS, Spec};
use crate::language::units::format_span;
use goodqueue_types::Span;
use std::collections::BTreeSet;

/// Base round-trip times of a tree's leaves in milliseconds: 18 from 20 to 534 with mean 217, as
/// Dhamdhere, Jiang and Dovrolis (INFOCOM 2005) state without printing them. These increase
/// quadratically, 20 + (263 i + 45 i²) / 34, rounded so that each partial sum is as close as
/// possible.
const LEAVES_MS: [u64; 18] = [
    20, 29, 41, 55, 72, 92, 114, 139, 166, 197, 230, 265, 304, 344, 388, 433, 483, 534,
];

/// Nodes and links before the links are read.
pub(crate) struct Sketch {
    pub shape: Shape,
    pub graph: Graph,
    pub links: Vec<Drawn>,
    pub usual_ends: UsualEnds,
}

/// A link and the table from which it is read.
pub(crate) struct Drawn {
    pub name: String,
    node: Node,
    spec: &'static Spec,
    path: String,
}

impl Drawn {
    pub(crate) fn table(&self) -> Checked<Reader<'_>> {
        Reader::open(&self.node, self.spec, self.path.clone())
    }
}

impl Sketch {
    /// Returns the nodes and links of a topology of this shape.
    pub(crate) fn read(shape: &str, topology: &Reader<'_>) -> Checked<Self> {
        match shape {
            "dumbbell" => {
                let field = topology.require("bottleneck")?;
                let link = Drawn {
                    name: "bottleneck".to_owned(),
                    node: field.node.clone(),
                    spec: &BOTTLENECK,
                    path: field.path,
                };
                Ok(Self::row(Shape::Dumbbell, vec![link]))
            }
            "chain" => Ok(Self::row(Shape::Chain, read_chain(topology)?)),
            "star" => {
                let mut drawing = Drawing::default();
                draw_star(topology, &mut drawing)?;
                drawing.finish(topology)
            }
            "tree" => {
                let mut drawing = Drawing::default();
                draw_tree(topology, &mut drawing)?;
                drawing.finish(topology)
            }
            _ => {
                topology.require("link")?;
                Drawing::default().finish(topology)
            }
        }
    }

    fn row(shape: Shape, links: Vec<Drawn>) -> Self {
        let last = links.len();
        Self {
            shape,
            graph: Graph::row(last),
            links,
            usual_ends: UsualEnds {
                from: vec![0],
                to: vec![last],
            },
        }
    }
}

fn read_chain(topology: &Reader<'_>) -> Checked<Vec<Drawn>> {
    let field = topology.require("link")?;
    let tables = field.tables()?;
    check_number(topology, "link", "a chain", tables.len())?;
    let mut names = BTreeSet::new();
    let mut links = Vec::with_capacity(tables.len());
    for (index, (table, item)) in tables.iter().zip(field.items()?).enumerate() {
        links.push(Drawn {
            name: read_name(table, index, &mut names)?,
            node: item.node.clone(),
            spec: &CHAIN_LINK,
            path: item.path,
        });
    }
    Ok(links)
}

fn check_number(topology: &Reader<'_>, key: &str, what: &str, links: usize) -> Checked<()> {
    if (1..=MAX_LINKS).contains(&links) {
        return Ok(());
    }
    let message = format!("{what} of {links} links");
    Err(topology.problem(key, message, "write from 1 to 1000 [[topology.link]]"))
}

/// Reads the name of a link, which must be unique.
fn read_name(table: &Reader<'_>, index: usize, names: &mut BTreeSet<String>) -> Checked<String> {
    let name = table
        .name("name")?
        .unwrap_or_else(|| format!("link{index}"));
    if name.contains('.') {
        return Err(table.problem("name", "a link's name has no dots", "use \"-\" or \"_\""));
    }
    if !names.insert(name.clone()) {
        let message = format!("two links are called \"{name}\"");
        return Err(table.problem("name", message, "give each link its own name"));
    }
    Ok(name)
}

/// A graph under construction.
#[derive(Default)]
struct Drawing {
    graph: Graph,
    /// True if nodes are declared, so that links may not name others.
    declared: bool,
    links: Vec<Drawn>,
    names: BTreeSet<String>,
    usual_ends: UsualEnds,
}

impl Drawing {
    /// Adds the nodes and links of the file, and checks the graph.
    fn finish(mut self, topology: &Reader<'_>) -> Checked<Sketch> {
        let nodes = match topology.get("node") {
            Some(field) => field.tables()?,
            None => Vec::new(),
        };
        let first = self.graph.nodes.len();
        for table in &nodes {
            let name = table.require("name")?.name()?;
            if self.graph.node(&name).is_some() {
                let message = format!("two nodes are called \"{name}\"");
                return Err(table.problem("name", message, "give each node its own name"));
            }
            self.graph.add_node(name);
        }
        self.declared = !self.graph.nodes.is_empty();
        if let Some(field) = topology.get("link") {
            let tables = field.tables()?;
            check_number(topology, "link", "a graph", self.links.len() + tables.len())?;
            for (index, (table, item)) in tables.iter().zip(field.items()?).enumerate() {
                let name = read_name(table, index, &mut self.names)?;
                let (from, to) = (self.end(table, "from")?, self.end(table, "to")?);
                if from == to {
                    let node = &self.graph.nodes[from];
                    let message = format!("link \"{name}\" joins node \"{node}\" to itself");
                    return Err(table.problem("to", message, "name two different nodes"));
                }
                self.graph.add_link(from, to);
                self.links.push(Drawn {
                    name,
                    node: item.node.clone(),
                    spec: &GRAPH_LINK,
                    path: item.path,
                });
            }
        }
        for (node, table) in (first..).zip(&nodes) {
            if self.graph.touching(node).is_empty() {
                let message = format!("no link touches node \"{}\"", self.graph.nodes[node]);
                let help = "name it in \"from\" or \"to\" of a [[topology.link]], or leave it out";
                return Err(table.problem("name", message, help));
            }
        }
        Ok(Sketch {
            shape: Shape::Graph,
            graph: self.graph,
            links: self.links,
            usual_ends: self.usual_ends,
        })
    }

    /// Returns the node at one end of a link.
    fn end(&mut self, link: &Reader<'_>, key: &str) -> Checked<usize> {
        let field = link.require(key)?;
        let name = field.name()?;
        match self.graph.node(&name) {
            Some(node) => Ok(node),
            None if !self.declared => Ok(self.graph.add_node(name)),
            None => {
                let help = match nearest(&name, self.graph.nodes.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("add a [[topology.node]] with name = \"{name}\""),
                };
                let message = format!("there is no node \"{}\"", shorten(&name));
                Err(field.problem(message, help))
            }
        }
    }

    /// Adds a link of the shape, with the file's settings for all such links and the entries
    /// `more`.
    fn draw(&mut self, pattern: &Pattern, name: String, more: Vec<Entry>, ends: (usize, usize)) {
        let mut table = pattern.table.clone();
        table.entries.extend(more);
        self.graph.add_link(ends.0, ends.1);
        self.names.insert(name.clone());
        self.links.push(Drawn {
            name,
            node: pattern.node(Value::Table(table)),
            spec: &GRAPH_LINK,
            path: pattern.path.clone(),
        });
    }
}

/// Table of equal links.
struct Pattern {
    table: Table,
    at: Origin,
    path: String,
}

impl Pattern {
    /// Reads the table at a key, if its keys are those of such a table, for this number of links.
    fn read<'a>(topology: &Reader<'a>, key: &str, links: u64) -> Checked<(Self, Reader<'a>)> {
        let field = topology.require(key)?;
        let values = values(field.node);
        if links.saturating_mul(values) > MAX_DRAWN {
            let message = format!("{links} links of {values} values each");
            let help = format!("shorten its lists: all links have at most {MAX_DRAWN} values");
            return Err(field.problem(message, help));
        }
        let reader = field.table()?;
        let Value::Table(table) = &field.node.value else {
            unreachable!("it was opened as a table")
        };
        let pattern = Self {
            table: table.clone(),
            at: field.node.at,
            path: field.path,
        };
        Ok((pattern, reader))
    }

    fn node(&self, value: Value) -> Node {
        Node {
            value,
            at: self.at,
            raw: None,
        }
    }

    fn entry(&self, name: &str, value: Value) -> Entry {
        Entry {
            name: name.to_owned(),
            at: self.at,
            node: self.node(value),
        }
    }

    fn text(&self, name: &str, text: impl Into<String>) -> Entry {
        self.entry(name, Value::Text(text.into()))
    }
}

/// Builds a switch whose port k leads to host k; the queue is before the port.
fn draw_star(topology: &Reader<'_>, drawing: &mut Drawing) -> Checked<()> {
    let ports = topology.require("ports")?.integer()?;
    let (port, _) = Pattern::read(topology, "port", ports)?;
    let switch = drawing.graph.add_node("switch".to_owned());
    for index in 0..ports {
        let name = format!("port{index}");
        let host = drawing.graph.add_node(format!("host{index}"));
        let more = vec![
            port.text("from", "switch"),
            port.text("to", format!("host{index}")),
        ];
        drawing.draw(&port, name, more, (switch, host));
    }
    Ok(())
}

/// Builds leaves at their distances from the sink, all behind one target link.
fn draw_tree(topology: &Reader<'_>, drawing: &mut Drawing) -> Checked<()> {
    let (target, table) = Pattern::read(topology, "target", 1)?;
    let forward = table.require("delay")?.span()?;
    let back = table.table("reverse")?;
    let back = back.map_or(Ok(None), |back| back.span("delay"))?;
    let shared = forward + back.unwrap_or(forward);
    let round_trips = read_round_trips(topology, shared)?;
    let leaf = if topology.get("leaf").is_some() {
        Pattern::read(topology, "leaf", round_trips.len() as u64)?.0
    } else {
        Pattern {
            table: Table::default(),
            at: target.at,
            path: topology.path_of("leaf"),
        }
    };
    let says_rate = ["rate", "service"].map(|key| leaf.table.get(key).is_some());
    let nodes: Vec<usize> = (0..round_trips.len())
        .map(|index| drawing.graph.add_node(format!("leaf{index}")))
        .collect();
    let root = drawing.graph.add_node("root".to_owned());
    let sink = drawing.graph.add_node("sink".to_owned());
    let ends = vec![target.text("from", "root"), target.text("to", "sink")];
    drawing.draw(&target, "target".to_owned(), ends, (root, sink));
    for (index, (node, round_trip)) in nodes.iter().zip(&round_trips).enumerate() {
        let name = format!("leaf{index}");
        let rest = Span(round_trip.0 - shared.0);
        let there = Span(rest.0.div_ceil(2));
        // These queues have no limit, whatever `topology.queue` is, because they must not lose
        // packets.
        let queue = || {
            let limit = leaf.text("limit", "unlimited");
            let entries = vec![limit];
            leaf.entry("queue", Value::Table(Table { entries }))
        };
        let entries = vec![
            leaf.text("delay", format_span(Span(rest.0 - there.0))),
            queue(),
        ];
        let mut more = vec![
            leaf.text("from", name.clone()),
            leaf.text("to", "root"),
            leaf.text("delay", format_span(there)),
            queue(),
            leaf.entry("reverse", Value::Table(Table { entries })),
        ];
        if says_rate == [false; 2] {
            more.push(leaf.text("rate", "unlimited"));
        }
        drawing.draw(&leaf, name, more, (*node, root));
    }
    drawing.usual_ends = UsualEnds {
        from: nodes,
        to: vec![sink],
    };
    Ok(())
}

/// Reads the leaves' base round-trip times, of which the target link contributes `shared`.
fn read_round_trips(topology: &Reader<'_>, shared: Span) -> Checked<Vec<Span>> {
    let Some(field) = topology.get("rtts") else {
        let shortest = Span::from_millis(LEAVES_MS[0]);
        if shared > shortest {
            let message = format!(
                "the target link alone takes {} there and back, the nearest leaf {}",
                format_span(shared),
                format_span(shortest)
            );
            let help = "shorten the target's delay, or give the leaves other \"rtts\"";
            return Err(topology.problem("target", message, help));
        }
        return Ok(LEAVES_MS.into_iter().map(Span::from_millis).collect());
    };
    let items = field.items()?;
    check_number(topology, "rtts", "a tree", items.len() + 1)?;
    if items.is_empty() {
        return Err(field.problem(
            "a tree without leaves",
            "write rtts = [\"20ms\", \"60ms\"], say",
        ));
    }
    let mut round_trips = Vec::with_capacity(items.len());
    for item in &items {
        let round_trip = item.span()?;
        if round_trip < shared {
            let shared = format_span(shared);
            let message = format!(
                "a base round-trip time of {} is below {shared}",
                format_span(round_trip)
            );
            let help = format!("write at least \"{shared}\", which the target link takes");
            return Err(item.problem(message, help));
        }
        round_trips.push(round_trip);
    }
    Ok(round_trips)
}
