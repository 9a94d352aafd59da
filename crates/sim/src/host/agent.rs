//! One end of a flow: its behaviour, the labels of the packets that it sends, and its measurements.

use crate::host::baseline::{Baseline, Counters};
use crate::host::ideal::IdealPath;
use crate::host::interface::Interface;
use crate::host::path::{ideal_time, propagation, unloaded_delay};
use crate::measure::delay_meter::DelayMeter;
use crate::measure::deliveries::Deliveries;
use crate::measure::fairness::{INTERVALS, interval};
use crate::measure::flow_class::LimitedOutcome;
use crate::measure::link_meter::Window;
use crate::measure::signals::Signals;
use crate::network::{FlowConfig, Network};
use crate::workload::foreign;
use crate::workload::session::{AppOutcome, Metric};
use crate::workload::{Behaviour, DATAGRAM_HEADER, Player};
use crate::{Distribution, FlowOutcome, OneWayDelay, SourceConfig, WorkloadConfig};
use goodqueue_tcp::{Limited, TimeLimited};
use goodqueue_types::{
    Body, CompactHistogram, Direction, Ecn, FlowId, Hosts, Packet, RandomStream, Span, Time,
};
use std::cmp::Ordering;

/// One end of a flow. Both engines create agents with [`agents`] and drive them alike. Packets are
/// delivered in order of arrival. A timer fires before every later event, and after a delivery at
/// the same instant.
#[derive(Debug)]
pub struct Agent {
    flow: FlowId,
    /// Direction of the packets that the agent sends.
    direction: Direction,
    dscp: u8,
    hosts: Hosts,
    /// Propagation delay of the packets that reach the agent, in whole microseconds. Lower bound on
    /// the delay of every packet. [`u32::MAX`] if their delay is not measured.
    floor_us: u32,
    /// Time of the next change of the measurements: first their beginning, then the end of each
    /// interval of the window. The first call of the agent from this time on makes the change.
    /// [`Time::MAX`] if no change remains.
    next_mark: Time,
    /// Length of an interval of the window.
    interval: Span,
    behaviour: Behaviour,
    /// Interface to the network, if it does not pass every packet at once.
    interface: Option<Box<Interface>>,
    /// Packets on the wire that the agent has sent, and that it has received and handled.
    sent: u64,
    received: u64,
    received_ip_bytes: u64,
    /// Measurements of the agent. They are allocated at its first activity in the window, so that
    /// an idle agent needs no memory for them.
    measurement: Option<Box<Measurement>>,
}

const MICROSECOND: Span = Span::from_micros(1);

/// Measurements of an agent in the window.
#[derive(Clone, Debug)]
struct Measurement {
    /// Counters at the start of the measurements, which results subtract.
    baseline: Baseline,
    /// Round-trip times in nanoseconds, allocated at the first sample.
    rtt_ns: Option<Box<CompactHistogram>>,
    /// One-way delays of data that reach the agent, if the flow sends data to it.
    delay: Option<Box<DelayMeter>>,
    /// Bytes delivered in each interval that has ended, at the server of a bulk flow.
    delivered: Option<Box<Deliveries>>,
}

/// Creates the agents of all flows one by one: client and server of flow `i` are the agents `2i` and
/// `2i + 1`.
pub fn agents(network: &Network) -> impl Iterator<Item = Agent> + '_ {
    let flows = network.flows.iter().enumerate();
    flows.flat_map(|(index, flow)| {
        let random = RandomStream::new(network.seed, "workload", index as u64);
        let id = FlowId(index as u32);
        let path = IdealPath::new(network, flow);
        let [mut client, server] = match &flow.workload {
            WorkloadConfig::Foreign(stack) => foreign::pair(network, id, stack.as_ref(), random),
            workload => Behaviour::pair(workload, flow.start, network.warmup, path, random),
        };
        if let (Behaviour::Tcp(host), Some(place)) = (&mut client, flow.between_losses) {
            host.begin_between_losses(place);
        }
        match (&mut client, flow.stop) {
            (Behaviour::Tcp(host), Some(stop)) => host.stop_at(stop),
            (Behaviour::Source(source), Some(stop)) => source.stop_at(stop),
            _ => {}
        }
        [
            Agent::new(id, Direction::Forward, network, client),
            Agent::new(id, Direction::Reverse, network, server),
        ]
    })
}

/// Returns the index in [`agents`] of the sender of a packet.
#[inline]
pub(crate) fn sender_of(packet: &Packet) -> usize {
    2 * packet.flow.0 as usize + packet.direction as usize
}

