//! The question: one link, its queue, and groups of long flows that share it.

use goodqueue_types::{Rate, Span};

/// A link with the traffic that crosses it.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidLink {
    /// Capacity of the link.
    pub rate: Rate,
    /// Bytes that a full packet takes of the link, framing included.
    pub frame_bytes: u32,
    /// The queue before the link.
    pub queue: FluidQueue,
    /// The long flows.
    pub groups: Vec<FlowGroup>,
    /// Traffic that does not react to losses.
    pub background: Background,
}

/// The queue before the link. Limits count waiting packets, without the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FluidQueue {
    /// First in, first out. An arrival that finds the queue full is lost.
    DropTail {
        /// Packets that may wait.
        packets: f64,
    },
    /// Random early detection (Floyd and Jacobson 1993), with the gentle option.
    Red {
        /// Packets that may wait.
        packets: f64,
        /// Average queue below which no packet is dropped, in packets.
        min_threshold: f64,
        /// Average queue at which `max_probability` is reached, in packets.
        max_threshold: f64,
        /// Probability of a drop at the maximum threshold; it rises to 1 at twice the threshold.
        max_probability: f64,
        /// Weight of a packet in the average.
        weight: f64,
    },
    /// `CoDel` (RFC 8289): drops at the head while packets wait longer than the target.
    CoDel {
        /// Packets that may wait.
        packets: f64,
        /// Acceptable queueing delay.
        target: Span,
        /// Time for which the delay may exceed the target before the first drop.
        interval: Span,
    },
}

impl FluidQueue {
    /// Packets that may wait, in packets.
    pub fn packets(&self) -> f64 {
        match *self {
            Self::DropTail { packets }
            | Self::Red { packets, .. }
            | Self::CoDel { packets, .. } => packets,
        }
    }
}

/// Traffic that does not react to losses or delay.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Background {
    /// Its share of the link's rate, from 0 to less than 1.
    pub share: f64,
    /// Full packets that arrive together: the mean square of a burst over its mean. 1 for single
    /// packets.
    pub burst_packets: f64,
}

/// Flows that differ only in their round-trip times.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowGroup {
    /// The group's name.
    pub name: String,
    /// Number of flows.
    pub count: u64,
    /// Base round-trip times: propagation there and back. Flow i takes entry i; the list is
    /// repeated if it is shorter than the number of flows.
    pub rtts: Vec<Span>,
    /// Congestion control.
    pub control: FluidControl,
    /// Acknowledgements of the receivers, and the growth of windows per acknowledgement.
    pub acks: Acks,
    /// Detection and repair of losses.
    pub sender: FluidSender,
    /// True if senders spread packets over the round-trip time.
    pub paced: bool,
    /// Largest window, in packets; infinite without a limit.
    pub max_window: f64,
}

/// A congestion control. Windows are in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FluidControl {
    /// Additive increase by `alpha` per round trip of undelayed ACKs, decrease to `beta` times the
    /// window. Reno is (1, 0.5).
    Gaimd {
        /// Packets per round-trip time.
        alpha: f64,
        /// Share of the window kept at a loss.
        beta: f64,
    },
    /// CUBIC (RFC 9438).
    Cubic {
        /// C, in packets per cubic second.
        c: f64,
        /// Share of the window kept at a loss.
        beta: f64,
        /// True for fast convergence: a flow that lost at a smaller window than before remembers
        /// less than it (section 4.7).
        fast_convergence: bool,
        /// True if the window is never below what Reno would have (section 4.3).
        reno_friendly: bool,
        /// True if the curve is looked up the base round-trip time ahead, as Linux does, and not
        /// the smoothed one (section 4.2).
        as_linux: bool,
    },
    /// Scalable TCP (Kelly 2003): `step` packets per ACK.
    Scalable {
        /// Packets per acknowledged packet.
        step: f64,
        /// Share of the window kept at a loss.
        beta: f64,
    },
}

impl FluidControl {
    /// Reno (RFC 5681).
    pub const RENO: Self = Self::Gaimd {
        alpha: 1.0,
        beta: 0.5,
    };

    /// CUBIC with the constants of RFC 9438.
    pub const CUBIC: Self = Self::Cubic {
        c: 0.4,
        beta: 0.7,
        fast_convergence: true,
        reno_friendly: true,
        as_linux: false,
    };

    /// CUBIC of Linux.
    pub const LINUX_CUBIC: Self = Self::Cubic {
        c: 0.4,
        beta: 0.7,
        fast_convergence: true,
        reno_friendly: true,
        as_linux: true,
    };

    /// Scalable TCP with the constants of Kelly's paper.
    pub const SCALABLE: Self = Self::Scalable {
        step: 0.01,
        beta: 0.875,
    };

    /// The share of its window that a flow keeps at a loss.
    pub fn beta(&self) -> f64 {
        match *self {
            Self::Gaimd { beta, .. } | Self::Cubic { beta, .. } | Self::Scalable { beta, .. } => {
                beta
            }
        }
    }
}

/// Acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acks {
    /// Packets that an ACK acknowledges: 2 with delayed ACKs.
    pub packets: f64,
    /// True if a window grows by the bytes acknowledged (RFC 3465), false if it grows by one step
    /// per ACK.
    pub bytes_counted: bool,
}

impl Acks {
    /// Packets that the receiver acknowledges for each step of the window's growth.
    pub(crate) fn per_step(&self) -> f64 {
        if self.bytes_counted {
            1.0
        } else {
            self.packets
        }
    }
}

/// Behaviour of a sender, apart from its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FluidSender {
    /// True if a sender in recovery reduces its rate in proportion to the delivered data (PRR, RFC
    /// 6937), false if it pauses.
    pub proportional: bool,
    /// True if packets leave in units of about a millisecond at the pace (Linux: TSO autosizing).
    pub segmentation_offload: bool,
    /// True if the window after a reduction is cut to whole segments.
    pub whole_segments: bool,
    /// Bytes of a segment if windows grow by whole bytes (RFC 5681); none if by fractions or by whole
    /// segments.
    pub segment_bytes: Option<u32>,
}

impl FluidSender {
    /// A sender of Linux.
    pub const LINUX: Self = Self {
        proportional: true,
        segmentation_offload: true,
        whole_segments: true,
        segment_bytes: None,
    };

    /// A sender with the SACK recovery of RFC 6675.
    pub const RFC: Self = Self {
        proportional: false,
        segmentation_offload: false,
        whole_segments: false,
        segment_bytes: None,
    };
}

/// Length of a run, and its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Seed of all random numbers.
    pub seed: u64,
    /// The part of the duration that is not measured.
    pub warmup: Span,
    /// The whole duration.
    pub duration: Span,
}

impl FluidLink {
    /// The number of flows of all groups.
    pub fn flows(&self) -> u64 {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// Packets that the link sends in a second.
    pub fn packets_per_second(&self) -> f64 {
        self.rate.0 as f64 / (8.0 * f64::from(self.frame_bytes))
    }

    /// The mean base round-trip time over flows, in seconds; 0 without flows.
    pub fn mean_rtt_s(&self) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for group in &self.groups {
            for (place, rtt) in group.rtts.iter().enumerate() {
                let flows = flows_at(group.count, group.rtts.len(), place) as f64;
                sum += flows * rtt.as_secs_f64();
                count += flows;
            }
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }
}

/// Number of flows with the entry at `place`, if `count` flows take `entries` in turn.
pub(crate) fn flows_at(count: u64, entries: usize, place: usize) -> u64 {
    let (entries, place) = (entries as u64, place as u64);
    count / entries + u64::from(place < count % entries)
}
