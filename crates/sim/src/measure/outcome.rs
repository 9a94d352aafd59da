//! The results of a run: the numbers behind every table, picture and recommendation.
//!
//! Names carry their unit. All figures are for the measured part of the run, from the warm-up to
//! the end. A figure without a sample is `None`.

use crate::measure::fairness::Fairness;
use crate::measure::flow_class::LimitedOutcome;
use crate::measure::signals::Signal;
use crate::workload::session::AppOutcome;
use goodqueue_tcp::Limited;
use goodqueue_types::{DropReason, Histogram, PacketEvent, Rate, Span, Time};

/// Results of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Length of the measured part in seconds.
    pub measured_s: f64,
    /// Observed links, in network order.
    pub links: Vec<LinkOutcome>,
    /// Flows, in network order.
    pub flows: Vec<FlowOutcome>,
    /// Shared buffers, in network order.
    pub pools: Vec<PoolOutcome>,
    /// Counts over the whole run, for conservation and cost.
    pub totals: Totals,
    /// Time series, if they were recorded.
    pub series: Series,
    /// Packet events ordered by time, if they were recorded.
    pub packets: Vec<PacketEvent>,
}

/// Results of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkOutcome {
    /// The link's name.
    pub name: String,
    /// Share of the time in which the transmitter was busy. If the rate changes, the share of the
    /// bits that it could have sent which it did send.
    pub utilization: f64,
    /// IP bits sent per second. A transmission across the window's edge counts in proportion.
    pub throughput_bps: f64,
    /// Groups of flows that sent data, each with its share of the throughput, by the groups'
    /// numbers.
    pub shares: Vec<(u32, f64)>,
    /// Periods in which the transmitter did not pause.
    pub busy_periods: BusyPeriods,
    /// Packets that arrived.
    pub arrivals: u64,
    /// Packets whose transmission ended.
    pub departures: u64,
    /// Packets that arrived and were lost by the end of the run, for all reasons. Packets that
    /// still wait then are not lost.
    pub drops: u64,
    /// Drops by reason, at the index `reason as usize`.
    pub drops_by: [u64; DropReason::COUNT],
    /// Packets that arrived and were marked by the end of the run, for all reasons.
    pub marks: u64,
    /// Marks by reason, at the index `reason as usize`.
    pub marks_by: [u64; DropReason::COUNT],
    /// Drops divided by arrivals, from 0 to 1; 0 without arrivals.
    pub loss_rate: f64,
    /// Fairness among the bulk flows that crossed the link.
    pub fairness: Fairness,
    /// Losses grouped into bursts, if the scenario defines how far apart losses of a burst may be.
    pub loss_bursts: Option<LossBurstOutcome>,
    /// Copies that the link made of packets.
    pub duplicates: u64,
    /// Packets that left the link after one that was sent later (RFC 4737), without copies.
    pub reordered: u64,
    /// Time-weighted distribution of the packets that wait.
    pub backlog_packets: Distribution,
    /// Time-weighted distribution of the frame bytes that wait.
    pub backlog_bytes: Distribution,
    /// Mean number of packets that wait, over changes of the backlog instead of time, as in INET.
    pub event_mean_backlog_packets: Option<f64>,
    /// The queue discipline's own average (RED), if it keeps one.
    pub average_queue: Option<AverageQueue>,
    /// Pauses, if the link has flow control.
    pub pause: Option<PauseOutcome>,
    /// Rates of the shaper, if a program sets them.
    pub autorate: Option<AutorateOutcome>,
    /// Distribution over transmitted packets of the time from arrival to the start of transmission,
    /// in seconds.
    pub queueing_delay_s: Distribution,
    /// Histogram of these times in nanoseconds.
    pub queueing_delay_histogram: Histogram,
}

/// Pauses of a link with flow control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseOutcome {
    /// Number of pauses that began.
    pub pauses: u64,
    /// Time in which the link was paused.
    pub paused: Span,
    /// Most frame bytes that came over the link and waited behind it.
    pub peak_bytes: u64,
    /// True if at the end the link is paused and waits, through other paused links, for itself.
    pub in_cycle: bool,
}

/// Rates that a program gave a link's shaper in the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutorateOutcome {
    /// Mean over time in bits per second.
    pub mean_bps: f64,
    /// Smallest rate.
    pub min: Rate,
    /// Largest rate.
    pub max: Rate,
    /// Number of changes.
    pub changes: u64,
}

/// A discipline's own average at each arrival that reached the queue, in the discipline's unit:
/// packets or frame bytes.
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
    /// Number of busy periods.
    pub count: u64,
    /// Mean length in seconds.
    pub mean_s: Option<f64>,
    /// Length of the longest, in seconds.
    pub max_s: Option<f64>,
}

/// Losses of one link that came less than a round-trip time apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossBurstOutcome {
    /// Number of bursts.
    pub count: u64,
    /// Number of packets lost in a burst.
    pub packets: Distribution,
    /// Number of flows that lost at least one packet in a burst, averaged over bursts.
    pub mean_flows_hit: Option<f64>,
    /// Share of flows that lost data in a burst, among the TCP flows that had started and whose
    /// data cross the link, averaged over bursts.
    pub synchronization: Option<f64>,
}

