//! Link types by their registered numbers (www.tcpdump.org/linktypes.html).

use std::fmt;

/// A link type by its registered number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: the address family in the byte order of the capturing host.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// SLIP, behind a header of 16 bytes.
    pub const SLIP: Self = Self(8);
    /// PPP, with or without its address and control bytes.
    pub const PPP: Self = Self(9);
    /// FDDI.
    pub const FDDI: Self = Self(10);
    /// Raw IP of either version, by the number that some systems use in files.
    pub const RAW_BSD: Self = Self(12);
    /// Raw IP of either version, by the number that OpenBSD uses.
    pub const RAW_OPENBSD: Self = Self(14);
    /// PPP in HDLC-like framing.
    pub const PPP_HDLC: Self = Self(50);
    /// PPP over Ethernet (RFC 2516), without the Ethernet header.
    pub const PPP_ETHER: Self = Self(51);
    /// ATM with LLC (RFC 2684).
    pub const ATM_RFC1483: Self = Self(100);
    /// Raw IP of either version.
    pub const RAW: Self = Self(101);
    /// Cisco HDLC.
    pub const C_HDLC: Self = Self(104);
    /// IEEE 802.11 without metadata.
    pub const IEEE802_11: Self = Self(105);
    /// Frame Relay.
    pub const FRELAY: Self = Self(107);
    /// OpenBSD loopback: the address family with the high byte first.
    pub const LOOP: Self = Self(108);
    /// OpenBSD's `IPsec` interface.
    pub const ENC: Self = Self(109);
    /// Linux "cooked" capture.
    pub const LINUX_SLL: Self = Self(113);
    /// Log of OpenBSD's packet filter.
    pub const PFLOG: Self = Self(117);
    /// IEEE 802.11 behind a header of Prism cards.
    pub const IEEE802_11_PRISM: Self = Self(119);
    /// ATM behind a header of `SunATM`.
    pub const SUNATM: Self = Self(123);
    /// IEEE 802.11 behind a radiotap header.
    pub const IEEE802_11_RADIOTAP: Self = Self(127);
    /// Third number for own purposes, which macOS used for PKTAP.
    pub const USER2: Self = Self(149);
    /// IEEE 802.11 behind an AVS header.
    pub const IEEE802_11_AVS: Self = Self(163);
    /// PPP of Linux's pppd, behind a byte for the direction.
    pub const PPP_PPPD: Self = Self(166);
    /// Metadata in front of a frame of another link type.
    pub const PPI: Self = Self(192);
    /// PPP behind a byte for the direction.
    pub const PPP_WITH_DIR: Self = Self(204);
    /// Cisco HDLC behind a byte for the direction.
    pub const C_HDLC_WITH_DIR: Self = Self(205);
    /// Frame Relay behind a byte for the direction.
    pub const FRELAY_WITH_DIR: Self = Self(206);
    /// IPv4 without a link-layer header.
    pub const IPV4: Self = Self(228);
    /// IPv6 without a link-layer header.
    pub const IPV6: Self = Self(229);
    /// Linux's netfilter log.
    pub const NFLOG: Self = Self(239);
    /// Ethernet behind four bytes of Hilscher's netANALYZER.
    pub const NETANALYZER: Self = Self(240);
    /// Metadata of macOS in front of a frame of another link type.
    pub const PKTAP: Self = Self(258);
    /// Ethernet behind its preamble.
    pub const ETHERNET_MPACKET: Self = Self(274);
    /// Linux "cooked" capture, version 2.
    pub const LINUX_SLL2: Self = Self(276);
    /// Ethernet with the tag of a Broadcom switch behind the addresses.
    pub const DSA_TAG_BRCM: Self = Self(281);
    /// Ethernet behind the tag of a Broadcom switch.
    pub const DSA_TAG_BRCM_PREPEND: Self = Self(282);
    /// Ethernet with the tag of a Marvell switch behind the addresses.
    pub const DSA_TAG_DSA: Self = Self(283);
    /// Ethernet with the tag of a Marvell switch, which has an Ethernet type.
    pub const DSA_TAG_EDSA: Self = Self(284);

    /// Returns the registered name of a link type, if it is among those that captures are known to
    /// have.
    pub fn name(self) -> Option<&'static str> {
        let place = NAMES.binary_search_by_key(&self.0, |(number, _)| *number);
        place.ok().map(|place| NAMES[place].1)
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} ({name})", self.0),
            None => write!(f, "{} (without a known name)", self.0),
        }
    }
}