/// Returns the index in [`agents`] of the receiver of a packet.
#[inline]
pub fn receiver_of(packet: &Packet) -> usize {
    2 * packet.flow.0 as usize + packet.direction.opposite() as usize
}

impl Agent {
    fn new(flow: FlowId, direction: Direction, network: &Network, behaviour: Behaviour) -> Self {
        let config = &network.flows[flow.0 as usize];
        let arrives_by = match (direction, &behaviour) {
            (_, Behaviour::Tcp(_) | Behaviour::Echo(_) | Behaviour::Foreign(_))
                if !network.record.tcp_delays =>
            {
                None
            }
            (Direction::Reverse, _) => Some(&config.forward),
            (
                Direction::Forward,
                Behaviour::Client(_) | Behaviour::Pinger(_) | Behaviour::Player(_),
            ) => Some(&config.reverse),
            (Direction::Forward, _) => None,
        };
        let interface = config.interface.as_ref().map(|config| {
            let index = 2 * u64::from(flow.0) + direction as u64;
            let random = RandomStream::new(network.seed, "send jitter", index);
            Box::new(Interface::new(config.clone(), random))
        });
        let floor = arrives_by.map(|route| propagation(network, route).0 / MICROSECOND.0);
        Self {
            flow,
            direction,
            dscp: config.dscp,
            hosts: config.hosts,
            floor_us: floor.map_or(u32::MAX, |floor| floor as u32),
            next_mark: network.warmup,
            interval: interval(Window {
                from: network.warmup,
                to: network.end,
            }),
            behaviour,
            interface,
            sent: 0,
            received: 0,
            received_ip_bytes: 0,
            measurement: None,
        }
    }

    /// Receives a packet that arrived at its host. Returns the round-trip sample that it completed,
    /// unless the host handles the packet later.
    #[inline]
    pub fn receive(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        self.note_time(now);
        if self.floor_us != u32::MAX {
            self.note_delay(now, packet);
        }
        if self.interface.is_some() && self.hold(now, packet) {
            return None;
        }
        self.handle(now, packet)
    }

    /// Returns true if the interface holds a packet that arrived.
    #[cold]
    fn hold(&mut self, now: Time, packet: &Packet) -> bool {
        let interface = self.interface.as_deref_mut();
        interface.is_some_and(|interface| interface.hold(now, packet))
    }

    #[inline]
    fn handle(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        self.received += u64::from(packet.segments());
        self.received_ip_bytes += u64::from(packet.size);
        let rtt = self.behaviour.receive(now, packet);
        if let Some(rtt) = rtt {
            self.note_rtt(rtt);
        }
        rtt
    }

    /// Records the one-way delay of a data packet. It is out of line, as is `note_rtt`, because it
    /// is rarely called unless delays of TCP are recorded, and `receive` stays small without it.
    #[inline(never)]
    fn note_delay(&mut self, now: Time, packet: &Packet) {
        if let Some(measurement) = self.measurement.as_deref_mut()
            && let Some(delay) = &mut measurement.delay
            && carries_data(packet)
        {
            delay.arrival(now, packet);
        }
    }

    #[inline(never)]
    fn note_rtt(&mut self, rtt: Span) {
        if let Some(Measurement { rtt_ns, .. }) = self.measurement.as_deref_mut() {
            let rtt_ns = rtt_ns.get_or_insert_with(Box::default);
            rtt_ns.record(rtt.0 / 1000);
        }
    }

    /// Makes the activities that are due by `now`. Returns the round-trip sample of a packet that
    /// was handled. After each such packet the agent may have others to send, and to handle.
    #[inline]
    pub fn wake(&mut self, now: Time) -> Option<Span> {
        self.note_time(now);
        if self.interface.is_some() {
            return self.wake_behind_interface(now);
        }
        self.behaviour.wake(now);
        None
    }

    /// Handles one packet that the interface held, or else makes the activities that are due.
    #[cold]
    fn wake_behind_interface(&mut self, now: Time) -> Option<Span> {
        let interface = self.interface.as_deref_mut();
        if let Some(packet) = interface.and_then(|interface| interface.handle(now)) {
            return self.handle(now, &packet);
        }
        if self.behaviour.wakes_at() <= now {
            self.behaviour.wake(now);
        }
        None
    }

