//! One long flow in the `ns2` profile compared with ns-2.35 itself (Debian 2.35+dfsg-5): 10 Mb/s,
//! 40 ms, 1460 + 40 bytes, window 10,000 packets, 200 s. The flows of the original start within the
//! first 10 ms, so the numbers of packets sent differ by a few.

use crate::common::{Hop, Network};
use goodqueue_tcp::{ENDLESS, Profile, Recovery, TcpConfig};
use goodqueue_types::{Span, Time};

const MSS: u32 = 1460;

/// Numbers of packets sent (including the SYN), sent again, and dropped at the bottleneck.
#[derive(Debug)]
struct Counts {
    sent: u64,
    repeated: u64,
    drops: u64,
}

fn run(recovery: Recovery, queue_limit: usize) -> Counts {
    let mut config = TcpConfig::profile(Profile::Ns2);
    config.recovery = recovery;
    config.mss = MSS;
    config.receive_window = 10_000 * u64::from(MSS);
    let access = || Hop::new(1_000_000_000, Span::from_millis(5), 0);
    let bottleneck = Hop::new(10_000_000, Span::from_millis(10), 0);
    // ns-2's limit N holds N − 1 waiting packets besides the one in service.
    let forward = vec![
        access(),
        bottleneck.clone().with_limit(queue_limit - 1),
        access(),
    ];
    let mut network = Network::new(&config, forward, vec![access(), bottleneck, access()]);
    network.keep_log = false;
    network.hosts[0].connect(Time::ZERO);
    network.hosts[0].write(ENDLESS);
    network.run_until(Time::ZERO + Span::from_secs(200));
    let stats = network.hosts[0].stats();
    Counts {
        sent: stats.segments_sent + 1,
        repeated: stats.retransmitted_segments,
        drops: network.hops[0][1].drops,
    }
}

fn check(recovery: Recovery, queue_limit: usize, ns2: &Counts) {
    let ours = run(recovery, queue_limit);
    let near = |a: u64, b: u64, by: u64| a.abs_diff(b) <= by;
    assert!(near(ours.sent, ns2.sent, 15), "{ours:?} {ns2:?}");
    assert!(near(ours.repeated, ns2.repeated, 1), "{ours:?} {ns2:?}");
    assert!(near(ours.drops, ns2.drops, 1), "{ours:?} {ns2:?}");
}

#[test]
fn tahoe() {
    check(
        Recovery::Tahoe,
        33,
        &Counts {
            sent: 154_453,
            repeated: 219,
            drops: 151,
        },
    );
    check(
        Recovery::Tahoe,
        8,
        &Counts {
            sent: 103_287,
            repeated: 227,
            drops: 219,
        },
    );
}

#[test]
fn reno() {
    check(
        Recovery::Reno,
        8,
        &Counts {
            sent: 144_552,
            repeated: 218,
            drops: 205,
        },
    );
    check(
        Recovery::Reno,
        4,
        &Counts {
            sent: 134_791,
            repeated: 230,
            drops: 226,
        },
    );
}

#[test]
fn newreno() {
    check(
        Recovery::NewReno,
        8,
        &Counts {
            sent: 144_637,
            repeated: 213,
            drops: 205,
        },
    );
}

#[test]
fn sack() {
    check(
        Recovery::Sack,
        8,
        &Counts {
            sent: 144_957,
            repeated: 204,
            drops: 204,
        },
    );
}
