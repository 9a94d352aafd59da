//! Frames around an IP packet, as the standards of their link layers and tunnels build them.

use crate::files::ipv4;

/// An encapsulation: its name, its link type, and the frame that it makes of an IP packet.
pub struct Encapsulation {
    pub name: &'static str,
    pub link: u16,
    pub frame: fn(&[u8]) -> Vec<u8>,
    /// Bytes of metadata in front of the frame, which were not sent.
    pub metadata: usize,
    /// True if tshark 4.0 decodes it.
    pub tshark: bool,
}

const fn plain(name: &'static str, link: u16, frame: fn(&[u8]) -> Vec<u8>) -> Encapsulation {
    Encapsulation {
        name,
        link,
        frame,
        metadata: 0,
        tshark: true,
    }
}

const fn behind(
    name: &'static str,
    link: u16,
    metadata: usize,
    frame: fn(&[u8]) -> Vec<u8>,
) -> Encapsulation {
    Encapsulation {
        metadata,
        ..plain(name, link, frame)
    }
}

const fn only_ours(name: &'static str, link: u16, frame: fn(&[u8]) -> Vec<u8>) -> Encapsulation {
    Encapsulation {
        tshark: false,
        ..plain(name, link, frame)
    }
}

pub const ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];

fn around(start: &[u8], packet: &[u8]) -> Vec<u8> {
    [start, packet].concat()
}

/// Returns an Ethernet frame whose bytes after the addresses begin with `start`.
fn ethernet(start: &[u8], packet: &[u8]) -> Vec<u8> {
    [&ADDRESSES, start, packet].concat()
}

fn bridged(packet: &[u8]) -> Vec<u8> {
    ethernet(&[8, 0], packet)
}

fn gre(start: &[u8], packet: &[u8]) -> Vec<u8> {
    let payload = around(start, packet);
    let ip = ipv4(47, payload.len() as u16);
    ethernet(&[8, 0], &around(&ip, &payload))
}

/// Returns an Ethernet frame with a UDP datagram to this port.
fn udp(port: u16, start: &[u8], packet: &[u8]) -> Vec<u8> {
    let payload = around(start, packet);
    let length = payload.len() as u16 + 8;
    let mut header = [50_000_u16, port, length, 0].map(u16::to_be_bytes).concat();
    header.extend(payload);
    ethernet(&[8, 0], &around(&ipv4(17, length), &header))
}

/// Header of an IEEE 802.11 data frame from a station to its access point.
const STATION: [u8; 24] = [
    8, 1, 0, 0, 2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x10, 0,
];
const SNAP: [u8; 8] = [0xAA, 0xAA, 3, 0, 0, 0, 8, 0];

fn wireless(packet: &[u8]) -> Vec<u8> {
    [&STATION[..], &SNAP, packet].concat()
}

/// Returns a data frame with quality of service from an access point, where the second address is the access point's.
fn quality_of_service(packet: &[u8]) -> Vec<u8> {
    let mut header = STATION;
    (header[0], header[1]) = (0x88, 2);
    header[4..10].copy_from_slice(&ADDRESSES[..6]);
    header[10..16].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    header[16..22].copy_from_slice(&ADDRESSES[6..]);
    [&header[..], &[0, 0], &SNAP, packet].concat()
}

/// Returns an aggregate with this packet in its only part.
pub fn aggregate(packets: &[&[u8]]) -> Vec<u8> {
    let mut frame = STATION.to_vec();
    frame[0] = 0x88;
    frame.extend([0x80, 0]);
    for packet in packets {
        frame.resize((frame.len() - 26).next_multiple_of(4) + 26, 0);
        frame.extend(ADDRESSES);
        frame.extend((8 + packet.len() as u16).to_be_bytes());
        frame.extend(SNAP);
        frame.extend(*packet);
    }
    frame
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = (4 + value.len() as u16).to_le_bytes().to_vec();
    bytes.extend(kind.to_le_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn netfilter_log(packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 5];
    frame.extend(attribute(1, &[8, 0, 3, 0]));
    frame.extend(attribute(10, b"prefix\0"));
    frame.extend(attribute(5, &[0, 0, 0, 2]));
    frame.extend(attribute(9, packet));
    frame
}

fn pktap(packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; 108];
    for (place, value) in [(0, 108_u32), (4, 1), (8, 1), (36, 1)] {
        frame[place..place + 4].copy_from_slice(&value.to_le_bytes());
    }
    frame[12..15].copy_from_slice(b"en0");
    frame.extend(bridged(packet));
    frame
}

