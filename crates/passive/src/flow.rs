//! What is told of one direction of a connection when it is over.

use crate::Nanos;
use crate::classify::{
    Bottleneck, Class, Control, Shares, bottleneck, class, control, decrease_factor, shares,
};
use crate::half::{Counts, Half};
use crate::loss::Place;
use crate::opening::Opening;
use crate::thresholds::Thresholds;
use goodqueue_trace::read::Heading;
use std::net::SocketAddr;

/// One direction with data.
#[derive(Debug)]
pub struct Flow {
    /// Where its data come from and go to.
    pub ends: [SocketAddr; 2],
    /// Whether they go through the target link in the measured direction.
    pub forward: bool,
    /// Which way its data went, as far as the capture tells.
    pub heading: Heading,
    /// Its first data.
    pub start: Nanos,
    /// From its first data to its last data or acknowledgement.
    pub duration: Nanos,
    /// What was counted.
    pub counts: Counts,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Round-trip times.
    pub rtt: RttFigures,
    /// How it began.
    pub opening: Opening,
    /// The most bytes in flight, as the sender knew them.
    pub max_flight: u64,
    /// The largest flight of a round trip, on average over time.
    pub mean_flight: Option<f64>,
    /// Segments by which the window grows in a round trip of congestion avoidance.
    pub growth: Option<f64>,
    /// The receiver's largest window.
    pub max_window: u64,
    /// What its time went into.
    pub shares: Shares,
    /// What limited it.
    pub class: Class,
    /// Bytes of its frames that passed the target link.
    pub passed_bytes: f64,
    /// Payload bytes that passed it, each once as far as can be told.
    pub delivered_bytes: u64,
    /// Whether it is long enough to count among those that share the link.
    pub persistent: bool,
    /// Where it is held back, by the place that may stand for the target.
    pub bottlenecks: [Bottleneck; Place::COUNT],
    /// Where it is held back.
    pub bottleneck: Option<Bottleneck>,
    /// The median window after a recovery over that before.
    pub decrease_factor: Option<f64>,
    /// Its congestion control.
    pub control: Control,
    /// How often its window fell.
    pub reductions: u32,
    /// Of these, how many came after a recent loss at each place.
    pub explained: [u32; Place::COUNT],
    /// Times and round-trip times, thinned.
    pub samples: Vec<(Nanos, Nanos)>,
}

/// Round-trip times of a flow by method.
#[derive(Clone, Copy, Debug, Default)]
pub struct RttFigures {
    /// Without queues, as well as can be told.
    pub base: Option<Nanos>,
    /// By SYN and the acknowledgement that ends the handshake.
    pub handshake: Option<Nanos>,
    /// By the spacing of the first flights.
    pub slow_start: Option<Nanos>,
    /// The least by timestamps.
    pub timestamps: Option<Nanos>,
    /// The least by data and acknowledgements.
    pub pairs: Option<Nanos>,
    /// The mean by data and acknowledgements, or the median by flights (T-RAT), in seconds.
    pub mean_s: Option<f64>,
}

impl Flow {
    /// Judges a direction that is over.
    pub fn of(
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
        let rtt = &half.rtt;
        Self {
            ends,
            forward,
            heading: half.heading,
            start,
            duration: half.last_data.max(half.last_ack).max(start) - start,
            counts: half.counts,
            mss: half.size.bytes(),
            rtt: RttFigures {
                base: rtt.base(),
                handshake: rtt.handshake,
                slow_start: rtt.slow_start,
                timestamps: rtt.by_stamps(),
                pairs: rtt.by_pairs(),
                mean_s: rtt.mean_s().or(flights.map(|told| told as f64 * 1e-9)),
            },
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

    /// Whether it is among those whose number is `N_b`: it is long, and the link holds it back.
    pub fn is_held_back(&self) -> bool {
        self.forward && self.persistent && self.bottleneck == Some(Bottleneck::Local)
    }

    /// Bits of payload per second, each byte once.
    pub fn goodput_bps(&self) -> Option<f64> {
        (self.duration > 0).then(|| self.counts.bytes as f64 * 8e9 / self.duration as f64)
    }

    /// Bytes of the IP packet of a full segment, by the mean headers.
    pub fn packet_bytes(&self) -> f64 {
        let headers = self.counts.header_bytes as f64 / self.counts.captured.max(1) as f64;
        f64::from(self.mss) + headers
    }

    /// Mean bytes of its frames beyond the IP packet.
    pub fn framing_bytes(&self) -> f64 {
        let framing = self.counts.frame_bytes.saturating_sub(self.counts.ip_bytes);
        framing as f64 / self.counts.captured.max(1) as f64
    }

    /// Its name: where the data come from and where they go.
    pub fn name(&self) -> String {
        format!("{} > {}/tcp", self.ends[0], self.ends[1])
    }
}
