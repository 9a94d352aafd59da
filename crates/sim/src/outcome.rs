//! What a run yields: the numbers behind every table, picture and recommendation.
//!
//! Names carry their unit. All figures are for the measured part of the run, from the warm-up to
//! the end. A figure without a sample is `None`.

use crate::fairness::Fairness;
use crate::flow_class::LimitedOutcome;
use crate::signals::Signal;
use crate::workload::session::AppOutcome;
use goodqueue_tcp::Limited;
use goodqueue_types::{DropReason, Histogram, PacketEvent, Time};

/// Results of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Seconds measured.
    pub measured_s: f64,
    /// Observed links, in network order.
    pub links: Vec<LinkOutcome>,
    /// Flows, in network order.
    pub flows: Vec<FlowOutcome>,
    /// Shared buffers, in network order.
    pub pools: Vec<PoolOutcome>,
    /// Counts over the whole run, for conservation and cost.
    pub totals: Totals,
    /// Time series, if asked for.
    pub series: Series,
    /// Packet events, if asked for, ordered by time.
    pub packets: Vec<PacketEvent>,
}

/// One link, one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkOutcome {
    /// The link's name.
    pub name: String,
    /// Share of the time the transmitter was busy; where its rate changes, the share of the bits
    /// it could have sent that it did send.
    pub utilization: f64,
    /// IP bits sent, per second; of a transmission that the window's edge cuts, in proportion.
    pub throughput_bps: f64,
    /// The share of that of each group of flows that had any, by the groups' numbers.
    pub shares: Vec<(u32, f64)>,
    /// Times in which the transmitter did not pause.
    pub busy_periods: BusyPeriods,
    /// Packets that arrived.
    pub arrivals: u64,
    /// Packets whose transmission ended.
    pub departures: u64,
    /// Packets that arrived and were lost by the end of the run, all reasons. What still waits then is
    /// not lost.
    pub drops: u64,
    /// The drops by their reason, at the index `reason as usize`.
    pub drops_by: [u64; DropReason::COUNT],
    /// Packets that arrived and were marked by the end of the run, all reasons.
    pub marks: u64,
    /// The marks by their reason.
    pub marks_by: [u64; DropReason::COUNT],
    /// Drops over arrivals, from 0 to 1; 0 without arrivals.
    pub loss_rate: f64,
    /// How fairly bulk flows shared it.
    pub fairness: Fairness,
    /// The losses in bursts, if it is known how far apart those of a burst may be.
    pub loss_bursts: Option<LossBurstOutcome>,
    /// Copies that the link made of packets.
    pub duplicates: u64,
    /// Packets that left the link after one sent later (RFC 4737), copies left out.
    pub reordered: u64,
    /// Packets waiting, time-weighted.
    pub backlog_packets: Distribution,
    /// Frame bytes waiting, time-weighted.
    pub backlog_bytes: Distribution,
    /// Packets waiting, averaged over changes of the backlog instead of time, as INET does.
    pub event_mean_backlog_packets: Option<f64>,
    /// The average that the queue discipline goes by (RED), if it keeps one.
    pub average_queue: Option<AverageQueue>,
    /// Time from arrival to the start of transmission, per packet transmitted, in seconds.
    pub queueing_delay_s: Distribution,
    /// The waiting times themselves, in nanoseconds.
    pub queueing_delay_histogram: Histogram,
}

/// What a discipline's own average was, seen at each arrival that reached the queue, in the
/// discipline's unit: packets or frame bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AverageQueue {
    /// Mean.
    pub mean: f64,
    /// Variance.
    pub variance: f64,
}

/// Uninterrupted work of a transmitter, cut at the edges of the measured part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BusyPeriods {
    /// How many there were.
    pub count: u64,
    /// Mean length in seconds.
    pub mean_s: Option<f64>,
    /// The longest, in seconds.
    pub max_s: Option<f64>,
}

/// Losses of one link that came less than a round-trip time apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossBurstOutcome {
    /// How many bursts there were.
    pub count: u64,
    /// Packets lost in a burst.
    pub packets: Distribution,
    /// Flows that lost at least one packet, on average over bursts.
    pub mean_flows_hit: Option<f64>,
    /// The share of the TCP flows that had started and whose data cross the link that lost data, on
    /// average over bursts.
    pub synchronization: Option<f64>,
}

/// A buffer that several links share.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolOutcome {
    /// The buffer's name.
    pub name: String,
    /// Its size.
    pub capacity_bytes: u64,
    /// Bytes booked on it, time-weighted.
    pub occupancy_bytes: Distribution,
}

/// Mean, quantiles and maximum of one quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distribution {
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
}

