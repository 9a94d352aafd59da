//! Both directions deliver every byte exactly once, and the connection closes, whatever a network
//! does to segments short of losing all of them. The tests cover every recovery in every profile,
//! with every congestion control.

mod common;

use common::{Hop, Network};
use goodqueue_tcp::cc::{
    Bbr3Config, BbrConfig, CubicConfig, DctcpConfig, LedbatConfig, ScalableConfig, VegasConfig,
    WestwoodConfig,
};
use goodqueue_tcp::{
    AckRule, CongestionControlConfig, EcnMode, Profile, Recovery, SlowStart, TcpConfig,
};
use goodqueue_types::{RandomStream, Rate, Segment, Span, Time};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Case {
    profile: Profile,
    recovery: Recovery,
    control: CongestionControlConfig,
    slow_start: SlowStart,
    pacing: bool,
    seed: u64,
    /// Probabilities that a segment is lost, that it is delivered twice, and that it is late.
    loss: f64,
    duplication: f64,
    reordering: f64,
    bytes: [u64; 2],
    mss: u32,
    receive_window: u64,
    nagle: bool,
    ack_every: u32,
    queue: usize,
    ecn: EcnMode,
    /// Probability that an ECN-capable packet is marked.
    marking: f64,
    ack_rule: AckRule,
    dsack: bool,
    /// Initial share of the receive buffer under right-sizing, if that is on.
    moderation: Option<u64>,
    /// Rate at which the window opens in segments per second, if it is limited.
    pace: Option<u64>,
    /// Time until which host 1 leaves data in its buffer, in milliseconds.
    pause: u64,
}

/// Returns every control.
fn controls() -> impl Strategy<Value = CongestionControlConfig> {
    proptest::sample::select(vec![
        CongestionControlConfig::Reno,
        CongestionControlConfig::Gaimd {
            alpha: 0.31,
            beta: 0.125,
        },
        CongestionControlConfig::Cubic(CubicConfig::default()),
        CongestionControlConfig::Bbr(BbrConfig::default()),
        CongestionControlConfig::Bbr3(Bbr3Config::default()),
        CongestionControlConfig::Vegas(VegasConfig::default()),
        CongestionControlConfig::Westwood(WestwoodConfig::default()),
        CongestionControlConfig::Dctcp(DctcpConfig::default()),
        CongestionControlConfig::Scalable(ScalableConfig::default()),
        CongestionControlConfig::Ledbat(LedbatConfig::default()),
    ])
}

fn slow_starts() -> impl Strategy<Value = SlowStart> {
    proptest::sample::select(vec![
        SlowStart::Auto,
        SlowStart::Classic,
        SlowStart::HyStart,
        SlowStart::HyStartPlusPlus,
    ])
}

fn cases() -> impl Strategy<Value = Case> {
    let profile = prop_oneof![
        Just(Profile::Rfc),
        Just(Profile::Inet2011),
        Just(Profile::Ns2),
        Just(Profile::Linux),
        Just(Profile::Linux)
    ];
    let recovery = prop_oneof![
        Just(Recovery::Tahoe),
        Just(Recovery::Reno),
        Just(Recovery::NewReno),
        Just(Recovery::Sack)
    ];
    let faults = (0.0..0.3f64, 0.0..0.2f64, 0.0..0.3f64);
    let sizes = (
        (0..60_000u64),
        (0..60_000u64),
        (1..1500u32),
        (1..100_000u64),
    );
    let rest = (
        any::<bool>(),
        1..4u32,
        1..40usize,
        prop_oneof![Just(0), 1..20_000u64],
        prop_oneof![
            Just(EcnMode::Off),
            Just(EcnMode::Rfc3168),
            Just(EcnMode::Dctcp),
            Just(EcnMode::AccEcn)
        ],
        0.0..1.0f64,
    );
    let receiving = (
        prop_oneof![Just(AckRule::EveryNth), Just(AckRule::Linux)],
        any::<bool>(),
        prop_oneof![Just(None), (1..20u64).prop_map(Some)],
        prop_oneof![2 => Just(None), 1 => (20..2000u64).prop_map(Some)],
    );
    let control = (controls(), slow_starts(), any::<bool>());
    (
        profile,
        (recovery, control),
        any::<u64>(),
        faults,
        sizes,
        rest,
        receiving,
    )
        .prop_map(
            |(profile, (recovery, control), seed, faults, sizes, rest, receiving)| Case {
                profile,
                recovery,
                control: control.0,
                slow_start: control.1,
                pacing: control.2,
                seed,
                loss: faults.0,
                duplication: faults.1,
                reordering: faults.2,
                bytes: [sizes.0, sizes.1].map(|bytes| bytes.min(u64::from(sizes.2) * 300)),
                mss: sizes.2,
                // With windows much smaller than a segment, each byte would take a round trip.
                receive_window: sizes.3.max(u64::from(sizes.2) / 4),
                nagle: rest.0,
                ack_every: rest.1,
                queue: rest.2,
                pause: rest.3,
                ack_rule: receiving.0,
                dsack: receiving.1,
                moderation: receiving.2,
                pace: receiving.3,
                ecn: rest.4,
                marking: rest.5,
            },
        )
}