    /// Returns the time at which [`wake`](Self::wake) is next needed, or none if it is not.
    pub fn next_wake(&self) -> Option<Time> {
        Some(self.wakes_at()).filter(|time| *time != Time::MAX)
    }

    /// Returns the time at which [`wake`](Self::wake) is next needed, or [`Time::MAX`] if it is
    /// not.
    #[inline]
    pub fn wakes_at(&self) -> Time {
        let wakes_at = self.behaviour.wakes_at();
        if self.interface.is_some() {
            return self.interface_wakes_at().min(wakes_at);
        }
        wakes_at
    }

    #[cold]
    fn interface_wakes_at(&self) -> Time {
        let interface = self.interface.as_deref();
        interface.map_or(Time::MAX, Interface::wakes_at)
    }

    /// Returns the next packet to send now, or none if there are no more.
    pub fn transmit(&mut self, now: Time) -> Option<Packet> {
        let mut packet = Packet::default();
        self.transmit_into(now, &mut packet).then_some(packet)
    }

    /// Returns false if [`transmit`](Self::transmit) is certain to give no packet.
    #[inline]
    pub fn may_transmit(&self) -> bool {
        self.behaviour.may_transmit() || self.interface.is_some() && self.has_departures()
    }

    #[cold]
    fn has_departures(&self) -> bool {
        let interface = self.interface.as_deref();
        interface.is_some_and(Interface::has_departures)
    }

