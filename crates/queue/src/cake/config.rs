//! What CAKE can be told.

use crate::cake::Cake;
use crate::config::refuse_small_limit;
use crate::flows::refuse_memory;
use crate::{Configuration, Limit, Refusal};
use goodqueue_types::{Framing, RandomStream, Rate, Span};

/// Into which tins (queues of different priority) packets are sorted by their code point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeDiffserv {
    /// One tin for all (`besteffort`).
    BestEffort,
    /// Eight by the upper three bits (`precedence`).
    Precedence,
    /// Bulk, best effort, voice (`diffserv3`).
    Diffserv3,
    /// Bulk, best effort, video, voice (`diffserv4`).
    Diffserv4,
    /// Eight by usual code points (`diffserv8`).
    Diffserv8,
}

/// Between whom the bandwidth is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeIsolation {
    /// Nobody: one queue (`flowblind`).
    FlowBlind,
    /// Hosts that send (`srchost`).
    SrcHost,
    /// Hosts that receive (`dsthost`).
    DstHost,
    /// Pairs of hosts (`hosts`).
    Hosts,
    /// Flows (`flows`).
    Flows,
    /// First hosts that send, then their flows (`dual-srchost`).
    DualSrcHost,
    /// First hosts that receive, then their flows (`dual-dsthost`).
    DualDstHost,
    /// First hosts on either side, then flows (`triple-isolate`).
    TripleIsolate,
}

/// How long a queue that has never been congested may stay above its target before the first
/// drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeFirstInterval {
    /// Until the next packet: Linux clears the state of a new queue, and with it 1/√count.
    None,
    /// An interval, as later (ns-3's COBALT).
    Whole,
}

/// What CAKE can be told. Left out: `autorate-ingress`, `ack-filter`, `wash`, `nat`, `fwmark`,
/// `split-gso` (there are no super-packets), and overrides by class or filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeConfig {
    /// Rate of the shaper (`bandwidth`); `None` is `unlimited`, the default.
    pub bandwidth: Option<Rate>,
    /// Tins. Default `diffserv3`.
    pub diffserv: CakeDiffserv,
    /// Isolation. Default `triple-isolate`.
    pub isolation: CakeIsolation,
    /// A usual round-trip time (`rtt`, or a name for it: `internet` is 100 ms, the default;
    /// `datacentre` 100 us, `lan` 1 ms, `metro` 10 ms, `regional` 30 ms, `oceanic` 300 ms,
    /// `satellite` 1 s, `interplanetary` 1000 s). It is COBALT's interval; the target is a
    /// twentieth of it. Both are longer in tins in which a full frame takes long.
    pub rtt: Span,
    /// Bytes on the wire for each IP packet, in the shaper's account and in those of flows and
    /// tins (`overhead`, `mpu`, `atm`, `ptm`); `None`, the default, is `raw`: the link's own
    /// framing.
    pub framing: Option<Framing>,
    /// The most kernel memory that waiting packets may take, in bytes (`memlimit`); see `truesize`.
    /// `None`, the default, is four times what the bandwidth sends in an `rtt`, but at least 4 MiB
    /// and at most 10240 full frames.
    pub memory_limit: Option<u64>,
    /// A limit beside that of memory; not in Linux. Default none.
    pub limit: Limit,
    /// Whether the shaper counts what it drops, too, because that has passed the bottleneck before
    /// it (`ingress`; the default is `egress`).
    pub ingress: bool,
    /// Frame bytes of a full packet (Linux: the device's MTU and its header). Default 1514.
    pub mtu: u32,
    /// What a new queue does. Default as Linux.
    pub first_interval: CakeFirstInterval,
}

impl CakeConfig {
    /// As `tc qdisc add ... cake bandwidth`, or `unlimited`.
    pub const fn linux(bandwidth: Option<Rate>) -> Self {
        Self {
            bandwidth,
            diffserv: CakeDiffserv::Diffserv3,
            isolation: CakeIsolation::TripleIsolate,
            rtt: Span::from_millis(100),
            framing: None,
            memory_limit: None,
            limit: Limit::Unlimited,
            ingress: false,
            mtu: 1514,
            first_interval: CakeFirstInterval::None,
        }
    }

    /// The most memory that waiting packets may take, in bytes.
    pub fn memory(&self) -> u64 {
        let most = 10_240 * u64::from(self.mtu);
        let wanted = match (self.memory_limit, self.bandwidth) {
            (Some(limit), _) => return limit,
            (None, Some(rate)) => 4 * rate.bytes_in(self.rtt).0,
            (None, None) => most,
        };
        wanted.max(4 << 20).min(most)
    }

    /// The delay that COBALT allows, before it is stretched for slow tins.
    pub fn target(&self) -> Span {
        self.rtt / 20
    }
}

impl CakeIsolation {
    /// Whether flows have queues of their own.
    pub(super) fn separates_flows(self) -> bool {
        !matches!(
            self,
            Self::FlowBlind | Self::SrcHost | Self::DstHost | Self::Hosts
        )
    }

    /// Whether sending hosts are told apart.
    pub(super) fn sees_sources(self) -> bool {
        matches!(
            self,
            Self::SrcHost | Self::Hosts | Self::DualSrcHost | Self::TripleIsolate
        )
    }

    /// Whether receiving hosts are told apart.
    pub(super) fn sees_destinations(self) -> bool {
        matches!(
            self,
            Self::DstHost | Self::Hosts | Self::DualDstHost | Self::TripleIsolate
        )
    }
}

impl Configuration for CakeConfig {
    type Queue = Cake;

    fn build(&self, random: &mut RandomStream) -> Cake {
        Cake::new(*self, random)
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        refuse_memory(self.memory(), frame_bytes)?;
        if self.rtt < Span::from_micros(20) || self.rtt > Span::from_secs(1000) {
            return Err(Refusal::new(
                "rtt",
                "a round-trip time must lie between 20 us and 1000 s",
                "write a usual round-trip time, as in rtt = \"100ms\"",
            ));
        }
        if self.mtu == 0 {
            return Err(Refusal::new(
                "mtu",
                "a full frame of no byte",
                "write the size of the largest frame, as in mtu = \"1514B\"",
            ));
        }
        let slowest = Rate(8 * 64);
        if self.bandwidth.is_some_and(|rate| rate < slowest) {
            return Err(Refusal::new(
                "bandwidth",
                "a bandwidth below 512 bit/s",
                "write the link's rate, as in bandwidth = \"10Mbps\"",
            ));
        }
        Ok(())
    }

    /// With a bandwidth it holds back what it has; tins only order it.
    fn is_work_conserving(&self) -> bool {
        self.bandwidth.is_none()
    }
}
