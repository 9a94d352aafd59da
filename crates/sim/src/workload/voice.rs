//! The listener of a call: packets at constant intervals, played out of a buffer of fixed size.

use super::session::{AppOutcome, Metric};
use crate::Distribution;
use crate::e_model::{Codec, mos, rating};
use goodqueue_types::{Histogram, Packet, Span, Time};

/// One direction of a call with G.711.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoiceConfig {
    /// Speech in a packet: the time between packets.
    pub interval: Span,
    /// IP packet size in bytes.
    pub packet: u32,
    /// How long the playout buffer holds the first packet.
    pub playout: Span,
    /// Whether the decoder conceals what is missing.
    pub concealment: bool,
}

/// Takes the packets of a call and judges it.
#[derive(Debug)]
pub struct Listener {
    config: VoiceConfig,
    measured_from: Time,
    /// From sending to playing: the first packet's delay and the buffer's. Packets that take
    /// longer come too late.
    plays_after: Option<Span>,
    /// Numbers of the first and the last packet of those measured.
    numbers: Option<(u64, u64)>,
    late: u64,
    heard: Heard,
    /// One-way delays in nanoseconds.
    delay_ns: Histogram,
}

/// Which of the latest packets came already; links can copy packets.
#[derive(Debug, Default)]
struct Heard {
    last: u64,
    /// Bit k: the packet k before the last one.
    recent: u128,
}

impl Heard {
    /// Notes a packet. Those further back than there are bits, which come too late, pass for new.
    fn is_new(&mut self, number: u64) -> bool {
        let ahead = number.saturating_sub(self.last).min(127) as u32;
        let far_ahead = number > self.last + 127;
        self.recent = if far_ahead { 0 } else { self.recent << ahead };
        self.last = self.last.max(number);
        let back = self.last - number;
        let bit = if back < 128 { 1_u128 << back } else { 0 };
        let is_new = self.recent & bit == 0;
        self.recent |= bit;
        is_new
    }
}

impl Listener {
    /// A listener that measures what arrives from this time on.
    pub fn new(config: VoiceConfig, measured_from: Time) -> Self {
        Self {
            config,
            measured_from,
            plays_after: None,
            numbers: None,
            late: 0,
            heard: Heard::default(),
            delay_ns: Histogram::default(),
        }
    }

    pub(super) fn receive(&mut self, now: Time, packet: &Packet) {
        let delay = now - packet.sent;
        let plays_after = *self.plays_after.get_or_insert(delay + self.config.playout);
        let number = packet.number;
        if !self.heard.is_new(number) || now < self.measured_from {
            return;
        }
        let (first, last) = self.numbers.unwrap_or((number, number));
        self.numbers = Some((first.min(number), last.max(number)));
        self.late += u64::from(delay > plays_after);
        if self.delay_ns.total() == 0 {
            // Room for delays up to 64 times the first, so that the loop does not allocate.
            self.delay_ns.reserve(delay.0 / 1_000 * 64);
        }
        self.delay_ns.record(delay.0 / 1_000, 1);
    }

