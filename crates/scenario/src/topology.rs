//! Links and how they are joined: a row of links between numbered nodes, and the hosts' own.

use crate::buffers::{largest_frame, largest_frame_of_all};
use crate::error::Checked;
use crate::flow::FlowGroup;
use crate::layout::Layout;
use crate::pool;
use crate::queue::drain_rate;
use crate::reader::{Field, Place, Reader};
use crate::service::{self, Service};
use crate::setting::Setting;
use crate::spec::MOST_LINKS;
use crate::units::{MILLION, StatedLimit, UnitError};
use goodqueue_queue::{Configuration, Limit, QueueConfig};
use goodqueue_sim::{LossConfig, PoolConfig};
use goodqueue_types::{Framing, Rate, Span};
use std::path::Path;

/// Longest time in seconds that a queue may take to empty; instants reach 18 million.
const LONGEST_BACKLOG: u128 = 10_000_000;
/// The largest IP packet with the most framing, in ATM cells.
const LARGEST_FRAME: u128 = (65_535_u128 + 1_024).div_ceil(48) * 53;

/// The shape a scenario names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Dumbbell,
    Chain,
}

/// All links of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Topology {
    pub shape: Shape,
    /// Link k joins node k to node k + 1.
    pub trunk: Vec<DuplexLink>,
    pub access: Option<Access>,
    /// Buffers that links share.
    pub pools: Vec<PoolConfig>,
}

/// The links of hosts at the near (lower) and far (higher) end of their path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Access {
    pub near: DuplexLink,
    pub far: DuplexLink,
}

/// Both directions of a link. Forward is away from node 0, and for access links from the host
/// into the network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DuplexLink {
    pub name: String,
    pub forward: LinkDirection,
    pub reverse: LinkDirection,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinkDirection {
    /// The mean rate, where it changes.
    pub rate: Rate,
    /// How the rate changes, if it does.
    pub service: Option<Service>,
    pub delay: Span,
    pub framing: Framing,
    pub queue: QueueConfig,
    /// The shared buffer, by its place in the topology's list.
    pub pool: Option<u32>,
    pub drop_list: Vec<u64>,
    pub loss: Option<LossConfig>,
}

/// What all links of a topology are read with.
struct Common<'a> {
    framing: Framing,
    pools: &'a [PoolConfig],
    /// Where files are looked for.
    folder: &'a Path,
    /// Length of the run.
    duration: Span,
}

