//! Both directions deliver every byte exactly once, and the connection closes, whatever a network
//! does to segments short of losing all of them. The tests cover every recovery in every profile,
//! with every congestion control.

use crate::common::cases::{Case, cases, network, plain};
use goodqueue_tcp::cc::{GaimdConfig, ScalableConfig};
use goodqueue_tcp::{AckRule, CongestionControlConfig, EcnMode, Profile, Recovery, SlowStart};
use goodqueue_types::{Span, Time};
use proptest::prelude::*;

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

#[test]
fn an_end_that_closes_last_does_not_leave_data_behind() {
    transfers_everything(&Case {
        profile: Profile::Ns2,
        recovery: Recovery::NewReno,
        control: CongestionControlConfig::Gaimd(GaimdConfig {
            alpha: 0.31,
            beta: 0.125,
        }),
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
fn probes_of_the_persist_timer_are_lost() {
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
