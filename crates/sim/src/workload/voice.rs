//! The listener of a call, whose packets are sent at constant intervals and played from a buffer of
//! fixed delay.

use super::receipts::Receipts;
use super::session::{AppOutcome, Metric};
use crate::measure::e_model::{Codec, mos, rating};
use goodqueue_types::parameters::{ANY_TIME, INTERVAL, Key, PACKET, flag};
use goodqueue_types::{Packet, Span, Time, parameters};

parameters! {
    /// Parameters of one direction of a call with G.711.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct VoiceConfig("voice") {
        /// Speech in a packet: the time between packets.
        interval: Span = Span::from_millis(20) => Key::of(INTERVAL).example("10ms");
        /// Size of the IP packets: 64 kb/s for the interval, and 40 bytes of IP, UDP and RTP headers.
        packet: u32 = 200 => Key::of(PACKET).example("120B");
        /// Time for which the playout buffer holds the flow's first packet. Every packet is played as long after
        /// its sending as the first one. A packet that arrives later is lost.
        playout: Span = Span::from_millis(60) => Key::of(ANY_TIME).example("100ms");
        /// True if the G.711 decoder conceals lost packets (Bpl 25.1 of the E-model), false if it plays silence (4.3).
        concealment: bool = true => flag().example("false");
    }
}

/// Receiver of a call, which rates its quality.
#[derive(Debug)]
pub struct Listener {
    config: VoiceConfig,
    /// Time from sending to playing: the first packet's delay plus that of the buffer. Packets that
    /// take longer come too late.
    plays_after: Option<Span>,
    receipts: Receipts,
}

impl Listener {
    /// Creates a listener that measures packets which arrive from `measured_from` on.
    pub fn new(config: VoiceConfig, measured_from: Time) -> Self {
        Self {
            config,
            plays_after: None,
            receipts: Receipts::new(measured_from),
        }
    }

    pub(super) fn receive(&mut self, now: Time, packet: &Packet) {
        let delay = now - packet.sent;
        let plays_after = *self.plays_after.get_or_insert(delay + self.config.playout);
        self.receipts.record(now, packet, delay > plays_after);
    }

    /// Returns the measurements.
    pub fn outcome(&self) -> AppOutcome {
        let loss = self.receipts.loss();
        // The first sample of a packet waits for the packet's last one.
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
        AppOutcome {
            metrics: vec![
                ("voice_packets", Metric::Count(self.receipts.expected())),
                ("voice_late", Metric::Count(self.receipts.late())),
                ("voice_loss", Metric::Number(loss)),
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
    fn packets_after_their_playout_count_as_lost() {
        let mut listener = listener(Time::ZERO);
        // Each packet is played 70 ms after it was sent.
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
        // One packet is missing and two came late.
        assert_eq!(figure(&listener, "voice_loss"), Some(0.5));
        // The delay is 20 ms of speech, 10 ms on the path and 60 ms in the buffer.
        assert_eq!(figure(&listener, "mouth_to_ear_s"), Some(0.09));
        // The rating is 93.36 − 2.5 for delay (about 0.024 · 90) − 95 · 50 / 75.1 for loss.
        let rated = figure(&listener, "r_factor").unwrap_or_default();
        assert!((rated - (93.36 - 2.5 - 63.25)).abs() < 0.2, "{rated}");
    }

    #[test]
    fn a_duplicate_packet_counts_once() {
        let mut listener = listener(Time::ZERO);
        for number in [0, 1, 1, 4, 3, 4, 3, 1, 300, 299, 300, 10] {
            hear(&mut listener, number, Span::from_millis(10));
        }
        assert_eq!(figure(&listener, "voice_packets"), Some(301.0));
        // The packets are 0, 1, 3, 4, 299, 300 and 10.
        let loss = figure(&listener, "voice_loss").unwrap_or_default();
        assert!((loss - (1.0 - 7.0 / 301.0)).abs() < 1e-12, "{loss}");
    }

    #[test]
    fn packets_before_the_warm_up_set_the_buffer_and_do_not_count() {
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