fn network(case: &Case) -> Network {
    let mut config = TcpConfig::profile(case.profile);
    config.recovery = case.recovery;
    config.congestion_control = case.control;
    config.slow_start = case.slow_start;
    config.pacing |= case.pacing;
    config.mss = case.mss;
    config.receive_window = case.receive_window;
    config.nagle = case.nagle;
    config.ack_every = case.ack_every;
    config.ecn = case.ecn;
    config.ack_rule = case.ack_rule;
    config.dsack = case.dsack;
    config.receive_window_moderation = case.moderation.map(|share| {
        (case.receive_window / share)
            .max(u64::from(case.mss) / 4)
            .max(1)
    });
    config.receive_window_pace = case
        .pace
        .map(|segments| Rate(8 * segments * u64::from(case.mss)));
    let hop = || vec![Hop::new(5_000_000, Span::from_millis(10), 0).with_limit(case.queue)];
    let mut network = Network::new(&config, hop(), hop());
    let mut random = RandomStream::new(case.seed, "faults", 0);
    let (marking, mut marks) = (case.marking, RandomStream::new(case.seed, "marks", 0));
    network.mark = Box::new(move || marks.unit() < marking);
    let (loss, duplication, reordering) = (case.loss, case.duplication, case.reordering);
    network.fate = Box::new(move |_, _, _: &Segment| {
        if random.unit() < loss {
            return vec![];
        }
        let late = if random.unit() < reordering {
            random.span_below(Span::from_millis(30))
        } else {
            Span::ZERO
        };
        if random.unit() < duplication {
            vec![late, random.span_below(Span::from_millis(100))]
        } else {
            vec![late]
        }
    });
    network
}

