//! Paths of flows through the network: by their ends, or link by link.

use crate::language::bounds::{MAX_HOPS, MAX_HOPS_OF_FLOWS};
use crate::language::error::{Checked, Problem, nearest, shorten};
use crate::language::field::Field;
use crate::language::reader::Reader;
use crate::language::spec::MAX_FLOWS;
use crate::network::topology::{Access, Router, Shape, Stray, Topology, back, link_of};
use goodqueue_types::{LinkId, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Forward and reverse path.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// Nodes at which client and server are attached.
    pub from: usize,
    pub to: usize,
    pub forward: Vec<LinkId>,
    pub reverse: Vec<LinkId>,
    /// Links of both directions, without repetitions.
    pub links: Vec<usize>,
    /// Propagation delay of both directions.
    pub round_trip: Span,
}

impl Path {
    /// Returns true if the client is at the later node.
    pub(crate) fn reversed(&self) -> bool {
        self.from > self.to
    }

    /// Returns the nodes at its ends, the earlier first.
    pub(crate) fn nodes(&self) -> (usize, usize) {
        (self.from.min(self.to), self.from.max(self.to))
    }
}

/// The paths of a group's flows.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    /// Index of the path at which flow i of the group starts, in turn.
    pub from: Vec<usize>,
    pub to: Vec<usize>,
    /// True if the scenario lists the links of one direction.
    pub listed: bool,
    each: Vec<Arc<Path>>,
}

impl Paths {
    /// Returns the path of flow `index` of the group.
    pub(crate) fn at(&self, index: u64) -> &Path {
        &self.each[(index % self.each.len() as u64) as usize]
    }

    /// Returns all paths of a group of `count` flows, and the number of flows on each.
    pub(crate) fn shares(&self, count: u64) -> impl Iterator<Item = (&Path, u64)> {
        let paths = self.each.len() as u64;
        let share = move |index: u64| count / paths + u64::from(index < count % paths);
        (0..)
            .zip(self.each())
            .map(move |(index, path)| (path, share(index)))
    }

    /// Returns all paths of the group.
    pub(crate) fn each(&self) -> impl Iterator<Item = &Path> {
        self.each.iter().map(AsRef::as_ref)
    }
}

/// The nodes at a group's ends.
pub(crate) struct Ends {
    from: Vec<usize>,
    to: Vec<usize>,
}

impl Ends {
    /// Returns the number of entries of the longer list.
    pub(crate) fn longest(&self) -> u64 {
        self.from.len().max(self.to.len()) as u64
    }
}

/// Reader of the flows' paths, which searches each path once.
pub(crate) struct PathReader<'a> {
    topology: &'a Topology,
    router: Router<'a>,
    known: BTreeMap<(usize, usize), Arc<Path>>,
    count: Counted,
}

/// Amounts that a few words of a file can make large, counted over all groups of flows.
#[derive(Default)]
struct Counted {
    most_flows: u64,
    flows: u64,
    /// Nodes in lists of ends.
    ends: u64,
    /// Links of all different paths, and of the paths of all flows.
    hops: u64,
    hops_of_flows: u64,
}

impl<'a> PathReader<'a> {
    /// Creates a reader of at most this number of flows.
    pub(crate) fn new(topology: &'a Topology, most_flows: u64) -> Self {
        Self {
            topology,
            router: topology.router(),
            known: BTreeMap::new(),
            count: Counted {
                most_flows,
                ..Counted::default()
            },
        }
    }

    /// Returns the access links, if hosts have any.
    pub(crate) fn access(&self) -> Option<&Access> {
        self.topology.access.as_ref()
    }

