//! A link: the keys of its table for both directions, except the queues.

use crate::flow::law::Laws;
use crate::language::error::{Checked, Problem};
use crate::language::field::Field;
use crate::language::file::Library;
use crate::language::reader::Reader;
use crate::language::value;
use crate::network::link::pool;
use crate::network::link::service;
use goodqueue_queue::{Configuration, Limit, QueueConfig};
use goodqueue_sim::{
    AutorateConfig, Impairments, LossConfig, PauseConfig, PoolConfig, ServiceConfig,
};
use goodqueue_types::{Framing, Rate, Span};

/// Longest time in seconds that a queue may take to empty. Instants reach 18 million seconds.
const LONGEST_BACKLOG: u128 = 10_000_000;
/// Keys of links that have no meaning for a link that only delays.
const LINK_MEANS_MORE: [&str; 9] = [
    "pool",
    "drop_list",
    "loss",
    "jitter",
    "reorder",
    "duplicate",
    "interrupts",
    "pause",
    "autorate",
];
/// Largest IP packet with the largest framing, in ATM cells.
const LARGEST_FRAME: u128 = (65_535_u128 + 1_024).div_ceil(48) * 53;

/// Links of hosts at the near (lower) and far (higher) end of their path.
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
    /// Rate, or the mean rate if it changes.
    pub rate: Rate,
    /// Changes of the rate, if it changes.
    pub service: Option<ServiceConfig>,
    pub delay: Span,
    pub framing: Framing,
    pub queue: QueueConfig,
    /// Index of the shared buffer in the topology's list.
    pub pool: Option<u32>,
    pub drop_list: Vec<u64>,
    pub loss: Option<LossConfig>,
    pub impairments: Impairments,
    pub pause: Option<PauseConfig>,
    pub autorate: Option<AutorateConfig>,
}

/// Context for reading the links of a topology.
pub(super) struct Common<'a> {
    pub framing: Framing,
    pub pools: &'a [PoolConfig],
    /// Place of the files that links name.
    pub files: Library<'a>,
    /// Length of the run.
    pub duration: Span,
}

pub(super) fn read_access(
    near_table: &Reader<'_>,
    far_table: Option<&Reader<'_>>,
    common: &Common<'_>,
) -> Checked<Access> {
    let near = read_link(near_table, "access".to_owned(), common, None)?;
    let far = match far_table {
        Some(far) => read_link(far, "far_access".to_owned(), common, Some(&near))?,
        None => DuplexLink {
            name: "far_access".to_owned(),
            ..near.clone()
        }
        .without_drops(),
    };
    for (table, link) in [(Some(near_table), &near), (far_table, &far)] {
        if let Some(table) = table.filter(|_| link.reverse.autorate.is_some()) {
            let message = "a program sets the shaper of a link between routers, not of hosts";
            let help = "move autorate to that link, whose reverse direction may have one, too";
            return Err(table.problem("reverse", message, help));
        }
    }
    Ok(Access { near, far })
}

/// Reads one link. Missing keys are taken from `base`, if there is one.
pub(super) fn read_link(
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
    // The reverse direction of the far side has the near side's reverse direction as default only
    // if the far side does not change the forward direction.
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

/// Reads one direction of a link. Missing keys are as in `start`, except losses, impairments and
/// flow control.
fn read_direction(
    reader: &Reader<'_>,
    common: &Common<'_>,
    start: LinkDirection,
) -> Checked<LinkDirection> {
    let rate = service::read(reader, common.files, common.duration)?;
    let (rate, service) = rate.unwrap_or((start.rate, start.service));
    let only_delays = rate == Rate::UNLIMITED;
    if only_delays {
        refuse_more_than_delay(reader)?;
    }
    Ok(LinkDirection {
        rate,
        service,
        delay: reader.span("delay")?.unwrap_or(start.delay),
        framing: read_framing(reader)?.unwrap_or(start.framing),
        queue: QueueConfig::drop_tail(Limit::Unlimited),
        pool: pool::of_link(reader, common.pools)?
            .or(start.pool)
            .filter(|_| !only_delays),
        drop_list: read_drop_list(reader)?,
        loss: value::at(reader, "loss")?,
        impairments: crate::network::link::impairment::read(reader, Laws(common.files))?,
        pause: crate::network::link::pause::read(reader)?,
        autorate: crate::network::link::autorate::read(reader)?,
    })
}

/// Refuses keys that need a transmitter; the queue is checked with the other queues.
fn refuse_more_than_delay(reader: &Reader<'_>) -> Checked<()> {
    for key in LINK_MEANS_MORE.iter().filter(|key| reader.may_have(key)) {
        let Some(field) = reader.get(key) else {
            continue;
        };
        if field.is_list() && field.items()?.is_empty() {
            continue;
        }
        return Err(only_delays(&field));
    }
    Ok(())
}

/// Returns the problem of a key that has no meaning for a link of unlimited rate.
pub(super) fn only_delays(field: &Field<'_>) -> Problem {
    let key = field.key.name;
    let message = format!("a link of unlimited rate only delays: \"{key}\" means nothing here");
    let help = format!("leave \"{key}\" out, or give the link a rate, as in rate = \"10Gbps\"");
    field.problem(message, help)
}

pub(super) fn read_framing(reader: &Reader<'_>) -> Checked<Option<Framing>> {
    let field = reader.get("framing");
    field
        .map(|field| crate::network::link::framing::read(&field))
        .transpose()
}

impl LinkDirection {
    /// Returns true if it has neither a queue nor a transmitter.
    pub(crate) fn only_delays(&self) -> bool {
        self.rate == Rate::UNLIMITED
    }

    /// Returns a direction with defaults. Its rate of zero must be replaced.
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
            impairments: Impairments::default(),
            pause: None,
            autorate: None,
        }
    }
}

impl DuplexLink {
    /// Refuses a queue that could take longer to empty than instants can represent.
    pub(super) fn check_backlog(&self, table: &Reader<'_>, waiting: u128) -> Checked<()> {
        for direction in [&self.forward, &self.reverse] {
            let rate = direction.queue.drain_rate(direction.rate);
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
            direction.impairments = Impairments::default();
            direction.pause = None;
            direction.autorate = None;
        }
        self
    }
}

fn read_drop_list(reader: &Reader<'_>) -> Checked<Vec<u64>> {
    reader
        .get("drop_list")
        .map_or(Ok(Vec::new()), |field| field.integers())
}