/// One flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowOutcome {
    /// The flow's name.
    pub name: String,
    /// New application bits that reached the server's application, per second (for a ping or a
    /// datagram source: payload does not count twice either).
    pub goodput_bps: f64,
    /// IP bits that reached the server's host, per second, headers and duplicates included; of a
    /// session, those that reached either host.
    pub throughput_bps: f64,
    /// Packets that the client sent.
    pub packets_sent: u64,
    /// Packets that reached the server's host.
    pub packets_received: u64,
    /// Packets that the client sent and that links lost by the end of the run.
    pub packets_lost: u64,
    /// See [`one_way`](Self::one_way) and [`one_way_back`](Self::one_way_back): none where they are not
    /// measured, as with most flows of a large network.
    pub(crate) one_way_delays: [Option<Box<OneWayDelay>>; 2],
    /// Where its packets were dropped and marked, in both directions.
    pub signals: Vec<Signal>,
    /// What limited a TCP flow, and where.
    pub limited: Option<LimitedOutcome>,
    /// Completion time over what the bytes take on an idle path.
    pub slowdown: Option<f64>,
    /// Round-trip time as TCP samples it, or as ping sees it.
    pub rtt_s: Distribution,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Share of the payload bytes received that had been received before.
    pub duplicate_share: f64,
    /// Seconds from the start of the flow to the last acknowledgement of its last byte.
    pub completion_time_s: Option<f64>,
    /// What the application measured, if it does.
    pub app: AppOutcome,
}

impl FlowOutcome {
    /// Delays of data on the way to the server's host: of TCP, of segments with payload.
    pub fn one_way(&self) -> OneWayDelay {
        self.one_way_delays[0]
            .as_deref()
            .copied()
            .unwrap_or_default()
    }

    /// Delays of a session's data, a game's updates and a ping's replies on the way back.
    pub fn one_way_back(&self) -> OneWayDelay {
        self.one_way_delays[1]
            .as_deref()
            .copied()
            .unwrap_or_default()
    }
}

/// One-way delays and their variation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OneWayDelay {
    /// The least, in seconds.
    pub min_s: Option<f64>,
    /// The delays.
    pub delay_s: Distribution,
    /// Packet delay variation (RFC 5481): the 99th percentile less the least.
    pub p99_pdv_s: Option<f64>,
    /// The 99.9th percentile less the least.
    pub p999_pdv_s: Option<f64>,
    /// From the sending of the first of these packets to the arrival of the last.
    pub span_s: Option<f64>,
    /// Inter-packet delay variation (RFC 3393), its absolute value, of packets with consecutive
    /// numbers; not of TCP.
    pub ipdv_s: Distribution,
}

/// Counts over the whole run, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets handed to the network by hosts.
    pub sent: u64,
    /// Copies that links made of them.
    pub duplicated: u64,
    /// Packets that reached their host.
    pub delivered: u64,
    /// Of these, packets that went from client to server: the data of bulk flows.
    pub delivered_forward: u64,
    /// Packets lost.
    pub dropped: u64,
    /// Packets waiting in queues at the end.
    pub queued: u64,
    /// Packets in transmission or propagation at the end.
    pub in_flight: u64,
    /// Entries popped from the event queue: the cost of the run. Engines differ in this alone.
    pub events: u64,
}

/// Time series, each of one link or flow, by index into the network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// (link, time, packets waiting, frame bytes waiting) at each change.
    pub backlog: Vec<(u32, Time, u64, u64)>,
    /// (flow, time, cwnd bytes, ssthresh bytes or none, bytes in flight) at each change.
    pub windows: Vec<(u32, Time, u64, Option<u64>, u64)>,
    /// (flow, time, seconds) for each round-trip sample.
    pub rtt: Vec<(u32, Time, f64)>,
    /// (flow, time, what a bulk flow's sender waits for from then on) at each change.
    pub limits: Vec<(u32, Time, Limited)>,
}

impl Totals {
    /// Conservation: what was sent or copied is delivered, lost, waiting or on its way.
    ///
    /// # Errors
    /// The counts, in words, if packets appeared or vanished.
    pub fn check(&self) -> Result<(), String> {
        let accounted = self.delivered + self.dropped + self.queued + self.in_flight;
        if self.sent + self.duplicated == accounted {
            return Ok(());
        }
        Err(format!(
            "packets not conserved: {} sent + {} duplicated, but {} delivered + {} dropped + {} \
             queued + {} in flight = {accounted}",
            self.sent, self.duplicated, self.delivered, self.dropped, self.queued, self.in_flight
        ))
    }
}
