//! Points at which traces of a run are taken, and the contents of their frames besides the packets.

use crate::language::error::{nearest, shorten};
use crate::language::units::UnitError;
use crate::scenario::Scenario;
use goodqueue_sim::{Network, SourceConfig, WorkloadConfig};
use goodqueue_tcp::{Recovery, TcpConfig};
use goodqueue_trace::write::{Echo, Endpoints, Gate, Next, Point, Quantity, TcpFacts, Wiring};
use goodqueue_types::{Direction, FlowId, LinkId, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// Forms of the names of traces.
const TRACES: [&str; 19] = [
    "sender",
    "receiver",
    "before",
    "after",
    "sender:FLOW",
    "receiver:FLOW",
    "before:LINK",
    "after:LINK",
    "tr",
    "nam",
    "packets",
    "qlog",
    "qlog:FLOW",
    "cwnd:FLOW",
    "throughput:FLOW",
    "throughput-down:FLOW",
    "ping:FLOW",
    "queue",
    "queue:LINK",
];

/// A trace to write.
#[derive(Clone, Debug)]
pub enum Tap {
    /// A capture at a point, in pcapng.
    Capture(Point),
    /// Trace of ns-2.
    Ns2(Arc<Wiring>),
    /// Trace of nam.
    Nam(Arc<Wiring>),
    /// Table of all packet events, in Parquet.
    Packets,
    /// Log of TCP senders in qlog: of one flow, or of all.
    Qlog(Option<FlowId>),
    /// Two columns: time and a number.
    Columns(Quantity),
}

/// Usual interval at which scripts of ns-2 write windows: ten times a second.
const WINDOW_EVERY: Span = Span::from_millis(100);
/// Interval of Flent's throughput.
const THROUGHPUT_EVERY: Span = Span::from_millis(200);

impl Scenario {
    /// Returns a trace by its name. Traces are `tr`, `nam`, `qlog`, `qlog:FLOW`, `cwnd:FLOW`, `throughput:FLOW`,
    /// `throughput-down:FLOW`, `ping:FLOW`, `queue` and `queue:LINK`. A capture has the name of its
    /// point: `sender` or `receiver`, of all flows or, after a colon, of one; `before` or `after`
    /// the queue of the first link or, after a colon, of another.
    ///
    /// # Errors
    /// Fails if there is no such trace, flow or link.
    pub fn tap(&self, network: &Network, text: &str) -> Result<Tap, UnitError> {
        let (kind, of) = match text.split_once(':') {
            Some((kind, of)) => (kind, Some(of)),
            None => (text, None),
        };
        let flow = || of.map(|name| find_flow(network, name)).transpose();
        let gate = || Ok(gate(network, self.link_or_first(network, of)?));
        match (kind, of) {
            ("sender", _) => Ok(Tap::Capture(Point::Sender(flow()?))),
            ("receiver", _) => Ok(Tap::Capture(Point::Receiver(flow()?))),
            ("before", _) => Ok(Tap::Capture(Point::Before(gate()?))),
            ("after", _) => Ok(Tap::Capture(Point::After(gate()?))),
            ("tr", None) => Ok(Tap::Ns2(Arc::new(self.wiring(network)))),
            ("packets", None) => Ok(Tap::Packets),
            ("qlog", _) => {
                let flow = flow()?;
                if let Some(found) = flow
                    && network.flows[found.0 as usize].workload.tcp().is_none()
                {
                    return Err(UnitError {
                        message: format!(
                            "the flow \"{}\" has no TCP to log",
                            shorten(of.unwrap_or_default())
                        ),
                        help: "name a flow of TCP".to_owned(),
                    });
                }
                Ok(Tap::Qlog(flow))
            }
            ("nam", None) => Ok(Tap::Nam(Arc::new(self.wiring(network)))),
            ("cwnd", Some(name)) => {
                let flow = find_flow(network, name)?;
                let Some((tcp, _)) = network.flows[flow.0 as usize].workload.as_bulk() else {
                    return Err(UnitError {
                        message: format!("the flow \"{}\" has no window to show", shorten(name)),
                        help: "name a bulk flow".to_owned(),
                    });
                };
                Ok(Tap::Columns(Quantity::Window {
                    flow,
                    mss: u64::from(tcp.mss),
                    every: WINDOW_EVERY,
                }))
            }
            ("throughput" | "throughput-down", Some(name)) => {
                Ok(Tap::Columns(Quantity::Throughput {
                    flow: find_flow(network, name)?,
                    direction: if kind == "throughput" {
                        Direction::Forward
                    } else {
                        Direction::Reverse
                    },
                    every: THROUGHPUT_EVERY,
                }))
            }
            ("ping", Some(name)) => {
                let flow = find_flow(network, name)?;
                let workload = &network.flows[flow.0 as usize].workload;
                if !matches!(workload, WorkloadConfig::Source(SourceConfig::Ping { .. })) {
                    return Err(UnitError {
                        message: format!("the flow \"{}\" sends no pings", shorten(name)),
                        help: "name a ping flow".to_owned(),
                    });
                }
                Ok(Tap::Columns(Quantity::Ping(flow)))
            }
            ("queue", name) => {
                let link = self.link_or_first(network, name)?;
                Ok(Tap::Columns(Quantity::Queue(link)))
            }
            _ => Err(no_such_trace(text, kind)),
        }
    }

    fn link_or_first(&self, network: &Network, name: Option<&str>) -> Result<LinkId, UnitError> {
        let first = || self.link_names().first().cloned().unwrap_or_default();
        find_link(network, &name.map_or_else(first, str::to_owned))
    }
}

fn no_such_trace(text: &str, kind: &str) -> UnitError {
    let names = TRACES.map(|form| form.split(':').next().unwrap_or(form));
    UnitError {
        message: format!("there is no trace \"{}\"", shorten(text)),
        help: match nearest(kind, names).filter(|near| *near != kind) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("write one of {}", TRACES.join(", ")),
        },
    }
}

