//! The description of a run: links, flows with their routes, and what to measure. It consists of
//! plain values. The scenario crate builds them and both engines read them.

use crate::host::interface::InterfaceConfig;
use crate::link::autorate::Autorate;
use crate::link::impairment::Impairments;
use crate::link::loss::LossConfig;
use crate::link::pause::PauseConfig;
use crate::link::service::ServiceConfig;
use crate::workload::foreign::Stack;
use crate::workload::session::SessionConfig;
use crate::workload::{SourceConfig, StreamConfig};
use goodqueue_queue::{Limit, QueueConfig, Sharing};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::parameters::{Key, Kind, LARGEST, size};
use goodqueue_types::{Framing, Hosts, LinkId, Rate, Span, Time, parameters};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Complete description of one run.
#[derive(Clone, Debug)]
pub struct Network {
    /// Seed of every random stream and of the order of simultaneous arrivals.
    pub seed: u64,
    /// Time at which the run ends. Later events do not happen.
    pub end: Time,
    /// Time at which the measurements begin.
    pub warmup: Time,
    /// Unidirectional links, indexed by [`LinkId`].
    pub links: Vec<LinkConfig>,
    /// Buffers that several links share.
    pub pools: Vec<PoolConfig>,
    /// Flows, indexed by `FlowId`.
    pub flows: Vec<FlowConfig>,
    /// Series and events to record besides the summary.
    pub record: Record,
}

impl Network {
    /// Gives a link another queue. Returns false if there is no link of this name.
    pub fn set_queue(&mut self, link: &str, queue: &QueueConfig) -> bool {
        let mut named = self
            .links
            .iter_mut()
            .filter(|found| found.name == link)
            .peekable();
        let exists = named.peek().is_some();
        named.for_each(|found| found.queue = queue.clone());
        exists
    }

    /// Gives the flows of this name, or those of a group with it (`name.1`, `name.2` ...), to a foreign
    /// stack. Returns their number.
    pub fn set_stack(&mut self, flow: &str, stack: &Arc<dyn Stack>) -> usize {
        let is_named = |name: &str| {
            let rest = name.strip_prefix(flow);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let named = self.flows.iter_mut().filter(|found| is_named(&found.name));
        let workload = || WorkloadConfig::Foreign(Arc::clone(stack));
        named.map(|found| found.workload = workload()).count()
    }

    /// Marks the links on which flow control depends: those that a link with flow control feeds, and
    /// those that carry its PAUSE frames. Routes and flow control must not change afterwards.
    pub fn keep_in_step(&mut self) {
        let Self { links, flows, .. } = self;
        if links.iter().all(|link| link.pause.is_none()) {
            return;
        }
        let routes = flows.iter().flat_map(|flow| [&flow.forward, &flow.reverse]);
        let pairs = routes.flat_map(|route| route.windows(2));
        let mut needed: Vec<LinkId> = pairs
            .filter(|pair| links[pair[0].0 as usize].pause.is_some())
            .map(|pair| pair[1])
            .collect();
        let paused = links.iter().filter(|link| link.pause.is_some());
        needed.extend(paused.filter_map(|link| link.opposite));
        for link in needed {
            let link = &mut links[link.0 as usize];
            if !link.in_step && !link.only_delays() {
                link.in_step = true;
            }
        }
    }
}

/// A unidirectional link: a queue, a transmitter of finite rate, and propagation.
///
/// The fields of its [`Equipment`] read as the link's own.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Name in results (`bottleneck`, `bottleneck.reverse`).
    pub name: String,
    /// Transmission rate of frames (IP packet plus framing), or the mean rate of a link whose rate
    /// changes. [`Rate::UNLIMITED`] on a link that only delays.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Base RTT of the flows that cross the link. Two losses belong to one burst if the time
    /// between them is less than this RTT plus the time to send the backlog. Without it bursts are
    /// not measured.
    pub burst_gap: Option<Span>,
    /// True if the link's statistics are reported. Other links only count packets.
    pub observed: bool,
    /// All other properties. The access links of a hundred thousand hosts share one value.
    pub equipment: Arc<Equipment>,
}