    /// Reads `from` and `to`.
    pub(crate) fn ends(&mut self, table: &Reader<'_>) -> Checked<Ends> {
        let usual = &self.topology.usual_ends;
        let from = self.nodes(table, "from", &usual.from)?;
        if from.is_empty() {
            return Err(self.missing(table, "from"));
        }
        let to = self.nodes(table, "to", &usual.to)?;
        if to.is_empty() && table.get("route").is_none() {
            return Err(self.missing(table, "to"));
        }
        self.count.ends += (from.len() + to.len()) as u64;
        if self.count.ends > MAX_FLOWS {
            let message = format!("the nodes at the ends up to here are {}", self.count.ends);
            let help = format!("lists name at most {MAX_FLOWS} nodes in all");
            return Err(table.problem("from", message, help));
        }
        Ok(Ends { from, to })
    }

    fn missing(&self, table: &Reader<'_>, key: &str) -> Problem {
        let node = &self.topology.graph.nodes[0];
        let help = format!("name a node, as in {key} = \"{node}\"");
        table.problem(key, format!("\"{key}\" is missing"), help)
    }

    /// Returns the nodes that a key names; `usual` is the default.
    fn nodes(&self, table: &Reader<'_>, key: &str, usual: &[usize]) -> Checked<Vec<usize>> {
        let Some(field) = table.get(key) else {
            return Ok(usual.to_vec());
        };
        if !field.is_list() {
            return self.named(&field);
        }
        let mut nodes = Vec::new();
        for item in field.items()? {
            nodes.extend(self.named(&item)?);
            if nodes.len() as u64 > MAX_FLOWS {
                let help = format!("lists name at most {MAX_FLOWS} nodes in all");
                return Err(item.problem("a list of too many nodes", help));
            }
        }
        if nodes.is_empty() {
            let help = "name at least one node, or leave the key out";
            return Err(field.problem("a list without nodes", help));
        }
        Ok(nodes)
    }

    /// Returns the node, or with `*` or `..` the nodes, that a value names.
    fn named(&self, field: &Field<'_>) -> Checked<Vec<usize>> {
        if self.topology.shape != Shape::Graph {
            return self.in_row(field).map(|node| vec![node]);
        }
        let graph = &self.topology.graph;
        let name = field.text().map_err(|problem| Problem {
            help: format!("name a node in quotes, as in \"{}\"", graph.nodes[0]),
            ..problem
        })?;
        if let Some(node) = graph.node(&name) {
            return Ok(vec![node]);
        }
        let nodes = match (name.strip_suffix('*'), range(&name)) {
            (Some(start), _) => {
                let all = graph.nodes.iter().enumerate();
                let found = all.filter(|(_, node)| node.starts_with(start));
                Some(found.map(|(index, _)| index).collect::<Vec<usize>>())
            }
            (None, Some((start, numbers))) => {
                let mut names = numbers.map(|number| format!("{start}{number}"));
                names.try_fold(Vec::new(), |mut found, name| {
                    found.push(graph.node(&name)?);
                    Some(found)
                })
            }
            (None, None) => None,
        };
        nodes.filter(|nodes| !nodes.is_empty()).ok_or_else(|| {
            let names = || graph.nodes.iter().map(String::as_str);
            let help = match nearest(&name, names()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!(
                    "the nodes are {}",
                    names().take(8).collect::<Vec<_>>().join(", ")
                ),
            };
            field.problem(format!("there is no node \"{}\"", shorten(&name)), help)
        })
    }

    /// Returns a node of a row, by its number or by the link that begins (`from`) or ends (`to`)
    /// there.
    fn in_row(&self, field: &Field<'_>) -> Checked<usize> {
        let trunk = &self.topology.trunk;
        let last = trunk.len();
        if let Some(name) = field.as_text() {
            let link = trunk.iter().position(|link| link.name == name);
            let after = usize::from(field.key.name == "to");
            return link.map(|link| link + after).ok_or_else(|| {
                let names: Vec<&str> = trunk
                    .iter()
                    .map(|link| link.name.as_str())
                    .take(8)
                    .collect();
                let message = format!("there is no link \"{}\"", shorten(name));
                field.problem(message, format!("the links are {}", names.join(", ")))
            });
        }
        let number = field.integer()? as usize;
        if number <= last {
            return Ok(number);
        }
        let message = format!("there is no node {number}");
        Err(field.problem(message, format!("nodes are numbered from 0 to {last}")))
    }

