//! Loss recovery to the microsecond, compared with the packet times that ns-3.37's `ns3tcp-loss`
//! test expects of its NewReno without SACK (200 kB over 8 Mb/s, 0.1 ms and 0.8 Mb/s, 100 ms; MSS
//! 1000, initial window 1, no delayed ACK; packets 16, 17, … of the sender are lost, with the SYN
//! as 0).

use crate::common::{Hop, Network};
use goodqueue_tcp::{DecreaseBasis, InitialWindow, Profile, Recovery, RecoveryExit, TcpConfig};
use goodqueue_types::{Span, Time};

/// Returns ns-3's settings in this test. Only those that differ from the `rfc` profile are set.
fn ns3() -> TcpConfig {
    let mut config = TcpConfig::profile(Profile::Rfc);
    config.recovery = Recovery::NewReno;
    config.mss = 1000;
    config.initial_window = InitialWindow::Segments(1);
    config.ack_every = 1;
    config.receive_window = 131_072;
    config.byte_counting = false;
    config.details.grow_only_when_limited = false;
    config.details.decrease_basis = DecreaseBasis::LessDuplicates;
    config.details.recovery_exit = RecoveryExit::SsthreshAndGrowth;
    config
}

fn run(lost: &'static [u64]) -> Vec<(u64, u64, bool)> {
    // PPP framing has two bytes here.
    let fast = Hop::new(8_000_000, Span::from_micros(100), 2);
    let slow = Hop::new(800_000, Span::from_millis(100), 2);
    let mut network = Network::new(&ns3(), vec![fast.clone(), slow.clone()], vec![slow, fast]);
    // ns-3's only option in a SYN is the window scale.
    network.syn_bytes = Some(44);
    network.lose(lost);
    network.hosts[0].connect(Time::ZERO);
    network.hosts[0].write(200_000);
    network.run_until(Time::ZERO + Span::from_secs(60));
    assert_eq!(network.hosts[1].stats().delivered_bytes, 200_000);
    network.data_sent()
}

/// Compares the times in microseconds at which packets are handed to the first link.
fn check(lost: &'static [u64], retransmissions: &[(u64, u64)], end: u64) {
    let sent = run(lost);
    assert_eq!(sent[0], (201_212, 1, false));
    assert_eq!(
        (sent[1].0, sent[2].0, sent[3].0),
        (413_378, 413_378, 625_502)
    );
    let again: Vec<_> = sent.iter().filter(|s| s.2).map(|s| (s.0, s.1)).collect();
    assert_eq!(again, retransmissions);
    assert_eq!(sent.last().map(|s| s.0), Some(end));
}

#[test]
fn nothing_lost() {
    check(&[], &[], 2_182_558);
}

#[test]
fn one_lost() {
    check(&[16], &[(1_282_714, 14_001)], 4_217_466);
}

#[test]
fn two_lost() {
    check(
        &[16, 17],
        &[(1_293_134, 14_001), (1_505_258, 15_001)],
        4_356_650,
    );
}

#[test]
fn three_lost() {
    check(
        &[16, 17, 18],
        &[
            (1_303_554, 14_001),
            (1_515_678, 15_001),
            (1_727_802, 16_001),
        ],
        4_527_094,
    );
}

#[test]
fn four_lost() {
    check(
        &[16, 17, 18, 19],
        &[
            (1_313_974, 14_001),
            (1_526_098, 15_001),
            (1_738_222, 16_001),
            (1_950_346, 17_001),
        ],
        4_718_378,
    );
}
