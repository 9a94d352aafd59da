//! Videos and games over a network, compared with the capacity and the delay of the network.

use goodqueue_queue::Limit;
use goodqueue_sim::{
    FlowOutcome, GameConfig, IndependentLoss, Law, LossConfig, Metric, SessionConfig, SourceConfig,
    VideoConfig, WorkloadConfig, run,
};
use goodqueue_tcp::{Profile, TcpConfig};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::{Rate, Span, Time};
use std::sync::Arc;

const MBPS: u64 = 1_000_000;

fn dumbbell(rate: u64, seconds: u64) -> Dumbbell {
    Dumbbell {
        seed: 1,
        rate: Rate(rate),
        access_rate: Rate(1_000 * MBPS),
        limit: Limit::Packets(100),
        round_trip: Span::from_millis(40),
        warmup: Time::ZERO,
        end: Time::ZERO + Span::from_secs(seconds),
    }
}

/// Returns a metric as a number: a count, a number, or a mean.
fn figure(flow: &FlowOutcome, name: &str) -> f64 {
    let mut metrics = flow.app.metrics.iter();
    let metric = metrics.find(|(other, _)| *other == name);
    match metric.unwrap_or_else(|| panic!("no {name}")).1 {
        Metric::Count(count) => count as f64,
        Metric::Number(number) => number.expect("a sample"),
        Metric::Seconds(values) | Metric::Ratio(values) => values.mean.expect("a sample"),
    }
}

fn video(ladder: &[u64], most: Option<u64>) -> VideoConfig {
    VideoConfig {
        segment: Span::from_secs(4),
        ladder: ladder.iter().map(|rate| Rate(*rate)).collect(),
        variation: 0.0,
        request: 350,
        startup: Span::from_secs(4),
        max_buffer: Span::from_secs(40),
        reservoir: Span::from_secs(10),
        cushion: Span::from_secs(26),
        most,
    }
}

fn watch(dumbbell: &Dumbbell, video: VideoConfig) -> FlowOutcome {
    let workload = WorkloadConfig::Session {
        tcp: Arc::new(TcpConfig::profile(Profile::Linux)),
        session: Arc::new(SessionConfig::Video(video)),
    };
    run(&dumbbell.network(vec![(Time::ZERO, workload)]))
        .flows
        .remove(0)
}

/// The link has 100 Mb/s for a video of at most 6 Mb/s. The buffer fills, and then the player
/// requests a segment whenever it has played one.
#[test]
fn a_fast_link_carries_the_best_rate_in_bursts() {
    let mut fast = dumbbell(100 * MBPS, 400);
    fast.warmup = Time::ZERO + Span::from_secs(100);
    let flow = watch(&fast, video(&[MBPS, 3 * MBPS, 6 * MBPS], None));
    assert!(figure(&flow, "stalls") < 0.5);
    assert!(figure(&flow, "bitrate_switches") < 0.5);
    assert!((figure(&flow, "video_bitrate_bps") / 6e6 - 1.0).abs() < 1e-9);
    // There is one segment every four seconds: 75 in 300 s, of 3 MB each.
    assert!((figure(&flow, "segments") - 75.0).abs() < 1.5);
    assert!(
        (flow.goodput_bps / 6e6 - 1.0).abs() < 0.02,
        "{}",
        flow.goodput_bps
    );
    // The level falls from 40 s to 36 s and rises again as soon as a segment arrives, within half a
    // second or less.
    let (mean, low, most) = (
        figure(&flow, "mean_playout_buffer_s"),
        figure(&flow, "p5_playout_buffer_s"),
        figure(&flow, "max_playout_buffer_s"),
    );
    println!("{mean} {low} {most}");
    assert!(most <= 40.0 && most > 39.0, "{most}");
    assert!((37.0..38.2).contains(&mean), "{mean}");
    assert!((35.0..36.5).contains(&low), "{low}");
    // A segment arrives at once and is played in four seconds.
    let smoothing = figure(&flow, "smoothing_buffer_bytes");
    assert!(smoothing < 3.1e6 && smoothing > 1e5, "{smoothing}");
}

