//! Any network of wired links, as a graph.

use super::flows::{Flows, Group, each};
use super::queue::{self, losses};
use super::units::{delay, list, rate, table};
use crate::error::{ImportError, refuse};
use crate::network::{Link, Model, Traffic, single};
use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

/// Both directions of a link.
struct Cable<'a> {
    name: String,
    forward: &'a Link,
    back: Option<&'a Link>,
}

/// True if there is only one path between any two nodes.
pub fn is_tree(model: &Model) -> bool {
    Paths::new(model, &cables(model)).tree
}

/// Writes a graph.
pub fn write(
    model: &Model,
    flows: &Flows<'_>,
    notes: &mut Vec<String>,
) -> Result<String, ImportError> {
    let cables = cables(model);
    let mut toml = String::from("shape = \"graph\"\n");
    let mut queues = Vec::new();
    for link in &model.links {
        queues.push(queue::queue(&link.queue)?);
    }
    let default = most_frequent(&queues);
    let _ = writeln!(toml, "queue = {default}");
    for cable in &cables {
        let _ = write!(toml, "\n[[topology.link]]\nname = \"{}\"\n", cable.name);
        let forward = cable.forward;
        let _ = writeln!(toml, "from = \"{}\"", model.nodes[forward.from]);
        let _ = writeln!(toml, "to = \"{}\"", model.nodes[forward.to]);
        let mut lines = vec![
            ("rate", rate(forward.rate_bps)),
            ("delay", delay(forward.delay_ps)),
        ];
        lines.extend(own(forward, default)?);
        if let Some(back) = cable.back {
            let mut reverse = Vec::new();
            if back.rate_bps != forward.rate_bps {
                reverse.push(("rate", rate(back.rate_bps)));
            }
            if back.delay_ps != forward.delay_ps {
                reverse.push(("delay", delay(back.delay_ps)));
            }
            reverse.extend(own(back, default)?);
            if !reverse.is_empty() {
                lines.push(("reverse", table(&reverse)));
            }
        }
        for (key, value) in lines {
            let _ = writeln!(toml, "{key} = {value}");
        }
    }
    let paths = Paths::new(model, &cables);
    let mut routed = HashMap::new();
    for flow in &model.flows {
        let ends = (flow.from, flow.to);
        if routed.contains_key(&ends) {
            continue;
        }
        let (there, back) = (
            paths.path(flow, ends)?,
            paths.path(flow, (flow.to, flow.from))?,
        );
        if there.1 || back.1 {
            notes.push(
                "two paths have the same number of links; ns-2 may take the other one".to_owned(),
            );
        }
        routed.insert(ends, (there.0, back.0));
    }
    flows.write(&mut toml, |group| places(model, group, &routed));
    Ok(toml)
}

/// Returns the queue that most directions have.
fn most_frequent(queues: &[String]) -> &str {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for queue in queues {
        *counts.entry(queue).or_default() += 1;
    }
    let mut best = "";
    for queue in queues {
        if counts[&**queue] > counts.get(best).copied().unwrap_or(0) {
            best = queue;
        }
    }
    best
}

/// Returns the queue and the losses of a direction, as far as they differ from the default.
fn own(link: &Link, default: &str) -> Result<Vec<(&'static str, String)>, ImportError> {
    let mut keys = Vec::new();
    let queue = queue::queue(&link.queue)?;
    if queue != default {
        keys.push(("queue", queue));
    }
    keys.extend(losses(link)?);
    Ok(keys)
}

/// Joins the directions of links, and names them. The slowest is the bottleneck, if it is the only one.
fn cables(model: &Model) -> Vec<Cable<'_>> {
    let mut names = HashMap::new();
    let mut cables: Vec<Cable<'_>> = Vec::new();
    let mut places: HashMap<(usize, usize), usize> = HashMap::new();
    let slowest = model
        .links
        .iter()
        .map(|link| link.rate_bps)
        .min()
        .unwrap_or(0);
    let slow = model.links.iter().filter(|link| link.rate_bps == slowest);
    let mut slow: Vec<(usize, usize)> = slow
        .map(|link| (link.from.min(link.to), link.from.max(link.to)))
        .collect();
    slow.dedup();
    for link in &model.links {
        if let Some(place) = places.get(&(link.to, link.from)) {
            cables[*place].back = Some(link);
            continue;
        }
        places.insert((link.from, link.to), cables.len());
        let pair = (link.from.min(link.to), link.from.max(link.to));
        let name = if slow[..] == [pair] && model.links.len() > 2 {
            "bottleneck".to_owned()
        } else {
            format!("{}-{}", model.nodes[link.from], model.nodes[link.to])
        };
        cables.push(Cable {
            name: single(&name, "link", &mut names),
            forward: link,
            back: None,
        });
    }
    cables
}

