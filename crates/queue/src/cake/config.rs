//! Parameters of CAKE.

use crate::cake::Cake;
use crate::config::refuse_small_limit;
use crate::flows::refuse_memory;
use crate::{Configuration, Limit, Refusal};
use goodqueue_types::{Framing, RandomStream, Rate, Span};

/// Assignment of packets to tins (queues of different priority) by their code point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeDiffserv {
    /// One tin for all packets (`besteffort`).
    BestEffort,
    /// Eight tins by the upper three bits of the code point (`precedence`).
    Precedence,
    /// Three tins: bulk, best effort and voice (`diffserv3`).
    Diffserv3,
    /// Four tins: bulk, best effort, video and voice (`diffserv4`).
    Diffserv4,
    /// Eight tins by the usual code points (`diffserv8`).
    Diffserv8,
}

/// Units between which CAKE shares the bandwidth equally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeIsolation {
    /// No sharing: all packets are in one queue (`flowblind`).
    FlowBlind,
    /// Sending hosts (`srchost`).
    SrcHost,
    /// Receiving hosts (`dsthost`).
    DstHost,
    /// Pairs of a sending and a receiving host (`hosts`).
    Hosts,
    /// Flows (`flows`).
    Flows,
    /// Sending hosts first, then the flows of each (`dual-srchost`).
    DualSrcHost,
    /// Receiving hosts first, then the flows of each (`dual-dsthost`).
    DualDstHost,
    /// Hosts on either side first, then the flows of each (`triple-isolate`).
    TripleIsolate,
}

/// Time for which a queue that was never congested may exceed its target before the first drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeFirstInterval {
    /// The time until the next packet. Linux clears the state of a new queue, and 1/√count with it.
    None,
    /// An interval, as for later states of congestion (ns-3's COBALT).
    Whole,
}

/// Parameters of CAKE. Not implemented are `autorate-ingress`, `ack-filter`, `wash`, `nat`,
/// `fwmark`, `split-gso` (the simulator has no super-packets), and overrides by class or filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeConfig {
    /// Rate of the shaper (`bandwidth`); `None` is `unlimited`, the default.
    pub bandwidth: Option<Rate>,
    /// Assignment of packets to tins. Default `diffserv3`.
    pub diffserv: CakeDiffserv,
    /// Units that share the bandwidth. Default `triple-isolate`.
    pub isolation: CakeIsolation,
    /// Typical round-trip time (`rtt`, or a name for it: `internet` is 100 ms, the default;
    /// `datacentre` 100 us, `lan` 1 ms, `metro` 10 ms, `regional` 30 ms, `oceanic` 300 ms,
    /// `satellite` 1 s, `interplanetary` 1000 s). It is COBALT's interval. The target is a
    /// twentieth of it. Both are longer in tins in which a full frame takes long.
    pub rtt: Span,
    /// Framing that gives the bytes of an IP packet on the wire, for the accounts of the shaper,
    /// the tins and the flows (`overhead`, `mpu`, `atm`, `ptm`). `None`, the default, is `raw`: the
    /// link's own framing.
    pub framing: Option<Framing>,
    /// Largest kernel memory that waiting packets may take, in bytes (`memlimit`); see `truesize`.
    /// `None`, the default, is four times what the bandwidth sends in an `rtt`, but at least 4 MiB
    /// and at most 10240 full frames.
    pub memory_limit: Option<u64>,
    /// Limit besides that of memory, which Linux does not have. Default none.
    pub limit: Limit,
    /// True if the shaper counts dropped packets too, because they have passed the bottleneck
    /// before it (`ingress`; the default is `egress`).
    pub ingress: bool,
    /// Size of a full frame in bytes (Linux: the device's MTU and its header). Default 1514.
    pub mtu: u32,
    /// Behaviour of a queue before its first congestion. Default as Linux.
    pub first_interval: CakeFirstInterval,
}

impl CakeConfig {
    /// Returns the parameters of `tc qdisc add ... cake bandwidth`, or of `unlimited`.
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

    /// Returns the largest memory that waiting packets may take, in bytes.
    pub fn memory(&self) -> u64 {
        let most = 10_240 * u64::from(self.mtu);
        let wanted = match (self.memory_limit, self.bandwidth) {
            (Some(limit), _) => return limit,
            (None, Some(rate)) => 4 * rate.bytes_in(self.rtt).0,
            (None, None) => most,
        };
        wanted.max(4 << 20).min(most)
    }

    /// Returns the sojourn time that COBALT allows before slow tins stretch it.
    pub fn target(&self) -> Span {
        self.rtt / 20
    }
}

impl CakeIsolation {
    /// Returns true if each flow has a queue of its own.
    pub(super) fn separates_flows(self) -> bool {
        !matches!(
            self,
            Self::FlowBlind | Self::SrcHost | Self::DstHost | Self::Hosts
        )
    }

    /// Returns true if sending hosts are distinguished.
    pub(super) fn sees_sources(self) -> bool {
        matches!(
            self,
            Self::SrcHost | Self::Hosts | Self::DualSrcHost | Self::TripleIsolate
        )
    }

    /// Returns true if receiving hosts are distinguished.
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

    /// Returns false with a bandwidth, because the shaper holds packets back. Tins alone only order
    /// them.
    fn is_work_conserving(&self) -> bool {
        self.bandwidth.is_none()
    }
}