/// Results of a buffer that several links share.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolOutcome {
    /// The buffer's name.
    pub name: String,
    /// Capacity of the buffer in bytes.
    pub capacity_bytes: u64,
    /// Time-weighted distribution of the bytes booked on the buffer.
    pub occupancy_bytes: Distribution,
}

/// Mean, quantiles and maximum of one quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distribution {
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
}

/// Results of one flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowOutcome {
    /// The flow's name.
    pub name: Box<str>,
    /// New application bits that reached the server's host, in order or not, per second. They are
    /// counted on arrival, as the packets of the throughput are, which is therefore never smaller.
    /// For a ping or a datagram source they are the payload.
    pub goodput_bps: f64,
    /// IP bits that reached the server's host, per second, with headers and duplicates. For a
    /// session, IP bits that reached either host.
    pub throughput_bps: f64,
    /// Packets that the client sent.
    pub packets_sent: u64,
    /// Packets that reached the server's host.
    pub packets_received: u64,
    /// Packets that the client sent and that links lost by the end of the run.
    pub packets_lost: u64,
    /// One-way delays behind [`one_way`](Self::one_way) and [`one_way_back`](Self::one_way_back).
    /// None if they are not measured, as for most flows of a large network.
    pub(crate) one_way_delays: [Option<Box<OneWayDelay>>; 2],
    /// Drops and marks of the flow's packets, by link and direction.
    pub signals: Box<[Signal]>,
    /// Causes that limited a TCP flow, and its bottleneck.
    pub limited: Option<LimitedOutcome>,
    /// Completion time divided by the time that the bytes take on an idle path.
    pub slowdown: Option<f64>,
    /// Round-trip times that TCP or ping measured.
    pub rtt_s: Distribution,
    /// Number of segments sent again.
    pub retransmissions: u64,
    /// Number of retransmission timeouts.
    pub timeouts: u64,
    /// Share of the received payload bytes that had been received before.
    pub duplicate_share: f64,
    /// Seconds from the start of the flow to the last acknowledgement of its last byte.
    pub completion_time_s: Option<f64>,
    /// Measurements of the application, if it makes any.
    pub app: AppOutcome,
}

impl FlowOutcome {
    /// Returns the delays of data that travel to the server's host. For TCP they are those of
    /// segments with payload.
    pub fn one_way(&self) -> OneWayDelay {
        self.one_way_delays[0]
            .as_deref()
            .copied()
            .unwrap_or_default()
    }

    /// Returns the delays of data in the reverse direction: a session's data, a game's updates and
    /// a ping's replies.
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
    /// Smallest delay in seconds.
    pub min_s: Option<f64>,
    /// Distribution of the delays in seconds.
    pub delay_s: Distribution,
    /// Packet delay variation (RFC 5481): the 99th percentile less the smallest delay, in seconds.
    pub p99_pdv_s: Option<f64>,
    /// The 99.9th percentile less the smallest delay, in seconds.
    pub p999_pdv_s: Option<f64>,
    /// Seconds from the sending of the first of these packets to the arrival of the last.
    pub span_s: Option<f64>,
    /// Absolute inter-packet delay variation (RFC 3393) of packets with consecutive numbers, in
    /// seconds. It is not measured for TCP.
    pub ipdv_s: Distribution,
}

/// Counts over the whole run, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets handed to the network by hosts.
    pub sent: u64,
    /// Copies that links made of these packets.
    pub duplicated: u64,
    /// Packets that queues made of super-segments, beyond those that hosts sent: k - 1 for k.
    pub split: u64,
    /// Packets that reached their host.
    pub delivered: u64,
    /// Delivered packets that went from client to server, such as the data of bulk flows.
    pub delivered_forward: u64,
    /// Packets lost.
    pub dropped: u64,
    /// Packets that wait in queues at the end.
    pub queued: u64,
    /// Packets in transmission or propagation at the end.
    pub in_flight: u64,
    /// Entries taken from the event queue, which measure the cost of the run. Only this count
    /// differs between the engines.
    pub events: u64,
}

/// Time series. Each row belongs to a link or flow, by its index in the network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// (link, time, packets that wait, frame bytes that wait) at each change.
    pub backlog: Vec<(u32, Time, u64, u64)>,
    /// (flow, time, cwnd bytes, ssthresh bytes or none, bytes in flight) at each change.
    pub windows: Vec<(u32, Time, u64, Option<u64>, u64)>,
    /// (flow, time, seconds) for each round-trip sample.
    pub rtt: Vec<(u32, Time, f64)>,
    /// (flow, time, cause that limits a bulk flow's sender from then on) at each change.
    pub limits: Vec<(u32, Time, Limited)>,
}

impl Totals {
    /// Checks conservation: packets that were sent, copied or made of super-segments are delivered,
    /// lost, queued or in flight.
    ///
    /// # Errors
    /// Returns a message with the counts if packets appeared or vanished.
    pub fn check(&self) -> Result<(), String> {
        let accounted = self.delivered + self.dropped + self.queued + self.in_flight;
        if self.sent + self.duplicated + self.split == accounted {
            return Ok(());
        }
        Err(format!(
            "packets not conserved: {} sent + {} duplicated + {} split, but {} delivered + {} dropped \
             + {} queued + {} in flight = {accounted}",
            self.sent,
            self.duplicated,
            self.split,
            self.delivered,
            self.dropped,
            self.queued,
            self.in_flight
        ))
    }
}
