//! One end of a flow: a behaviour, the labels of what it sends, and what it measured.

use crate::ideal::IdealPath;
use crate::link_meter::Window;
use crate::network::{FlowConfig, Network};
use crate::workload::session::AppOutcome;
use crate::workload::{Behaviour, DATAGRAM_HEADER, Player};
use crate::{Distribution, FlowOutcome};
use goodqueue_types::{Direction, Ecn, FlowId, Histogram, Hosts, Packet, RandomStream, Span, Time};

/// One end of a flow. Both engines make agents with [`agents`] and drive them alike: packets in
/// order of arrival; timers before anything later, and after a delivery at the same instant.
#[derive(Debug)]
pub struct Agent {
    flow: FlowId,
    /// The direction of what it sends.
    direction: Direction,
    dscp: u8,
    hosts: Hosts,
    /// Measurements are to begin at what it first does from here on; [`Time::MAX`] once they have.
    measures_from: Time,
    behaviour: Behaviour,
    sent: u64,
    received: u64,
    received_ip_bytes: u64,
    /// The round-trip sample that the last packet received completed; [`Span::MAX`] if none.
    last_rtt: Span,
    /// From the first thing that it does in the window: an idle agent costs no memory for it.
    measurement: Option<Box<Measurement>>,
}

/// What an agent measures in the window.
#[derive(Clone, Debug)]
struct Measurement {
    /// Counters when it began, from which results are counted.
    baseline: Counters,
    /// Round-trip times in nanoseconds.
    rtt_ns: Histogram,
}

/// What counts from the warm-up on.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    sent: u64,
    received: u64,
    received_ip_bytes: u64,
    delivered_bytes: u64,
    received_payload_bytes: u64,
    duplicate_payload_bytes: u64,
    retransmissions: u64,
    timeouts: u64,
}

/// The agents of all flows: client and server of flow `i` at `2i` and `2i + 1`.
pub fn agents(network: &Network) -> Vec<Agent> {
    let mut agents = Vec::with_capacity(2 * network.flows.len());
    for (index, flow) in network.flows.iter().enumerate() {
        let random = RandomStream::new(network.seed, "workload", index as u64);
        let id = FlowId(index as u32);
        let path = IdealPath::of(network, flow);
        let [client, server] =
            Behaviour::pair(&flow.workload, flow.start, network.warmup, path, random);
        for (direction, end) in [(Direction::Forward, client), (Direction::Reverse, server)] {
            agents.push(Agent::new(id, direction, flow, network.warmup, end));
        }
    }
    agents
}

/// Where in [`agents`] the receiver of a packet is.
#[inline]
pub fn receiver_of(packet: &Packet) -> usize {
    2 * packet.flow.0 as usize + packet.direction.opposite() as usize
}

impl Agent {
    fn new(
        flow: FlowId,
        direction: Direction,
        config: &FlowConfig,
        measures_from: Time,
        behaviour: Behaviour,
    ) -> Self {
        Self {
            flow,
            direction,
            dscp: config.dscp,
            hosts: config.hosts,
            measures_from,
            behaviour,
            sent: 0,
            received: 0,
            received_ip_bytes: 0,
            last_rtt: Span::MAX,
            measurement: None,
        }
    }

    /// Takes a packet that arrived at its host.
    #[inline]
    pub fn receive(&mut self, now: Time, packet: &Packet) {
        self.note_time(now);
        self.received += 1;
        self.received_ip_bytes += u64::from(packet.size);
        self.last_rtt = Span::MAX;
        if let Some(rtt) = self.behaviour.receive(now, packet) {
            self.note_rtt(rtt);
        }
    }

    fn note_rtt(&mut self, rtt: Span) {
        self.last_rtt = rtt;
        if let Some(Measurement { rtt_ns, .. }) = self.measurement.as_deref_mut() {
            if rtt_ns.total() == 0 {
                // Room for samples up to 64 times the first, so that the loop does not allocate.
                rtt_ns.reserve(rtt.0 / 1000 * 64);
            }
            rtt_ns.record(rtt.0 / 1000, 1);
        }
    }

    /// Does what is due by `now`.
    #[inline]
    pub fn wake(&mut self, now: Time) {
        self.note_time(now);
        self.behaviour.wake(now);
    }

    /// When [`wake`](Self::wake) is next needed.
    pub fn next_wake(&self) -> Option<Time> {
        Some(self.wakes_at()).filter(|time| *time != Time::MAX)
    }

    /// When [`wake`](Self::wake) is next needed; [`Time::MAX`] if it is not.
    #[inline]
    pub fn wakes_at(&self) -> Time {
        self.behaviour.wakes_at()
    }

    /// The next packet to send now, until there is none.
    pub fn transmit(&mut self, now: Time) -> Option<Packet> {
        let mut packet = Packet::default();
        self.transmit_into(now, &mut packet).then_some(packet)
    }

    /// False if [`transmit`](Self::transmit) would surely give none.
    #[inline]
    pub fn may_transmit(&self) -> bool {
        self.behaviour.may_transmit()
    }