fn transfers_everything(case: &Case) {
    let mut network = network(case);
    let reading_from = Time::ZERO + Span::from_millis(case.pause);
    network.hosts[1].set_reading(Time::ZERO, case.pause == 0);
    network.hosts[0].connect(Time::ZERO);
    for host in [0, 1] {
        network.hosts[host].write(case.bytes[host]);
        network.hosts[host].close();
    }
    network.run_until(reading_from);
    let now = network.now;
    network.hosts[1].set_reading(now, true);
    network.run_until(Time::ZERO + Span::from_secs(2_000_000));
    for host in [0, 1] {
        let stats = *network.hosts[host].stats();
        let info = network.hosts[host].info();
        assert_eq!(
            stats.delivered_bytes,
            case.bytes[1 - host],
            "{host} {stats:?} {info:?}"
        );
        assert_eq!(stats.acked_bytes, case.bytes[host]);
        assert!(stats.ecn_reductions == 0 || case.ecn != EcnMode::Off);
        // Probes of a closed window are received, rejected and sent again. INET's ACKs in go-back-N
        // are too old to update the window, so it may be overrun.
        let first_time = stats.received_payload_bytes - stats.duplicate_payload_bytes;
        assert!(first_time >= case.bytes[1 - host]);
        let may_overrun = case.pause > 0 || case.profile == Profile::Inet2011;
        // A window that opens at a limited rate is closed for a while too. The excess is at most
        // the data that the peer sent again.
        let probes = match case.pace {
            Some(_) => network.hosts[1 - host].stats().retransmitted_bytes,
            None => 0,
        };
        assert!(first_time <= case.bytes[1 - host] + probes || may_overrun);
        assert!(network.hosts[host].is_finished(), "{host} {info:?}");
        assert!(network.hosts[host].is_peer_finished());
        assert_eq!(
            network.hosts[host].poll_timeout(),
            None,
            "no timer outlives its work"
        );
        assert_eq!(info.bytes_in_flight, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_once(case in cases()) {
        transfers_everything(&case);
    }
}

/// Returns a network without faults, from which earlier failing cases differ.
fn plain() -> Case {
    Case {
        profile: Profile::Rfc,
        recovery: Recovery::Tahoe,
        control: CongestionControlConfig::Reno,
        slow_start: SlowStart::Auto,
        pacing: false,
        seed: 0,
        loss: 0.0,
        duplication: 0.0,
        reordering: 0.0,
        bytes: [0, 0],
        mss: 1000,
        receive_window: 100_000,
        nagle: false,
        ack_every: 1,
        queue: 1,
        ecn: EcnMode::Off,
        marking: 0.0,
        ack_rule: AckRule::EveryNth,
        dsack: false,
        moderation: None,
        pace: None,
        pause: 0,
    }
}

#[test]
fn an_end_that_closes_last_does_not_leave_data_behind() {
    transfers_everything(&Case {
        profile: Profile::Ns2,
        recovery: Recovery::NewReno,
        control: CongestionControlConfig::Gaimd {
            alpha: 0.31,
            beta: 0.125,
        },
        seed: 5_528_186_771_662_076_645,
        loss: 0.177_979_610_529_197_3,
        duplication: 0.021_543_645_635_416_53,
        reordering: 0.090_922_690_513_999_44,
        bytes: [12223, 12319],
        mss: 649,
        receive_window: 19316,
        ack_every: 2,
        queue: 3,
        ecn: EcnMode::Dctcp,
        marking: 0.619_336_931_042_688_3,
        ..plain()
    });
}

/// The window update of a window that opens at a limited rate comes late, so a probe is rejected.
#[test]
fn a_probe_of_a_paced_window_is_rejected() {
    transfers_everything(&Case {
        seed: 7_519_330_702_197_341_905,
        reordering: 0.150_335_010_234_083_05,
        bytes: [367, 829],
        mss: 192,
        receive_window: 1683,
        moderation: Some(12),
        pace: Some(46),
        ..plain()
    });
}

/// The first update of a window that opens is too small to send data, and the later ones are lost.
#[test]
fn the_first_news_of_an_open_window_is_too_small() {
    transfers_everything(&Case {
        profile: Profile::Ns2,
        seed: 13_631_210_730_694_025_079,
        loss: 0.012_610_616_584_353_597,
        duplication: 0.071_863_308_831_601_5,
        reordering: 0.200_097_737_032_922_63,
        bytes: [3092, 4249],
        mss: 1031,
        receive_window: 947,
        pace: Some(92),
        pause: 6252,
        ..plain()
    });
}

/// The data that the persist timer sends into a window that has opened are lost.
#[test]
fn what_the_persist_timer_sends_is_lost() {
    transfers_everything(&Case {
        seed: 6_480_103_824_758_686_173,
        loss: 0.242_259_866_786_770_56,
        reordering: 0.242_142_906_593_942_83,
        bytes: [1535, 2046],
        mss: 1023,
        receive_window: 1023,
        pace: Some(20),
        pause: 4182,
        ..plain()
    });
}

/// The application reads before the connection is open.
#[test]
fn reading_before_the_connection_is_open() {
    transfers_everything(&Case {
        profile: Profile::Linux,
        recovery: Recovery::Reno,
        control: CongestionControlConfig::Scalable(ScalableConfig {
            a: 0.01,
            keep: 0.875,
        }),
        slow_start: SlowStart::HyStart,
        pacing: true,
        seed: 11_428_282_609_398_245_719,
        loss: 0.116_210_606_811_982_7,
        duplication: 0.049_098_504_039_214_56,
        reordering: 0.233_138_580_405_514_2,
        bytes: [9509, 12437],
        mss: 408,
        receive_window: 81395,
        queue: 36,
        ecn: EcnMode::Rfc3168,
        marking: 0.396_871_188_430_731_55,
        ack_rule: AckRule::Linux,
        pace: Some(759),
        pause: 740,
        ..plain()
    });
}