/// The video begins with a handshake and a request whose 175 kB fit into a few rounds of slow
/// start.
#[test]
fn playback_begins_when_the_first_segment_has_arrived() {
    let flow = watch(&dumbbell(100 * MBPS, 30), video(&[350_000], None));
    let startup = figure(&flow, "startup_delay_s");
    // 120 segments of 1448 bytes are sent from a window of 10: 10, 20, 40, 50. The handshake and
    // each round take a round trip.
    assert!((0.2..0.24).contains(&startup), "{startup}");
}

/// The video has one bit rate, above the rate of the link. The share of time in which it plays is
/// the ratio of the goodput to its bit rate.
#[test]
fn a_slow_link_stalls_for_the_share_of_the_time_that_it_lacks() {
    let slow = dumbbell(MBPS, 4_000);
    let flow = watch(&slow, video(&[2 * MBPS], None));
    // In the long run, the player plays the data that arrive.
    let expected = 1.0 - flow.goodput_bps / 2e6;
    let share = figure(&flow, "stall_share");
    println!("{share}, expected {expected}; {}", flow.goodput_bps);
    assert!(
        (share - expected).abs() < 0.01,
        "{share}, expected {expected}"
    );
    assert!((0.45..0.6).contains(&share));
    // The player plays a segment for 4 s and then waits 4 s for the next.
    let stalls = figure(&flow, "stalls");
    let time = figure(&flow, "stall_time_s");
    assert!((figure(&flow, "segments") - stalls).abs() < 2.5);
    assert!((time / 4_000.0 - share).abs() < 0.01);
}

/// The player alternates between the bit rates around the rate of the link, and never stalls.
#[test]
fn the_rate_follows_the_link() {
    let mut link = dumbbell(2_200_000, 2_000);
    link.warmup = Time::ZERO + Span::from_secs(200);
    let ladder = [350_000, 750_000, 1_500_000, 3_000_000, 6_000_000];
    for variation in [0.0, 0.4] {
        let flow = watch(
            &link,
            VideoConfig {
                variation,
                ..video(&ladder, None)
            },
        );
        let rate = figure(&flow, "video_bitrate_bps");
        println!(
            "{rate} {} {}",
            flow.goodput_bps,
            figure(&flow, "bitrate_switches")
        );
        assert!(figure(&flow, "stalls") < 0.5);
        assert!(figure(&flow, "bitrate_switches") > 10.0);
        // The player plays the data that arrive.
        assert!(
            (rate / flow.goodput_bps - 1.0).abs() < 0.03,
            "{rate} {}",
            flow.goodput_bps
        );
        assert!(rate > 1_800_000.0, "{rate}");
    }
}

#[test]
fn a_video_ends_without_a_stall() {
    let flow = watch(&dumbbell(10 * MBPS, 200), video(&[MBPS], Some(10)));
    assert!((figure(&flow, "segments") - 10.0).abs() < 0.1);
    assert!(figure(&flow, "stalls") < 0.5);
    assert!((flow.goodput_bps * 200.0 / 8.0 - 5e6 - 3_500.0).abs() < 1.0);
}

/// Sizes vary uniformly. Their mean is that of the bit rate, and their standard deviation is the
/// configured share divided by the root of three.
#[test]
fn sizes_vary_as_stated() {
    let varied = VideoConfig {
        variation: 0.5,
        ..video(&[MBPS], None)
    };
    let flow = watch(&dumbbell(100 * MBPS, 40_000), varied);
    let segments = figure(&flow, "segments");
    let mean = (flow.goodput_bps * 40_000.0 / 8.0 - 350.0 * segments) / segments;
    let deviation = 0.5 / 3.0_f64.sqrt() / segments.sqrt();
    assert!((mean / 500_000.0 - 1.0).abs() < 4.0 * deviation, "{mean}");
}

fn game(loss: f64, deadline: Span, seconds: u64) -> FlowOutcome {
    let game = WorkloadConfig::Source(SourceConfig::Game(GameConfig {
        interval: Span::from_micros(16_000),
        packet: Law::Fixed(80.0),
        server_interval: Span::from_micros(50_000),
        server_packet: Law::uniform(100.0, 300.0),
        deadline,
    }));
    let mut network = dumbbell(MBPS, seconds).network(vec![(Time::ZERO, game)]);
    for link in &mut network.links[..2] {
        link.loss = (loss > 0.0).then_some(LossConfig::Independent(IndependentLoss {
            probability: loss,
            ..IndependentLoss::default()
        }));
    }
    run(&network).flows.remove(0)
}

