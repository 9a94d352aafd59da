//! Observers of a run, for events beyond its results. An absent probe costs nothing.

use crate::host::agent::Agent;
use crate::{Record, Series};
use goodqueue_queue::Backlog;
use goodqueue_tcp::Limited;
use goodqueue_types::{LinkId, PacketEvent, Span, Time};

/// Observer of a run while it happens. Events of one link or agent come in order of time. Those of
/// different ones may not, because the engine works ahead if nothing can interfere.
pub trait Probe {
    /// True if the probe observes anything. With `false` the compiler removes the calls.
    const ACTIVE: bool;

    /// True if the probe also wants packet events at links that only delay, which the engine passes
    /// in one step.
    const UNFOLDS: bool = false;

    /// Announces that no later call reports an event before `now`.
    fn advance(&mut self, _now: Time) {}

    /// Observes a packet event.
    fn packet(&mut self, event: PacketEvent);

    /// Observes a link's new backlog, which holds from `time` on.
    fn backlog(&mut self, link: LinkId, time: Time, backlog: Backlog);

    /// Observes the agent of a flow after it received a packet or its timer fired. `rtt` is the
    /// round-trip sample that the packet completed, if any.
    fn agent(&mut self, flow: u32, time: Time, agent: &Agent, rtt: Option<Span>);
}

/// Probe that observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    const ACTIVE: bool = false;
    fn packet(&mut self, _: PacketEvent) {}
    fn backlog(&mut self, _: LinkId, _: Time, _: Backlog) {}
    fn agent(&mut self, _: u32, _: Time, _: &Agent, _: Option<Span>) {}
}

/// Passes each event to two probes.
impl<A: Probe, B: Probe> Probe for (A, B) {
    const ACTIVE: bool = A::ACTIVE || B::ACTIVE;
    const UNFOLDS: bool = A::UNFOLDS || B::UNFOLDS;

    fn advance(&mut self, now: Time) {
        self.0.advance(now);
        self.1.advance(now);
    }

    fn packet(&mut self, event: PacketEvent) {
        self.0.packet(event);
        self.1.packet(event);
    }

    fn backlog(&mut self, link: LinkId, time: Time, backlog: Backlog) {
        self.0.backlog(link, time, backlog);
        self.1.backlog(link, time, backlog);
    }

    fn agent(&mut self, flow: u32, time: Time, agent: &Agent, rtt: Option<Span>) {
        self.0.agent(flow, time, agent, rtt);
        self.1.agent(flow, time, agent, rtt);
    }
}

/// Probe that records what a scenario's `[record]` asks for. Its memory grows with the run.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    record: Record,
    observed: Vec<bool>,
    series: Series,
    packets: Vec<PacketEvent>,
    last_windows: Vec<(u64, Option<u64>, u64)>,
    last_limits: Vec<Limited>,
}

impl Recorder {
    /// Creates a recorder for a run with these observed links and `flows` flows.
    pub fn new(record: Record, observed: Vec<bool>, flows: usize) -> Self {
        let last_windows = vec![(u64::MAX, None, 0); flows];
        Self {
            record,
            observed,
            last_windows,
            last_limits: vec![Limited::Nothing; flows],
            ..Self::default()
        }
    }

    /// Returns the records ordered by time. Events of one instant keep their causal order.
    pub fn finish(mut self) -> (Series, Vec<PacketEvent>) {
        self.series
            .backlog
            .sort_by_key(|(link, time, ..)| (*link, *time));
        self.series
            .windows
            .sort_by_key(|(flow, time, ..)| (*flow, *time));
        self.series
            .rtt
            .sort_by_key(|(flow, time, _)| (*flow, *time));
        self.series
            .limits
            .sort_by_key(|(flow, time, _)| (*flow, *time));
        self.packets.sort_by_key(|event| event.time);
        (self.series, self.packets)
    }
}

impl Probe for Recorder {
    const ACTIVE: bool = true;

    fn packet(&mut self, mut event: PacketEvent) {
        if self.record.packets {
            // The arrival is private to the queue, and a FIFO does not set it.
            event.packet.arrived = Time::ZERO;
            self.packets.push(event);
        }
    }

    fn backlog(&mut self, link: LinkId, time: Time, backlog: Backlog) {
        if self.record.series && self.observed[link.0 as usize] {
            self.series
                .backlog
                .push((link.0, time, backlog.packets, backlog.bytes));
        }
    }

    fn agent(&mut self, flow: u32, time: Time, agent: &Agent, rtt: Option<Span>) {
        if !self.record.series {
            return;
        }
        if let Some(rtt) = rtt {
            self.series.rtt.push((flow, time, rtt.as_secs_f64()));
        }
        if let Some(info) = agent.behaviour().tcp_info() {
            let last = &mut self.last_limits[flow as usize];
            if *last != info.limited {
                *last = info.limited;
                self.series
                    .limits
                    .push((flow, info.limited_since, info.limited));
            }
            let windows = (info.cwnd, info.ssthresh, info.bytes_in_flight);
            let last = &mut self.last_windows[flow as usize];
            if *last != windows {
                *last = windows;
                self.series
                    .windows
                    .push((flow, time, windows.0, windows.1, windows.2));
            }
        }
    }
}