    /// Returns the paths of `count` flows between these ends.
    pub(crate) fn paths(&mut self, table: &Reader<'_>, ends: Ends, count: u64) -> Checked<Paths> {
        self.count.flows += count;
        if self.count.flows > self.count.most_flows {
            let message = format!("the flows up to this one are {}", self.count.flows);
            let help = format!("at most {} flows are possible here", self.count.most_flows);
            return Err(table.problem("count", message, help));
        }
        let paths = self.distinct_paths(table, ends, count)?;
        let shares = paths.shares(count);
        let hops = shares.map(|(path, flows)| flows * path.links.len() as u64);
        self.count.hops_of_flows += hops.sum::<u64>();
        if self.count.hops_of_flows > MAX_HOPS_OF_FLOWS {
            let hops = self.count.hops_of_flows;
            let message = format!("the routes of the flows up to this one have {hops} links");
            let help = format!(
                "reduce the flows or shorten their routes: at most {MAX_HOPS_OF_FLOWS} links"
            );
            return Err(table.problem("count", message, help));
        }
        Ok(paths)
    }

    fn distinct_paths(&mut self, table: &Reader<'_>, ends: Ends, count: u64) -> Checked<Paths> {
        let Ends { from, mut to } = ends;
        let listed = table.get("route").is_some() || table.get("reverse_route").is_some();
        if listed {
            let path = self.listed(table, &from, &to)?;
            to = vec![path.to];
            let each = vec![Arc::new(path)];
            return Ok(Paths {
                from,
                to,
                listed,
                each,
            });
        }
        let pairs = lcm(from.len(), to.len()).min(count as usize);
        let mut each = Vec::with_capacity(pairs);
        for index in 0..pairs {
            let (from, to) = (from[index % from.len()], to[index % to.len()]);
            each.push(self.shortest(table, from, to)?);
        }
        Ok(Paths {
            from,
            to,
            listed,
            each,
        })
    }

    fn shortest(&mut self, table: &Reader<'_>, from: usize, to: usize) -> Checked<Arc<Path>> {
        if let Some(path) = self.known.get(&(from, to)) {
            return Ok(Arc::clone(path));
        }
        self.check_ends(table, from, to)?;
        let Some(forward) = self.router.shortest(from, to) else {
            let message = format!(
                "no links lead from {} to {}",
                self.node(from),
                self.node(to)
            );
            let help = "join them by a [[topology.link]], or name other nodes";
            return Err(table.problem("to", message, help));
        };
        let reverse = back(&forward);
        self.count.hops += forward.len() as u64;
        if self.count.hops > MAX_HOPS {
            let help = format!("name fewer ends: different routes have at most {MAX_HOPS} links");
            return Err(table.problem("to", "too many different routes", help));
        }
        let path = Arc::new(self.path(from, to, forward, reverse));
        self.known.insert((from, to), Arc::clone(&path));
        Ok(path)
    }

    fn check_ends(&self, table: &Reader<'_>, from: usize, to: usize) -> Checked<()> {
        if from != to {
            return Ok(());
        }
        let key = if table.get("to").is_some() {
            "to"
        } else {
            "from"
        };
        let message = format!("the flow goes from {} to itself", self.node(from));
        let help = match self.topology.shape {
            Shape::Graph => "name two different nodes, also where lists meet".to_owned(),
            _ => format!(
                "name two different nodes from 0 to {}",
                self.topology.trunk.len()
            ),
        };
        Err(table.problem(key, message, help))
    }

