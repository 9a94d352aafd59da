//! The lateness of a run in real time, and the verdict that follows from it.

use goodqueue_types::{Histogram, Rate, Span};

/// Share of the base RTT by which a packet may be late.
const TOLERATED_RTT_SHARE: f64 = 0.01;
/// A pause of the emulator of at least this length while packets were due is a stall.
pub const STALL: Span = Span::from_millis(5);
/// Share of packets later than the tolerance above which a run is doubtful. Runs with a share of
/// 0.4 % agreed with recordings of a real path (docs/emulate.md).
const DOUBTFUL_LATE_SHARE: f64 = 0.01;
/// Share of packets later than the tolerance above which a run is not trusted.
const UNTRUSTED_LATE_SHARE: f64 = 0.05;
/// Share of the processors' time that a hypervisor took, above which a run is doubtful.
const DOUBTFUL_STEAL_SHARE: f64 = 0.02;

/// The conclusion of a fidelity report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The results are those of the emulated network.
    Trusted,
    /// The results may be affected by this machine.
    Doubtful,
    /// The results are affected by this machine.
    NotTrusted,
}

impl Verdict {
    /// Returns the verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Doubtful => "doubtful",
            Self::NotTrusted => "not trusted",
        }
    }
}

/// Measurements of lateness during a run.
#[derive(Clone, Debug)]
pub struct Fidelity {
    packet_time: Span,
    tolerance: Span,
    /// Time between a packet's computed arrival at a host and the end of its write, in nanoseconds.
    lateness: Histogram,
    later_than_packet: u64,
    later_than_tolerance: u64,
    /// Time in which a packet that was read may have waited unread, in nanoseconds.
    unread: Histogram,
    stalls: u64,
    longest_stall: Span,
    /// Packets that the kernel dropped before they were read.
    pub ring_drops: u64,
    /// Share of the processors' time that a hypervisor took, from 0 to 1.
    pub steal_share: f64,
    /// Processor time of the emulator, in seconds.
    pub cpu_s: f64,
}

impl Fidelity {
    /// Returns an empty report for a network whose slowest link has this rate and whose shortest
    /// base RTT is `base_rtt`.
    pub fn new(slowest: Rate, base_rtt: Span) -> Self {
        Self {
            packet_time: slowest.transmission_time(goodqueue_types::Bytes(1500)),
            tolerance: Span::from_secs_f64(base_rtt.as_secs_f64() * TOLERATED_RTT_SHARE),
            lateness: Histogram::default(),
            later_than_packet: 0,
            later_than_tolerance: 0,
            unread: Histogram::default(),
            stalls: 0,
            longest_stall: Span::ZERO,
            ring_drops: 0,
            steal_share: 0.0,
            cpu_s: 0.0,
        }
    }

    /// Records a packet that reached its host this long after its computed arrival.
    pub fn delivered(&mut self, late: Span) {
        self.lateness.record(late.0 / 1000, 1);
        self.later_than_packet += u64::from(late > self.packet_time);
        self.later_than_tolerance += u64::from(late > self.tolerance);
    }

    /// Records a packet that may have waited this long before it was read.
    pub fn read(&mut self, unread: Span) {
        self.unread.record(unread.0 / 1000, 1);
    }

    /// Records a pause of the emulator while packets were due.
    pub fn paused(&mut self, pause: Span) {
        if pause >= STALL {
            self.stalls += 1;
            self.longest_stall = self.longest_stall.max(pause);
        }
    }

    /// Returns the number of packets that reached a host.
    pub fn deliveries(&self) -> u64 {
        self.lateness.total()
    }

    /// Returns the verdict with its reasons, which are empty for a trusted run.
    pub fn verdict(&self) -> (Verdict, Vec<String>) {
        let mut reasons = Vec::new();
        let mut worst = Verdict::Trusted;
        let mut object = |verdict: Verdict, reason: String| {
            worst = worst.max(verdict);
            reasons.push(reason);
        };
        let late = self.late_share();
        if late > DOUBTFUL_LATE_SHARE {
            let verdict = if late > UNTRUSTED_LATE_SHARE {
                Verdict::NotTrusted
            } else {
                Verdict::Doubtful
            };
            let percent = late * 100.0;
            let ms = self.tolerance.as_secs_f64() * 1e3;
            object(
                verdict,
                format!("{percent:.2} % of the packets were more than {ms:.3} ms late"),
            );
        }
        if self.ring_drops > 0 {
            let drops = self.ring_drops;
            object(
                Verdict::NotTrusted,
                format!(
                    "the kernel dropped {drops} packets before they reached the emulated network"
                ),
            );
        }
        if self.stalls > 0 {
            let ms = self.longest_stall.as_secs_f64() * 1e3;
            let stalls = self.stalls;
            object(
                Verdict::Doubtful,
                format!("the emulator paused {stalls} times, {ms:.1} ms at most"),
            );
        }
        if self.steal_share > DOUBTFUL_STEAL_SHARE {
            let percent = self.steal_share * 100.0;
            object(
                Verdict::Doubtful,
                format!("the hypervisor took {percent:.1} % of the processors' time"),
            );
        }
        (worst, reasons)
    }

    /// Returns the share of packets that were later than 1 % of the base RTT, from 0 to 1.
    pub fn late_share(&self) -> f64 {
        share(self.later_than_tolerance, self.deliveries())
    }

    /// Returns the share of packets that were later than the transmission of 1500 bytes, from 0 to 1.
    pub fn packet_late_share(&self) -> f64 {
        share(self.later_than_packet, self.deliveries())
    }

    /// Returns a quantile of the lateness in seconds, none without packets.
    pub fn lateness_s(&self, quantile: f64) -> Option<f64> {
        seconds(&self.lateness, quantile)
    }

    /// Returns a quantile of the time that packets may have waited unread in seconds, none without
    /// packets.
    pub fn unread_s(&self, quantile: f64) -> Option<f64> {
        seconds(&self.unread, quantile)
    }

    /// Returns the number of stalls and the longest one in seconds.
    pub fn stalls(&self) -> (u64, f64) {
        (self.stalls, self.longest_stall.as_secs_f64())
    }

    /// Returns the rate in bits per second at which 1500 bytes take as long as 99 % of the packets
    /// are late at most. Up to this rate lateness stays below a packet's time.
    pub fn rate_held_bps(&self) -> Option<f64> {
        let late = self.lateness_s(0.99).filter(|late| *late > 0.0)?;
        Some(12_000.0 / late)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

fn seconds(histogram: &Histogram, quantile: f64) -> Option<f64> {
    histogram.quantile(quantile).map(|ns| ns as f64 / 1e9)
}
