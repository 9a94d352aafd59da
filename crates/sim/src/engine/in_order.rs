//! Packet events in order of time during a run.
//!
//! The engine works ahead: it reports a packet's events up to the next place where other packets
//! may interfere. It never reports events before the one that it handles, so all earlier ones can
//! be passed on. The events that wait here are those that the engine has worked ahead. Their number
//! is bounded by the packets in flight, however long the run.

use crate::engine::probe::Probe;
use crate::host::agent::Agent;
use goodqueue_queue::Backlog;
use goodqueue_tcp::{CaState, TcpInfo};
use goodqueue_types::{FlowId, LinkId, PacketEvent, PacketSink, SenderMetrics, Span, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

/// Sorts packet events by time and passes them to a sink. Events of one instant keep their causal
/// order.
#[derive(Debug)]
pub struct InOrder<'s, S> {
    wants_series: bool,
    wants_metrics: bool,
    sink: &'s mut S,
    /// Time of each waiting event, its number in the order of reports, and its index in `events`.
    waiting: BinaryHeap<Reverse<(Time, u64, usize)>>,
    events: Vec<PacketEvent>,
    free: Vec<usize>,
    /// Variables of senders that wait, by time and number.
    metrics: BTreeMap<(Time, u64), (FlowId, SenderMetrics)>,
    /// Last round-trip time of each flow, if the sink needs the variables of senders.
    rtts: HashMap<u32, Span>,
    count: u64,
    now: Time,
}

impl<'s, S: PacketSink> InOrder<'s, S> {
    /// Creates a sorter without events.
    pub fn new(sink: &'s mut S) -> Self {
        Self {
            wants_series: sink.wants_series(),
            wants_metrics: sink.wants_metrics(),
            sink,
            waiting: BinaryHeap::new(),
            events: Vec::new(),
            free: Vec::new(),
            metrics: BTreeMap::new(),
            rtts: HashMap::new(),
            count: 0,
            now: Time::ZERO,
        }
    }

    /// Passes on the remaining events.
    pub fn finish(mut self) {
        self.release(Time::MAX);
    }

    /// Returns the largest number of events that have waited at once.
    pub fn most_waiting(&self) -> usize {
        self.events.len()
    }

    fn release(&mut self, before: Time) {
        while let Some(Reverse((time, number, place))) = self.waiting.peek().copied() {
            if time >= before {
                break;
            }
            if !self.metrics.is_empty() {
                self.release_metrics((time, number));
            }
            self.waiting.pop();
            self.free.push(place);
            self.sink.packet(&self.events[place]);
        }
        if !self.metrics.is_empty() {
            self.release_metrics((before, 0));
        }
    }

    fn release_metrics(&mut self, before: (Time, u64)) {
        while let Some(first) = self.metrics.first_entry() {
            if *first.key() >= before {
                break;
            }
            let ((time, _), (flow, metrics)) = first.remove_entry();
            self.sink.metrics(flow, time, &metrics);
        }
    }
}

impl<S: PacketSink> Probe for InOrder<'_, S> {
    const ACTIVE: bool = true;
    const UNFOLDS: bool = true;

    fn advance(&mut self, now: Time) {
        if now > self.now {
            self.now = now;
            self.release(now);
        }
    }

    fn packet(&mut self, event: PacketEvent) {
        debug_assert!(event.time >= self.now, "event in the past: {event:?}");
        if !self.sink.wants(&event) {
            return;
        }
        let place = if let Some(place) = self.free.pop() {
            self.events[place] = event;
            place
        } else {
            self.events.push(event);
            self.events.len() - 1
        };
        self.waiting.push(Reverse((event.time, self.count, place)));
        self.count += 1;
    }

    fn backlog(&mut self, link: LinkId, time: Time, backlog: Backlog) {
        if self.wants_series {
            self.sink.backlog(link, time, backlog.packets);
        }
    }

    fn agent(&mut self, flow: u32, time: Time, agent: &Agent, rtt: Option<Span>) {
        if self.wants_series
            && let Some(info) = agent.behaviour().tcp_info()
        {
            self.sink.window(FlowId(flow), time, info.cwnd);
        }
        if self.wants_metrics
            && let Some(info) = agent.behaviour().tcp_info()
        {
            if let Some(rtt) = rtt {
                self.rtts.insert(flow, rtt);
            }
            let metrics = metrics(&info, self.rtts.get(&flow).copied());
            let place = (time, self.count);
            self.metrics.insert(place, (FlowId(flow), metrics));
            self.count += 1;
        }
    }
}

/// Returns the variables of a sender for logs.
fn metrics(info: &TcpInfo, latest_rtt: Option<Span>) -> SenderMetrics {
    SenderMetrics {
        min_rtt: info.min_rtt,
        smoothed_rtt: info.srtt,
        latest_rtt,
        rtt_variance: info.rttvar,
        timeouts: info.backoff,
        cwnd: info.cwnd,
        ssthresh: info.ssthresh,
        bytes_in_flight: info.pipe,
        packets_in_flight: info.unacked.saturating_sub(info.sacked),
        pacing_rate: info.pacing_rate,
        after_timeout: info.ca_state == CaState::Loss,
    }
}