    /// What was heard. Packets count from the first that arrived to the last (RFC 3550 appendix
    /// A.3): the listener does not know of others.
    pub fn outcome(&self) -> AppOutcome {
        let expected = self.numbers.map_or(0, |(first, last)| last - first + 1);
        let in_time = self.delay_ns.total() - self.late;
        let loss = (expected > 0).then(|| 1.0 - in_time as f64 / expected as f64);
        // The first sample of a packet waits for its last one.
        let mouth_to_ear = self
            .plays_after
            .map(|plays_after| (self.config.interval + plays_after).as_secs_f64());
        let codec = if self.config.concealment {
            Codec::G711_CONCEALED
        } else {
            Codec::G711
        };
        let rated = mouth_to_ear
            .zip(loss)
            .map(|(delay, loss)| rating(delay, loss, codec));
        let delays = Distribution::of(&self.delay_ns, 1e9);
        AppOutcome {
            metrics: vec![
                ("voice_packets", Metric::Count(expected)),
                ("voice_late", Metric::Count(self.late)),
                ("voice_loss", Metric::Number(loss)),
                ("one_way_delay_s", Metric::Seconds(delays)),
                ("mouth_to_ear_s", Metric::Number(mouth_to_ear)),
                ("r_factor", Metric::Number(rated)),
                ("mos", Metric::Number(rated.map(mos))),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener(measured_from: Time) -> Listener {
        let config = VoiceConfig {
            interval: Span::from_millis(20),
            packet: 200,
            playout: Span::from_millis(60),
            concealment: true,
        };
        Listener::new(config, measured_from)
    }

    fn hear(listener: &mut Listener, number: u64, delay: Span) {
        let sent = Time::ZERO + Span::from_millis(20 * number);
        let packet = Packet {
            number,
            sent,
            ..Packet::default()
        };
        listener.receive(sent + delay, &packet);
    }

    fn figure(listener: &Listener, name: &str) -> Option<f64> {
        let outcome = listener.outcome();
        let metric = outcome.metrics.iter().find(|(other, _)| *other == name);
        match metric.expect("such a metric").1 {
            Metric::Count(count) => Some(count as f64),
            Metric::Number(number) => number,
            Metric::Seconds(values) | Metric::Ratio(values) => values.mean,
        }
    }

    #[test]
    fn what_comes_after_its_playout_is_lost() {
        let mut listener = listener(Time::ZERO);
        // Played 70 ms after they were sent.
        let ms = Span::from_millis;
        for (number, delay) in [
            (0, ms(10)),
            (1, ms(70)),
            (2, ms(70) + Span(1)),
            (4, ms(300)),
            (5, ms(9)),
        ] {
            hear(&mut listener, number, delay);
        }
        assert_eq!(figure(&listener, "voice_packets"), Some(6.0));
        assert_eq!(figure(&listener, "voice_late"), Some(2.0));
        // One did not come, two came late.
        assert_eq!(figure(&listener, "voice_loss"), Some(0.5));
        // 20 ms of speech, 10 ms on the way, 60 ms in the buffer.
        assert_eq!(figure(&listener, "mouth_to_ear_s"), Some(0.09));
        // 93.36 − 2.5 of delay (about 0.024 · 90) − 95 · 50 / 75.1.
        let rated = figure(&listener, "r_factor").unwrap_or_default();
        assert!((rated - (93.36 - 2.5 - 63.25)).abs() < 0.2, "{rated}");
    }

    #[test]
    fn a_packet_that_comes_twice_counts_once() {
        let mut listener = listener(Time::ZERO);
        for number in [0, 1, 1, 4, 3, 4, 3, 1, 300, 299, 300, 10] {
            hear(&mut listener, number, Span::from_millis(10));
        }
        assert_eq!(figure(&listener, "voice_packets"), Some(301.0));
        // 0, 1, 3, 4, 299, 300 and 10.
        let loss = figure(&listener, "voice_loss").unwrap_or_default();
        assert!((loss - (1.0 - 7.0 / 301.0)).abs() < 1e-12, "{loss}");
    }

    #[test]
    fn what_comes_before_the_warm_up_ends_sets_the_buffer_and_does_not_count() {
        let mut listener = listener(Time::ZERO + Span::from_millis(50));
        hear(&mut listener, 0, Span::from_millis(10));
        hear(&mut listener, 1, Span::from_millis(29));
        assert_eq!(figure(&listener, "voice_packets"), Some(0.0));
        assert_eq!(figure(&listener, "mos"), None);
        hear(&mut listener, 2, Span::from_millis(80));
        assert_eq!(figure(&listener, "voice_packets"), Some(1.0));
        assert_eq!(figure(&listener, "voice_late"), Some(1.0));
    }
}
