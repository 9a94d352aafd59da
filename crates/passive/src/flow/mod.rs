//! Results for one direction of a connection that has ended.

pub(crate) mod classify;

use crate::Nanos;
use crate::connection::counts::Counts;
use crate::connection::half::Half;
use crate::connection::opening::Opening;
use crate::flow::classify::{
    Bottleneck, Class, Control, Shares, bottleneck, class, control, decrease_factor, shares,
};
use crate::loss::Place;
use crate::rtt::RoundTrips;
use crate::sound::bits_per_second;
use crate::thresholds::Thresholds;
use goodqueue_trace::read::Heading;
use std::net::SocketAddr;

/// One direction with data.
#[derive(Debug)]
pub struct Flow {
    /// Source and destination of its data.
    pub ends: [SocketAddr; 2],
    /// True if its data cross the target link in the measured direction.
    pub forward: bool,
    /// Direction of its data at the tapping interface, if the capture shows it.
    pub heading: Heading,
    /// Time of its first data.
    pub start: Nanos,
    /// Time from its first data to its last data or ACK.
    pub duration: Nanos,
    /// Counts of its segments and bytes.
    pub counts: Counts,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Round-trip times.
    pub rtt: RttFigures,
    /// Beginning of the flow: slow start and single ACKs.
    pub opening: Opening,
    /// Largest number of bytes in flight, as the sender knew them.
    pub max_flight: u64,
    /// Largest flight of a round trip, averaged over time.
    pub mean_flight: Option<f64>,
    /// Mean growth of the window per round trip of congestion avoidance, in segments.
    pub growth: Option<f64>,
    /// The receiver's largest window.
    pub max_window: u64,
    /// Shares of its time by limiting factor.
    pub shares: Shares,
    /// Limiting factor.
    pub class: Class,
    /// Bytes of its frames that passed the target link.
    pub passed_bytes: f64,
    /// Payload bytes that passed the target link, without repetitions as far as the capture shows.
    pub delivered_bytes: u64,
    /// True if the flow is long enough to count among those that share the link.
    pub persistent: bool,
    /// Its bottleneck, for each place that may represent the target link.
    pub bottlenecks: [Bottleneck; Place::COUNT],
    /// Its bottleneck.
    pub bottleneck: Option<Bottleneck>,
    /// Median ratio of the window after a recovery to the window before it.
    pub decrease_factor: Option<f64>,
    /// Its congestion control.
    pub control: Control,
    /// Number of reductions of its window.
    pub reductions: u32,
    /// Number of these reductions that follow a recent loss, by place of the loss.
    pub explained: [u32; Place::COUNT],
    /// Times and round-trip times, thinned.
    pub samples: Vec<(Nanos, Nanos)>,
}

/// Round-trip times of a flow by method. None is above the duration of the capture, none is zero, and
/// the base RTT is not above any other.
#[derive(Clone, Copy, Debug, Default)]
pub struct RttFigures {
    /// Best estimate of the base RTT.
    pub base: Option<Nanos>,
    /// RTT from the SYN to the ACK that ends the handshake.
    pub handshake: Option<Nanos>,
    /// RTT from the spacing of the first flights.
    pub slow_start: Option<Nanos>,
    /// Shortest RTT by timestamps.
    pub timestamps: Option<Nanos>,
    /// Shortest RTT by data and ACKs.
    pub pairs: Option<Nanos>,
    /// Mean RTT by data and ACKs, or the median by flights (T-RAT), in seconds.
    pub mean_s: Option<f64>,
}

