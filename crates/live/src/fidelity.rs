//! The lateness of a run in real time, and the verdict that follows from it.

use goodqueue_types::{Histogram, Rate, Span};

/// Share of the base RTT by which a packet may be late.
const TOLERATED_RTT_SHARE: f64 = 0.01;
/// A pause of the emulator of at least this length while packets were due is a stall.
pub const STALL: Span = Span::from_millis(5);
/// Shares of packets or wake-ups later than the tolerance above which a run is doubtful or not
/// trusted. Runs below the first agreed with recordings of a real path (docs/emulate.md).
const LATE: Limits = Limits {
    doubtful: 0.01,
    untrusted: 0.05,
};
/// Share of acknowledgements that were due for longer than the tolerance above which a run is doubtful.
/// It was 0.3 % or less with a receiver that nothing kept from reading, and 2 to 6 % with one that
/// shared the processors and lost up to 8 points of utilisation (docs/emulate.md). No share makes a run
/// untrusted, because a late reader is the program's own matter.
const UNREAD: Limits = Limits {
    doubtful: 0.01,
    untrusted: 1.0,
};
/// Least time for which an acknowledgement may be due: 99 % of those of a receiver that nothing kept
/// from reading were sent sooner (docs/emulate.md).
const MIN_ANSWER: Span = Span::from_micros(200);
/// Shares of the run's time in stalls above which a run is doubtful or not trusted.
const STALLED: Limits = Limits {
    doubtful: 0.002,
    untrusted: 0.02,
};
/// Shares of the processors' time that a hypervisor took above which a run is doubtful or not
/// trusted.
const STOLEN: Limits = Limits {
    doubtful: 0.02,
    untrusted: 0.2,
};

/// Shares above which a run is doubtful, and not trusted.
#[derive(Clone, Copy, Debug)]
struct Limits {
    doubtful: f64,
    untrusted: f64,
}

