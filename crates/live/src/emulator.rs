//! Real packets on their way through emulated links.

use crate::fabric::Fabric;
use crate::fidelity::Fidelity;
use crate::ip::{Classifier, mark};
use crate::record::{Activity, OverTime, Records};
use goodqueue_queue::Backlog;
use goodqueue_sim::{FlowOutcome, Network, Outcome, Totals};
use goodqueue_types::{
    Direction, FlowId, LinkId, Packet, PacketEvent, PacketEventKind, Span, Time,
};
use std::collections::HashMap;

/// Receiver of what happens in the emulated network.
pub trait Hosts {
    /// The packet reaches the host at this end of its flow: the server of a packet that goes
    /// forward.
    fn deliver(&mut self, packet: &Packet, bytes: &[u8]);
    /// A packet event, at its computed time.
    fn observe(&mut self, event: &PacketEvent, bytes: &[u8]);
}

/// Bytes of a packet in the network, and the number of its copies.
#[derive(Debug)]
struct Stored {
    bytes: Box<[u8]>,
    copies: u32,
}

/// Counts of the packets of one flow in the direction of its server.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    received: u64,
    lost: u64,
    bytes: u64,
}

/// Links, and the packets in them.
#[derive(Debug)]
pub struct Emulator {
    fabric: Fabric,
    classifier: Classifier,
    records: Records,
    stored: HashMap<u64, Stored>,
    counts: Vec<Counts>,
    totals: Totals,
    warmup: Time,
}

impl Emulator {
    /// Returns the idle network, with records of what happens in it.
    pub fn new(network: &Network, records: Records) -> Self {
        Self {
            fabric: Fabric::new(network),
            classifier: Classifier::new(network.flows.iter().map(|flow| flow.hosts)),
            records,
            stored: HashMap::new(),
            counts: vec![Counts::default(); network.flows.len()],
            totals: Totals::default(),
            warmup: network.warmup,
        }
    }

    /// Lets a host of `flow` send these bytes at `now`: its client if `direction` is forward. Returns
    /// the packet that they are.
    pub fn send(&mut self, now: Time, flow: FlowId, direction: Direction, bytes: &[u8]) -> Packet {
        let number = self.totals.sent;
        self.totals.sent += 1;
        let packet = self
            .classifier
            .packet(bytes, (flow, direction), number, now);
        let bytes = bytes.into();
        self.stored.insert(number, Stored { bytes, copies: 1 });
        self.fabric.send(now, packet);
        packet
    }

    /// Handles everything that happens up to and including `now`.
    pub fn advance(&mut self, now: Time, hosts: &mut impl Hosts) {
        self.fabric.advance(now);
        for number in self.fabric.take_copies() {
            self.totals.duplicated += 1;
            if let Some(stored) = self.stored.get_mut(&number) {
                stored.copies += 1;
            }
        }
        for (link, time, backlog) in self.fabric.take_backlogs() {
            self.records.backlog(link, time, backlog);
        }
        for event in self.fabric.take_events() {
            let Some(stored) = self.stored.get_mut(&event.packet.number) else {
                continue;
            };
            let gone = match event.kind {
                PacketEventKind::Marked(..) => {
                    mark(&mut stored.bytes);
                    false
                }
                PacketEventKind::Delivered => {
                    hosts.deliver(&event.packet, &stored.bytes);
                    true
                }
                PacketEventKind::Dropped(..) => true,
                _ => false,
            };
            hosts.observe(&event, &stored.bytes);
            self.records.packet(&event, &stored.bytes);
            count(&mut self.totals, &mut self.counts, self.warmup, &event);
            if gone {
                stored.copies -= 1;
                if stored.copies == 0 {
                    self.stored.remove(&event.packet.number);
                }
            }
        }
    }

    /// Returns a time before which no packet reaches a host, or none if nothing does until a host
    /// sends.
    pub fn next_delivery(&self) -> Option<Time> {
        self.fabric.next_delivery()
    }