    /// Writes the result of [`transmit`](Self::transmit) into the caller's packet and returns true,
    /// or returns false if there is no packet to send. A packet returned by value would be read
    /// back in wider words than it was written in, and each such read would wait for the cache.
    #[inline]
    pub fn transmit_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        let found = match self.interface {
            None => poll(&mut self.behaviour, now, packet),
            Some(_) => self.depart(now, packet),
        };
        if !found {
            return false;
        }
        packet.flow = self.flow;
        packet.direction = self.direction;
        packet.dscp = self.dscp;
        packet.hosts = self.hosts;
        packet.number = self.sent;
        packet.sent = now;
        self.sent += u64::from(packet.segments());
        true
    }

    /// Writes the next packet that leaves the interface.
    #[cold]
    fn depart(&mut self, now: Time, packet: &mut Packet) -> bool {
        let (behaviour, interface) = (&mut self.behaviour, self.interface.as_deref_mut());
        let next = interface
            .and_then(|interface| interface.depart(now, |packet| poll(behaviour, now, packet)));
        next.inspect(|next| *packet = *next).is_some()
    }

    #[inline]
    fn note_time(&mut self, now: Time) {
        if now >= self.next_mark {
            self.pass_marks(now);
        }
    }

    /// Begins the measurements, or closes the intervals that have ended.
    #[cold]
    fn pass_marks(&mut self, now: Time) {
        if self.measurement.is_none() {
            self.begin_measurement();
        }
        let is_measured = matches!(self.behaviour, Behaviour::Tcp(_) | Behaviour::Foreign(_))
            && self.direction == Direction::Reverse
            && self.interval > Span::ZERO;
        let bytes = self.new_payload_bytes();
        let Some(measurement) = self.measurement.as_deref_mut().filter(|_| is_measured) else {
            self.next_mark = Time::MAX;
            return;
        };
        let delivered = measurement.delivered.get_or_insert_with(|| {
            self.next_mark += self.interval;
            Box::new(Deliveries::new(bytes))
        });
        while self.next_mark <= now && delivered.len() < INTERVALS {
            delivered.end_interval(bytes);
            self.next_mark += self.interval;
        }
        if delivered.len() == INTERVALS {
            self.next_mark = Time::MAX;
        }
    }

    fn begin_measurement(&mut self) {
        let is_tcp = self.behaviour.tcp_stats().is_some();
        let floor = MICROSECOND * u64::from(self.floor_us);
        let meter = || Box::new(DelayMeter::new(floor, !is_tcp));
        let baseline = self.counters(self.next_mark);
        self.measurement = Some(Box::new(Measurement {
            baseline: Baseline::new(&baseline),
            rtt_ns: None,
            delay: (self.floor_us < u32::MAX).then(meter),
            delivered: None,
        }));
    }

    fn new_payload_bytes(&self) -> u64 {
        if let Behaviour::Foreign(host) = &self.behaviour {
            return host.progress().delivered_bytes;
        }
        let stats = self.behaviour.tcp_stats();
        stats.map_or(0, |stats| stats.new_payload_bytes())
    }

    /// Returns the new bytes that reached the server of a bulk flow in an interval of the window.
    pub(crate) fn delivered_in(&self, interval: usize) -> u64 {
        let Some(measurement) = self.measurement.as_deref() else {
            return 0;
        };
        let Some(delivered) = measurement.delivered.as_deref() else {
            // The window is too short to be divided.
            let before = measurement.baseline.get().new_payload_bytes();
            return if interval == 0 {
                self.new_payload_bytes() - before
            } else {
                0
            };
        };
        // The agent did nothing since the present interval began, or this is the last interval.
        match interval.cmp(&delivered.len()) {
            Ordering::Less => delivered.get(interval),
            Ordering::Equal => delivered.since(self.new_payload_bytes()),
            Ordering::Greater => 0,
        }
    }

    /// Returns the time at which a bulk flow's last byte was acknowledged.
    pub(crate) fn finished_at(&self) -> Option<Time> {
        match &self.behaviour {
            Behaviour::Tcp(host) => host.finished_at(),
            Behaviour::Foreign(host) => host.progress().finished_at,
            _ => None,
        }
    }

    /// Returns the counters, with the durations counted up to `now`.
    fn counters(&self, now: Time) -> Counters {
        let counters = Counters {
            sent: self.sent,
            received: self.received,
            received_ip_bytes: self.received_ip_bytes,
            ..Counters::default()
        };
        if let Behaviour::Foreign(host) = &self.behaviour {
            let progress = host.progress();
            return Counters {
                received_payload_bytes: progress.delivered_bytes,
                retransmissions: progress.lost_packets,
                timeouts: progress.timeouts,
                ..counters
            };
        }
        let Some(stats) = self.behaviour.tcp_stats() else {
            return counters;
        };
        Counters {
            received_payload_bytes: stats.received_payload_bytes,
            duplicate_payload_bytes: stats.duplicate_payload_bytes,
            retransmissions: stats.retransmitted_segments,
            timeouts: stats.timeouts,
            limited: self.behaviour.time_limited(now),
            ..counters
        }
    }

    fn measured(&self, end: Time) -> Counters {
        let now = self.counters(end);
        // Without activity in the window the differences are zero.
        let then = self.measurement.as_ref();
        let then = then.map_or(now, |measurement| measurement.baseline.get());
        now.since(&then)
    }

    fn rtt_s(&self) -> Distribution {
        let measurement = self.measurement.as_ref();
        let rtt_ns = measurement.and_then(|measured| measured.rtt_ns.as_deref());
        rtt_ns.map_or_else(Distribution::default, |rtt_ns| {
            Distribution::from_histogram(&rtt_ns.into(), 1e9)
        })
    }

    /// Returns the delays of data that reached the agent, if the flow sends data to it.
    fn one_way_delay(&self) -> Option<Box<OneWayDelay>> {
        let measurement = self.measurement.as_ref();
        let delay = measurement.and_then(|measurement| measurement.delay.as_deref());
        delay.map(|delay| Box::new(delay.outcome()))
    }

    /// Returns the packets sent in the whole run, a super-segment as one, and the packets on the
    /// wire received and handled.
    pub fn totals(&self) -> (u64, u64) {
        let merged = self.interface.as_ref().map_or(0, |one| one.merged);
        (self.sent - merged, self.received)
    }

    /// Returns the behaviour, for probes.
    pub fn behaviour(&self) -> &Behaviour {
        &self.behaviour
    }
}

/// Writes the next packet of a behaviour, without its labels.
#[inline]
fn poll(behaviour: &mut Behaviour, now: Time, packet: &mut Packet) -> bool {
    packet.ecn = Ecn::NotCapable;
    packet.more_segments = 0;
    packet.connection = 0;
    behaviour.transmit_into(now, packet)
}

/// Returns true if a packet carries data. TCP acknowledgements carry none.
#[inline]
fn carries_data(packet: &Packet) -> bool {
    match &packet.body {
        Body::Tcp(segment) => segment.payload > 0,
        _ => true,
    }
}

