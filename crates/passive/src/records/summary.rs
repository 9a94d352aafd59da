//! Figures of flows: how many are long, and the sizes of all.

use super::table::{Flow, Options, Transport};
use serde_json::json;

/// Mean bytes of a TCP packet beyond its headers below which a direction has acknowledgements only: timestamps
/// have 12 bytes, and SACK blocks after losses more.
const TCP_ACK_BYTES: u64 = 24;

/// Mean bytes of a QUIC packet beyond IP and UDP below which a direction has acknowledgements only. Such a packet
/// has a header of up to 25 bytes, a tag of 16 and an ACK frame, which is short without losses (RFC 9000, section
/// 17.3 and 19.3).
const QUIC_ACK_BYTES: u64 = 72;

/// Points of the distribution of sizes.
const POINTS: usize = 100;

/// Number, packets and bytes of some flows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Group {
    /// Number of flows.
    pub flows: u64,
    /// Number of packets.
    pub packets: u64,
    /// Number of bytes of IP packets.
    pub bytes: u64,
}

impl Group {
    fn add(&mut self, flow: &Flow) {
        self.flows += 1;
        self.packets = self.packets.saturating_add(flow.packets);
        self.bytes = self.bytes.saturating_add(flow.bytes);
    }
}

/// Long flows for one threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Long {
    /// Packets from which on a flow is long.
    pub packets: u64,
    /// All of them.
    pub group: Group,
    /// Mean number at a time.
    pub mean: f64,
    /// Number that is not exceeded in 5 % of the time.
    pub low: u64,
    /// Number that is not exceeded in 95 % of the time.
    pub high: u64,
}

/// Figures of all flows of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of records.
    pub records: u64,
    /// Number of parts of the file that are no records.
    pub damaged: u64,
    /// Time from the first packet to the last, in seconds.
    pub span_s: f64,
    /// Flows with data over TCP.
    pub tcp: Group,
    /// Flows with data over QUIC: UDP with the port 443.
    pub quic: Group,
    /// Other datagrams.
    pub udp: Group,
    /// Other protocols.
    pub other: Group,
    /// Directions with acknowledgements only.
    pub acks: Group,
    /// Long flows of TCP and QUIC by half of the threshold, by the threshold and by twice of it.
    pub long: [Long; 3],
    /// Shorter flows of TCP and QUIC.
    pub short: Group,
    /// Points of the distribution of the payload of TCP's and QUIC's flows that began within the time: bytes,
    /// and the share of the flows that have no more.
    pub sizes: Vec<(u64, f64)>,
}

impl Summary {
    pub(super) fn new(flows: &[Flow], options: Options, records: u64, damaged: u64) -> Self {
        let first = flows
            .iter()
            .map(|flow| flow.first_s)
            .fold(f64::INFINITY, f64::min);
        let last = flows
            .iter()
            .map(|flow| flow.last_s)
            .fold(f64::NEG_INFINITY, f64::max);
        let mut summary = Self {
            records,
            damaged,
            span_s: last - first,
            tcp: Group::default(),
            quic: Group::default(),
            udp: Group::default(),
            other: Group::default(),
            acks: Group::default(),
            long: [Long::default(); 3],
            short: Group::default(),
            sizes: Vec::new(),
        };
        let mut elastic = Vec::new();
        for flow in flows {
            let group = match flow.transport {
                _ if acknowledges(flow) => &mut summary.acks,
                Transport::Tcp => &mut summary.tcp,
                Transport::Quic => &mut summary.quic,
                Transport::Udp => &mut summary.udp,
                Transport::Other => &mut summary.other,
            };
            group.add(flow);
            if matches!(flow.transport, Transport::Tcp | Transport::Quic) && !acknowledges(flow) {
                elastic.push(*flow);
            }
        }
        let limit = options.long_packets.max(1);
        for (long, packets) in summary
            .long
            .iter_mut()
            .zip([limit.div_ceil(2), limit, limit * 2])
        {
            *long = concurrent(&elastic, packets, summary.span_s);
        }
        for flow in elastic.iter().filter(|flow| flow.packets < limit) {
            summary.short.add(flow);
        }
        summary.sizes = sizes(&elastic);
        summary
    }
}

