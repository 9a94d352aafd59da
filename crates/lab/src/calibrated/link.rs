//! A link of the page, the dimensionless groups of it with a buffer, and the published forms.
//!
//! These are the formulas of `goodqueue.sizing` for hosts with the `linux` profile, packets of 1,500
//! bytes and no other traffic. A test compares both over a grid of links.

use crate::refusal::LabError;
use goodqueue_scenario::{StatedSpans, UnitError, parse_rate, parse_spans};

/// Bytes of a full packet.
pub const PACKET_BYTES: u64 = 1_500;

/// Number of even steps in a range of round-trip times.
const RTT_STEPS: usize = 18;

/// Number of groups that are logarithms; they come first.
pub const LOGARITHMS: usize = 12;

/// Names of the groups, which messages show.
pub const GROUPS: [&str; 18] = [
    "packets per flow on the path",
    "flows",
    "buffer over bandwidth-delay product",
    "packets per flow with the queue full",
    "buffer in packets",
    "buffer per flow",
    "round trip with the queue full over CUBIC's K",
    "base round trip over 200 ms",
    "round trip with the queue full over 200 ms",
    "longest over shortest round trip",
    "packets per loss epoch",
    "flows beside the long ones, and one",
    "share of the long flows",
    "share of short transfers",
    "paced",
    "Linux profile",
    "CUBIC",
    "windows grow by bytes",
];

/// Shares far below these are not distinguished: they are added before logarithms are taken.
pub const IDLE_FLOOR: f64 = 5e-4;
/// See [`IDLE_FLOOR`].
pub const LOSS_FLOOR: f64 = 3e-5;

/// Linux's smallest retransmission timeout in seconds.
const LEAST_TIMEOUT_S: f64 = 0.2;

/// Packets that arrive at once: pairs, because of delayed ACKs.
const BURST: f64 = 2.0;

/// A link and its long flows.
#[derive(Clone, Debug)]
pub struct Link {
    /// Rate in bits per second.
    pub rate_bps: f64,
    /// Base round-trip times in seconds, each for the same number of flows.
    pub rtts_s: Vec<f64>,
    /// Number of flows.
    pub flows: f64,
    /// Their congestion control.
    pub control: String,
}

impl Link {
    /// Reads a link from texts with units, such as `10Mbps` and `20ms..80ms`.
    pub fn read(rate: &str, rtt: &str, flows: u64, control: &str) -> Result<Self, LabError> {
        let rtts_s = match parse_spans(rtt)? {
            StatedSpans::Listed(spans) => spans.iter().map(|span| span.as_secs_f64()).collect(),
            StatedSpans::Range(first, last) if first == last => vec![first.as_secs_f64()],
            StatedSpans::Range(first, last) => {
                let (first, last) = (first.as_secs_f64(), last.as_secs_f64());
                let step =
                    |step: usize| first + (last - first) * step as f64 / (RTT_STEPS - 1) as f64;
                (0..RTT_STEPS).map(step).collect()
            }
        };
        let link = Self {
            rate_bps: parse_rate(rate)?.0 as f64,
            rtts_s,
            flows: flows as f64,
            control: control.to_owned(),
        };
        let possible = link.rtts_s.iter().all(|rtt| *rtt > 0.0 && *rtt <= 1_000.0);
        // Below a packet in a hundred seconds timeouts determine the rate of a flow.
        let share = link.rate_bps / link.flows * (link.mean_rtt_s() + 1.0);
        if flows == 0 || !possible || share < 0.01 * 8.0 * PACKET_BYTES as f64 {
            let error = UnitError::new(
                "no rule for buffers covers this link",
                "choose round-trip times of up to 1000s, and at least one flow with a packet in a \
                 hundred seconds",
            );
            return Err(error.into());
        }
        Ok(link)
    }

    /// Transmission time of a full packet in seconds.
    pub fn packet_time_s(&self) -> f64 {
        8.0 * PACKET_BYTES as f64 / self.rate_bps
    }

    /// Mean base round-trip time in seconds.
    pub fn mean_rtt_s(&self) -> f64 {
        self.rtts_s.iter().sum::<f64>() / self.rtts_s.len() as f64
    }

    /// Product of rate and mean base round-trip time, in packets.
    pub fn bdp_packets(&self) -> f64 {
        self.mean_rtt_s() / self.packet_time_s()
    }