    /// Returns the path whose links are listed, at least in one direction.
    fn listed(&mut self, table: &Reader<'_>, from: &[usize], to: &[usize]) -> Checked<Path> {
        if from.len() > 1 || to.len() > 1 {
            let key = if table.get("route").is_some() {
                "route"
            } else {
                "reverse_route"
            };
            let help = "give each route a [[flow]] of its own, with one \"from\" and one \"to\"";
            return Err(table.problem(key, "a route joins one pair of nodes", help));
        }
        let start = from[0];
        let (forward, end) = if let Some(field) = table.get("route") {
            self.walk(&field, start, to.first().copied())?
        } else {
            let path = self.shortest(table, start, to[0])?;
            (path.forward.clone(), path.to)
        };
        let reverse = match table.get("reverse_route") {
            Some(field) => self.walk(&field, end, Some(start))?.0,
            None => back(&forward),
        };
        Ok(self.path(start, end, forward, reverse))
    }

    /// Returns the directions of the listed links on a walk from one node to another.
    fn walk(
        &self,
        field: &Field<'_>,
        from: usize,
        to: Option<usize>,
    ) -> Checked<(Vec<LinkId>, usize)> {
        let items = field.items()?;
        let links = items.iter().map(|item| self.link(item));
        let links: Vec<usize> = links.collect::<Checked<_>>()?;
        if links.is_empty() {
            return Err(field.problem("a route without links", "name the links in order"));
        }
        let graph = &self.topology.graph;
        let name = |link: usize| format!("\"{}\"", self.topology.trunk[link].name);
        let (way, end) = graph.walk(from, &links).map_err(|stray| match stray {
            Stray::Gap { place, node } => {
                let (link, node_name) = (name(links[place]), self.node(node));
                let touching = graph.touching(node).iter().take(8).map(|link| name(*link));
                let touching: Vec<String> = touching.collect();
                let message =
                    format!("a gap: link {link} does not touch {node_name}, where the route is");
                let help = format!("the links there are {}", touching.join(", "));
                items[place].problem(message, help)
            }
            Stray::Loop { place, node } => {
                let (link, node) = (name(links[place]), self.node(node));
                let message = format!("a loop: link {link} leads back to {node}");
                items[place].problem(message, "let the route visit each node once")
            }
        })?;
        match to {
            Some(to) if to != end => {
                let (end, to) = (self.node(end), self.node(to));
                let message = format!("the route ends at {end}, not at {to}");
                Err(field.problem(message, "name all links on the way, in order"))
            }
            _ => Ok((way, end)),
        }
    }

    fn link(&self, field: &Field<'_>) -> Checked<usize> {
        let name = field.name()?;
        let trunk = &self.topology.trunk;
        let found = trunk.iter().position(|link| link.name == name);
        found.ok_or_else(|| {
            let names = || trunk.iter().map(|link| link.name.as_str());
            let help = match nearest(&name, names()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!(
                    "the links are {}",
                    names().take(8).collect::<Vec<_>>().join(", ")
                ),
            };
            field.problem(format!("there is no link \"{}\"", shorten(&name)), help)
        })
    }

    /// Returns a description of a node for messages.
    fn node(&self, node: usize) -> String {
        let name = &self.topology.graph.nodes[node];
        match self.topology.shape {
            Shape::Graph => format!("node \"{name}\""),
            _ => format!("node {name}"),
        }
    }

    fn path(&self, from: usize, to: usize, forward: Vec<LinkId>, reverse: Vec<LinkId>) -> Path {
        let both = forward.iter().chain(&reverse);
        let mut links: Vec<usize> = both.map(|direction| link_of(*direction).0).collect();
        links.sort_unstable();
        links.dedup();
        let round_trip = self.topology.propagation(&forward) + self.topology.propagation(&reverse);
        Path {
            from,
            to,
            forward,
            reverse,
            links,
            round_trip,
        }
    }
}

/// Splits `host1..12` into the beginning of the names and their numbers.
fn range(name: &str) -> Option<(&str, std::ops::RangeInclusive<u32>)> {
    let (first, last) = name.split_once("..")?;
    let start = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let (first, last): (u32, u32) = (first[start.len()..].parse().ok()?, last.parse().ok()?);
    // A longer range exceeds the number of nodes and is a mistake.
    (first <= last && last - first <= 100_000).then_some((start, first..=last))
}

fn lcm(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
