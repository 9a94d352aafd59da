//! A link with its flows, their measurements, and the faults that these may show.

use crate::switches::below;
use goodqueue_sim::{FlowOutcome, Network, Outcome};
use goodqueue_tcp::cc::GaimdConfig;
use goodqueue_tcp::{CongestionControlConfig as Control, Recovery, TcpConfig};
use goodqueue_types::RandomStream;

/// A drop-tail link of packets of 1500 bytes and the flows over it.
#[derive(Clone, Copy, Debug)]
pub struct Road {
    pub flows: u32,
    /// Shortest and longest round-trip time without queue, in milliseconds.
    pub rtt_ms: (u32, u32),
    /// Number of packets per flow that fit into the path.
    pub pipe: u32,
    /// Number of packets of buffer per flow.
    pub buffer: u32,
    pub seed: u64,
}

impl Road {
    pub fn draw(random: &mut RandomStream) -> Self {
        let flows = [1, 2, 5, 8][below(random, 4)];
        let shortest = [10, 40, 100][below(random, 3)];
        let spread = if flows == 1 { 1 } else { 3 };
        Self {
            flows,
            rtt_ms: (shortest, shortest * [1, spread][below(random, 2)]),
            pipe: [4, 8, 15, 25][below(random, 4)],
            // A single ACK may release several packets at once.
            buffer: if flows == 1 {
                [10, 20][below(random, 2)]
            } else {
                [5, 8, 20][below(random, 3)]
            },
            seed: random.bits() >> 12,
        }
    }

    fn mean_rtt_s(self) -> f64 {
        f64::from(self.rtt_ms.0 + self.rtt_ms.1) / 2e3
    }

    fn bytes_per_second(self) -> f64 {
        f64::from(self.flows * self.pipe) * 1500.0 / self.mean_rtt_s()
    }

    /// Returns a duration with several hundred windows of each flow, and with time for timeouts of
    /// a second.
    fn duration_s(self) -> f64 {
        (300.0 * self.mean_rtt_s()).max(30.0)
    }

    /// Returns the whole file except `[tcp]`.
    pub fn toml(self) -> String {
        let Self { flows, seed, .. } = self;
        let duration = self.duration_s();
        let rate = self.bytes_per_second() * 8.0;
        let buffer = self.flows * self.buffer;
        let (from, to) = self.rtt_ms;
        let classes = if from == to { 1 } else { flows };
        format!(
            r#"schema_version = 1
duration = "{duration:.3}s"
warmup = "25%"
seed = {seed}
[topology]
shape = "dumbbell"
access = {{ rate = "1Gbps" }}
[topology.bottleneck]
rate = "{rate:.0}bps"
delay = "1ms"
queue = {{ kind = "drop_tail", limit = "{buffer}p" }}
reverse = {{ rate = "1Gbps" }}
[[flow]]
name = "bulk"
count = {flows}
start_jitter = "1s"
rtt = {{ from = "{from}ms", to = "{to}ms", classes = {classes} }}
workload = {{ kind = "bulk" }}
"#
        )
    }
}

/// Measurements after the warm-up, except `ever_lost`.
#[derive(Debug)]
pub struct Seen {
    sent: f64,
    lost: f64,
    /// Losses including the warm-up, because those may be retransmitted later.
    ever_lost: f64,
    resent: f64,
    timeouts: f64,
    /// Share of the link with data sent for the first time.
    goodput: f64,
    /// Loss rate by the law of the congestion control for the measured windows.
    law: f64,
    /// Mean window of a flow, in packets.
    window: f64,
    /// True for many flows in the range of the law, which then is also a lower bound on the losses.
    pub law_holds: bool,
}

pub fn config(network: &Network) -> &TcpConfig {
    let bulk = network.flows[0].workload.as_bulk();
    bulk.expect("the first flow is a bulk flow").0
}

