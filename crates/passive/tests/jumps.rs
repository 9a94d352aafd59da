//! Damaged times that jump over years repeatedly do not overflow the sums.

use goodqueue_passive::{Analyzer, Tap, Thresholds};
use goodqueue_trace::read::{Datagram, Heading, TcpHeader, Transport};
use goodqueue_types::{Ecn, SegmentFlags};

fn segment(from_client: bool, number: u32, payload: u32) -> Datagram {
    let (client, server) = (([10, 0, 0, 1], 5000).into(), ([10, 0, 0, 2], 80).into());
    let mut tcp = TcpHeader::default();
    (tcp.flags, tcp.window, tcp.payload) = (SegmentFlags::ACK, 60_000, payload);
    if from_client {
        tcp.seq = number;
    } else {
        tcp.ack = number;
    }
    Datagram {
        source: if from_client { client } else { server },
        destination: if from_client { server } else { client },
        protocol: 6,
        ecn: Ecn::NotCapable,
        id: None,
        ip_bytes: 40 + payload,
        frame_bytes: 40 + payload,
        heading: Heading::Unknown,
        interface: 0,
        cut: false,
        transport: Transport::Tcp(tcp),
    }
}

/// A sender sends a segment, gets its ACK, and is idle for six years of its clock.
#[test]
fn idle_times_that_add_up_to_centuries_do_not_overflow() {
    let mut analyzer = Analyzer::new(Thresholds::default(), false);
    analyzer.packet(Tap::First, 0, &segment(true, 0, 0));
    let mut next = 0;
    for round in 0..100 {
        // Between two segments close to one another the clock goes back by six years. The idle
        // times grow, so that none counts as a round trip.
        let late = 99_000_000_000_000_000 + round * round * 400_000;
        for time in [late, -99_000_000_000_000_000] {
            analyzer.packet(Tap::First, time, &segment(true, next, 1000));
            next += 1000;
            analyzer.packet(Tap::First, time + 100_000, &segment(false, next, 0));
        }
    }
    let report = analyzer.finish(None, None, 1);
    let shares = report.flows[0].shares;
    assert!(shares.application <= 1.0, "{shares:?}");
}

/// A segment is sent repeatedly by a sender whose announced segments are tiny.
#[test]
fn counts_of_lost_packets_do_not_overflow() {
    let mut analyzer = Analyzer::new(Thresholds::default(), false);
    let mut syn = segment(true, u32::MAX, 0);
    if let Transport::Tcp(tcp) = &mut syn.transport {
        (tcp.flags, tcp.mss) = (SegmentFlags::SYN, Some(1));
    }
    analyzer.packet(Tap::First, 0, &syn);
    for copy in 1..5000 {
        analyzer.packet(Tap::First, copy * 10_000_000, &segment(true, 0, 1 << 20));
    }
    let report = analyzer.finish(None, None, 1);
    let counts = &report.flows[0].counts;
    // Each copy is at most 2^20 / 500 packets, and all but the first are lost.
    let most = 4999 * (1_u64 << 20).div_ceil(500);
    let lost: u64 = counts.lost.iter().sum();
    assert_eq!((counts.packets, lost), (most, most / 4999 * 4998));
}