    /// [`transmit`](Self::transmit) into a packet of the caller's: true if there was one to send.
    /// Written in place because a packet returned by value is read back in wider words than it
    /// was written in, and each such read waits for the cache.
    #[inline]
    pub fn transmit_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        packet.ecn = Ecn::NotCapable;
        packet.connection = 0;
        if !self.behaviour.transmit_into(now, packet) {
            return false;
        }
        packet.flow = self.flow;
        packet.direction = self.direction;
        packet.dscp = self.dscp;
        packet.hosts = self.hosts;
        packet.number = self.sent;
        packet.sent = now;
        self.sent += 1;
        true
    }

    #[inline]
    fn note_time(&mut self, now: Time) {
        if now >= self.measures_from {
            self.begin_measurement();
        }
    }

    #[cold]
    fn begin_measurement(&mut self) {
        self.measures_from = Time::MAX;
        let (baseline, rtt_ns) = (self.counters(), Histogram::default());
        self.measurement = Some(Box::new(Measurement { baseline, rtt_ns }));
    }

    fn counters(&self) -> Counters {
        let counters = Counters {
            sent: self.sent,
            received: self.received,
            received_ip_bytes: self.received_ip_bytes,
            ..Counters::default()
        };
        let Some(stats) = self.behaviour.tcp_stats() else {
            return counters;
        };
        Counters {
            delivered_bytes: stats.delivered_bytes,
            received_payload_bytes: stats.received_payload_bytes,
            duplicate_payload_bytes: stats.duplicate_payload_bytes,
            retransmissions: stats.retransmitted_segments,
            timeouts: stats.timeouts,
            ..counters
        }
    }

    fn measured(&self) -> Counters {
        let now = self.counters();
        // Nothing happened in the window: nothing counts.
        let then = self
            .measurement
            .as_ref()
            .map_or(now, |measurement| measurement.baseline);
        Counters {
            sent: now.sent - then.sent,
            received: now.received - then.received,
            received_ip_bytes: now.received_ip_bytes - then.received_ip_bytes,
            delivered_bytes: now.delivered_bytes - then.delivered_bytes,
            received_payload_bytes: now.received_payload_bytes - then.received_payload_bytes,
            duplicate_payload_bytes: now.duplicate_payload_bytes - then.duplicate_payload_bytes,
            retransmissions: now.retransmissions - then.retransmissions,
            timeouts: now.timeouts - then.timeouts,
        }
    }

    /// Packets sent and received in the whole run.
    pub fn totals(&self) -> (u64, u64) {
        (self.sent, self.received)
    }

    /// The round-trip sample that the last packet received completed.
    pub fn last_rtt(&self) -> Option<Span> {
        Some(self.last_rtt).filter(|rtt| *rtt != Span::MAX)
    }

    /// The behaviour, for probes.
    pub fn behaviour(&self) -> &Behaviour {
        &self.behaviour
    }
}

/// The results of a flow from its two agents and the forward packets it lost in the window.
pub fn flow_outcome(
    config: &FlowConfig,
    window: Window,
    client: &Agent,
    server: &Agent,
    lost: u64,
) -> FlowOutcome {
    let seconds = window.seconds();
    let (sender, receiver) = (client.measured(), server.measured());
    let datagrams = |end: &Counters| {
        end.received_ip_bytes
            .saturating_sub(DATAGRAM_HEADER * end.received)
    };
    let payload = match &server.behaviour {
        Behaviour::Tcp(_) | Behaviour::Echo(_) => receiver.delivered_bytes,
        // What was asked for came to the client.
        Behaviour::Server(_) => receiver.delivered_bytes + sender.delivered_bytes,
        Behaviour::Player(_) => datagrams(&receiver) + datagrams(&sender),
        _ => datagrams(&receiver),
    };
    let received_ip_bytes = match &server.behaviour {
        Behaviour::Server(_) | Behaviour::Player(_) => {
            receiver.received_ip_bytes + sender.received_ip_bytes
        }
        _ => receiver.received_ip_bytes,
    };
    let finished_at = match &client.behaviour {
        Behaviour::Tcp(host) => host.finished_at(),
        _ => None,
    };
    FlowOutcome {
        name: config.name.clone(),
        goodput_bps: payload as f64 * 8.0 / seconds,
        throughput_bps: received_ip_bytes as f64 * 8.0 / seconds,
        packets_sent: sender.sent,
        packets_received: receiver.received,
        packets_lost: lost,
        rtt_s: client
            .measurement
            .as_ref()
            .map(|measurement| Distribution::of(&measurement.rtt_ns, 1e9))
            .unwrap_or_default(),
        retransmissions: sender.retransmissions,
        timeouts: sender.timeouts,
        duplicate_share: if receiver.received_payload_bytes == 0 {
            0.0
        } else {
            receiver.duplicate_payload_bytes as f64 / receiver.received_payload_bytes as f64
        },
        app: match (&client.behaviour, &server.behaviour) {
            (Behaviour::Client(client), _) => client.outcome(window.to),
            (Behaviour::Player(client), Behaviour::Player(server)) => {
                Player::outcome(client, server)
            }
            (_, Behaviour::Listener(listener)) => listener.outcome(),
            _ => AppOutcome::default(),
        },
        completion_time_s: finished_at.map(|at| at.saturating_since(config.start).as_secs_f64()),
    }
}