pub fn look(network: &Network, outcome: &Outcome) -> Seen {
    let tcp = config(network);
    let link = &outcome.links[0];
    let sum = |of: fn(&FlowOutcome) -> f64| outcome.flows.iter().map(of).sum::<f64>();
    let rates = network.links.iter().map(|link| link.rate.0);
    let rate = rates.min().expect("links") as f64;
    let mss = f64::from(tcp.mss);
    let payload = mss / (mss + f64::from(tcp.header_bytes()));
    let mut seen = Seen {
        sent: link.arrivals as f64,
        lost: link.drops as f64,
        ever_lost: outcome.totals.dropped as f64,
        resent: sum(|flow| flow.retransmissions as f64),
        timeouts: sum(|flow| flow.timeouts as f64),
        goodput: sum(|flow| flow.goodput_bps) / (rate * payload),
        law: 0.0,
        window: 0.0,
        law_holds: false,
    };
    for flow in &outcome.flows {
        let rtt_s = flow.rtt_s.mean.unwrap_or(1.0);
        let packets_per_second = flow.goodput_bps / (8.0 * mss);
        let window = (packets_per_second * rtt_s).max(1.0);
        seen.law += packets_per_second * outcome.measured_s * law(tcp, window, rtt_s);
        seen.window += window / outcome.flows.len() as f64;
    }
    seen.law_holds = law_holds(tcp, &seen, outcome.flows.len());
    seen
}

/// Returns the share of packets lost at this mean window, in packets.
fn law(tcp: &TcpConfig, window: f64, rtt_s: f64) -> f64 {
    // Window √(α(2 − β)/(2βp)) of additive increase by α and decrease by the share β; with 1 and ½ that
    // of Mathis and others (CCR 1997), √(3/(2p)).
    let aimd = |alpha: f64, beta: f64| alpha * (2.0 - beta) / (2.0 * beta * window * window);
    match &tcp.congestion_control {
        Control::Gaimd(GaimdConfig { alpha, beta }) => aimd(*alpha, *beta),
        Control::Cubic(cubic) => {
            // RFC 9438 section 5.1 with C = 0.4; as a share of losses the larger of it and Reno's is
            // that of the larger window.
            let cube = 0.4 * (3.0 + cubic.beta) / (4.0 * (1.0 - cubic.beta));
            aimd(1.0, 0.5).max(cube.cbrt() * rtt_s / window.powf(4.0 / 3.0))
        }
        // It grows as Reno below a hundred segments, and reduces by an eighth.
        Control::Scalable(_) => aimd(1.0, 0.125),
        _ => aimd(1.0, 0.5),
    }
}

/// Returns true for many flows on a full link whose windows depend on losses, not on the receiver's
/// window, and that recover without timeouts.
fn law_holds(tcp: &TcpConfig, seen: &Seen, flows: usize) -> bool {
    let additive = matches!(
        tcp.congestion_control,
        Control::Reno | Control::Gaimd(_) | Control::Cubic(_)
    );
    let has_room = largest_window(tcp) > 4.0 * seen.window * f64::from(tcp.mss);
    // Otherwise each step of the window takes more ACKs than the law assumes.
    let counts = tcp.byte_counting || tcp.ack_every == 1;
    additive
        && tcp.recovery == Recovery::Sack
        && has_room
        && counts
        && flows >= 5
        && seen.goodput > 0.9
        && seen.window > 8.0
        && seen.timeouts < 0.1 * seen.lost
        && seen.law > 60.0
}

fn largest_window(tcp: &TcpConfig) -> f64 {
    let scaled = if tcp.window_scaling { u64::MAX } else { 65_535 };
    tcp.receive_window.min(scaled) as f64
}

/// Faults of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    MoreSentAgainThanLost,
    TimeoutsWithoutLoss,
    LinkUnused,
    MoreLostThanTheLawSays,
    LessLostThanTheLawSays,
}