/// A radiotap header with a time and flags, in which the flags follow the time.
fn radiotap(flags: u8) -> Vec<u8> {
    let mut header = vec![0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0];
    header.extend([0; 4]);
    header.extend(7_u64.to_le_bytes());
    header.push(flags);
    header
}

pub const ALL: &[Encapsulation] = &[
    plain("Ethernet", 1, bridged),
    plain("VLAN", 1, |ip| ethernet(&[0x81, 0, 0, 5, 8, 0], ip)),
    plain("Q-in-Q", 1, |ip| {
        ethernet(&[0x88, 0xA8, 0, 7, 0x81, 0, 0, 5, 8, 0], ip)
    }),
    plain("PPPoE", 1, |ip| {
        let length = (ip.len() as u16 + 2).to_be_bytes();
        let start = [0x88, 0x64, 0x11, 0, 0, 1, length[0], length[1], 0, 0x21];
        ethernet(&start, ip)
    }),
    plain("MPLS", 1, |ip| ethernet(&[0x88, 0x47, 0, 1, 0x01, 64], ip)),
    plain("two labels", 1, |ip| {
        ethernet(&[0x88, 0x47, 0, 1, 0x00, 64, 0, 2, 0x01, 63], ip)
    }),
    plain("pseudowire with a control word", 1, |ip| {
        let start = [0x88, 0x47, 0, 0x30, 0x01, 64, 0, 0, 0, 0];
        ethernet(&start, &bridged(ip))
    }),
    only_ours("pseudowire without a control word", 1, |ip| {
        ethernet(&[0x88, 0x47, 0, 1, 0x01, 64], &bridged(ip))
    }),
    plain("LLC and SNAP", 1, |ip| {
        let length = (ip.len() as u16 + 8).to_be_bytes();
        ethernet(&around(&length, &SNAP), ip)
    }),
    only_ours("EDSA in band", 1, |ip| {
        ethernet(&[0xDA, 0xDA, 0, 0, 0xC0, 8, 0, 0, 8, 0], ip)
    }),
    only_ours("DSA in band", 1, |ip| {
        ethernet(&[0xC0, 0x18, 0, 0, 8, 0], ip)
    }),
    only_ours("DSA to the processor", 1, |ip| {
        ethernet(&[0x00, 0x18, 0, 0, 8, 0], ip)
    }),
    only_ours("QCA in band", 1, |ip| ethernet(&[0x98, 0x01, 8, 0], ip)),
    only_ours("MTK in band", 1, |ip| {
        ethernet(&[0x00, 0x02, 0, 0, 8, 0], ip)
    }),
    only_ours("RTL8_4", 1, |ip| {
        ethernet(&[0x88, 0x99, 4, 0, 0, 0, 0, 1, 8, 0], ip)
    }),
    only_ours("RTL4_A", 1, |ip| ethernet(&[0x88, 0x99, 0xA0, 1, 8, 0], ip)),
    plain("GRE", 1, |ip| gre(&[0, 0, 8, 0], ip)),
    plain("GRE with key and sequence number", 1, |ip| {
        gre(&[0x30, 0, 8, 0, 0, 0, 0, 7, 0, 0, 0, 1], ip)
    }),
    plain("GRE with a checksum", 1, |ip| {
        gre(&[0x80, 0, 8, 0, 0, 0, 0, 0], ip)
    }),
    plain("Ethernet in GRE", 1, |ip| {
        gre(&[0, 0, 0x65, 0x58], &bridged(ip))
    }),
    plain("ERSPAN", 1, |ip| {
        let start = [0x10, 0, 0x88, 0xBE, 0, 0, 0, 1, 0x10, 5, 0, 1, 0, 0, 0, 0];
        gre(&start, &bridged(ip))
    }),
    plain("PPTP", 1, |ip| {
        let mut start = vec![0x30, 0x81, 0x88, 0x0B];
        start.extend((ip.len() as u16 + 4).to_be_bytes());
        start.extend([0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0xFF, 3, 0, 0x21]);
        gre(&start, ip)
    }),
    plain("IP in IP", 1, |ip| {
        ethernet(&[8, 0], &around(&ipv4(4, ip.len() as u16), ip))
    }),
    plain("VXLAN", 1, |ip| {
        udp(4789, &[8, 0, 0, 0, 0, 0, 7, 0], &bridged(ip))
    }),
    plain("GENEVE", 1, |ip| {
        let start = [1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 0];
        udp(6081, &start, &bridged(ip))
    }),
    plain("GTP", 1, |ip| {
        let mut start = vec![0x32, 0xFF];
        start.extend((ip.len() as u16 + 4).to_be_bytes());
        start.extend([0, 0, 0, 1, 0, 9, 0, 0]);
        udp(2152, &start, ip)
    }),
    plain("L2TP", 1, |ip| {
        udp(1701, &[0, 2, 0, 1, 0, 2, 0xFF, 3, 0, 0x21], ip)
    }),
    plain("MPLS in UDP", 1, |ip| udp(6635, &[0, 1, 1, 64], ip)),
    plain("TZSP", 1, |ip| udp(37_008, &[1, 0, 0, 1, 1], &bridged(ip))),
    plain("NULL", 0, |ip| around(&[2, 0, 0, 0], ip)),
    plain("LOOP", 108, |ip| around(&[0, 0, 0, 2], ip)),
    plain("PPP", 9, |ip| around(&[0xFF, 3, 0, 0x21], ip)),
    plain("PPP HDLC", 50, |ip| around(&[0xFF, 3, 0, 0x21], ip)),
    behind("PPP with direction", 204, 1, |ip| {
        around(&[1, 0xFF, 3, 0, 0x21], ip)
    }),
    plain("Cisco HDLC", 104, |ip| around(&[0x0F, 0, 8, 0], ip)),
    plain("Frame Relay", 107, |ip| around(&[0x18, 0x41, 3, 0xCC], ip)),
    plain("ATM", 100, |ip| around(&SNAP, ip)),
    plain("raw", 101, <[u8]>::to_vec),
    plain("raw of IPv4", 228, <[u8]>::to_vec),
    plain("SLL", 113, |ip| {
        around(&[0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0], ip)
    }),
    plain("SLL2", 276, |ip| {
        let start = [8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0];
        around(&start, ip)
    }),
    plain("802.11", 105, wireless),
    behind("radiotap", 127, 8, |ip| {
        around(&[0, 0, 8, 0, 0, 0, 0, 0], &wireless(ip))
    }),
    behind("radiotap with QoS and padding", 127, 25, |ip| {
        let mut frame = quality_of_service(ip);
        frame.splice(26..26, [0, 0]);
        around(&radiotap(0x20), &frame)
    }),
    behind("PPI", 192, 8, |ip| {
        around(&[0, 0, 8, 0, 105, 0, 0, 0], &wireless(ip))
    }),
    behind("NFLOG", 239, 36, netfilter_log),
    behind("PKTAP", 258, 108, pktap),
    Encapsulation {
        metadata: 8,
        ..only_ours("mpacket", 274, |ip| {
            around(
                &[0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xD5],
                &bridged(ip),
            )
        })
    },
    only_ours("DSA_TAG_BRCM", 281, |ip| {
        ethernet(&[0x20, 0, 0, 1, 8, 0], ip)
    }),
    only_ours("DSA_TAG_DSA", 283, |ip| {
        ethernet(&[0xC0, 0x18, 0, 0, 8, 0], ip)
    }),
    only_ours("DSA_TAG_EDSA", 284, |ip| {
        ethernet(&[0xDA, 0xDA, 0, 0, 0xC0, 8, 0, 0, 8, 0], ip)
    }),
    only_ours("DSA_TAG_BRCM_PREPEND", 282, |ip| {
        around(&[0x20, 0, 0, 1], &bridged(ip))
    }),
];