/// Routes of ns-2, which have the fewest links.
struct Paths<'a> {
    /// Neighbours of each node, and the names of the links to them.
    next: Vec<Vec<(usize, &'a str)>>,
    /// True if there is only one path between any two nodes.
    tree: bool,
    /// A component of the network for each node.
    component: Vec<usize>,
}

/// Names of the links of a path, and true if another one has as few.
type Path = (Vec<String>, bool);

impl<'a> Paths<'a> {
    fn new(model: &Model, cables: &'a [Cable<'_>]) -> Self {
        let mut next = vec![Vec::new(); model.nodes.len()];
        let mut component: Vec<usize> = (0..model.nodes.len()).collect();
        let mut tree = true;
        for cable in cables {
            let (a, b) = (cable.forward.from, cable.forward.to);
            next[a].push((b, &*cable.name));
            match cable.back {
                Some(_) => next[b].push((a, &*cable.name)),
                None => tree = false,
            }
            let (one, other) = (root(&mut component, a), root(&mut component, b));
            tree &= one != other;
            component[one] = other;
        }
        for node in 0..component.len() {
            component[node] = root(&mut component, node);
        }
        Self {
            next,
            tree,
            component,
        }
    }

    /// Returns the path between two nodes; it has no links if there is only one path.
    fn path(&self, flow: &Traffic, (from, to): (usize, usize)) -> Result<Path, ImportError> {
        let lost = || {
            let message = "a flow begins and ends on the same node, or has no path";
            refuse(flow.line, message, "join its nodes by duplex-link")
        };
        if from == to || self.component[from] != self.component[to] {
            return Err(lost());
        }
        if self.tree {
            return Ok((Vec::new(), false));
        }
        // For each node its distance, the number of paths, and the last step.
        let mut seen: Vec<Option<(u32, u32, usize, &str)>> = vec![None; self.next.len()];
        seen[from] = Some((0, 1, from, ""));
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            let Some((distance, paths, ..)) = seen[node] else {
                continue;
            };
            for (other, name) in &self.next[node] {
                match &mut seen[*other] {
                    Some(known) if known.0 == distance + 1 => {
                        known.1 = known.1.saturating_add(paths);
                    }
                    Some(_) => {}
                    place => {
                        *place = Some((distance + 1, paths, node, name));
                        queue.push_back(*other);
                    }
                }
            }
        }
        let several = seen[to].ok_or_else(lost)?.1 > 1;
        let (mut links, mut node) = (Vec::new(), to);
        while node != from {
            let Some((_, _, before, name)) = seen[node] else {
                break;
            };
            links.push(name.to_owned());
            node = before;
        }
        links.reverse();
        Ok((links, several))
    }
}

fn root(component: &mut [usize], node: usize) -> usize {
    let mut top = node;
    while component[top] != top {
        component[top] = component[component[top]];
        top = component[top];
    }
    top
}

type Routed = HashMap<(usize, usize), (Vec<String>, Vec<String>)>;

fn places(model: &Model, group: &Group<'_>, routed: &Routed) -> String {
    let mut toml = String::new();
    if group.flows.len() > 1 {
        let _ = writeln!(toml, "count = {}", group.flows.len());
    }
    let quoted = |node: usize| format!("\"{}\"", model.nodes[node]);
    let from = each(group.flows.iter().map(|flow| quoted(flow.from)).collect());
    let to = each(group.flows.iter().map(|flow| quoted(flow.to)).collect());
    let _ = writeln!(toml, "from = {from}\nto = {to}");
    let first = group.flows[0];
    let (there, back) = &routed[&(first.from, first.to)];
    let named = |links: &[String]| list(links.iter().map(|link| format!("\"{link}\"")));
    if !there.is_empty() {
        let _ = writeln!(toml, "route = {}", named(there));
        if !back.iter().rev().eq(there.iter()) {
            let _ = writeln!(toml, "reverse_route = {}", named(back));
        }
    }
    toml
}