    /// Product of rate and harmonic mean of the round-trip times, in packets.
    pub fn local_bdp_packets(&self) -> f64 {
        let inverse = self.rtts_s.iter().map(|rtt| 1.0 / rtt).sum::<f64>();
        self.rtts_s.len() as f64 / inverse / self.packet_time_s()
    }

    /// True if the flows use CUBIC.
    pub fn is_cubic(&self) -> bool {
        self.control == "cubic"
    }

    /// Share of its window that a sender keeps after a loss. None for BBR and unknown controls.
    pub fn decrease(&self) -> Option<f64> {
        let known = [
            ("reno", 0.5),
            ("cubic", 0.7),
            ("abe", 0.5),
            ("scalable", 0.875),
        ];
        let found = known.iter().find(|(name, _)| *name == self.control);
        found.map(|(_, kept)| *kept)
    }

    /// Returns the groups of the link with a buffer.
    pub fn groups(&self, packets: f64) -> [f64; 18] {
        let bdp = self.local_bdp_packets();
        let path = bdp / self.flows;
        let window = path + packets / self.flows;
        let rtt = self.mean_rtt_s() + packets * self.packet_time_s();
        let to_loss = libm::cbrt(0.75 * window);
        let (mut longest, mut shortest) = (0.0_f64, f64::INFINITY);
        for rtt in &self.rtts_s {
            (longest, shortest) = (longest.max(*rtt), shortest.min(*rtt));
        }
        let cubic = self.is_cubic();
        [
            libm::log(path),
            libm::log(self.flows),
            libm::log(packets / bdp),
            libm::log(window),
            libm::log(packets),
            libm::log(packets / self.flows),
            if cubic { libm::log(rtt / to_loss) } else { 0.0 },
            libm::log(self.mean_rtt_s() / LEAST_TIMEOUT_S),
            libm::log(rtt / LEAST_TIMEOUT_S),
            libm::log(longest / shortest),
            libm::log(self.epoch_packets(packets)),
            0.0,
            1.0,
            0.0,
            0.0,
            1.0,
            if cubic { 1.0 } else { 0.0 },
            1.0,
        ]
    }

    /// Returns the packets that the link sends between two losses of one flow.
    fn epoch_packets(&self, packets: f64) -> f64 {
        let window = ((self.local_bdp_packets() + packets) / self.flows).max(2.0);
        let rtt = self.mean_rtt_s() + packets * self.packet_time_s();
        let mut epoch = window / 2.0 * rtt;
        if self.is_cubic() {
            epoch = epoch.min(libm::cbrt(0.75 * window));
        }
        epoch.max(rtt) / self.packet_time_s()
    }

    /// Returns the idle share by the published forms.
    pub fn idle_form(&self, packets: f64) -> f64 {
        let reach = 3.0 * 3.0_f64.sqrt() / (2.0 * 2.0_f64.sqrt()) * self.flows.sqrt();
        let swing = 0.25 * libm::erfc(reach * packets / (self.bdp_packets() + packets));
        let drift = self.loss_form(packets);
        let steps = 2.0 * (packets + 1.0) / BURST;
        let burst = drift / libm::expm1((drift * steps).min(50.0));
        (swing + burst).min(1.0) + IDLE_FLOOR
    }

    /// Returns the loss rate by the published forms.
    pub fn loss_form(&self, packets: f64) -> f64 {
        let window = (self.local_bdp_packets() + packets) / self.flows;
        let lost = if self.is_cubic() {
            let rtt = self.mean_rtt_s() + packets * self.packet_time_s();
            let friendly = 3.0 / (2.0 * window * window);
            friendly.max(cubic_overflow_loss_rate(window, rtt))
        } else {
            1.5 / (window * window)
        };
        lost / (1.0 + 2.0 * lost) + LOSS_FLOOR
    }
}

/// Returns the loss rate of CUBIC flows at a full drop-tail queue, from their growth per round trip.
fn cubic_overflow_loss_rate(window: f64, rtt_s: f64) -> f64 {
    let k = libm::cbrt(window * 0.3 / 0.4);
    let grown = 0.3 * (rtt_s / k).min(0.8);
    let lost = 1.0 + grown / (1.0 - grown) * window;
    lost / (window * (k / rtt_s + 3.0))
}
