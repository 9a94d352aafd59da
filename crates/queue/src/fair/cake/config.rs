//! Parameters of CAKE.

use crate::config::refuse_small_limit;
use crate::fair::cake::Cake;
use crate::fair::cake::tin::Tin;
use crate::fair::cake::tins::shares;
use crate::fair::flows::refuse_memory;
use crate::keys::{ANY_SIZE, DEVICE_MTU, FRAME, LIMIT};
use crate::{BuiltIn, Configuration, Ignored, Limit, Qdisc, Refusal};
use goodqueue_types::parameters::{
    Declared, Key, Kind, Parameter, Parameters, TIMER, Tc, Value, flag, one_of, size, words,
};
use goodqueue_types::{Cells, Framing, RandomStream, Rate, Span, parameters, words};

words! {
    /// Assignment of packets to tins (queues of different priority) by their code point.
    pub enum CakeDiffserv {
        /// One tin for all packets.
        BestEffort = "besteffort",
        /// Eight tins by the upper three bits of the code point.
        Precedence = "precedence",
        /// Three tins: bulk, best effort and voice.
        Diffserv3 = "diffserv3",
        /// Four tins: bulk, best effort, video and voice.
        Diffserv4 = "diffserv4",
        /// Eight tins by the usual code points.
        Diffserv8 = "diffserv8",
    }

    /// Units between which CAKE shares the bandwidth equally.
    pub enum CakeIsolation {
        /// No sharing: all packets are in one queue.
        FlowBlind = "flowblind",
        /// Sending hosts.
        SrcHost = "srchost",
        /// Receiving hosts.
        DstHost = "dsthost",
        /// Pairs of a sending and a receiving host.
        Hosts = "hosts",
        /// Flows.
        Flows = "flows",
        /// Sending hosts first, then the flows of each.
        DualSrcHost = "dual-srchost",
        /// Receiving hosts first, then the flows of each.
        DualDstHost = "dual-dsthost",
        /// Hosts on either side first, then the flows of each.
        TripleIsolate = "triple-isolate",
    }

    /// Time for which a queue that was never congested may exceed its target before the first drop.
    pub enum CakeFirstInterval {
        /// The time until the next packet. Linux clears the state of a new queue, and 1/√count with
        /// it.
        None = "none",
        /// An interval, as for later states of congestion (ns-3's COBALT).
        Whole = "whole",
    }

    /// Cells by the words of `cake`.
    pub enum CakeCells {
        /// Frames are sent as they are.
        None = "noatm",
        /// ATM's cells.
        Atm = "atm",
        /// PTM's coding.
        Ptm = "ptm",
    }
}

/// Key for bytes that a link layer adds.
const LINK_LAYER: Key = size(0, 1_024).default("the link's framing").in_tc(Tc::Hook);

parameters! {
    /// Parameters of CAKE. Not implemented are `autorate-ingress`, `ack-filter`, `wash`, `nat`,
    /// `fwmark`, and overrides by class or filter.
    /// The defaults are those of `tc qdisc add ... cake`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CakeConfig("cake") {
        /// Rate of the shaper, a little below the link's.
        bandwidth: Option<Rate> = None => one_of(&[Kind::Rate, Kind::Choice(&["unlimited"])])
            .tc("bandwidth")
            .example("9500kbps");
        /// Tins into which packets are sorted by their code point.
        diffserv: CakeDiffserv = CakeDiffserv::Diffserv3
            => words::<CakeDiffserv>().in_tc(Tc::Word).example("besteffort");
        /// Units between which the bandwidth is shared.
        isolation: CakeIsolation = CakeIsolation::TripleIsolate
            => words::<CakeIsolation>().in_tc(Tc::Word).example("flows");
        /// Usual round-trip time, which is COBALT's interval; its target is a twentieth of it.
        ///
        /// Both are longer in tins in which a full frame takes long.
        rtt: Span = Span::from_millis(100) => Key::new(TIMER).tc("rtt").example("30ms");
        /// Framing that gives the bytes of an IP packet on the wire, for the accounts of the shaper,
        /// the tins and the flows.
        framing: CakeFraming = CakeFraming(None);
        /// Kernel memory that waiting packets may take; `auto`: four times what `bandwidth` sends in
        /// `rtt`, 4 MiB at least.
        ///
        /// See [`truesize`](crate::truesize). It is at most 10240 full frames.
        memory_limit: Option<u64> = None
            => one_of(&[ANY_SIZE, Kind::Choice(&["auto"])]).tc("memlimit").example("4MiB");
        /// Limit besides that of memory, which Linux does not have.
        limit: Limit = Limit::Unlimited => LIMIT.in_tc(Tc::Fixed("cake limits memory"));
        /// The shaper also counts dropped packets, because they have already crossed the
        /// bottleneck.
        ingress: bool = false => flag().in_tc(Tc::Flag("ingress", "egress")).example("true");
        /// Super-segments of hosts become single packets at their arrival.
        split_gso: bool = true
            => flag().in_tc(Tc::Flag("split-gso", "no-split-gso")).example("true");
        /// Frame bytes of a full packet.
        mtu: u32 = 1514 => Key::new(FRAME).in_tc(DEVICE_MTU).example("1514B");
        /// Time for which a queue that was never congested may stay above its target: to the next
        /// packet (Linux), or an interval (ns-3).
        first_interval: CakeFirstInterval = CakeFirstInterval::None
            => words::<CakeFirstInterval>()
                .in_tc(Tc::Fixed("a new queue may drop at its second packet"))
                .example("whole");
    }
}

