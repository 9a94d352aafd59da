//! Prague beside the crate `udp_prague` (version 0.2.2), a port of the L4S team's implementation
//! for UDP. Its licence includes GPL-2.0, so it is no dependency: the tables have numbers that it
//! computed. Each row is compared on its own, from the state that the row before left there.
//!
//! The programs differ by design in the following, which the comparison allows for:
//!
//! - α begins at 0 there, and at 1 here and in Linux. The tests set it.
//! - α there is a whole number of 2⁻²⁰, whose change is rounded towards 0. Here its remainder is kept.
//! - Growth there is divided by the window with its fraction. Here and in Linux it is divided by
//!   the whole segments of the window, rounded up, and is smaller by this ratio.
//! - An ACK there updates α, grows the window and then reduces it by the new α. Here and in Linux the
//!   reduction comes first, with the old α. The tests call in the order of that program.
//! - The window and α there always count the round trip as at least 25 ms. Here this begins after 500
//!   rounds. The tests set `transition = 0`.
//! - After a loss the window there does not grow for a virtual round trip, here until all is repaired.
//! - The pace there is 3 % above the rate in the first half of a virtual round trip and 3 % below in
//!   the second. After seven virtual round trips without marks and losses the window grows by 1 ms of the
//!   rate per round trip, and below a round trip of 2 ms the rate is controlled and not the window. Linux
//!   and the draft have none of these, and no row has them.

use super::*;
use crate::Profile;

const MSS: f64 = 1000.0;

/// ACK: packets delivered, those marked and lost; whether a round ends; α in 2⁻²⁰ and window in
/// millionths of a byte after it; rate in bytes per second; packets in a burst.
type Row = ((u64, u64, u64, bool), (u64, u64), (u64, u32));

/// Round-trip time of 50 ms, from α = 0 and a window of 30,000 bytes.
const LONG: [Row; 14] = [
    ((10, 0, 0, false), (0, 30_333_333_000), (606_666, 1)),
    ((10, 3, 0, true), (9830, 30_420_838_602), (608_416, 1)),
    ((10, 0, 0, false), (9830, 30_749_560_602), (614_991, 1)),
    ((10, 10, 0, true), (41_983, 30_133_983_476), (602_679, 1)),
    ((20, 1, 0, true), (42_635, 30_139_059_651), (602_781, 1)),
    ((20, 0, 0, true), (39_971, 30_802_650_651), (616_053, 1)),
    ((1, 0, 0, false), (39_971, 30_835_115_651), (616_702, 1)),
    ((30, 2, 0, true), (41_700, 31_111_986_951), (622_239, 1)),
    ((30, 7, 0, true), (54_385, 31_025_260_160), (620_505, 1)),
    ((5, 5, 0, false), (54_385, 31_025_260_160), (620_505, 1)),
    ((30, 0, 0, true), (60_348, 31_992_214_160), (639_844, 1)),
    ((30, 0, 1, true), (56_577, 15_996_107_080), (319_922, 1)),
    ((30, 0, 0, false), (56_577, 15_996_107_080), (319_922, 1)),
    ((30, 1, 0, true), (54_134, 17_349_341_293), (346_986, 1)),
];

/// Round-trip time of 10 ms, which counts as 25 ms, from a window of 30,000 bytes.
const SHORT: [Row; 14] = [
    ((10, 0, 0, false), (0, 30_053_333_000), (3_005_333, 1)),
    ((10, 3, 0, true), (9830, 29_949_556_052), (2_994_955, 1)),
    ((10, 0, 0, false), (9830, 30_002_979_052), (3_000_297, 1)),
    ((10, 10, 0, true), (41_983, 29_402_347_782), (2_940_234, 1)),
    ((20, 1, 0, true), (42_635, 28_905_890_482), (2_890_589, 1)),
    ((20, 0, 0, true), (39_971, 29_016_594_482), (2_901_659, 1)),
    ((1, 0, 0, false), (39_971, 29_022_108_482), (2_902_210, 1)),
    ((30, 2, 0, true), (41_700, 28_596_325_289), (2_859_632, 1)),
    ((30, 7, 0, true), (54_385, 27_980_093_585), (2_798_009, 1)),
    ((5, 5, 0, false), (54_385, 27_980_093_585), (2_798_009, 1)),
    ((30, 0, 0, true), (60_348, 28_151_644_585), (2_815_164, 1)),
    ((30, 0, 1, true), (56_577, 14_075_822_293), (1_407_582, 1)),
    ((30, 0, 0, false), (56_577, 14_075_822_293), (1_407_582, 1)),
    ((30, 1, 0, true), (54_134, 14_033_615_538), (1_403_361, 1)),
];