/// Properties of a link other than its rate and delay.
#[derive(Clone, Debug)]
pub struct Equipment {
    /// Changes of the rate, if it varies.
    pub service: Option<ServiceConfig>,
    /// Bytes that the link layer adds to each IP packet.
    pub framing: Framing,
    /// The queue in front of the transmitter.
    pub queue: QueueConfig,
    /// Index of the shared buffer on which the queue books its bytes. Without one the queue has a
    /// buffer of its own.
    pub pool: Option<u32>,
    /// Numbers of the arriving packets that are lost whatever the backlog is, sorted. The first
    /// packet that arrives in the run has number 0.
    pub drop_list: Vec<u64>,
    /// Random losses.
    pub loss: Option<LossConfig>,
    /// Impairments of packets behind the transmitter.
    pub impairments: Impairments,
    /// Flow control by the node behind the link, if it has any.
    pub pause: Option<PauseConfig>,
    /// Program that sets the rate of the queue, which must be [`Cake`](goodqueue_queue::Cake).
    pub autorate: Option<Box<Autorate>>,
    /// Other direction of the same cable, which carries the PAUSE frames for this one. Without it they
    /// wait for no frame, and have the delay of this link.
    pub opposite: Option<LinkId>,
    /// True if flow control depends on the queue or on the transmissions of this link, so that they
    /// must not be computed ahead ([`Network::keep_in_step`]).
    pub in_step: bool,
}

impl Equipment {
    /// Returns a drop-tail queue without losses and without framing.
    pub fn drop_tail(limit: Limit) -> Self {
        Self {
            service: None,
            framing: Framing::default(),
            queue: QueueConfig::drop_tail(limit),
            pool: None,
            drop_list: Vec::new(),
            loss: None,
            impairments: Impairments::default(),
            pause: None,
            autorate: None,
            opposite: None,
            in_step: false,
        }
    }
}

impl Deref for LinkConfig {
    type Target = Equipment;

    fn deref(&self) -> &Equipment {
        &self.equipment
    }
}

/// Changes this link alone: equipment that it shares with other links is copied first.
impl DerefMut for LinkConfig {
    fn deref_mut(&mut self) -> &mut Equipment {
        Arc::make_mut(&mut self.equipment)
    }
}

impl LinkConfig {
    /// Returns a drop-tail link without losses and framing that is not observed.
    pub fn drop_tail(rate: Rate, delay: Span, limit: Limit) -> Self {
        Self {
            name: String::new(),
            rate,
            delay,
            burst_gap: None,
            observed: false,
            equipment: Arc::new(Equipment::drop_tail(limit)),
        }
    }

    /// Returns true if no packet can ever wait here, because the link has an unlimited rate and
    /// only delays. Packets pass it without an event.
    pub fn only_delays(&self) -> bool {
        let nothing_else = self.fifo_limit() == Some(Limit::Unlimited) && self.drop_list.is_empty();
        self.rate == Rate::UNLIMITED && nothing_else
    }

    /// Returns the limit if a packet's departure is known on its arrival and packets arrive in the
    /// order in which they leave, as in a drop-tail FIFO with a buffer of its own. Returns none
    /// otherwise.
    pub(crate) fn fifo_limit(&self) -> Option<Limit> {
        let plain = self.pool.is_none()
            && self.loss.is_none()
            && self.service.is_none()
            && self.pause.is_none()
            && !self.in_step
            && !self.impairments.any();
        match &self.queue {
            QueueConfig::DropTail(config) if plain => Some(config.limit),
            _ => None,
        }
    }
}

parameters! {
    /// A buffer that several links share.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PoolConfig("shared buffer") {
        /// Name in results and in `pool` of links.
        name: String = String::new() => Key::new(Kind::Name).required().example("switch");
        /// Frame bytes that all links together may have waiting.
        capacity: u64 = 0 => size(1, LARGEST).required().example("12MB");
        sharing: Sharing = Sharing::default();
        /// Bytes reserved for each link. The links share the remaining bytes, and thresholds count
        /// only these.
        headroom: u64 = 0 => size(0, LARGEST).default("\"0B\"").example("10kB");
        /// Bytes of a cell of the memory. Each frame takes whole cells.
        cell: u64 = 1 => size(1, 65_536).default("\"1B\"").example("256B");
        /// Bytes of each frame that take time on the line and no memory: 20 bytes of preamble and
        /// gap on Ethernet.
        gap: u64 = 0 => size(0, 256).default("\"0B\"").example("20B");
    }
}

