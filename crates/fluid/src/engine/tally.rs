//! Counts of a run.

use goodqueue_types::Histogram;

use crate::flows::class::Class;
use crate::link::FluidLink;
use crate::outcome::{Cost, FluidFlow, FluidOutcome};

/// Parts of a packet that the delay histogram counts.
const PARTS: f64 = 16.0;

/// Counts of the measured part.
#[derive(Clone, Debug)]
pub struct Tally {
    ns_per_packet: f64,
    /// Seconds without a loss after which the next one belongs to another burst.
    gap_s: f64,
    arrivals: f64,
    drops: f64,
    departures: f64,
    delays: Histogram,
    last_loss_s: f64,
    burst: u32,
    bursts: u64,
    hits: u64,
}

impl Tally {
    /// Makes empty counts.
    pub fn new(buffer: f64, packets_per_s: f64, gap_s: f64) -> Self {
        let ns_per_packet = 1e9 / packets_per_s;
        let mut delays = Histogram::default();
        delays.reserve((2.0 * (buffer + 2.0) * ns_per_packet) as u64);
        Self {
            ns_per_packet,
            gap_s,
            arrivals: 0.0,
            drops: 0.0,
            departures: 0.0,
            delays,
            last_loss_s: f64::NEG_INFINITY,
            burst: 0,
            bursts: 0,
            hits: 0,
        }
    }

    /// Forgets the counts of the warm-up. Packets that are `late` were counted in it, but arrive from
    /// now on.
    pub fn start(&mut self, late: f64) {
        let empty = Self::new(0.0, 1.0, 0.0);
        self.delays = {
            let mut delays = Histogram::default();
            delays.reserve(self.delays.max().unwrap_or(0));
            delays
        };
        self.arrivals = late;
        self.drops = empty.drops;
        self.departures = empty.departures;
        self.bursts = 0;
        self.hits = 0;
    }

    /// Counts a slot: packets that arrived, were lost, were sent, and the mean number that waited.
    #[inline]
    pub fn slot(&mut self, arrived: f64, lost: f64, sent: f64, waiting: f64) {
        self.arrivals += arrived;
        self.drops += lost;
        self.departures += sent;
        self.delays
            .record((waiting * self.ns_per_packet) as u64, (sent * PARTS) as u64);
    }

    /// Counts losses at `now_s`. Returns the number of the burst of losses that they belong to.
    pub fn burst(&mut self, now_s: f64) -> u32 {
        if now_s - self.last_loss_s > self.gap_s {
            self.burst += 1;
            self.bursts += 1;
        }
        self.last_loss_s = now_s;
        self.burst
    }

    /// Counts another flow that a burst hit.
    pub fn hit(&mut self) {
        self.hits += 1;
    }

    /// Returns the outcome of a measured part: its seconds, and the packets that the link could
    /// have sent in them. `late` of the counted arrivals come after the end of the measured part.
    pub fn outcome(
        mut self,
        link: &FluidLink,
        (measured_s, capacity): (f64, f64),
        late: f64,
        classes: &[Class],
        cost: Cost,
    ) -> FluidOutcome {
        self.arrivals -= late;
        let goodput = self.departures.min(self.arrivals - self.drops).max(0.0);
        let sent: f64 = flows(classes).map(|flow| flow.sent).sum();
        let scale = if sent > 0.0 && measured_s > 0.0 {
            goodput / sent / measured_s
        } else {
            0.0
        };
        FluidOutcome {
            measured_s,
            utilization: if capacity > 0.0 {
                (self.departures / capacity).min(1.0)
            } else {
                0.0
            },
            arrivals: self.arrivals,
            departures: self.departures,
            drops: self.drops,
            loss_rate: if self.arrivals > 0.0 {
                self.drops / self.arrivals
            } else {
                0.0
            },
            queueing_delay_ns: self.delays,
            loss_events: classes.iter().map(|class| class.counts().1).sum(),
            loss_bursts: self.bursts,
            mean_flows_hit: if self.bursts > 0 {
                self.hits as f64 / self.bursts as f64
            } else {
                0.0
            },
            flows: in_order(link, classes, scale),
            cost,
        }
    }
}

fn flows(classes: &[Class]) -> impl Iterator<Item = &crate::flows::control::Flow> {
    classes.iter().flat_map(Class::flows)
}

/// Results of flows, group after group, each in the order of its group.
fn in_order(link: &FluidLink, classes: &[Class], scale: f64) -> Vec<FluidFlow> {
    let firsts: Vec<u64> = link
        .groups
        .iter()
        .scan(0, |next, group| {
            *next += group.count;
            Some(*next - group.count)
        })
        .collect();
    let mut results = vec![FluidFlow::default(); link.flows() as usize];
    for class in classes {
        let shape = class.shape();
        let entries = link.groups[shape.group].rtts.len();
        let places = shape
            .entries
            .iter()
            .flat_map(|(entry, flows)| (0..*flows).map(move |turn| entry + turn * entries));
        for (flow, place) in class.flows().iter().zip(places) {
            results[firsts[shape.group] as usize + place] = FluidFlow {
                goodput_packets_per_s: flow.sent * scale,
                loss_events: flow.events,
            };
        }
    }
    results
}