/// The delay is 20 ms, plus 0.64 ms for 80 bytes at 1 Mb/s, plus twice 0.64 us.
#[test]
fn updates_on_an_idle_path_take_its_delay() {
    let flow = game(0.0, Span::from_millis(50), 100);
    assert!((figure(&flow, "up_delay_s") - 0.020_641_28).abs() < 1e-8);
    // There are 62.5 and 20 updates per second. The server's begin when the first update of the
    // client arrives.
    assert!((figure(&flow, "up_updates") - 6_249.0).abs() < 1.5);
    assert!((figure(&flow, "down_updates") - 2_000.0).abs() < 1.5);
    for name in ["up_loss", "down_loss", "up_late", "down_late"] {
        assert!(figure(&flow, name).abs() < 1e-12, "{name}");
    }
    // Sizes are 200 bytes on average, from 100 to 300. Their standard deviation is 200 / sqrt(12).
    let delay = figure(&flow, "down_delay_s");
    let bytes = (delay - 0.02) / (8.0 / 1e6 + 2.0 * 8.0 / 1e9);
    let deviation = 200.0 / 12.0_f64.sqrt() / 2_000.0_f64.sqrt();
    assert!((bytes - 200.0).abs() < 4.0 * deviation, "{bytes}");
    // The goodput is the payload without the 28 bytes of headers, in both directions.
    let expected = 62.5 * 52.0 * 8.0 + 20.0 * (bytes - 28.0) * 8.0;
    assert!(
        (flow.goodput_bps / expected - 1.0).abs() < 0.002,
        "{}",
        flow.goodput_bps
    );
}

#[test]
fn updates_are_lost_by_the_network_or_by_the_clock() {
    let flow = game(0.1, Span::from_millis(50), 400);
    for (name, updates) in [("up_loss", 25_000.0), ("down_loss", 8_000.0)] {
        let deviation = (0.1 * 0.9 / f64::sqrt(updates).powi(2)).sqrt();
        let loss = figure(&flow, name);
        assert!((loss - 0.1).abs() < 4.0 * deviation, "{name}: {loss}");
    }
    // Packets of 200 bytes just miss this deadline, after 20 ms and 1.6032 ms.
    let flow = game(0.0, Span::from_micros(21_603), 400);
    assert!(figure(&flow, "up_late") < 0.5);
    let late = figure(&flow, "down_loss");
    assert!(
        (late - 0.5).abs() < 4.0 * 0.5 / 8_000.0_f64.sqrt(),
        "{late}"
    );
}

/// Returns the mean and the longest lag of a game whose server's update of this number is lost.
fn lag(lost: Option<u64>) -> (f64, f64) {
    let game = WorkloadConfig::Source(SourceConfig::Game(GameConfig {
        interval: Span::from_millis(16),
        packet: Law::Fixed(80.0),
        server_interval: Span::from_millis(50),
        server_packet: Law::Fixed(200.0),
        deadline: Span::from_millis(50),
    }));
    let mut network = dumbbell(MBPS, 100).network(vec![(Time::ZERO, game)]);
    network.links[1].drop_list = lost.into_iter().collect();
    let flow = run(&network).flows.remove(0);
    let mut metrics = flow.app.metrics.iter();
    match metrics.find(|(name, _)| *name == "lag_s") {
        Some((_, Metric::Seconds(lag))) => (lag.mean.unwrap(), lag.max.unwrap()),
        other => panic!("{other:?}"),
    }
}

/// The way there takes 20.64128 ms and the way back 21.6032 ms. An update of the client waits for the
/// next one of the server 0, 2, … or 48 ms, each equally often, because 16 ms and 50 ms are
/// multiples of 2 ms.
#[test]
fn a_player_sees_an_effect_after_both_ways_and_the_servers_wait() {
    let ways = 0.020_641_28 + 0.021_603_2;
    let (mean, max) = lag(None);
    assert!((mean - (ways + 0.024)).abs() < 1e-4, "{mean}");
    assert!((max - (ways + 0.048)).abs() < 1e-6, "{max}");
    // The server's update 500 is sent 25 s after the first. The client's updates that it answers were
    // sent 8, 24 and 40 ms before their shares of this time, and wait for the next one if it is lost.
    let (_, max) = lag(Some(500));
    assert!((max - (ways + 0.040 + 0.050)).abs() < 1e-6, "{max}");
}
