use super::*;

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// Returns a detection whose estimates are these, in µs.
fn queue(srtt: u64, deviation: u64, least: u64) -> ClassicQueue {
    let mut queue = ClassicQueue::default();
    queue.least.update(at(0), Span::from_micros(least));
    queue.srtt = Some(srtt as f64 / 1e6);
    queue.deviation = deviation as f64 / 1e6;
    queue
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} {expected}");
}

/// arXiv 1911.00710 with V = D = 1/2, V₀ = 750 µs and D₀ = 2 ms. A mean deviation of 3 ms is four
/// times V₀ and adds 1 per round, a depth of 16 ms is eight times D₀ and adds 3/2.
#[test]
fn the_score_grows_with_the_logarithms_of_deviation_and_depth() {
    let mut classic = queue(36_000, 3000, 20_000);
    for round in 1..=6 {
        classic.end_round();
        near(classic.score, 2.5 * f64::from(round));
    }
    // The largest score is 8 + 1 + 8.
    classic.end_round();
    near(classic.score, 17.0);
}

/// A depth below D₀ says nothing: a deep queue alone can only raise the score. A deviation of a
/// quarter of V₀ takes off 1 per round, down to 0.
#[test]
fn the_score_falls_with_the_deviation_alone() {
    let mut classic = queue(20_100, 187, 20_000);
    classic.deviation = DEVIATION / 4.0;
    classic.score = 2.5;
    for expected in [1.5, 0.5, 0.0, 0.0] {
        classic.end_round();
        near(classic.score, expected);
    }
    // Without a queue the depth is no more than 0.
    let mut classic = queue(20_000, 750, 20_000);
    classic.score = 4.0;
    classic.end_round();
    near(classic.score, 4.0);
}

/// Linux: up to 8 the share of marks alone counts, from 9 on at least 0.625, and half of that at
/// 8.5. A reduction by 0.3125 keeps 0.69 of the window, which is nearly CUBIC's share of 0.7.
#[test]
fn the_least_share_follows_the_score() {
    for (score, share) in [
        (0.0, 0.0),
        (8.0, 0.0),
        (8.5, 0.3125),
        (9.0, 0.625),
        (17.0, 0.625),
    ] {
        let mut classic = queue(20_000, 750, 20_000);
        classic.score = score;
        near(classic.least_share(), share);
    }
}

/// Linux `prague_update_rtt_scaling`: with an ssthresh of 64 segments the gains are 2⁻¹⁰ and 2⁻¹¹,
/// before the first reduction 2⁻¹⁸ and 2⁻¹⁹.
#[test]
fn the_gains_follow_ssthresh() {
    let mut classic = queue(20_000, 1000, 20_000);
    for (ssthresh, bits) in [
        (1, 1),
        (2, 2),
        (63, 8),
        (64, 10),
        (4096, 18),
        (u64::MAX, 18),
    ] {
        classic.on_reduction(ssthresh);
        assert_eq!(classic.gain_bits, bits, "{ssthresh}");
    }
    classic.on_reduction(64);
    // An error of 1.024 ms is 1 µs with the gain; the deviation moves by half a 1024th of 24 µs.
    classic.on_rtt(at(1), Span::from_micros(21_024));
    near(classic.srtt.unwrap_or(0.0), 20_001e-6);
    near(classic.deviation, 1000e-6 + 24e-6 / 2048.0);
    let mut fresh = ClassicQueue::default();
    fresh.on_rtt(at(0), Span::from_millis(20));
    fresh.on_rtt(at(1), Span::from_millis(30));
    near(fresh.srtt.unwrap_or(0.0), 0.02 + 0.01 / 262_144.0);
    near(fresh.deviation, 1e-6 + (0.01 - 1e-6) / 524_288.0);
}

/// Estimates and scores that version 0.2.2 of the crate `udp_prague` computed for the same
/// round-trip times: (round, srtt, deviation, score), in µs. It is a port of Linux's integers.
type Row = (u32, f64, f64, f64);

/// Round-trip times of 20 and 36 ms in turns of 16 samples, a window of 32 segments.
const SWING: [Row; 6] = [
    (4, 23_251.0, 1752.0, 1.725_20),
    (8, 25_221.0, 3124.0, 7.192_14),
    (9, 25_578.0, 3418.0, 9.433_88),
    (10, 25_892.0, 3694.0, 11.175_61),
    (12, 26_415.0, 4198.0, 15.659_08),
    (24, 27_842.0, 6204.0, 17.0),
];
/// Round-trip times of 20 and 20.2 ms in the same turns.
const STILL: [Row; 2] = [(8, 20_065.0, 39.0, 0.0), (24, 20_098.0, 78.0, 0.0)];
/// Round-trip times that rise from 20 to 35.75 ms in each window of 64 segments.
const SAW: [Row; 5] = [
    (4, 21_761.0, 838.0, 0.241_73),
    (10, 23_700.0, 1665.0, 4.192_14),
    (14, 24_642.0, 2044.0, 9.159_08),
    (18, 25_376.0, 2337.0, 15.126_02),
    (24, 26_184.0, 2670.0, 17.0),
];

/// The integers of Linux round estimates down to whole microseconds, and logarithms to whole
/// numbers, whose remainders they keep for the next round. So the sum of a logarithm differs by less
/// than 1, and the score by less than 1 with both weights of 1/2.
#[test]
fn rounds_are_those_of_another_program() {
    let swing = |high: u64| move |index: u64| 20_000 + high * ((index / 16) % 2);
    check(32, &SWING, swing(16_000));
    check(32, &STILL, swing(200));
    check(64, &SAW, |index| 20_000 + 250 * (index % 64));
}

fn check(window: u64, rows: &[Row], rtt: impl Fn(u64) -> u64) {
    let mut classic = ClassicQueue::default();
    classic.on_rtt(at(0), Span::from_millis(20));
    classic.on_reduction(window);
    let mut index = 0;
    let mut rows = rows.iter().peekable();
    for round in 1..=24 {
        for _ in 0..window {
            classic.on_rtt(at(index), Span::from_micros(rtt(index)));
            index += 1;
        }
        classic.end_round();
        if let Some((_, srtt, deviation, score)) = rows.next_if(|row| row.0 == round) {
            let found = (classic.srtt.unwrap_or(0.0) * 1e6, classic.deviation * 1e6);
            assert!((found.0 - srtt).abs() < 2.0, "{round}: {found:?}");
            assert!((found.1 - deviation).abs() < 2.0, "{round}: {found:?}");
            assert!(
                (classic.score - score).abs() < 1.0,
                "{round}: {}",
                classic.score
            );
        }
    }
    assert!(rows.next().is_none());
}