impl Topology {
    /// Reads everything but the queues, whose limits may depend on the flows. Files are looked for
    /// from `folder` on; mean rates are those of a run of this duration.
    pub(crate) fn read(field: &Field<'_>, folder: &Path, duration: Span) -> Checked<Self> {
        let (shape, reader) = Reader::tagged(field)?;
        let pools = pool::read(&reader)?;
        let common = &Common {
            framing: read_framing(&reader)?.unwrap_or_default(),
            pools: &pools,
            folder,
            duration,
        };
        let (shape, trunk) = if shape == "dumbbell" {
            let link = reader.require("bottleneck")?.table()?;
            let trunk = vec![read_link(&link, "bottleneck".to_owned(), common, None)?];
            (Shape::Dumbbell, trunk)
        } else {
            (Shape::Chain, read_chain(&reader, common)?)
        };
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
            shape,
            trunk,
            access,
            pools,
        })
    }

    /// Reads the queues, with every limit resolved to packets or bytes.
    /// No queue may hold more than its link can send within the reach of the clock; `waiting` is
    /// more bytes than all flows together can have waiting.
    pub(crate) fn read_queues(
        &mut self,
        field: &Field<'_>,
        layout: &Layout,
        flows: &[FlowGroup],
        waiting: u128,
    ) -> Checked<()> {
        let (_, reader) = Reader::tagged(field)?;
        let common = reader.get("queue");
        let tables = match self.shape {
            Shape::Dumbbell => vec![reader.require("bottleneck")?.table()?],
            Shape::Chain => reader.require("link")?.tables()?,
        };
        for (index, table) in tables.iter().enumerate() {
            let base_rtt = layout.mean_base_rtt(Some(index));
            let link = &mut self.trunk[index];
            let own = table.get("queue").or_else(|| common.clone());
            let Some(own) = own else {
                return Err(table.missing("queue"));
            };
            let place = |reverse, direction: &LinkDirection| Place {
                rate: direction.rate,
                delay: direction.delay,
                base_rtt,
                frame_bytes: largest_frame(flows, index, reverse, direction.framing),
            };
            link.forward.queue = read_queue(Some(own), place(false, &link.forward))?;
            let back = queue_of(table.table("reverse")?.as_ref()).or_else(|| common.clone());
            link.reverse.queue = read_queue(back, place(true, &link.reverse))?;
        }
        self.read_access_queues(&reader, common.as_ref(), layout, flows)?;
        pool::check(&reader, &self.pools, &self.uses_of_pools(layout, flows))?;
        for (table, link) in tables.iter().zip(&self.trunk) {
            link.check_backlog(table, waiting)?;
        }
        if let (Some(access), Some(table)) = (&self.access, reader.table("access")?) {
            access.near.check_backlog(&table, waiting)?;
            access.far.check_backlog(&table, waiting)?;
        }
        Ok(())
    }

    fn read_access_queues(
        &mut self,
        reader: &Reader<'_>,
        common: Option<&Field<'_>>,
        layout: &Layout,
        flows: &[FlowGroup],
    ) -> Checked<()> {
        let Some(access) = &mut self.access else {
            return Ok(());
        };
        let base_rtt = layout.mean_base_rtt(None);
        let near = reader.table("access")?;
        let far = reader.table("far_access")?;
        let up = queue_of(near.as_ref()).or_else(|| common.cloned());
        let down = queue_of(back_of(near.as_ref())?.as_ref()).or_else(|| common.cloned());
        let far_up = queue_of(far.as_ref()).or_else(|| up.clone());
        let far_down = queue_of(back_of(far.as_ref())?.as_ref()).or_else(|| down.clone());
        for (queue, direction) in [
            (up, &mut access.near.forward),
            (down, &mut access.near.reverse),
            (far_up, &mut access.far.forward),
            (far_down, &mut access.far.reverse),
        ] {
            let frame = |reverse| largest_frame_of_all(flows, reverse, direction.framing);
            let place = Place {
                rate: direction.rate,
                delay: direction.delay,
                base_rtt,
                frame_bytes: frame(false).max(frame(true)),
            };
            direction.queue = read_queue(queue, place)?;
        }
        Ok(())
    }

    /// How many links share each buffer, and their largest frame.
    fn uses_of_pools(&self, layout: &Layout, flows: &[FlowGroup]) -> Vec<pool::Use> {
        let mut uses = vec![pool::Use::default(); self.pools.len()];
        let mut note = |direction: &LinkDirection, links, frame: u64| {
            if let Some(pool) = direction.pool {
                let found: &mut pool::Use = &mut uses[pool as usize];
                found.links += links;
                found.frame_bytes = found.frame_bytes.max(frame);
            }
        };
        for (index, link) in self.trunk.iter().enumerate() {
            for (reverse, direction) in [(false, &link.forward), (true, &link.reverse)] {
                let frame = largest_frame(flows, index, reverse, direction.framing);
                note(direction, 1, frame);
            }
        }
        let hosts = layout.hosts.len() as u64;
        for link in self
            .access
            .iter()
            .flat_map(|access| [&access.near, &access.far])
        {
            for direction in [&link.forward, &link.reverse] {
                let frame = |reverse| largest_frame_of_all(flows, reverse, direction.framing);
                note(direction, hosts, frame(false).max(frame(true)));
            }
        }
        uses
    }

    /// The direction with this name in results (`bottleneck`, `bottleneck.reverse`).
    pub(crate) fn direction(&self, name: &str) -> Option<(usize, &LinkDirection)> {
        let (base, reverse) = match name.strip_suffix(".reverse") {
            Some(base) => (base, true),
            None => (name, false),
        };
        let index = self.trunk.iter().position(|link| link.name == base)?;
        let link = &self.trunk[index];
        Some((
            index,
            if reverse {
                &link.reverse
            } else {
                &link.forward
            },
        ))
    }

    /// The names of all reported links.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> + '_ {
        self.trunk
            .iter()
            .flat_map(|link| [link.name.clone(), format!("{}.reverse", link.name)])
    }
}

