//! What a run can show besides its results. A probe that is absent costs nothing.

use crate::agent::Agent;
use crate::{Record, Series};
use goodqueue_queue::Backlog;
use goodqueue_tcp::Limited;
use goodqueue_types::{LinkId, PacketEvent, Span, Time};

/// Sees a run as it happens. Events of one link or agent come in order of time; those of
/// different ones may not, because the engine works ahead where nothing can interfere.
pub trait Probe {
    /// Whether there is anything to tell; `false` lets the compiler drop the telling.
    const ACTIVE: bool;

    /// Whether packets are shown at links that only delay, too, which the engine passes in one step.
    const UNFOLDS: bool = false;

    /// From now on nothing is told of what happened before `now`.
    fn advance(&mut self, _now: Time) {}

    /// A packet event.
    fn packet(&mut self, event: PacketEvent);

    /// What waits at a link from this time on.
    fn backlog(&mut self, link: LinkId, time: Time, backlog: Backlog);

    /// An agent received a packet, which perhaps completed a round-trip sample, or a timer of it
    /// fired; `flow` is its flow.
    fn agent(&mut self, flow: u32, time: Time, agent: &Agent, rtt: Option<Span>);
}

/// Sees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    const ACTIVE: bool = false;
    fn packet(&mut self, _: PacketEvent) {}
    fn backlog(&mut self, _: LinkId, _: Time, _: Backlog) {}
    fn agent(&mut self, _: u32, _: Time, _: &Agent, _: Option<Span>) {}
}

/// Two probes see the same.
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

/// Keeps what a scenario's `[record]` asks for. Memory grows with the run.
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
    /// A recorder for a run with these observed links and so many flows.
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

    /// What was recorded, ordered by time; events of one instant keep their order of cause.
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
            // A note of the queue to itself, which a FIFO does without.
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