/// Framing that CAKE counts. None is `raw`: the link's own framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeFraming(pub Option<Framing>);

impl Declared for CakeFraming {
    const KEYS: &'static [Key] = &[
        LINK_LAYER
            .named("overhead")
            .example("38B")
            .doc("Bytes that the shaper counts beyond the IP packet."),
        LINK_LAYER
            .named("mpu")
            .example("84B")
            .doc("Smallest number of bytes that a frame counts."),
        words::<CakeCells>()
            .named("atm")
            .default("the link's framing")
            .in_tc(Tc::Hook)
            .example("atm")
            .doc(
                "Cells that the shaper counts: none, ATM's of 48 bytes in 53, or PTM's 65 for 64.",
            ),
    ];
}

impl Parameters for CakeFraming {
    fn keys(&self) -> &'static [Key] {
        Self::KEYS
    }

    fn get(&self, key: &str) -> Option<Value> {
        let framing = self.0?;
        match key {
            "overhead" => Some(framing.overhead.value()),
            "mpu" => Some(framing.minimum.value()),
            "atm" => Some(CakeCells::from(framing.cells).value()),
            _ => None,
        }
    }

    fn set(&mut self, key: &str, value: Value) {
        if !Self::KEYS.iter().any(|known| known.name == key) {
            return;
        }
        let framing = self.0.get_or_insert_default();
        match key {
            "overhead" => framing.overhead = u32::from_value(value),
            "mpu" => framing.minimum = u32::from_value(value),
            _ => framing.cells = CakeCells::from_value(value).into(),
        }
    }
}

impl From<Cells> for CakeCells {
    fn from(cells: Cells) -> Self {
        match cells {
            Cells::None => Self::None,
            Cells::Atm => Self::Atm,
            Cells::Ptm => Self::Ptm,
        }
    }
}

impl From<CakeCells> for Cells {
    fn from(cells: CakeCells) -> Self {
        match cells {
            CakeCells::None => Self::None,
            CakeCells::Atm => Self::Atm,
            CakeCells::Ptm => Self::Ptm,
        }
    }
}

impl BuiltIn for CakeConfig {
    const QDISC: Qdisc = Qdisc::Named("cake");
    /// No addresses are translated, nothing is aggregated, and no code point is read later.
    const IGNORED: &'static [Ignored] = &[
        Ignored {
            words: &[
                "nat",
                "nonat",
                "wash",
                "nowash",
                "no-ack-filter",
                "via-ethernet",
            ],
            values: 0,
            note: "",
        },
        Ignored {
            words: &["ack-filter", "ack-filter-aggressive"],
            values: 0,
            note: "ack-filter is left out: every ACK stays in the queue",
        },
        Ignored {
            words: &["autorate-ingress"],
            values: 0,
            note: "autorate-ingress is left out: bandwidth keeps its value",
        },
    ];
}

impl CakeConfig {
    /// Returns the parameters of `tc qdisc add ... cake bandwidth`, or of `unlimited`.
    pub fn linux(bandwidth: Option<Rate>) -> Self {
        Self {
            bandwidth,
            ..Self::default()
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

    fn table_bytes(&self) -> usize {
        shares(self.diffserv, self.bandwidth).len() * Tin::BYTES
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

    fn drain_rate(&self, link: Rate) -> Rate {
        self.bandwidth.map_or(link, |rate| rate.min(link))
    }
}
