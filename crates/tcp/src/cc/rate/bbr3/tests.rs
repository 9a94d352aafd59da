use super::*;
use crate::cc::testbed::Bottleneck;
use crate::cc::{RateSample, SegmentSample};
use crate::config::CongestionControlConfig;

mod marks;
mod probes;
mod signals;

fn bottleneck(limit: u64) -> Bottleneck {
    super::super::tests::bottleneck(CongestionControlConfig::Bbr3(Bbr3Config::default()), limit)
}

/// Section 5.3.4: the window is half the bandwidth-delay product for 200 ms, every five seconds.
#[test]
fn the_round_trip_is_measured_every_five_seconds() {
    let mut path = bottleneck(400);
    path.run(Span::from_secs(3));
    let (mut starts, mut was_low) = (Vec::new(), false);
    while path.now < Time::ZERO + Span::from_secs(33) {
        path.run(Span(1));
        // The product is 34.2 segments.
        let is_low = path.control.cwnd() < 18 * 1460;
        if is_low && !was_low {
            starts.push(path.now.as_secs_f64());
        }
        was_low = is_low;
    }
    assert!((5..=6).contains(&starts.len()), "{starts:?}");
    let mut apart = starts.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(apart.all(|gap| (5.0..5.5).contains(&gap)), "{starts:?}");
}

fn plain() -> Bbr3 {
    Bbr3::new(&TcpConfig::default(), Bbr3Config::default())
}

/// The table of section 5.6.1 of draft 06: pacing gain and window gain of each state.
#[test]
fn the_gains_are_those_of_the_drafts_table() {
    let gains = [
        (Mode::Startup, 2.77, 2.0),
        (Mode::Drain, 0.5, 2.0),
        (Mode::Down, 0.9, 2.0),
        (Mode::Cruise, 1.0, 2.0),
        (Mode::Refill, 1.0, 2.0),
        (Mode::Up, 1.25, 2.25),
        (Mode::ProbeRtt, 1.0, 0.5),
    ];
    for (mode, pacing, window) in gains {
        assert!((mode.pacing_gain() - pacing).abs() < 1e-12, "{mode:?}");
        assert!((mode.cwnd_gain() - window).abs() < 1e-12, "{mode:?}");
    }
}

/// `InflightWithHeadroom`: 15 % of the bound or one segment is left free, and four segments are the
/// least.
#[test]
fn the_headroom_is_fifteen_percent_or_a_segment() {
    let mut bbr = plain();
    let mss = bbr.mss;
    assert!(bbr.inflight_with_headroom().is_infinite());
    for (bound, left) in [(100.0, 85.0), (6.0, 5.0), (4.0, 4.0)] {
        bbr.inflight_longterm = bound * mss;
        let found = bbr.inflight_with_headroom() / mss;
        assert!((found - left).abs() < 1e-9, "{bound}: {found}");
    }
}

/// `BoundCwndForModel`: which bound holds in which state. The long-term bound is 100 segments, the
/// short-term bound 90.
#[test]
fn the_window_is_bounded_as_the_state_asks() {
    let (hi, room, none) = (100.0, 85.0, 500.0);
    for (mode, long_term) in [
        (Mode::Startup, none),
        (Mode::Drain, none),
        (Mode::Down, hi),
        (Mode::Cruise, room),
        (Mode::Refill, hi),
        (Mode::Up, hi),
        (Mode::ProbeRtt, room),
    ] {
        for short_term in [f64::INFINITY, 90.0] {
            let mut bbr = plain();
            let mss = bbr.mss;
            bbr.mode = mode;
            bbr.cwnd = none * mss;
            bbr.inflight_longterm = hi * mss;
            bbr.inflight_shortterm = short_term * mss;
            bbr.bound_by_model();
            let expected = long_term.min(short_term);
            assert!((bbr.cwnd / mss - expected).abs() < 1e-9, "{mode:?}");
        }
    }
}

/// A control and ACKs for it. Counts are in segments of 1,000 bytes.
struct Bench {
    bbr: Bbr3,
    now: Time,
    delivered: u64,
    /// Sequence number after the segment lost last.
    next_seq: u64,
}