/// Registered names, by number.
const NAMES: [(u16, &str); 105] = [
    (0, "NULL"),
    (1, "ETHERNET"),
    (3, "AX25"),
    (6, "IEEE802_5"),
    (7, "ARCNET_BSD"),
    (8, "SLIP"),
    (9, "PPP"),
    (10, "FDDI"),
    (12, "RAW"),
    (14, "RAW"),
    (50, "PPP_HDLC"),
    (51, "PPP_ETHER"),
    (99, "SYMANTEC_FIREWALL"),
    (100, "ATM_RFC1483"),
    (101, "RAW"),
    (104, "C_HDLC"),
    (105, "IEEE802_11"),
    (107, "FRELAY"),
    (108, "LOOP"),
    (109, "ENC"),
    (113, "LINUX_SLL"),
    (114, "LTALK"),
    (117, "PFLOG"),
    (119, "IEEE802_11_PRISM"),
    (122, "IP_OVER_FC"),
    (123, "SUNATM"),
    (127, "IEEE802_11_RADIOTAP"),
    (129, "ARCNET_LINUX"),
    (138, "APPLE_IP_OVER_IEEE1394"),
    (139, "MTP2_WITH_PHDR"),
    (140, "MTP2"),
    (141, "MTP3"),
    (142, "SCCP"),
    (143, "DOCSIS"),
    (144, "LINUX_IRDA"),
    (147, "USER0"),
    (148, "USER1"),
    (149, "USER2"),
    (150, "USER3"),
    (151, "USER4"),
    (152, "USER5"),
    (153, "USER6"),
    (154, "USER7"),
    (155, "USER8"),
    (156, "USER9"),
    (157, "USER10"),
    (158, "USER11"),
    (159, "USER12"),
    (160, "USER13"),
    (161, "USER14"),
    (162, "USER15"),
    (163, "IEEE802_11_AVS"),
    (166, "PPP_PPPD"),
    (169, "GPRS_LLC"),
    (177, "LINUX_LAPD"),
    (182, "MFR"),
    (187, "BLUETOOTH_HCI_H4"),
    (189, "USB_LINUX"),
    (192, "PPI"),
    (195, "IEEE802_15_4_WITHFCS"),
    (196, "SITA"),
    (197, "ERF"),
    (201, "BLUETOOTH_HCI_H4_WITH_PHDR"),
    (202, "AX25_KISS"),
    (203, "LAPD"),
    (204, "PPP_WITH_DIR"),
    (205, "C_HDLC_WITH_DIR"),
    (206, "FRELAY_WITH_DIR"),
    (209, "IPMB_LINUX"),
    (212, "LIN"),
    (215, "IEEE802_15_4_NONASK_PHY"),
    (220, "USB_LINUX_MMAPPED"),
    (224, "FC_2"),
    (225, "FC_2_WITH_FRAME_DELIMS"),
    (226, "IPNET"),
    (227, "CAN_SOCKETCAN"),
    (228, "IPV4"),
    (229, "IPV6"),
    (230, "IEEE802_15_4_NOFCS"),
    (231, "DBUS"),
    (235, "DVB_CI"),
    (236, "MUX27010"),
    (237, "STANAG_5066_D_PDU"),
    (239, "NFLOG"),
    (240, "NETANALYZER"),
    (241, "NETANALYZER_TRANSPARENT"),
    (242, "IPOIB"),
    (243, "MPEG_2_TS"),
    (247, "INFINIBAND"),
    (248, "SCTP"),
    (249, "USBPCAP"),
    (251, "BLUETOOTH_LE_LL"),
    (252, "WIRESHARK_UPPER_PDU"),
    (253, "NETLINK"),
    (254, "BLUETOOTH_LINUX_MONITOR"),
    (256, "BLUETOOTH_LE_LL_WITH_PHDR"),
    (258, "PKTAP"),
    (259, "EPON"),
    (271, "VSOCK"),
    (274, "ETHERNET_MPACKET"),
    (276, "LINUX_SLL2"),
    (281, "DSA_TAG_BRCM"),
    (282, "DSA_TAG_BRCM_PREPEND"),
    (283, "DSA_TAG_DSA"),
    (284, "DSA_TAG_EDSA"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_types_are_named_by_number() {
        assert!(NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(LinkType(189).to_string(), "189 (USB_LINUX)");
        assert_eq!(LinkType(65_000).to_string(), "65000 (without a known name)");
    }
}
