//! Tests of frames of every link type, and of headers as specified by their RFCs.

use crate::files::{ipv4, tcp, tcp_over_ethernet};
use goodqueue_trace::read::{Datagram, Frame, Heading, LinkType, Skip, Transport, decode};
use goodqueue_types::{Ecn, SegmentFlags};

fn taken_apart(link: u16, bytes: &[u8]) -> Result<Datagram, Skip> {
    decode(&Frame {
        time_ns: 0,
        link: LinkType(link),
        bytes,
        original_len: bytes.len() as u32,
        interface: 0,
        heading: Heading::Unknown,
    })
}

#[test]
fn the_same_segment_in_every_frame() {
    let ip = [ipv4(6, 20 + 1000), tcp(&[])].concat();
    let with = |start: &[u8]| [start, &ip].concat();
    let ethernet = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    let frames = [
        (1, with(&[&ethernet[..], &[8, 0]].concat())),
        (1, with(&[&ethernet[..], &[0x81, 0, 0, 5, 8, 0]].concat())),
        (
            1,
            with(&[&ethernet[..], &[0x88, 0xA8, 0, 7, 0x81, 0, 0, 5, 8, 0]].concat()),
        ),
        (
            1,
            with(&[&ethernet[..], &[0x88, 0x64, 0x11, 0, 0, 1, 4, 6, 0, 0x21]].concat()),
        ),
        (0, with(&[2, 0, 0, 0])),
        (108, with(&[0, 0, 0, 2])),
        (9, with(&[0xFF, 3, 0, 0x21])),
        (50, with(&[0x21])),
        (101, with(&[])),
        (113, with(&[0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0])),
        (
            276,
            with(&[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0]),
        ),
    ];
    for (link, frame) in frames {
        let datagram = taken_apart(link, &frame).unwrap_or_else(|skip| panic!("{link}: {skip:?}"));
        assert_eq!(datagram.source.to_string(), "10.0.0.1:5001");
        assert_eq!(datagram.destination.to_string(), "10.0.0.2:80");
        assert_eq!((datagram.ip_bytes, datagram.ecn), (1040, Ecn::Experienced));
        let Transport::Tcp(header) = datagram.transport else {
            panic!("{link}")
        };
        // The payload counts the bytes sent, although none of them was captured.
        assert_eq!(
            (header.seq, header.ack, header.window, header.payload),
            (7, 9, 256, 1000)
        );
        assert!(
            header
                .flags
                .contains(SegmentFlags::ACK.with(SegmentFlags::PSH))
        );
        let heading = match link {
            1 => Heading::In,
            113 | 276 => Heading::Out,
            _ => Heading::Unknown,
        };
        assert_eq!(datagram.heading, heading, "{link}");
    }
}

#[test]
fn options_of_tcp() {
    let syn = [
        2, 4, 5, 0xB4, 4, 2, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6, 1, 3, 3, 7,
    ];
    let Transport::Tcp(header) = taken_apart(1, &tcp_over_ethernet(&syn, 0))
        .unwrap()
        .transport
    else {
        panic!()
    };
    assert_eq!(
        (header.mss, header.scale, header.sack_permitted),
        (Some(1460), Some(7), true)
    );
    assert_eq!(header.timestamps, Some((5, 6)));

    let sack = [1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4];
    let Transport::Tcp(header) = taken_apart(1, &tcp_over_ethernet(&sack, 0))
        .unwrap()
        .transport
    else {
        panic!()
    };
    assert_eq!(header.sack(), [(1, 2), (3, 4)]);

    // A second SACK option adds its blocks to those of the first.
    let twice = [
        5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 5, 10, 0, 0, 0, 3, 0, 0, 0, 4,
    ];
    let twice = [&[1, 1][..], &twice].concat();
    let Transport::Tcp(header) = taken_apart(1, &tcp_over_ethernet(&twice, 0))
        .unwrap()
        .transport
    else {
        panic!()
    };
    assert_eq!(header.sack(), [(1, 2), (3, 4)]);

    // RFC 9768 section 3.2.3: kind 172 has the counter of ECT(0) first.
    let accecn = [172, 11, 0, 0, 1, 0, 4, 0, 1, 0, 1, 1];
    let Transport::Tcp(header) = taken_apart(1, &tcp_over_ethernet(&accecn, 0))
        .unwrap()
        .transport
    else {
        panic!()
    };
    let counters: Vec<(Ecn, u32)> = header.accecn.counters().collect();
    let expected = [
        (Ecn::Capable0, 1),
        (Ecn::Experienced, 1024),
        (Ecn::Capable1, 65_537),
    ];
    assert_eq!(counters, expected);

    // An option is cut or has an invalid length. The options before it are kept.
    for bad in [[3, 3, 4, 8], [3, 3, 4, 0]] {
        let options = [&bad[..], &[9, 9, 9, 9]].concat();
        let Transport::Tcp(header) = taken_apart(1, &tcp_over_ethernet(&options, 0))
            .unwrap()
            .transport
        else {
            panic!()
        };
        assert_eq!(header.scale, Some(4));
    }
}

