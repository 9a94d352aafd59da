//! What a run is made of: links, flows with their routes, and what to measure. Plain values;
//! the scenario crate builds them, both engines read them.

use crate::impairment::Impairments;
use crate::law::Law;
use crate::loss::LossConfig;
use crate::service::ServiceConfig;
use crate::workload::session::SessionConfig;
use crate::workload::{EchoReply, GameConfig, VoiceConfig};
use goodqueue_queue::{Limit, QueueConfig, Sharing};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::{Framing, Hosts, LinkId, Rate, Span, Time};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A complete description of one run.
#[derive(Clone, Debug)]
pub struct Network {
    /// Seeds every random stream and the order of simultaneous arrivals.
    pub seed: u64,
    /// The run ends at this instant; what happens later does not happen.
    pub end: Time,
    /// Measurements begin here.
    pub warmup: Time,
    /// Unidirectional links, indexed by [`LinkId`].
    pub links: Vec<LinkConfig>,
    /// Buffers that several links share.
    pub pools: Vec<PoolConfig>,
    /// Flows, indexed by `FlowId`.
    pub flows: Vec<FlowConfig>,
    /// What to record besides the summary.
    pub record: Record,
}

/// A unidirectional link: a queue, a transmitter of finite rate, and propagation.
///
/// The fields of its [`Equipment`] read as the link's own.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Name in results (`bottleneck`, `bottleneck.reverse`).
    pub name: String,
    /// Transmission rate, at the layer where frames are IP packet plus framing; the mean rate of a
    /// link whose rate changes. [`Rate::UNLIMITED`] on a link that only delays.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Losses are of one burst if they are less than this and the time that the backlog takes apart:
    /// the base round-trip time of flows that cross the link. Without it bursts are not told apart.
    pub burst_gap: Option<Span>,
    /// Whether the link's statistics are reported; others only count.
    pub observed: bool,
    /// Everything else. Access links of a hundred thousand hosts have it in common.
    pub equipment: Arc<Equipment>,
}

/// What a link consists of, besides its rate and length.
#[derive(Clone, Debug)]
pub struct Equipment {
    /// How the rate changes, if it does.
    pub service: Option<ServiceConfig>,
    /// What the link layer adds to each IP packet.
    pub framing: Framing,
    /// The queue in front of the transmitter.
    pub queue: QueueConfig,
    /// The shared buffer, by index, that the queue books its bytes on; its own without one.
    pub pool: Option<u32>,
    /// Arrivals lost whatever the queue holds: 0 is the first packet ever to arrive. Sorted.
    pub drop_list: Vec<u64>,
    /// What the link loses at random.
    pub loss: Option<LossConfig>,
    /// What happens to packets on their way behind the transmitter.
    pub impairments: Impairments,
}

impl Equipment {
    /// A drop-tail queue, nothing that loses packets, and no framing.
    pub fn drop_tail(limit: Limit) -> Self {
        Self {
            service: None,
            framing: Framing::default(),
            queue: QueueConfig::drop_tail(limit),
            pool: None,
            drop_list: Vec::new(),
            loss: None,
            impairments: Impairments::default(),
        }
    }
}

impl Deref for LinkConfig {
    type Target = Equipment;

    fn deref(&self) -> &Equipment {
        &self.equipment
    }
}

/// Changes this link alone: equipment that it has in common with others is copied first.
impl DerefMut for LinkConfig {
    fn deref_mut(&mut self) -> &mut Equipment {
        Arc::make_mut(&mut self.equipment)
    }
}

impl LinkConfig {
    /// A drop-tail link that loses nothing and is not observed, without framing.
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

    /// Whether nothing can ever wait here: a link of unlimited rate that does nothing but delay.
    /// Packets pass it on their way, without an event.
    pub fn only_delays(&self) -> bool {
        let nothing_else = self.fifo_limit() == Some(Limit::Unlimited) && self.drop_list.is_empty();
        self.rate == Rate::UNLIMITED && nothing_else
    }

