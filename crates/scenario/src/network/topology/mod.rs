//! Links and their connections: a graph of nodes for every shape, and the hosts' own links.

mod graph;
mod link;
mod python;
mod queues;
mod shapes;

pub(crate) use graph::{Graph, Router, Stray, back, directed, link_of};
pub(crate) use link::{Access, DuplexLink, LinkDirection};
pub(crate) use queues::ReadQueues;
pub(crate) use shapes::Sketch;

use crate::language::error::Checked;
use crate::language::file::Library;
use crate::language::reader::Reader;
use crate::network::link::pool;
use crate::network::path::Path as FlowPath;
use goodqueue_sim::PoolConfig;
use goodqueue_types::{LinkId, Span};
use link::{Common, read_access, read_framing, read_link};

/// Form of the links in a resolved scenario. Every other shape is a graph once it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Dumbbell,
    Chain,
    Graph,
}

/// All links of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Topology {
    pub shape: Shape,
    pub graph: Graph,
    /// Links of the graph. Their directions are the network's first links, in this order.
    pub trunk: Vec<DuplexLink>,
    pub access: Option<Access>,
    /// Buffers that links share.
    pub pools: Vec<PoolConfig>,
    /// Default ends of flows.
    pub usual_ends: UsualEnds,
}

/// Default ends of flows; flow i of a group takes entry i, in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsualEnds {
    pub from: Vec<usize>,
    pub to: Vec<usize>,
}

impl Topology {
    /// Reads everything except the queues, whose limits may depend on the flows. Mean rates are
    /// those of a run of this duration.
    pub(crate) fn read(
        reader: &Reader<'_>,
        sketch: &Sketch,
        files: Library<'_>,
        duration: Span,
    ) -> Checked<Self> {
        let pools = pool::read(reader)?;
        let common = &Common {
            framing: read_framing(reader)?.unwrap_or_default(),
            pools: &pools,
            files,
            duration,
        };
        let links = sketch.links.iter();
        let trunk = links
            .map(|link| read_link(&link.table()?, link.name.clone(), common, None))
            .collect::<Checked<_>>()?;
        let access = match (reader.table("access")?, reader.table("far_access")?) {
            (Some(near), far) => Some(read_access(&near, far.as_ref(), common)?),
            (None, None) => None,
            (None, Some(_)) => {
                let help = "add access = { rate = \"1Gbps\" }, or leave far_access out";
                return Err(reader.problem(
                    "far_access",
                    "\"far_access\" without \"access\"",
                    help,
                ));
            }
        };
        Ok(Self {
            shape: sketch.shape,
            graph: sketch.graph.clone(),
            trunk,
            access,
            pools,
            usual_ends: sketch.usual_ends.clone(),
        })
    }

    /// Returns one direction of a link of the graph.
    pub(crate) fn direction(&self, direction: LinkId) -> &LinkDirection {
        let (link, backward) = link_of(direction);
        let link = &self.trunk[link];
        if backward {
            &link.reverse
        } else {
            &link.forward
        }
    }

    /// Returns the direction with this name in results (`bottleneck`, `bottleneck.reverse`).
    pub(crate) fn find(&self, name: &str) -> Option<LinkId> {
        let (base, backward) = match name.strip_suffix(".reverse") {
            Some(base) => (base, true),
            None => (name, false),
        };
        let index = self.trunk.iter().position(|link| link.name == base)?;
        Some(directed(index, backward))
    }

    /// Returns the names of all reported links.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> + '_ {
        self.trunk
            .iter()
            .flat_map(|link| [link.name.clone(), format!("{}.reverse", link.name)])
    }

    /// Returns true if a flow on this path crosses a link with a rate in either direction.
    pub(crate) fn has_rate(&self, path: &FlowPath) -> bool {
        let access = self.access.iter();
        let access = access.flat_map(|access| [&access.near, &access.far]);
        let mut access = access.flat_map(|link| [&link.forward, &link.reverse]);
        let mut way = path.forward.iter().chain(&path.reverse);
        access.any(|direction| !direction.only_delays())
            || way.any(|link| !self.direction(*link).only_delays())
    }

    /// Returns the propagation delay over these links.
    pub(crate) fn propagation(&self, way: &[LinkId]) -> Span {
        let delays = way.iter().map(|link| self.direction(*link).delay);
        delays.fold(Span::ZERO, |sum, delay| sum + delay)
    }

    /// Returns a search for shortest paths.
    pub(crate) fn router(&self) -> Router<'_> {
        let links = self.trunk.iter();
        let round_trips = links.map(|link| link.forward.delay + link.reverse.delay);
        Router::new(&self.graph, round_trips.collect())
    }
}
