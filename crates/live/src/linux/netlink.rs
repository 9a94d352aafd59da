//! Settings of network devices in the present network namespace, by netlink.
//!
//! The older ioctl calls for the length of a device's queue are refused in a user namespace.

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{
    AddressAttribute, AddressFlags, AddressHeader, AddressMessage,
};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkHeader, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Number of the main routing table.
const MAIN_TABLE: u8 = 254;

/// A netlink socket of the network namespace in which it was opened.
pub struct Netlink {
    socket: Socket,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket in the present network namespace.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        let sequence = 0;
        Ok(Self { socket, sequence })
    }

    /// Switches a device on. `queue` is the number of packets that wait between the kernel and the
    /// device, `mtu` the largest IP packet in bytes; without one they stay as they are.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn switch_on(
        &mut self,
        device: u32,
        queue: Option<u32>,
        mtu: Option<u32>,
    ) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header = LinkHeader {
            index: device,
            flags: LinkFlags::Up,
            change_mask: LinkFlags::Up,
            ..LinkHeader::default()
        };
        message
            .attributes
            .extend(queue.map(LinkAttribute::TxQueueLen));
        message.attributes.extend(mtu.map(LinkAttribute::Mtu));
        self.ask(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Gives a device the address `own`, of which it may make use at once: no other host is asked if it has
    /// the same. `other` is the address at the other end, or `own` if there is none.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn add_address(&mut self, device: u32, own: IpAddr, other: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header = AddressHeader {
            family: family(own),
            prefix_len: bits(own),
            index: device,
            ..AddressHeader::default()
        };
        message.attributes = vec![
            AddressAttribute::Local(own),
            AddressAttribute::Address(other),
            AddressAttribute::Flags(AddressFlags::Nodad),
        ];
        self.ask(
            RouteNetlinkMessage::NewAddress(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Makes a pair of joined devices: `own` in the present network namespace and `other` in another one.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn add_pair(&mut self, own: &str, other: &str, far: BorrowedFd<'_>) -> io::Result<()> {
        let mut peer = LinkMessage::default();
        peer.attributes = vec![
            LinkAttribute::IfName(other.to_owned()),
            LinkAttribute::NetNsFd(far.as_raw_fd()),
        ];
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(own.to_owned()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
            ]),
        ];
        self.ask(
            RouteNetlinkMessage::NewLink(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Removes a device.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn remove(&mut self, device: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        self.ask(RouteNetlinkMessage::DelLink(message), 0)
    }

    /// Sends all IPv4 packets for other addresses to `gateway`, which this device reaches, in place of
    /// where they were sent before.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn set_gateway(&mut self, device: u32, gateway: Ipv4Addr) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header = RouteHeader {
            scope: RouteScope::Universe,
            ..route_header(AddressFamily::Inet)
        };
        message.attributes = vec![
            RouteAttribute::Oif(device),
            RouteAttribute::Gateway(RouteAddress::Inet(gateway)),
        ];
        self.ask(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    /// Sends all IPv4 packets for other addresses to this device.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn set_default_route(&mut self, device: u32) -> io::Result<()> {
        self.add_route(device, None)
    }

    /// Sends packets for the address `to` to this device, with the source `from` if their program
    /// chooses none.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn set_route(&mut self, device: u32, from: IpAddr, to: IpAddr) -> io::Result<()> {
        self.add_route(device, Some((from, to)))
    }

    fn add_route(&mut self, device: u32, pair: Option<(IpAddr, IpAddr)>) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header = RouteHeader {
            destination_prefix_length: pair.map_or(0, |(_, to)| bits(to)),
            ..route_header(pair.map_or(AddressFamily::Inet, |(_, to)| family(to)))
        };
        message.attributes = vec![RouteAttribute::Oif(device)];
        if let Some((from, to)) = pair {
            message.attributes.extend([
                RouteAttribute::Destination(route_address(to)),
                RouteAttribute::PrefSource(route_address(from)),
            ]);
        }
        self.ask(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Sends a request and waits for its acknowledgement.
    fn ask(&mut self, request: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.sequence += 1;
        let mut message = NetlinkMessage::from(request);
        message.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        message.header.sequence_number = self.sequence;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer);
        match answer.map_err(io::Error::other)?.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(()),
        }
    }
}

/// Returns the header of a route to hosts that a device reaches by itself.
fn route_header(address_family: AddressFamily) -> RouteHeader {
    RouteHeader {
        address_family,
        table: MAIN_TABLE,
        protocol: RouteProtocol::Static,
        scope: RouteScope::Link,
        kind: RouteType::Unicast,
        ..RouteHeader::default()
    }
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// Returns the length of an address in bits.
fn bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}