pub(crate) fn find_flow(network: &Network, name: &str) -> Result<FlowId, UnitError> {
    let names = || network.flows.iter().map(|flow| flow.name.as_str());
    let found = names().position(|other| other == name);
    found
        .map(|index| FlowId(index as u32))
        .ok_or_else(|| unknown("flow", name, &names().collect::<Vec<_>>()))
}

fn find_link(network: &Network, name: &str) -> Result<LinkId, UnitError> {
    let names = || network.links.iter().map(|link| link.name.as_str());
    let found = names().position(|other| other == name);
    found
        .map(|index| LinkId(index as u32))
        .ok_or_else(|| unknown("link", name, &names().collect::<Vec<_>>()))
}

fn unknown(what: &str, name: &str, names: &[&str]) -> UnitError {
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("the {what}s are {}", names[..names.len().min(8)].join(", ")),
    };
    UnitError {
        message: format!("there is no {what} \"{}\"", shorten(name)),
        help,
    }
}

fn gate(network: &Network, link: LinkId) -> Gate {
    let config = &network.links[link.0 as usize];
    Gate {
        link,
        name: config.name.clone(),
        next: next_after(network, Some(link)),
        next_after_opposite: next_after(network, opposite(network, link)),
        loses_after: config
            .loss
            .is_some_and(|loss| loss.law().scope().after_transmission),
    }
}

/// Returns the other direction of a link.
fn opposite(network: &Network, link: LinkId) -> Option<LinkId> {
    let name = &network.links[link.0 as usize].name;
    let other = match name.strip_suffix(".reverse") {
        Some(forward) => forward.to_owned(),
        None => format!("{name}.reverse"),
    };
    find_link(network, &other).ok()
}

/// Returns the next point of each flow's packets behind a link, for each direction that crosses it.
fn next_after(network: &Network, link: Option<LinkId>) -> Vec<Option<Next>> {
    let ways = network
        .flows
        .iter()
        .flat_map(|flow| [&flow.forward, &flow.reverse]);
    ways.map(|route| {
        let here = route.iter().position(|other| Some(*other) == link)?;
        let next = route.get(here + 1);
        Some(next.map_or(Next::Host, |next| Next::Link(*next)))
    })
    .collect()
}

/// Returns the addresses in the frames of each flow.
pub fn endpoints(network: &Network) -> Arc<[Endpoints]> {
    let mut between = HashMap::new();
    let flows = network.flows.iter();
    flows
        .map(|flow| {
            let count = between.entry(flow.hosts).or_insert(0);
            let ordinal = *count;
            *count += 1;
            let (tcp, echo) = match &flow.workload {
                WorkloadConfig::Stream { tcp, .. } | WorkloadConfig::Session { tcp, .. } => {
                    (Some(tcp_facts(tcp)), None)
                }
                WorkloadConfig::Source(SourceConfig::Ping { interval, .. }) => {
                    let (start, interval) = (flow.start, *interval);
                    (None, Some(Echo { start, interval }))
                }
                WorkloadConfig::Source(_) | WorkloadConfig::Foreign(_) => (None, None),
            };
            Endpoints { ordinal, tcp, echo }
        })
        .collect()
}

fn tcp_facts(tcp: &TcpConfig) -> TcpFacts {
    TcpFacts {
        mss: tcp.mss.min(0xFFFF) as u16,
        window_scale: tcp.window_scale(),
        sack: tcp.recovery == Recovery::Sack,
    }
}