impl RttFigures {
    fn from_round_trips(rtt: &RoundTrips, flights: Option<Nanos>) -> Self {
        let base = rtt.base();
        let is_whole = |time: &Nanos| *time > 0 && base.is_none_or(|base| base <= *time);
        let flights = flights.filter(is_whole).map(|median| median as f64 * 1e-9);
        // The mean of equal samples may be rounded down.
        let mean = rtt.mean_s().filter(|mean| *mean > 0.0);
        let mean = mean.map(|mean| base.map_or(mean, |base| mean.max(base as f64 * 1e-9)));
        Self {
            base,
            handshake: rtt.handshake.filter(is_whole),
            slow_start: rtt.slow_start.filter(is_whole),
            timestamps: rtt.by_stamps().filter(is_whole),
            pairs: rtt.by_pairs().filter(is_whole),
            mean_s: mean.or(flights),
        }
    }

    /// Discards times above the duration of the capture: its clock was not that of the packets.
    fn within(&mut self, duration: Nanos) {
        let times = [
            &mut self.base,
            &mut self.handshake,
            &mut self.slow_start,
            &mut self.timestamps,
            &mut self.pairs,
        ];
        for time in times {
            *time = time.filter(|time| *time <= duration);
        }
        self.mean_s = self.mean_s.filter(|mean| *mean <= duration as f64 * 1e-9);
    }
}

impl Flow {
    /// Discards round-trip times above the duration of the capture.
    pub(crate) fn within(&mut self, duration: Nanos) {
        self.rtt.within(duration);
        self.samples
            .retain(|(_, value)| (1..=duration).contains(value));
    }

    /// Judges a direction that has ended.
    pub fn from_half(
        mut half: Half,
        ends: [SocketAddr; 2],
        forward: bool,
        thresholds: &Thresholds,
    ) -> Self {
        let factor = decrease_factor(&half, thresholds);
        let start = half.first_data.unwrap_or_default();
        let places = [Place::Target, Place::Upstream, Place::Downstream];
        let flights = half.flights.take();
        let flights = flights.and_then(|flights| flights.round_trip(thresholds.following_share));
        Self {
            ends,
            forward,
            heading: half.heading,
            start,
            duration: half.last_data.max(half.last_ack).max(start) - start,
            counts: half.counts.settled(&half.size),
            mss: half.size.bytes(),
            rtt: RttFigures::from_round_trips(&half.rtt, flights),
            opening: half.opening.as_deref().copied().unwrap_or_default(),
            max_flight: half.rounds.max_flight,
            mean_flight: half.rounds.mean_flight(),
            growth: half.rounds.growth(),
            max_window: half.max_window,
            shares: shares(&half),
            class: class(&half, thresholds),
            passed_bytes: half.counts.frame_bytes as f64,
            delivered_bytes: half.behind,
            persistent: half.counts.packets as f64 >= thresholds.persistent_segments,
            bottlenecks: places.map(|place| bottleneck(&half, place, thresholds)),
            bottleneck: None,
            decrease_factor: factor,
            control: control(&half, factor, thresholds),
            reductions: half.rounds.reductions,
            explained: half.rounds.explained,
            samples: half.rtt.into_samples(),
        }
    }

    /// Returns true if the flow counts in `N_b`: it is persistent, and the target link limits it.
    pub fn is_held_back(&self) -> bool {
        self.forward && self.persistent && self.bottleneck == Some(Bottleneck::Local)
    }

    /// Returns payload bits per second, without repetitions.
    pub fn goodput_bps(&self) -> Option<f64> {
        bits_per_second(self.counts.bytes as f64, self.duration)
    }

    /// Returns the bytes of the IP packet of a full segment, with mean headers.
    pub fn packet_bytes(&self) -> f64 {
        let headers = self.counts.header_bytes as f64 / self.counts.captured.max(1) as f64;
        f64::from(self.mss) + headers
    }

    /// Returns the mean bytes of its frames beyond the IP packet.
    pub fn framing_bytes(&self) -> f64 {
        let framing = self.counts.frame_bytes.saturating_sub(self.counts.ip_bytes);
        framing as f64 / self.counts.captured.max(1) as f64
    }

    /// Returns its name: source and destination of its data.
    pub fn name(&self) -> String {
        format!("{} > {}/tcp", self.ends[0], self.ends[1])
    }
}