fn read_chain(reader: &Reader<'_>, common: &Common<'_>) -> Checked<Vec<DuplexLink>> {
    let tables = reader.require("link")?.tables()?;
    if tables.is_empty() || tables.len() > MOST_LINKS {
        let message = format!("a chain of {} links", tables.len());
        return Err(reader.problem("link", message, "write from 1 to 1000 [[topology.link]]"));
    }
    let mut trunk: Vec<DuplexLink> = Vec::with_capacity(tables.len());
    for (index, table) in tables.iter().enumerate() {
        let name = table
            .name("name")?
            .unwrap_or_else(|| format!("link{index}"));
        if name.contains('.') {
            return Err(table.problem("name", "a link's name has no dots", "use \"-\" or \"_\""));
        }
        if trunk.iter().any(|link| link.name == name) {
            let message = format!("two links are called \"{name}\"");
            return Err(table.problem("name", message, "give each link its own name"));
        }
        trunk.push(read_link(table, name, common, None)?);
    }
    Ok(trunk)
}

fn read_access(
    near: &Reader<'_>,
    far: Option<&Reader<'_>>,
    common: &Common<'_>,
) -> Checked<Access> {
    let near = read_link(near, "access".to_owned(), common, None)?;
    let far = match far {
        Some(far) => read_link(far, "far_access".to_owned(), common, Some(&near))?,
        None => DuplexLink {
            name: "far_access".to_owned(),
            ..near.clone()
        }
        .without_drops(),
    };
    Ok(Access { near, far })
}

/// Reads one link; what is missing comes from `base`, if there is one.
fn read_link(
    reader: &Reader<'_>,
    name: String,
    common: &Common<'_>,
    base: Option<&DuplexLink>,
) -> Checked<DuplexLink> {
    let start = match base {
        Some(base) => base.forward.clone(),
        None => LinkDirection::plain(common.framing),
    };
    let forward = read_direction(reader, common, start)?;
    if forward.rate.0 == 0 {
        return Err(reader.missing("rate"));
    }
    if base.is_none() && name != "access" {
        reader.require("delay")?;
    }
    // What the far side does not say about its reverse direction it takes over from the near
    // side's reverse direction only where it has not changed the forward one.
    let inherit = |key: &str| base.filter(|_| reader.get(key).is_none());
    let given = |key: &str| inherit(key).map(|base| &base.reverse);
    let (rate, service) = match given("rate").and(given("service")) {
        Some(base) => (base.rate, base.service.clone()),
        None => (forward.rate, None),
    };
    let start = LinkDirection {
        rate,
        service,
        delay: given("delay").map_or(forward.delay, |base| base.delay),
        framing: given("framing").map_or(forward.framing, |base| base.framing),
        pool: base.and_then(|base| base.reverse.pool),
        ..LinkDirection::plain(common.framing)
    };
    let reverse = match reader.table("reverse")? {
        Some(back) => read_direction(&back, common, start)?,
        None => start,
    };
    Ok(DuplexLink {
        name,
        forward,
        reverse,
    })
}

/// Reads one direction of a link; what is missing is as in `start`, but for losses.
fn read_direction(
    reader: &Reader<'_>,
    common: &Common<'_>,
    start: LinkDirection,
) -> Checked<LinkDirection> {
    let rate = service::read(reader, common.folder, common.duration)?;
    let (rate, service) = rate.unwrap_or((start.rate, start.service));
    Ok(LinkDirection {
        rate,
        service,
        delay: reader.span("delay")?.unwrap_or(start.delay),
        framing: read_framing(reader)?.unwrap_or(start.framing),
        queue: QueueConfig::drop_tail(Limit::Unlimited),
        pool: pool::of_link(reader, common.pools)?.or(start.pool),
        drop_list: read_drop_list(reader)?,
        loss: crate::loss::read(reader)?,
    })
}

