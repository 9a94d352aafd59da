//! Trace files for nam, the network animator.

use crate::write::TraceWriter;
use crate::write::hops::{Hop, Hops, Step, Wiring};
use goodqueue_types::PacketEvent;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

/// Colours of flows, used in turn, by nam's names (which are X11's).
const COLOURS: [&str; 8] = [
    "blue",
    "red",
    "darkgreen",
    "orange",
    "purple",
    "brown",
    "cyan",
    "magenta",
];

/// Writes a `.nam` file.
#[derive(Debug)]
pub struct NamTrace<W> {
    out: W,
    hops: Hops,
}

impl<W: Write> NamTrace<W> {
    /// Writes the nodes, links and colours of a run that is about to begin.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn new(mut out: W, wiring: Arc<Wiring>) -> io::Result<Self> {
        begin(&mut out, &wiring)?;
        let hops = Hops::new(wiring);
        Ok(Self { out, hops })
    }
}

/// Returns the column in which a node is drawn, from left to right: senders in 0, routers in 1,
/// receivers in 2.
///
/// A node without a flow that is connected to only one other node is a host. It is drawn on the
/// side of the senders if a sender is connected to the same node, and otherwise on the side of the
/// receivers.
fn column(wiring: &Wiring, node: u32) -> u8 {
    let sends = |node| wiring.flows.iter().any(|flow| flow.client == node);
    let receives = |node| wiring.flows.iter().any(|flow| flow.server == node);
    match (sends(node), receives(node)) {
        (true, false) => 0,
        (false, true) => 2,
        (true, true) => 1,
        (false, false) => match neighbours(wiring, node).as_slice() {
            [router] if neighbours(wiring, *router).into_iter().any(sends) => 0,
            [_] => 2,
            _ => 1,
        },
    }
}

/// Returns the nodes that share a link with a node.
fn neighbours(wiring: &Wiring, node: u32) -> Vec<u32> {
    let ends = wiring.links.iter().filter_map(|wire| match node {
        _ if wire.from == node => Some(wire.to),
        _ if wire.to == node => Some(wire.from),
        _ => None,
    });
    ends.collect::<BTreeSet<u32>>().into_iter().collect()
}

fn begin(out: &mut impl Write, wiring: &Wiring) -> io::Result<()> {
    let angles = Angles::from_wiring(wiring);
    writeln!(out, "V -t * -v 1.0a5 -a 0")?;
    // Addresses have one level and the same width as in ns-2.
    writeln!(out, "A -t * -n 1 -p 0 -o 0x7fffffff -c 30 -a 1")?;
    writeln!(out, "A -t * -h 1 -m 1073741823 -s 0")?;
    for (index, _) in wiring.flows.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        writeln!(out, "c -t * -i {} -n {colour}", index + 1)?;
    }
    for (node, column) in &angles.column {
        let shape = ["circle", "box", "circle"][usize::from(*column)];
        writeln!(
            out,
            "n -t * -a {node} -s {node} -S UP -v {shape} -c black -i black"
        )?;
    }
    let mut drawn = BTreeSet::new();
    for wire in &wiring.links {
        if !drawn.insert((wire.from.min(wire.to), wire.from.max(wire.to))) {
            continue;
        }
        writeln!(
            out,
            "l -t * -s {} -d {} -S UP -r {} -D {} -c black -o {}",
            wire.from,
            wire.to,
            wire.rate,
            wire.delay,
            angles.between(wire.from, wire.to),
        )?;
    }
    for wire in &wiring.links {
        let is_router = |node| angles.column.get(node) == Some(&1);
        if is_router(&wire.from) && is_router(&wire.to) {
            writeln!(out, "q -t * -s {} -d {} -a 0.5", wire.from, wire.to)?;
        }
    }
    Ok(())
}

/// Angles of links: hosts fan out to the left and the right of the routers.
#[derive(Debug)]
struct Angles {
    /// Column of each node, by its number.
    column: BTreeMap<u32, u8>,
    /// Vertical place of a host among those of its column, from -1 (top) to 1 (bottom).
    place: BTreeMap<u32, f64>,
}

