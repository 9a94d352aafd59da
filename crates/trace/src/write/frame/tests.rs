use super::*;
use goodqueue_types::{AccEcnOption, AccEcnOrder, FastOpenOption, Hosts, SackBlocks};

/// The header is the one that Wikipedia's article on the IPv4 header checksum computes by hand.
#[test]
fn the_checksum_is_the_one_of_a_worked_example() {
    let header = [
        0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 0xC0, 0xA8, 0x00,
        0x01, 0xC0, 0xA8, 0x00, 0xC7,
    ];
    assert_eq!(fold(sum(&header)), 0xB861);
    // RFC 1071 section 3: these words add up to 0xDDF2.
    let words = [0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7];
    assert_eq!(fold(sum(&words)), !0xDDF2);
}

fn packet(flags: SegmentFlags, payload: u32, header: u16) -> Packet {
    Packet {
        hosts: Hosts {
            client: 0,
            server: 1,
        },
        size: u32::from(header) + payload,
        body: Body::Tcp(Segment {
            seq: (1 << 32) + 5,
            ack: 7,
            window: 1 << 20,
            payload,
            header,
            flags,
            ..Segment::default()
        }),
        ..Packet::default()
    }
}

const FACTS: Endpoints = Endpoints {
    ordinal: 0,
    tcp: Some(TcpFacts {
        mss: 1460,
        window_scale: Some(7),
        sack: true,
    }),
    echo: None,
};

#[test]
fn a_syn_has_the_options_of_its_profile_and_an_unscaled_window() {
    let frame = frame(&packet(SegmentFlags::SYN, 0, 52), &FACTS);
    let tcp = &frame.headers()[34..];
    assert_eq!(frame.length, 14 + 52);
    // Sequence numbers wrap. Without the ACK flag, the acknowledgement number is 0.
    assert_eq!(tcp[4..12], [0, 0, 0, 5, 0, 0, 0, 0]);
    assert_eq!((tcp[12] >> 4, tcp[13]), (8, 0x02));
    assert_eq!(tcp[14..16], [0xFF, 0xFF]);
    let mss_sack_scale = [2, 4, 0x05, 0xB4, 4, 2, 1, 1, 1, 3, 3, 7];
    assert_eq!(tcp[20..], mss_sack_scale);
}

#[test]
fn sack_blocks_and_timestamps_are_shown_even_where_the_model_counts_none() {
    let mut packet = packet(SegmentFlags::ACK, 0, 40);
    let Body::Tcp(segment) = &mut packet.body else {
        unreachable!()
    };
    segment.timestamps = Timestamps { value: 1, echo: 2 };
    segment.sack = SackBlocks::default();
    assert!(segment.sack.push(7, 1007, 2007) && segment.sack.push(7, 3007, 4007));
    let frame = frame(&packet, &FACTS);
    // The frame has 12 + 4 + 2 · 8 bytes of options.
    assert_eq!(frame.length, 14 + 40 + 32);
    let tcp = &frame.headers()[34..];
    assert_eq!(tcp[14..16], (1_u16 << 13).to_be_bytes());
    assert_eq!(tcp[20..32], [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
    assert_eq!(tcp[32..40], [1, 1, 5, 18, 0, 0, 0x03, 0xEF]);
}

#[test]
fn options_that_only_the_model_counts_are_padding() {
    let frame = frame(&packet(SegmentFlags::ACK, 1000, 52), &FACTS);
    assert_eq!(frame.length, 14 + 1052);
    assert_eq!(frame.headers()[54..], [0; 12]);
}

/// A sequence number has 16 bits and starts again at 0 (RFC 792).
#[test]
fn the_number_of_a_ping_wraps() {
    let endpoints = Endpoints {
        ordinal: 0,
        tcp: None,
        echo: None,
    };
    let number = |number| {
        let packet = Packet {
            number,
            size: 84,
            body: Body::EchoRequest,
            ..Packet::default()
        };
        frame(&packet, &endpoints).headers()[40..42].to_vec()
    };
    assert_eq!(number(65_534), [0xFF, 0xFF]);
    assert_eq!(number(65_535), [0, 0]);
}

#[test]
fn a_reply_has_the_number_of_its_request() {
    let echo = Echo {
        start: Time(500),
        interval: Span(100),
    };
    let endpoints = Endpoints {
        ordinal: 0,
        tcp: None,
        echo: Some(echo),
    };
    let request = Packet {
        number: 7,
        size: 84,
        sent: Time(1200),
        body: Body::EchoRequest,
        ..Packet::default()
    };
    let reply = Packet {
        // Earlier requests or replies were lost.
        number: 3,
        direction: Direction::Reverse,
        body: Body::EchoReply {
            requested: Time(1200),
        },
        ..request
    };
    let number = |packet| frame(&packet, &endpoints).headers()[38..42].to_vec();
    assert_eq!(number(request), [0, 0, 0, 8]);
    assert_eq!(number(request), number(reply));
    assert_eq!(frame(&reply, &endpoints).headers()[34], 0);
}

/// RFC 9768 section 3.2.3: kind, length and counters of 24 bits. The option and SACK blocks share
/// their padding, as in Linux.
#[test]
fn the_accecn_option_is_written() {
    let mut packet = packet(SegmentFlags::ACK, 0, 52);
    let option = AccEcnOption::new(AccEcnOrder::Capable1First, &[1, 0x01_0203, 1001]);
    let Body::Tcp(segment) = &mut packet.body else {
        unreachable!()
    };
    segment.set_accecn(option);
    let written = frame(&packet, &FACTS);
    let content = [174, 11, 0, 0, 1, 1, 2, 3, 0, 3, 0xE9, 1];
    assert_eq!(written.headers()[34 + 20..], content);
    assert_eq!(written.length, 14 + 40 + 12);
    let Body::Tcp(segment) = &mut packet.body else {
        unreachable!()
    };
    segment.set_accecn(AccEcnOption::new(AccEcnOrder::Capable0First, &[1001]));
    segment.header = 40 + 4 + 12;
    assert!(segment.sack.push(7, 1007, 2007));
    let written = frame(&packet, &FACTS);
    let content = [
        172, 5, 0, 3, 0xE9, 1, 5, 10, 0, 0, 0x03, 0xEF, 0, 0, 0x07, 0xD7,
    ];
    assert_eq!(written.headers()[34 + 20..], content);
}

/// RFC 7413 section 4.1.1: kind 34, the length, and the cookie.
#[test]
fn the_fast_open_option_is_written() {
    let mut packet = packet(SegmentFlags::SYN, 100, 52 + 12);
    let Body::Tcp(segment) = &mut packet.body else {
        unreachable!()
    };
    segment.fast_open = FastOpenOption::Cookie;
    let written = frame(&packet, &FACTS);
    assert_eq!(written.length, 14 + 64 + 100);
    let content = [34, 10, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1];
    assert_eq!(written.headers()[34 + 32..], content);
    let Body::Tcp(segment) = &mut packet.body else {
        unreachable!()
    };
    segment.fast_open = FastOpenOption::Request;
    segment.header = 52 + 4;
    assert_eq!(frame(&packet, &FACTS).headers()[34 + 32..], [34, 2, 1, 1]);
}