/// Returns true if a direction of TCP or QUIC has acknowledgements only.
fn acknowledges(flow: &Flow) -> bool {
    let most = match flow.transport {
        Transport::Tcp => TCP_ACK_BYTES,
        Transport::Quic => QUIC_ACK_BYTES,
        Transport::Udp | Transport::Other => return false,
    };
    flow.payload() < most.saturating_mul(flow.packets)
}

/// Returns the number of long flows at a time: its mean and its range.
fn concurrent(flows: &[Flow], packets: u64, span_s: f64) -> Long {
    let mut long = Long {
        packets,
        ..Long::default()
    };
    // Starts come before ends at the same time.
    let mut steps: Vec<(f64, bool)> = Vec::new();
    let mut first = f64::INFINITY;
    for flow in flows {
        first = first.min(flow.first_s);
        if flow.packets >= packets {
            long.group.add(flow);
            steps.push((flow.first_s, false));
            steps.push((flow.last_s, true));
        }
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut times: Vec<f64> = Vec::new();
    let (mut count, mut before, mut covered) = (0_usize, first, 0.0);
    for (time, ends) in steps {
        if times.len() <= count {
            times.resize(count + 1, 0.0);
        }
        times[count] += time - before;
        covered += time - before;
        before = time;
        count = if ends {
            count.saturating_sub(1)
        } else {
            count + 1
        };
    }
    if span_s <= 0.0 {
        return long;
    }
    // Nothing is long in the rest of the time.
    match times.first_mut() {
        Some(none) => *none += (span_s - covered).max(0.0),
        None => times.push(span_s),
    }
    let whole: f64 = times.iter().sum();
    let weighted: f64 = times
        .iter()
        .enumerate()
        .map(|(count, time)| count as f64 * time)
        .sum();
    long.mean = weighted / whole;
    let quantile = |share: f64| {
        let mut sum = 0.0;
        let place = times.iter().position(|time| {
            sum += time;
            sum >= share * whole
        });
        place.unwrap_or(0) as u64
    };
    (long.low, long.high) = (quantile(0.05), quantile(0.95));
    long
}

/// Returns points of the distribution of the payload of flows, in rising order.
fn sizes(flows: &[Flow]) -> Vec<(u64, f64)> {
    let mut sizes: Vec<u64> = flows
        .iter()
        .map(Flow::payload)
        .filter(|bytes| *bytes > 0)
        .collect();
    sizes.sort_unstable();
    let mut points: Vec<(u64, f64)> = Vec::new();
    for point in 1..=POINTS {
        let rank = (sizes.len() * point).div_ceil(POINTS);
        let Some(size) = rank.checked_sub(1).and_then(|place| sizes.get(place)) else {
            continue;
        };
        let share = rank as f64 / sizes.len() as f64;
        // The last point of equal sizes has the share of all of them.
        if points.last().is_some_and(|last| last.0 == *size) {
            points.pop();
        }
        points.push((*size, share));
    }
    points
}

impl Summary {
    /// Returns the figures as JSON.
    pub fn json(&self) -> String {
        let group = |group: &Group| json!({"flows": group.flows, "packets": group.packets, "bytes": group.bytes});
        let long = |long: &Long| {
            json!({
                "least_packets": long.packets, "flows": long.group.flows, "bytes": long.group.bytes,
                "mean": long.mean, "low": long.low, "high": long.high,
            })
        };
        json!({
            "records": self.records,
            "damaged": self.damaged,
            "span_s": self.span_s,
            "tcp": group(&self.tcp),
            "quic": group(&self.quic),
            "udp": group(&self.udp),
            "other": group(&self.other),
            "acks": group(&self.acks),
            "long": self.long.each_ref().map(long),
            "short": group(&self.short),
            "sizes": self.sizes,
        })
        .to_string()
    }
}