    /// Returns the activity of a link since the last call, and its present backlog.
    pub fn take_activity(&mut self, link: LinkId) -> (Activity, Backlog) {
        let backlog = self.fabric.link(link).backlog();
        (self.records.take_activity(link), backlog)
    }

    /// Returns true if a trace cannot be written, so that the run can end.
    pub fn has_failed(&self) -> bool {
        self.records.failed()
    }

    /// Returns the results of the run, which ended at `end`. Figures of flows are those that
    /// packets show; programs do not report theirs.
    ///
    /// # Errors
    /// Returns a text that names the trace that could not be written.
    pub fn finish(mut self, network: &Network, end: Time) -> Result<Finished, String> {
        let measured_s = end.saturating_since(self.warmup).as_secs_f64();
        let flows = network
            .flows
            .iter()
            .zip(&self.counts)
            .map(|(config, counts)| {
                let mut flow = FlowOutcome::default();
                flow.name = config.name.as_str().into();
                flow.packets_sent = counts.sent;
                flow.packets_received = counts.received;
                flow.packets_lost = counts.lost;
                flow.throughput_bps = counts.bytes as f64 * 8.0 / measured_s;
                flow
            });
        let links = 0..network.links.len() as u32;
        let waiting = links.map(|link| {
            self.fabric
                .link(goodqueue_types::LinkId(link))
                .backlog()
                .packets
        });
        self.totals.queued = waiting.sum();
        let copies: u64 = self
            .stored
            .values()
            .map(|stored| u64::from(stored.copies))
            .sum();
        self.totals.in_flight = copies - self.totals.queued;
        let flows = flows.collect();
        let OverTime { series, waits } = self.records.finish(end)?;
        let outcome = Outcome {
            measured_s,
            flows,
            links: self.fabric.finish(end),
            totals: self.totals,
            series,
            ..Outcome::default()
        };
        Ok(Finished { outcome, waits })
    }
}

/// Results of a run in real time.
#[derive(Debug)]
pub struct Finished {
    /// Figures of links and flows, and quantities over time if they were recorded.
    pub outcome: Outcome,
    /// (link, time, queueing delay) of each transmission, if quantities over time were recorded.
    pub waits: Vec<(u32, Time, Span)>,
}

/// Counts an event, for the totals and for the figures of its flow.
fn count(totals: &mut Totals, flows: &mut [Counts], warmup: Time, event: &PacketEvent) {
    let Packet {
        flow,
        direction,
        size,
        ..
    } = event.packet;
    let forward = direction == Direction::Forward;
    let measured = forward && event.time >= warmup;
    let flow = &mut flows[flow.0 as usize];
    match event.kind {
        PacketEventKind::Sent => flow.sent += u64::from(measured),
        PacketEventKind::Delivered => {
            totals.delivered += 1;
            totals.delivered_forward += u64::from(forward);
            if measured {
                flow.received += 1;
                flow.bytes += u64::from(size);
            }
        }
        PacketEventKind::Dropped(..) => {
            totals.dropped += 1;
            flow.lost += u64::from(measured);
        }
        _ => {}
    }
}

/// Returns an empty fidelity report for the flows of a network: it depends on the slowest link that
/// they cross and on their shortest base RTT.
pub fn fidelity_of(network: &Network) -> Fidelity {
    let links = network.links.iter();
    let slowest = links
        .map(|link| link.rate)
        .min()
        .unwrap_or(goodqueue_types::Rate::UNLIMITED);
    let delay = |links: &[goodqueue_types::LinkId]| {
        let delays = links
            .iter()
            .map(|link| network.links[link.0 as usize].delay);
        delays.fold(Span::ZERO, |sum, delay| sum + delay)
    };
    let flows = network.flows.iter();
    let rtts = flows.map(|flow| delay(&flow.forward) + delay(&flow.reverse));
    Fidelity::new(slowest, rtts.min().unwrap_or(Span::ZERO))
}