impl Angles {
    fn from_wiring(wiring: &Wiring) -> Self {
        let ends = wiring.links.iter().flat_map(|wire| [wire.from, wire.to]);
        let column: BTreeMap<u32, u8> = ends.map(|node| (node, column(wiring, node))).collect();
        let mut place = BTreeMap::new();
        for side in [0, 2] {
            let hosts: Vec<u32> = column
                .iter()
                .filter(|(_, column)| **column == side)
                .map(|(node, _)| *node)
                .collect();
            let steps = hosts.len().saturating_sub(1).max(1) as f64;
            for (index, node) in hosts.iter().enumerate() {
                let alone = hosts.len() == 1;
                let at = if alone {
                    0.0
                } else {
                    2.0 * index as f64 / steps - 1.0
                };
                place.insert(*node, at);
            }
        }
        Self { column, place }
    }

    /// Returns the angle of a link in nam's notation: 0 points to the right, 90 up. The top host is
    /// 45 degrees above its router.
    fn between(&self, from: u32, to: u32) -> String {
        let place = |node| self.place.get(&node).copied().unwrap_or(0.0);
        let quarter = 0.25;
        let half_turns = match (self.column.get(&from), self.column.get(&to)) {
            // The link leads down from a sender at the top to the router.
            (Some(0), _) => 2.0 + quarter * place(from),
            (_, Some(2)) => 2.0 - quarter * place(to),
            (_, Some(0)) => 1.0 + quarter * place(to),
            (Some(2), _) => 1.0 - quarter * place(from),
            _ => 0.0,
        };
        match (half_turns * 180.0).round() as u32 % 360 {
            0 => "right".to_owned(),
            180 => "left".to_owned(),
            degrees => format!("{degrees}deg"),
        }
    }
}

fn line(out: &mut impl Write, letter: char, hop: &Hop) -> io::Result<()> {
    let flags = str::from_utf8(&hop.flags).unwrap_or_default();
    write!(
        out,
        "{letter} -t {} -s {} -d {} -p {} -e {} -c {} -i {} -a {} -x {{{}.{} {}.{} ",
        hop.time,
        hop.wire.from,
        hop.wire.to,
        hop.kind,
        hop.size,
        hop.flow,
        hop.uid,
        hop.flow,
        hop.from.0,
        hop.from.1,
        hop.to.0,
        hop.to.1,
    )?;
    // nam's `h` event, a packet on a link, has no sequence number.
    if letter == 'h' {
        writeln!(out, "-1 {flags} null}}")
    } else {
        writeln!(out, "{} {flags} null}}", hop.number)
    }
}

impl<W: Write> NamTrace<W> {
    fn put(&mut self, hop: &Hop) -> io::Result<()> {
        line(&mut self.out, hop.step.letter(), hop)?;
        if hop.step == Step::Dequeued {
            line(&mut self.out, 'h', hop)?;
        }
        Ok(())
    }
}

impl<W: Write> TraceWriter for NamTrace<W> {
    fn wants(&self, _: &PacketEvent) -> bool {
        true
    }

    fn packet(&mut self, event: &PacketEvent) -> io::Result<()> {
        for hop in self.hops.translate(event) {
            self.put(&hop)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(hop) = self.hops.finish() {
            self.put(&hop)?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::hops::{Terminals, Wire};

    /// The network has the routers 4 and 5. Node 0 sends to node 6 across them. The nodes 2 and 7
    /// are connected to the routers and are idle.
    #[test]
    fn hosts_without_a_flow_are_drawn_as_hosts_on_the_side_where_they_hang() {
        let both = |from, to| [(from, to), (to, from)];
        let ends = [both(0, 4), both(4, 5), both(5, 6), both(2, 4), both(7, 5)];
        let links = ends.as_flattened().iter().map(|&(from, to)| Wire {
            from,
            to,
            ..Wire::default()
        });
        let wiring = Wiring {
            links: links.collect(),
            flows: vec![Terminals {
                client: 0,
                server: 6,
                port: 0,
                kind: "",
                mss: 552,
            }],
            routes: Vec::new(),
        };
        let columns = [0, 2, 4, 5, 6, 7].map(|node| column(&wiring, node));
        assert_eq!(columns, [0, 0, 1, 1, 2, 2]);
    }
}