/// An ACK of segments of which the newest was sent when `prior` segments were delivered.
#[derive(Clone, Copy)]
struct Ack {
    after_ms: u64,
    rtt_ms: u64,
    newly: u64,
    prior: u64,
    /// Delivery rate, in segments per second.
    rate: f64,
    /// Segments delivered over the sample's interval.
    volume: u64,
    prior_in_flight: u64,
    in_flight: u64,
    flight_at_send: u64,
    lost: u64,
    in_recovery: bool,
    is_app_limited: bool,
    is_window_limited: bool,
}

/// One segment after a millisecond, 10 of 10 in flight, at 1,000 segments a second and 40 ms: the
/// bandwidth-delay product is 40 segments.
const ACK: Ack = Ack {
    after_ms: 1,
    rtt_ms: 40,
    newly: 1,
    prior: 0,
    rate: 1_000.0,
    volume: 10,
    prior_in_flight: 10,
    in_flight: 9,
    flight_at_send: 10,
    lost: 0,
    in_recovery: false,
    is_app_limited: false,
    is_window_limited: false,
};

const SEGMENT: f64 = 1_000.0;

impl Bench {
    fn new() -> Self {
        Self::with(Bbr3Config::default())
    }

    fn with(bbr: Bbr3Config) -> Self {
        let config = TcpConfig {
            mss: 1_000,
            ..TcpConfig::default()
        };
        Self {
            bbr: Bbr3::new(&config, bbr),
            now: Time::ZERO + Span::from_secs(1),
            delivered: 0,
            next_seq: 0,
        }
    }

    /// Returns a control in `mode` whose pipe is full, at 1,000 segments a second and 40 ms, with a
    /// window of 80 segments.
    fn in_mode(mode: Mode) -> Self {
        Self::with_in_mode(Bbr3Config::default(), mode)
    }

    fn with_in_mode(bbr: Bbr3Config, mode: Mode) -> Self {
        let mut bench = Self::with(bbr);
        bench.ack(ACK);
        bench.bbr.pipe_is_full = true;
        bench.bbr.start_down(bench.now);
        bench.bbr.is_probe_stopping = false;
        bench.bbr.mode = mode;
        bench.bbr.cwnd = 80.0 * SEGMENT;
        bench
    }

    fn ack(&mut self, ack: Ack) {
        self.now += Span::from_millis(ack.after_ms);
        self.delivered += ack.newly;
        let rtt = Some(Span::from_millis(ack.rtt_ms));
        let rate = RateSample {
            delivered: 1_000 * ack.volume,
            interval: Span::from_secs_f64(ack.volume as f64 / ack.rate),
            prior_delivered: 1_000 * ack.prior,
            total_delivered: 1_000 * self.delivered,
            in_flight_at_send: 1_000 * ack.flight_at_send,
            lost: 1_000 * ack.lost,
            is_app_limited: ack.is_app_limited,
        };
        self.bbr.on_ack(&AckSample {
            now: self.now,
            acked: 1_000 * ack.newly,
            rtt,
            in_recovery: ack.in_recovery,
            is_window_limited: ack.is_window_limited,
            segments: Some(SegmentSample {
                rtt,
                delivered: 1_000 * ack.newly,
                prior_in_flight: 1_000 * ack.prior_in_flight,
                in_flight: 1_000 * ack.in_flight,
                rate: Some(rate),
                ..SegmentSample::default()
            }),
            ..AckSample::default()
        });
    }

    /// Ends a round by an ACK of a segment that was sent after the last round ended.
    fn round(&mut self, ack: Ack) {
        let prior = self.bbr.round_ends_at / 1_000;
        self.ack(Ack { prior, ..ack });
    }

    /// Loses a segment that left with `flight` in flight, the `lost`th since then. It adjoins the
    /// one lost before if `adjoins` is true.
    fn lose(&mut self, flight: u64, lost: u64, adjoins: bool) {
        let seq = self.next_seq + if adjoins { 0 } else { 1_000 };
        self.next_seq = seq + 1_000;
        self.bbr.on_lost(&LostSegment {
            now: self.now,
            seq,
            end: self.next_seq,
            bytes: 1_000,
            in_flight_at_send: 1_000 * flight,
            lost: 1_000 * lost,
            total_delivered: 1_000 * self.delivered,
            is_app_limited: false,
        });
    }

    /// Returns a value in segments.
    fn segments(bytes: f64) -> f64 {
        bytes / SEGMENT
    }
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-6 || (found.is_infinite() && expected.is_infinite())
}