pub fn fault(road: Road, tcp: &TcpConfig, seen: &Seen) -> Option<Fault> {
    // A minimum below the second of RFC 6298 may be shorter than the delay of an ACK.
    let patient = tcp.rto.minimum.as_secs_f64() >= 1.0;
    if seen.resent > most_resent(tcp, seen) {
        Some(Fault::MoreSentAgainThanLost)
    } else if patient && seen.timeouts > seen.ever_lost + 1.0 {
        Some(Fault::TimeoutsWithoutLoss)
    } else if seen.goodput < least_goodput(road, tcp, seen) {
        Some(Fault::LinkUnused)
    } else if seen.lost > most_lost(road, tcp, seen) {
        Some(Fault::MoreLostThanTheLawSays)
    } else if seen.law_holds && 3.0 * seen.lost < seen.law {
        Some(Fault::LessLostThanTheLawSays)
    } else {
        None
    }
}

/// Each loss once and its retransmission once more; after a timeout the rest of the window, which
/// go-back-N sends again though most of it arrived (Tahoe does so at a fast retransmit, too).
fn most_resent(tcp: &TcpConfig, seen: &Seen) -> f64 {
    let goes_back = if tcp.recovery == Recovery::Tahoe {
        seen.timeouts + seen.ever_lost
    } else {
        seen.timeouts
    };
    // With a threshold of one each copy that arrives twice calls for another.
    let copies = if tcp.duplicate_ack_threshold == 1 {
        3.0
    } else {
        1.5
    };
    10.0 + copies * seen.ever_lost + 4.0 * seen.window * goes_back
}

/// Two fifths of what the link and the receive window let through while no flow waits for a timeout;
/// a quarter without SACK, for then each loss of a window takes a round trip or slow start.
fn least_goodput(road: Road, tcp: &TcpConfig, seen: &Seen) -> f64 {
    let flows = f64::from(road.flows);
    let rtt_s = f64::from(road.rtt_ms.1) / 1e3;
    let limit = flows * largest_window(tcp) / (road.bytes_per_second() * rtt_s);
    let waiting_s = seen.timeouts * 2.0 * tcp.rto.minimum.as_secs_f64().max(1.0);
    let mut share = match tcp.recovery {
        Recovery::Sack => 0.4,
        _ => 0.25,
    };
    if tcp.ack_every > 2 {
        // RFC 5681 section 4.2 asks for every second: an ACK of less waits for the timer.
        share *= rtt_s / (rtt_s + tcp.delayed_ack_timeout.as_secs_f64());
    }
    share * limit.min(1.0) * (1.0 - waiting_s / (flows * road.duration_s()))
}

/// Three times the law for many flows that repair several losses of a window at once, six times for
/// others and for Scalable TCP, which gives up an eighth of its window, so that several losses follow one
/// another. Illinois does so, too, as long as the queue is short, and grows by up to ten segments per
/// round trip: a control that grows by a and gives up b loses a·(2 − b)/(2·b·w²) of its segments, which
/// is up to fifty times the law's for windows of w. Ten times for Tahoe, whose slow start after each loss may lose more. NewReno repairs one loss in a round
/// trip, so that the losses of its first slow start, and of what it sends until they are repaired, reach
/// far into the run: a twentieth of what is sent. So much Westwood loses, too, which keeps what the path
/// carries; BBR, which keeps twice that in flight, three tenths. Beside it what slow start may lose
/// after each timeout.
fn most_lost(road: Road, tcp: &TcpConfig, seen: &Seen) -> f64 {
    let by_law = match (&tcp.congestion_control, tcp.recovery) {
        (Control::Bbr(_) | Control::Bbr3(_), _) => 0.3 * seen.sent,
        (Control::Westwood(_), _) => 0.05 * seen.sent,
        (_, Recovery::NewReno) => 6.0 * seen.law + 0.05 * seen.sent,
        (Control::Scalable(_) | Control::Illinois(_), _) => 6.0 * seen.law,
        (_, Recovery::Tahoe) => 10.0 * seen.law,
        (_, Recovery::Sack) if road.flows >= 5 => 3.0 * seen.law,
        _ => 6.0 * seen.law,
    };
    by_law + 2.0 * seen.window * seen.timeouts + 30.0
}