/// Round-trip time of 5 ms, from a window of 150,000 bytes, of which 0.25 ms are several packets.
const FAST: [Row; 6] = [
    ((10, 0, 0, false), (0, 150_002_667_000), (30_000_533, 7)),
    ((10, 3, 0, true), (9830, 149_301_416_358), (29_860_283, 7)),
    ((10, 0, 0, false), (9830, 149_304_095_358), (29_860_819, 7)),
    (
        (10, 10, 0, true),
        (41_983, 146_315_168_549),
        (29_263_033, 7),
    ),
    ((20, 1, 0, true), (42_635, 143_345_676_567), (28_669_135, 7)),
    ((20, 0, 0, true), (39_971, 143_351_257_567), (28_670_251, 7)),
];

/// Round-trip time of 40 ms, from a window of 4 segments.
const SLOW: [Row; 6] = [
    ((10, 3, 0, true), (9830, 5_915_637_992), (147_890, 1)),
    ((10, 0, 0, false), (9830, 7_606_072_992), (190_151, 1)),
    ((10, 10, 0, true), (41_983, 7_453_806_603), (186_345, 1)),
    ((20, 1, 0, true), (42_635, 9_799_482_352), (244_987, 1)),
    ((20, 0, 0, true), (39_971, 11_840_406_352), (296_010, 1)),
    ((1, 0, 0, false), (39_971, 11_924_863_352), (298_121, 1)),
];

fn near(found: f64, expected: f64, tolerance: f64, row: usize) {
    let error = (found - expected).abs();
    assert!(error <= tolerance, "row {row}: {found} {expected}");
}

/// Returns the control with the state of a row.
fn control(rtt: Span, alpha: u64, window: u64) -> Prague {
    let mut config = TcpConfig::profile(Profile::Prague);
    config.mss = MSS as u32;
    // Datagrams have no options.
    config.accecn_option = crate::AccEcnReports::Off;
    let independent = PragueConfig {
        transition: 0,
        ..PragueConfig::default()
    };
    let mut control = Prague::new(&config, independent);
    control.set_window(window as f64 / 1e6);
    control.set_ssthresh(2 * MSS as u64);
    control.srtt = Some(rtt.as_secs_f64());
    control.alpha = alpha << GAIN_BITS;
    control.has_marks = true;
    control.round_ends_at = 1;
    control
}

/// Compares the rows, from this α, window and number of bytes that the present round has delivered.
fn compare(rtt: Span, start: (u64, u64, u64), rows: &[Row]) {
    let virtual_rtt = rtt.max(Span::from_millis(25));
    let (mut alpha, mut window) = (start.0, start.1);
    let (mut round, mut recovers) = ((start.2, 0), false);
    for (index, row) in rows.iter().enumerate() {
        let ((acked, marked, lost, ends), after, (rate, burst)) = *row;
        let mut control = control(rtt, alpha, window);
        (control.delivered, control.marked) = round;
        let mss = MSS as u64;
        let now = Time::ZERO + virtual_rtt * 2;
        let event = |signal| CongestionEvent {
            now,
            signal,
            ..CongestionEvent::default()
        };
        if lost > 0 {
            control.on_congestion_event(&event(CongestionSignal::Loss));
            recovers = true;
        } else if ends {
            recovers = false;
        }
        let whole = control.whole();
        let before = control.cwnd;
        control.on_marks(&MarkSample {
            acked: acked * mss,
            marked: marked * mss,
            ..MarkSample::default()
        });
        control.on_ack(&AckSample {
            now,
            acked: acked * mss,
            is_window_limited: true,
            in_recovery: recovers,
            acked_to: u64::from(ends),
            sent_to: 2,
            ..AckSample::default()
        });
        round = (control.delivered, control.marked);
        // Theirs is the growth divided by the fractional window.
        let growth = (control.cwnd - before) * whole / before;
        control.cwnd = before + growth;
        // Every row with a mark is in a new round of reductions.
        if marked > 0 && ends {
            control.on_congestion_event(&event(CongestionSignal::EcnEcho));
        }
        near(
            (control.alpha >> GAIN_BITS) as f64,
            after.0 as f64,
            1.0,
            index,
        );
        let expected = after.1 as f64 / 1e6;
        near(control.cwnd, expected, 0.02, index);
        // Their packet is a segment without headers.
        let pace = control
            .pacing_rate()
            .map_or(0.0, |rate| rate.0 as f64 / 8.0);
        near(pace * MSS / control.packet, rate as f64, 5.0, index);
        let packets = control.burst().unwrap_or(0);
        // 0.25 ms there, 2⁻¹² s and a packet with headers here.
        assert!(packets <= burst && burst <= packets + 1, "row {index}");
        (alpha, window) = after;
    }
}

#[test]
fn a_round_trip_beyond_the_target() {
    compare(Span::from_millis(50), (0, 30_000_000_000, 0), &LONG);
}

#[test]
fn a_round_trip_below_the_target() {
    compare(Span::from_millis(10), (0, 30_000_000_000, 0), &SHORT);
}

#[test]
fn bursts_of_several_packets() {
    compare(Span::from_millis(5), (0, 150_000_000_000, 0), &FAST);
}

#[test]
fn a_window_of_few_segments() {
    compare(Span::from_millis(40), (0, 4_325_000_000, 10_000), &SLOW);
}