#[test]
fn ipv6_with_extension_headers() {
    let mut ip = vec![0x60, 0x10, 0, 0, 0, 8 + 16 + 20 + 4, 0, 64];
    ip.extend([0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    ip.extend([0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    // Hop-by-hop options of 8 bytes, destination options of 16 bytes, then TCP.
    ip.extend([60, 0, 1, 4, 0, 0, 0, 0]);
    ip.extend([6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    ip.extend(tcp(&[]));
    let datagram = taken_apart(101, &ip).unwrap();
    assert_eq!(datagram.source.to_string(), "[fd00::1]:5001");
    assert_eq!((datagram.ip_bytes, datagram.ecn), (88, Ecn::Capable1));
    let Transport::Tcp(header) = datagram.transport else {
        panic!()
    };
    assert_eq!(header.payload, 4);
}

#[test]
fn a_super_segment_without_a_length_has_its_frames() {
    let mut frame = tcp_over_ethernet(&[], 0);
    frame[16..18].fill(0);
    let datagram = decode(&Frame {
        time_ns: 0,
        link: LinkType::ETHERNET,
        bytes: &frame,
        original_len: 14 + 40 + 70_000,
        interface: 0,
        heading: Heading::Unknown,
    });
    let Ok(Transport::Tcp(header)) = datagram.map(|datagram| datagram.transport) else {
        panic!()
    };
    assert_eq!(header.payload, 70_000);
}

#[test]
fn lengths_above_the_largest_packet_are_refused() {
    let mut frame = tcp_over_ethernet(&[], 0);
    frame[16..18].fill(0);
    let long = |original_len| {
        decode(&Frame {
            time_ns: 0,
            link: LinkType::ETHERNET,
            bytes: &frame,
            original_len,
            interface: 0,
            heading: Heading::Unknown,
        })
    };
    assert!(long(1 << 20).is_ok());
    assert_eq!(long((1 << 20) + 1), Err(Skip::BadHeader));
    assert_eq!(long(u32::MAX), Err(Skip::BadHeader));
}

#[test]
fn packets_without_ports_are_left_out_with_the_reason() {
    let tcp = tcp_over_ethernet(&[], 0);
    let changed = |place: usize, value: u8| {
        let mut frame = tcp.clone();
        frame[place] = value;
        frame
    };
    assert_eq!(taken_apart(1, &changed(12, 0x88)), Err(Skip::NotIp));
    assert_eq!(taken_apart(1, &changed(21, 3)), Err(Skip::LaterFragment));
    assert_eq!(taken_apart(1, &changed(14, 0x41)), Err(Skip::BadHeader));
    assert_eq!(taken_apart(1, &changed(46, 0x20)), Err(Skip::BadHeader));
    assert_eq!(taken_apart(1, &tcp[..40]), Err(Skip::CutHeader));
    assert_eq!(taken_apart(1, &tcp[..10]), Err(Skip::CutHeader));
    assert_eq!(taken_apart(189, &tcp), Err(Skip::UnknownLinkType));
    let other = taken_apart(1, &changed(23, 1)).unwrap();
    assert_eq!(
        (other.transport, other.source.port()),
        (Transport::Other, 0)
    );
}