    /// The limit, where a packet's departure is known on its arrival and what leaves first arrives
    /// first: a drop-tail FIFO with a buffer of its own.
    pub(crate) fn fifo_limit(&self) -> Option<Limit> {
        let plain = self.pool.is_none()
            && self.loss.is_none()
            && self.service.is_none()
            && !self.impairments.any();
        match &self.queue {
            QueueConfig::DropTail(config) if plain => Some(config.limit),
            _ => None,
        }
    }
}

/// A buffer that several links share.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolConfig {
    /// Name in results.
    pub name: String,
    /// Bytes, with framing.
    pub capacity: u64,
    /// How much of it each link may take.
    pub sharing: Sharing,
    /// Bytes kept for each link.
    pub headroom: u64,
}

/// A flow between two hosts.
#[derive(Clone, Debug)]
pub struct FlowConfig {
    /// Name in results.
    pub name: String,
    /// The number of the group that it belongs to, for what is reported by group.
    pub group: u32,
    /// When its application starts.
    pub start: Time,
    /// Links from client to server.
    pub forward: Vec<LinkId>,
    /// Links from server to client.
    pub reverse: Vec<LinkId>,
    /// The hosts at both ends, for queues that share among hosts.
    pub hosts: Hosts,
    /// The differentiated services code point of its packets, both ways.
    pub dscp: u8,
    /// What its application does.
    pub workload: WorkloadConfig,
    /// Where between two losses the sender of a bulk flow begins; `None` at the very beginning.
    pub between_losses: Option<BetweenLosses>,
}

/// A place on the saw-tooth of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetweenLosses {
    /// The window in segments at which the last loss came.
    pub peak: u32,
    /// How much has passed since of the time until the window is back there, as a share.
    pub phase: f64,
}

/// What an application does.
#[derive(Clone, Debug)]
pub enum WorkloadConfig {
    /// TCP data from client to server: so many bytes, then close; or without end.
    Bulk {
        /// Both endpoints' configuration.
        tcp: Arc<TcpConfig>,
        /// Bytes to send; `None` never ends.
        bytes: Option<u64>,
    },
    /// The same, and the server answers all that comes.
    Echo {
        /// Both endpoints' configuration.
        tcp: Arc<TcpConfig>,
        /// Bytes to send; `None` never ends.
        bytes: Option<u64>,
        /// The answer to each piece that its TCP delivers.
        reply: EchoReply,
    },
    /// An application over TCP connections that come and go.
    Session {
        /// Configuration of all endpoints.
        tcp: Arc<TcpConfig>,
        /// What the client does.
        session: Arc<SessionConfig>,
    },
    /// Datagrams at constant intervals.
    ConstantBitRate {
        /// Time between packets.
        interval: Span,
        /// IP packet size in bytes.
        packet: u32,
    },
    /// Datagrams at exponential intervals.
    Poisson {
        /// Mean time between packets.
        mean_interval: Span,
        /// IP packet sizes.
        packet: PacketSize,
    },
    /// Bursts of datagrams back to back at exponential intervals.
    Bursts {
        /// Mean time between bursts.
        mean_interval: Span,
        /// Datagrams of a burst.
        packets: u32,
        /// IP packet size in bytes.
        packet: u32,
    },
    /// Datagrams at constant intervals in on periods, none in the off periods between them.
    OnOff {
        /// Time between packets while on.
        interval: Span,
        /// IP packet size in bytes.
        packet: u32,
        /// Seconds of an on period; the flow begins with one.
        on: Law,
        /// Seconds of an off period.
        off: Law,
    },
    /// One direction of a call.
    Voice(VoiceConfig),
    /// Small updates both ways at constant intervals.
    Game(Arc<GameConfig>),
    /// Echo requests at constant intervals, answered by the server's host.
    Ping {
        /// Time between requests.
        interval: Span,
        /// IP packet size in bytes.
        packet: u32,
    },
}

/// Sizes of a source's IP packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PacketSize {
    /// All the same, in bytes.
    Fixed(u32),
    /// Exponential with this mean in bytes, rounded, at least 1 and at most 65,535.
    Exponential(f64),
}

/// What to record besides the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Backlog, cwnd, ssthresh and RTT over time.
    pub series: bool,
    /// Every packet event at every link and host.
    pub packets: bool,
    /// One-way delays of bulk TCP flows, which cost a few percent of the run time.
    pub tcp_delays: bool,
}
