//! The listener of a call, whose packets are sent at constant intervals and played from a buffer of
//! fixed delay.

use super::receipts::Receipts;
use super::session::{AppOutcome, Metric};
use crate::measure::e_model::{Codec, mos, rating};
use goodqueue_types::parameters::{
    ANY_TIME, Given, INTERVAL, Key, Kind, PACKET, flag, one_of, words,
};
use goodqueue_types::{Packet, Span, Time, parameters, words};

words! {
    /// Codec of a call, with Ie and Bpl of the E-model (ITU-T G.113 appendix I).
    pub enum SpeechCodec {
        /// G.711 at 64 kb/s.
        G711 = "g711",
        /// G.729 annex A at 8 kb/s.
        G729a = "g729a",
        /// G.723.1 at 6.3 kb/s.
        G723 = "g723",
        /// The enhanced full-rate codec of GSM at 12.2 kb/s.
        GsmEfr = "gsm_efr",
    }
}

impl SpeechCodec {
    /// Returns the usual time between packets, and the bytes of speech in each.
    fn framing(self) -> (Span, u32) {
        match self {
            Self::G711 => (Span::from_millis(20), 160),
            Self::G729a => (Span::from_millis(20), 20),
            Self::G723 => (Span::from_millis(30), 24),
            Self::GsmEfr => (Span::from_millis(20), 31),
        }
    }
}

/// Bytes of the IP, UDP and RTP headers of a packet.
const HEADERS: u32 = 40;

parameters! {
    /// Parameters of one direction of a call.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct VoiceConfig("voice") {
        /// Codec, with Ie and Bpl of the E-model (ITU-T G.113 appendix I): `g711` (0; Bpl follows from `concealment`),
        /// `g729a` (11; 19), `g723` at 6.3 kb/s (15; 16.1), `gsm_efr` (5; 10).
        codec: SpeechCodec = SpeechCodec::G711 => words::<SpeechCodec>().example("g729a");
        /// Speech in a packet: the time between packets.
        interval: Span = Span::from_millis(20) => Key::new(INTERVAL)
            .default("`\"20ms\"`, `\"30ms\"` of `g723`").example("10ms");
        /// Size of the IP packets: the speech of the interval, and 40 bytes of IP, UDP and RTP headers.
        packet: u32 = 200 => Key::new(PACKET)
            .default("`\"200B\"`, `\"60B\"` of `g729a`, `\"64B\"` of `g723`, `\"71B\"` of `gsm_efr`").example("120B");
        /// Time for which the playout buffer holds the flow's first packet. Every packet is played as long after
        /// its sending as the first one. A packet that arrives later is lost.
        playout: Span = Span::from_millis(60) => Key::new(ANY_TIME).example("100ms");
        /// Part of the time from mouth to ear that is outside the network and the playout buffer: look-ahead,
        /// coding, sound cards, and links that the scenario does not have.
        added_delay: Span = Span::ZERO => Key::new(ANY_TIME).example("25ms");
        /// True if the G.711 decoder conceals lost packets (Bpl 25.1 of the E-model), false if it plays silence (4.3).
        concealment: bool = true => flag().example("false");
        /// Equipment impairment factor without loss, Ie of the E-model, for a codec that is not listed.
        impairment: Option<f64> = None => one_of(&[
            Kind::Number { min: 0.0, max: 95.0 }, Kind::Choice(&["codec"]),
        ]).example("7");
        /// Robustness to packet loss, Bpl of the E-model, for a codec that is not listed.
        robustness: Option<f64> = None => one_of(&[
            Kind::Number { min: 0.1, max: 1000.0 }, Kind::Choice(&["codec"]),
        ]).example("34");
    }
}

impl VoiceConfig {
    /// Sets the parameters whose defaults depend on the codec, if they are not given.
    pub(super) fn complete(&mut self, given: &Given) {
        let (interval, speech) = self.codec.framing();
        if !given.has("interval") {
            self.interval = interval;
        }
        if !given.has("packet") {
            self.packet = speech + HEADERS;
        }
    }

    /// Returns Ie and Bpl.
    fn rated_as(&self) -> Codec {
        let listed = match self.codec {
            SpeechCodec::G711 if self.concealment => Codec::G711_CONCEALED,
            SpeechCodec::G711 => Codec::G711,
            SpeechCodec::G729a => Codec::G729A,
            SpeechCodec::G723 => Codec::G723,
            SpeechCodec::GsmEfr => Codec::GSM_EFR,
        };
        Codec {
            impairment: self.impairment.unwrap_or(listed.impairment),
            robustness: self.robustness.unwrap_or(listed.robustness),
        }
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
        let outside = self.config.interval + self.config.added_delay;
        let mouth_to_ear = self
            .plays_after
            .map(|plays_after| (outside + plays_after).as_secs_f64());
        let rated = mouth_to_ear
            .zip(loss)
            .map(|(delay, loss)| rating(delay, loss, self.config.rated_as()));
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
        Listener::new(VoiceConfig::default(), measured_from)
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

    /// Without loss a codec costs its Ie. A delay outside the network of 310 ms makes 400 ms of 90 ms.
    /// These are the terms of G.107, computed by hand: Idte 5.81 in place of 1.78, Idle 1.23 in place
    /// of 0.70, Idd 24.07 in place of 0.
    #[test]
    fn codec_and_added_delay_enter_the_rating() {
        let rated = |config: VoiceConfig| {
            let mut listener = Listener::new(config, Time::ZERO);
            for number in 0..100 {
                hear(&mut listener, number, Span::from_millis(10));
            }
            let figure = |name| figure(&listener, name).unwrap_or_default();
            (figure("r_factor"), figure("mouth_to_ear_s"))
        };
        let base = VoiceConfig::default();
        let (best, _) = rated(base);
        for (codec, impairment) in [
            (SpeechCodec::G711, 0.0),
            (SpeechCodec::G729a, 11.0),
            (SpeechCodec::G723, 15.0),
            (SpeechCodec::GsmEfr, 5.0),
        ] {
            let (r, _) = rated(VoiceConfig { codec, ..base });
            assert!((best - r - impairment).abs() < 1e-9, "{codec:?}: {r}");
        }
        let own = VoiceConfig {
            impairment: Some(7.0),
            robustness: Some(34.0),
            ..base
        };
        assert!((best - rated(own).0 - 7.0).abs() < 1e-9);
        let (late, delay) = rated(VoiceConfig {
            added_delay: Span::from_millis(310),
            ..base
        });
        assert!((delay - 0.4).abs() < 1e-12);
        assert!((best - late - 28.63).abs() < 0.05, "{late}");
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