/// A flow between two hosts.
#[derive(Clone, Debug)]
pub struct FlowConfig {
    /// Name in results.
    pub name: String,
    /// Number of the flow's group, for results by group.
    pub group: u32,
    /// Time at which the application starts.
    pub start: Time,
    /// Links from client to server.
    pub forward: Vec<LinkId>,
    /// Links from server to client.
    pub reverse: Vec<LinkId>,
    /// Hosts at both ends, for queues that divide the rate among hosts.
    pub hosts: Hosts,
    /// Differentiated services code point of the flow's packets in both directions.
    pub dscp: u8,
    /// Time at which the application of an endless bulk flow, or a source of datagrams, stops; none if it
    /// never does.
    pub stop: Option<Time>,
    /// Application of the flow.
    pub workload: WorkloadConfig,
    /// Interfaces of the hosts at both ends; none if they pass every packet at once.
    pub interface: Option<Arc<InterfaceConfig>>,
    /// State between two losses in which the sender of a bulk flow begins; none for a new connection.
    pub between_losses: Option<BetweenLosses>,
}

/// Position of a congestion window in its sawtooth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetweenLosses {
    /// Window at the last loss, in segments.
    pub peak: u32,
    /// Elapsed share of the time between the last loss and the moment at which the window has grown
    /// back to its value at that loss.
    pub phase: f64,
}

/// Application of a flow.
#[derive(Clone, Debug)]
pub enum WorkloadConfig {
    /// TCP data from client to server: a number of bytes and then a close, or data without end.
    Stream {
        /// Both endpoints' configuration.
        tcp: Arc<TcpConfig>,
        /// Amount of the data, and the server's answers.
        stream: StreamConfig,
    },
    /// An application over a sequence of TCP connections.
    Session {
        /// Configuration of all endpoints.
        tcp: Arc<TcpConfig>,
        /// Behaviour of the client.
        session: Arc<SessionConfig>,
    },
    /// Datagrams or echo requests.
    Source(SourceConfig),
    /// A transport stack from outside, which a scenario file cannot name.
    Foreign(Arc<dyn Stack>),
}

impl WorkloadConfig {
    /// Creates a transfer of `bytes` bytes that the server only receives. None is for data without
    /// end.
    pub fn bulk(tcp: Arc<TcpConfig>, bytes: Option<u64>) -> Self {
        let stream = StreamConfig::Bulk { bytes };
        Self::Stream { tcp, stream }
    }

    /// Returns true if the client sends data over one connection that the server only receives.
    pub fn is_bulk(&self) -> bool {
        self.as_bulk().is_some()
    }

    /// Returns the configuration of TCP and the bytes to send of a bulk transfer.
    pub fn as_bulk(&self) -> Option<(&Arc<TcpConfig>, Option<u64>)> {
        match self {
            Self::Stream {
                tcp,
                stream: StreamConfig::Bulk { bytes },
            } => Some((tcp, *bytes)),
            _ => None,
        }
    }

    /// Returns the configuration of TCP, if the workload has one.
    pub fn tcp(&self) -> Option<&Arc<TcpConfig>> {
        match self {
            Self::Stream { tcp, .. } | Self::Session { tcp, .. } => Some(tcp),
            Self::Source(_) | Self::Foreign(_) => None,
        }
    }

    /// Returns the configuration of TCP, to change it.
    pub fn tcp_mut(&mut self) -> Option<&mut Arc<TcpConfig>> {
        match self {
            Self::Stream { tcp, .. } | Self::Session { tcp, .. } => Some(tcp),
            Self::Source(_) | Self::Foreign(_) => None,
        }
    }
}

/// Series and events to record besides the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Backlog, cwnd, ssthresh and RTT over time.
    pub series: bool,
    /// Every packet event at every link and host.
    pub packets: bool,
    /// One-way delays of bulk TCP flows, which cost a few percent of the run time.
    pub tcp_delays: bool,
}