/// Returns the results of a flow from its two agents and from the drops and marks of its packets in
/// the window.
pub fn flow_outcome(
    network: &Network,
    client: &Agent,
    server: &Agent,
    signals: &Signals,
) -> FlowOutcome {
    let config = &network.flows[client.flow.0 as usize];
    let (signals, end) = (signals.of_flow(client.flow), network.end);
    let seconds = end.saturating_since(network.warmup).as_secs_f64();
    let (sender, receiver) = (client.measured(end), server.measured(end));
    let datagrams = |end: &Counters| {
        end.received_ip_bytes
            .saturating_sub(DATAGRAM_HEADER * end.received)
    };
    let payload = match &server.behaviour {
        Behaviour::Tcp(_) | Behaviour::Echo(_) => receiver.new_payload_bytes(),
        // A session's data reach the server and the client.
        Behaviour::Server(_) | Behaviour::Foreign(_) => {
            receiver.new_payload_bytes() + sender.new_payload_bytes()
        }
        Behaviour::Player(_) => datagrams(&receiver) + datagrams(&sender),
        _ => datagrams(&receiver),
    };
    let received_ip_bytes = match &server.behaviour {
        Behaviour::Server(_) | Behaviour::Player(_) => {
            receiver.received_ip_bytes + sender.received_ip_bytes
        }
        Behaviour::Foreign(_) if sender.new_payload_bytes() > 0 => {
            receiver.received_ip_bytes + sender.received_ip_bytes
        }
        _ => receiver.received_ip_bytes,
    };
    let finished_at = client.finished_at();
    let rtt_s = client.rtt_s();
    FlowOutcome {
        name: config.name.as_str().into(),
        goodput_bps: payload as f64 * 8.0 / seconds,
        throughput_bps: received_ip_bytes as f64 * 8.0 / seconds,
        packets_sent: sender.sent,
        packets_received: receiver.received,
        packets_lost: signals
            .iter()
            .filter(|signal| signal.is_forward())
            .map(|signal| u64::from(signal.drops))
            .sum(),
        signals: signals
            .iter()
            .copied()
            .filter(|signal| signal.strength() > 0)
            .collect(),
        one_way_delays: [server.one_way_delay(), client.one_way_delay()],
        limited: LimitedOutcome::new(config, &limited(&sender, &receiver), signals),
        slowdown: finished_at
            .zip(ideal_time(network, config))
            .map(|(at, ideal)| {
                at.saturating_since(config.start).as_secs_f64() / ideal.as_secs_f64()
            }),
        rtt_s,
        retransmissions: sender.retransmissions,
        timeouts: sender.timeouts,
        duplicate_share: if receiver.received_payload_bytes == 0 {
            0.0
        } else {
            receiver.duplicate_payload_bytes as f64 / receiver.received_payload_bytes as f64
        },
        app: match (&client.behaviour, &server.behaviour) {
            (Behaviour::Client(client), _) => client.outcome(end),
            (Behaviour::Foreign(client), _) => client.outcome(end),
            (Behaviour::Player(client), Behaviour::Player(server)) => {
                Player::outcome(client, server)
            }
            (_, Behaviour::Listener(listener)) => listener.outcome(),
            (Behaviour::Pinger(_), _) => ping_outcome(network, config, &rtt_s),
            _ => AppOutcome::default(),
        },
        completion_time_s: finished_at.map(|at| at.saturating_since(config.start).as_secs_f64()),
    }
}

/// Returns the times for which each cause limited the two ends of a flow, summed. An end that has
/// nothing to send is not limited.
fn limited(sender: &Counters, receiver: &Counters) -> TimeLimited {
    let mut times: TimeLimited =
        std::array::from_fn(|of| sender.limited[of] + receiver.limited[of]);
    times[Limited::Nothing as usize] = Span::ZERO;
    times
}

/// Returns the responsiveness of a ping's path under the present load.
fn ping_outcome(network: &Network, config: &FlowConfig, rtt_s: &Distribution) -> AppOutcome {
    let WorkloadConfig::Source(SourceConfig::Ping { packet, .. }) = config.workload else {
        return AppOutcome::default();
    };
    let unloaded = unloaded_delay(network, &config.forward, packet)
        + unloaded_delay(network, &config.reverse, packet);
    let base_s = unloaded.as_secs_f64();
    // The round-trip time may seem below its base, because samples are rounded to nanoseconds and
    // quantiles to their bins.
    let above = |rtt: Option<f64>| Metric::Number(rtt.map(|rtt| (rtt - base_s).max(0.0)));
    AppOutcome {
        metrics: vec![
            ("unloaded_rtt_s", Metric::Number(Some(base_s))),
            ("p50_latency_under_load_s", above(rtt_s.p50)),
            ("p99_latency_under_load_s", above(rtt_s.p99)),
            (
                "round_trips_per_minute",
                Metric::Number(rtt_s.mean.map(|mean| 60.0 / mean)),
            ),
        ],
    }
}