fn read_framing(reader: &Reader<'_>) -> Checked<Option<Framing>> {
    let field = reader.get("framing");
    field.map(|field| Framing::read(&field)).transpose()
}

impl LinkDirection {
    /// A direction of which nothing is known yet; its rate, zero, must be given.
    fn plain(framing: Framing) -> Self {
        Self {
            rate: Rate(0),
            service: None,
            delay: Span::ZERO,
            framing,
            queue: QueueConfig::drop_tail(Limit::Unlimited),
            pool: None,
            drop_list: Vec::new(),
            loss: None,
        }
    }
}

impl DuplexLink {
    /// Refuses a queue that could take longer to empty than instants can say.
    fn check_backlog(&self, table: &Reader<'_>, waiting: u128) -> Checked<()> {
        for direction in [&self.forward, &self.reverse] {
            let rate = drain_rate(&direction.queue, direction.rate);
            let limit = match direction.queue.limit() {
                Limit::Packets(packets) => u128::from(packets) * LARGEST_FRAME,
                Limit::Bytes(bytes) => u128::from(bytes),
                Limit::Unlimited => u128::MAX,
            };
            let seconds = limit.min(waiting) * 8 / u128::from(rate.0);
            if seconds > LONGEST_BACKLOG {
                let message = format!("this link could need {seconds} s to empty its queue");
                let help = "raise the rate, limit the queue, or send less";
                return Err(table.problem("rate", message, help));
            }
        }
        Ok(())
    }

    fn without_drops(mut self) -> Self {
        for direction in [&mut self.forward, &mut self.reverse] {
            direction.drop_list.clear();
            direction.loss = None;
        }
        self
    }
}

fn read_drop_list(reader: &Reader<'_>) -> Checked<Vec<u64>> {
    reader
        .get("drop_list")
        .map_or(Ok(Vec::new()), |field| field.integers())
}

fn back_of<'a>(reader: Option<&Reader<'a>>) -> Checked<Option<Reader<'a>>> {
    reader.map_or(Ok(None), |reader| reader.table("reverse"))
}

fn queue_of<'a>(reader: Option<&Reader<'a>>) -> Option<Field<'a>> {
    reader.and_then(|reader| reader.get("queue"))
}

/// A queue before this link; without a word about it, all may wait.
fn read_queue(field: Option<Field<'_>>, place: Place) -> Checked<QueueConfig> {
    field.map_or(Ok(QueueConfig::drop_tail(Limit::Unlimited)), |mut field| {
        field.place = Some(place);
        crate::queue::read(&field)
    })
}

/// Makes packets or bytes of a limit: times and BDPs are the bytes that the link sends in them.
pub(crate) fn resolve(
    stated: StatedLimit,
    rate: Rate,
    base_rtt: Option<Span>,
) -> Result<Limit, UnitError> {
    let bytes = match stated {
        StatedLimit::Packets(packets) => return Ok(Limit::Packets(packets)),
        StatedLimit::Unlimited => return Ok(Limit::Unlimited),
        StatedLimit::Bytes(bytes) => u128::from(bytes),
        StatedLimit::Time(span) => u128::from(rate.bytes_in(span).0),
        StatedLimit::Bdp(millionths) => match base_rtt {
            Some(rtt) if rtt > Span::ZERO => {
                u128::from(rate.bytes_in(rtt).0) * u128::from(millionths) / u128::from(MILLION)
            }
            _ => {
                return Err(UnitError {
                    message: "the bandwidth-delay product of this link is zero: no flow that \
                              crosses it has a base round-trip time"
                        .to_owned(),
                    help: "write the limit in packets, bytes or milliseconds, or give delays"
                        .to_owned(),
                });
            }
        },
    };
    if bytes > u128::from(crate::units::LARGEST) {
        return Err(UnitError {
            message: format!("this limit comes to {bytes} bytes"),
            help: "write a limit of at most a terabyte, or \"unlimited\"".to_owned(),
        });
    }
    Ok(Limit::Bytes(bytes as u64))
}
