//! Any packets in any order cause no panic, and all counts are consistent.

use goodqueue_passive::{Analyzer, Place, Tap, Thresholds};
use goodqueue_trace::read::{Datagram, Heading, TcpHeader, Transport};
use goodqueue_types::{Ecn, SegmentFlags};
use proptest::prelude::*;
use std::net::SocketAddr;

/// Numbers that are mostly close to each other, so that the packets resemble a conversation.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..20_000_u32, 1 => any::<u32>()]
}

fn header() -> impl Strategy<Value = TcpHeader> {
    let flags = prop_oneof![8 => Just(0x10_u16), 2 => 0..0x200_u16];
    let stamps = prop::option::of((0..500_u32, 0..500_u32));
    // The reader refuses longer packets.
    let payload = prop_oneof![0..3000_u32, 0..1_u32 << 20];
    let parts = (
        number(),
        number(),
        flags,
        any::<u16>(),
        payload,
        stamps,
        any::<u8>(),
    );
    parts.prop_map(|(seq, ack, flags, window, payload, timestamps, scale)| {
        let mut tcp = TcpHeader::default();
        (tcp.seq, tcp.ack, tcp.flags) = (seq, ack, SegmentFlags(flags));
        (tcp.window, tcp.payload, tcp.timestamps) = (window, payload, timestamps);
        (tcp.scale, tcp.mss) = (Some(scale), Some(window));
        tcp
    })
}

fn packet() -> impl Strategy<Value = (bool, i64, Datagram)> {
    let time = prop_oneof![20 => 0..5_000_000_000_i64, 1 => any::<i64>()];
    let ends = (0..2_u16, any::<bool>());
    (any::<bool>(), time, ends, header(), 0..4_u8).prop_map(|(second, time, ends, tcp, ecn)| {
        let client = SocketAddr::new([10, 0, 0, 1].into(), 5000 + ends.0);
        let server = SocketAddr::new([10, 0, 0, 2].into(), 80);
        let (source, destination) = if ends.1 {
            (client, server)
        } else {
            (server, client)
        };
        let datagram = Datagram {
            source,
            destination,
            protocol: 6,
            id: None,
            ecn: [
                Ecn::NotCapable,
                Ecn::Capable0,
                Ecn::Capable1,
                Ecn::Experienced,
            ][usize::from(ecn)],
            ip_bytes: tcp.payload.saturating_add(40),
            frame_bytes: tcp.payload.saturating_add(54),
            heading: if ends.1 { Heading::In } else { Heading::Out },
            interface: 0,
            cut: false,
            transport: Transport::Tcp(tcp),
        };
        (second, time, datagram)
    })
}

proptest! {
    #[test]
    fn nothing_panics_and_counts_add_up(
        packets in prop::collection::vec(packet(), 0..200), two_taps in any::<bool>(), sorted in any::<bool>(),
        limit in prop_oneof![2 => Just(None), 1 => Just(Some(0.0)), 1 => Just(Some(f64::MAX))],
    ) {
        let mut packets = packets;
        if sorted {
            packets.sort_by_key(|packet| packet.1);
        }
        let mut thresholds = Thresholds::default();
        for (name, usual, _) in Thresholds::ALL {
            prop_assert_eq!(thresholds.set(name, limit.unwrap_or(*usual)), Ok(()));
        }
        let mut analyzer = Analyzer::new(thresholds, two_taps);
        let mut first = 0;
        for (second, time, datagram) in &packets {
            let tap = if *second && two_taps { Tap::Second } else { Tap::First };
            first += u64::from(tap == Tap::First);
            analyzer.packet(tap, *time, datagram);
        }
        let report = analyzer.finish(None, None, 1);
        let counted = report.totals.tcp_packets;
        prop_assert!(counted <= first && first <= counted + report.totals.repeated);
        prop_assert_eq!(report.contradictions(), Vec::<String>::new());
        for flow in &report.flows {
            let shares = flow.shares.receiver + flow.shares.application + flow.shares.congestion;
            prop_assert!((0.0..=1.0 + 1e-9).contains(&shares), "{:?}", flow.shares);
        }
        let lost = report.link.lost_packets;
        let in_series: u64 = report.series.iter().map(|bin| bin.losses).sum();
        prop_assert_eq!(in_series, lost);
        let forward = || report.flows.iter().filter(|flow| flow.forward);
        let of_flows: u64 = forward().map(|flow| flow.counts.lost[Place::Target as usize]).sum();
        prop_assert_eq!(of_flows, lost);
        prop_assert!(report.losses.is_sorted_by_key(|loss| loss.time));
    }
}