impl Limits {
    /// Returns the verdict on a share, from 0 to 1.
    fn judge(self, share: f64) -> Verdict {
        if share > self.untrusted {
            Verdict::NotTrusted
        } else if share > self.doubtful {
            Verdict::Doubtful
        } else {
            Verdict::Trusted
        }
    }
}

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
    /// Time in which a packet that was read may have waited while the process worked, in
    /// nanoseconds.
    unread: Histogram,
    unread_later_than_tolerance: u64,
    /// Time between the end of a sleep and the time for which it was asked, in nanoseconds.
    wake_up: Histogram,
    wake_up_later_than_tolerance: u64,
    /// Time for which acknowledgements of TCP were due when the host sent them, in nanoseconds.
    answer: Histogram,
    answer_later_than_tolerance: u64,
    stalls: u64,
    longest_stall: Span,
    /// Sum of all stalls.
    stalled: Span,
    /// Duration of the run.
    pub run: Span,
    /// Packets that the kernel dropped before they were read.
    pub ring_drops: u64,
    /// Share of the processors' time that a hypervisor took, from 0 to 1.
    pub steal_share: f64,
    /// Share of the run for which the emulator could run and waited for a processor, from 0 to 1;
    /// none if the kernel does not count it.
    pub starved_share: Option<f64>,
    /// True if the emulator took precedence over all programs without real-time scheduling.
    pub real_time: bool,
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
            unread_later_than_tolerance: 0,
            wake_up: Histogram::default(),
            wake_up_later_than_tolerance: 0,
            answer: Histogram::default(),
            answer_later_than_tolerance: 0,
            stalls: 0,
            longest_stall: Span::ZERO,
            stalled: Span::ZERO,
            run: Span::ZERO,
            ring_drops: 0,
            steal_share: 0.0,
            starved_share: None,
            real_time: false,
            cpu_s: 0.0,
        }
    }

    /// Records a packet that reached its host this long after its computed arrival.
    pub fn delivered(&mut self, late: Span) {
        self.lateness.record(late.0 / 1000, 1);
        self.later_than_packet += u64::from(late > self.packet_time);
        self.later_than_tolerance += u64::from(late > self.tolerance);
    }

    /// Records a packet that may have waited this long while the process worked, before it was read.
    pub fn read(&mut self, unread: Span) {
        self.unread.record(unread.0 / 1000, 1);
        self.unread_later_than_tolerance += u64::from(unread > self.tolerance);
    }

    /// Records a sleep that ended this long after the time for which it was asked. A packet that
    /// arrives during sleep is read about as late.
    pub fn woken(&mut self, late: Span) {
        self.wake_up.record(late.0 / 1000, 1);
        self.wake_up_later_than_tolerance += u64::from(late > self.tolerance);
    }

    /// Records an acknowledgement of TCP that was due for this long when the host sent it.
    pub fn answered(&mut self, delay: Span) {
        self.answer.record(delay.0 / 1000, 1);
        let tolerance = self.tolerance.max(MIN_ANSWER);
        self.answer_later_than_tolerance += u64::from(delay > tolerance);
    }

    /// Records a pause of the emulator: it worked, or did not run, while packets were due or may
    /// have arrived.
    pub fn paused(&mut self, pause: Span) {
        if pause >= STALL {
            self.stalls += 1;
            self.longest_stall = self.longest_stall.max(pause);
            self.stalled += pause;
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
            if verdict > Verdict::Trusted {
                worst = worst.max(verdict);
                reasons.push(reason);
            }
        };
        let ms = self.tolerance.as_secs_f64() * 1e3;
        let lates = [
            (self.late_share(), "packets were", "late"),
            (self.unread_share(), "packets may have waited", "unread"),
            (self.wake_up_share(), "wake-ups were", "late"),
        ];
        for (share, what, how) in lates {
            let percent = share * 100.0;
            let reason = format!("{percent:.2} % of the {what} more than {ms:.3} ms {how}");
            object(LATE.judge(share), reason);
        }
        let percent = self.answer_share() * 100.0;
        let reason = format!(
            "programs read late: {percent:.1} % of the ACKs were due for more than {:.3} ms",
            self.tolerance.max(MIN_ANSWER).as_secs_f64() * 1e3
        );
        object(UNREAD.judge(self.answer_share()), reason);
        if self.ring_drops > 0 {
            let drops = self.ring_drops;
            let reason = format!(
                "the kernel dropped {drops} packets before they reached the emulated network"
            );
            object(Verdict::NotTrusted, reason);
        }
        let percent = self.stalled_share() * 100.0;
        let longest = self.longest_stall.as_secs_f64() * 1e3;
        let stalls = self.stalls;
        let reason = format!(
            "the emulator paused {stalls} times, {longest:.1} ms at most and {percent:.2} % of the time"
        );
        object(STALLED.judge(self.stalled_share()), reason);
        let percent = self.steal_share * 100.0;
        let reason = format!("the hypervisor took {percent:.1} % of the processors' time");
        object(STOLEN.judge(self.steal_share), reason);
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

    /// Returns the share of packets that may have waited unread for more than 1 % of the base RTT,
    /// from 0 to 1.
    pub fn unread_share(&self) -> f64 {
        share(self.unread_later_than_tolerance, self.unread.total())
    }

    /// Returns the share of wake-ups that were later than 1 % of the base RTT, from 0 to 1. Packets
    /// that arrive during sleep are read as late.
    pub fn wake_up_share(&self) -> f64 {
        share(self.wake_up_later_than_tolerance, self.wake_up.total())
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

    /// Returns a quantile of the delay of wake-ups in seconds, none without any.
    pub fn wake_up_s(&self, quantile: f64) -> Option<f64> {
        seconds(&self.wake_up, quantile)
    }

    /// Returns a quantile of the time for which acknowledgements of TCP were due in seconds, none without
    /// any.
    pub fn answer_s(&self, quantile: f64) -> Option<f64> {
        seconds(&self.answer, quantile)
    }

    /// Returns the share of acknowledgements of TCP that were due for more than 1 % of the base RTT, and
    /// more than 0.2 ms, from 0 to 1.
    pub fn answer_share(&self) -> f64 {
        share(self.answer_later_than_tolerance, self.answer.total())
    }

    /// Returns the share of the run's time in stalls, from 0 to 1.
    pub fn stalled_share(&self) -> f64 {
        if self.run == Span::ZERO {
            return 0.0;
        }
        self.stalled.as_secs_f64() / self.run.as_secs_f64()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the report of a run of 1000 packets over 10 Mb/s and 40 ms, of which `late` came 1 ms
    /// too late.
    fn report(late: u64) -> Fidelity {
        let mut fidelity = Fidelity::new(Rate(10_000_000), Span::from_millis(40));
        fidelity.run = Span::from_secs(1);
        for packet in 0..1000 {
            let millis = u64::from(packet < late);
            fidelity.delivered(Span::from_millis(millis) + Span::from_micros(10));
            fidelity.read(Span::from_micros(10));
            fidelity.woken(Span::from_micros(10));
        }
        fidelity
    }

    fn verdict(fidelity: &Fidelity) -> Verdict {
        let (verdict, reasons) = fidelity.verdict();
        assert_eq!(reasons.is_empty(), verdict == Verdict::Trusted);
        verdict
    }

    #[test]
    fn a_share_of_late_packets_gives_the_verdict() {
        assert_eq!(verdict(&report(9)), Verdict::Trusted);
        assert_eq!(verdict(&report(11)), Verdict::Doubtful);
        assert_eq!(verdict(&report(51)), Verdict::NotTrusted);
    }

    #[test]
    fn each_measurement_can_object() {
        let mut unread = report(0);
        (0..20).for_each(|_| unread.read(Span::from_millis(1)));
        assert_eq!(verdict(&unread), Verdict::Doubtful);
        let mut woken = report(0);
        (0..20).for_each(|_| woken.woken(Span::from_millis(1)));
        assert_eq!(verdict(&woken), Verdict::Doubtful);
        let mut stalled = report(0);
        stalled.paused(Span::from_millis(6));
        assert_eq!(verdict(&stalled), Verdict::Doubtful);
        stalled.paused(Span::from_millis(20));
        assert_eq!(verdict(&stalled), Verdict::NotTrusted);
        let mut stolen = report(0);
        stolen.steal_share = 0.03;
        assert_eq!(verdict(&stolen), Verdict::Doubtful);
        let mut dropped = report(0);
        dropped.ring_drops = 1;
        assert_eq!(verdict(&dropped), Verdict::NotTrusted);
    }

    #[test]
    fn late_readers_make_a_run_doubtful() {
        let answers = |late: u64, rtt_ms| {
            let mut fidelity = Fidelity::new(Rate(10_000_000), Span::from_millis(rtt_ms));
            for answer in 0..1000 {
                let micros = if answer < late { 450 } else { 150 };
                fidelity.answered(Span::from_micros(micros));
            }
            verdict(&fidelity)
        };
        assert_eq!(answers(9, 40), Verdict::Trusted);
        assert_eq!(answers(11, 40), Verdict::Doubtful);
        assert_eq!(answers(1000, 40), Verdict::Doubtful);
        assert_eq!(answers(11, 50), Verdict::Trusted, "1 % of the RTT");
        assert_eq!(answers(9, 2), Verdict::Trusted, "no program is faster");
    }

    #[test]
    fn a_rate_holds_while_lateness_stays_below_a_packet_s_time() {
        let held = report(0).rate_held_bps().unwrap();
        // 12,000 bits in 10 µs.
        assert!((held / 1.2e9 - 1.0).abs() < 0.02, "{held}");
    }
}
