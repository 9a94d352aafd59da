//! Addresses and names of hosts.
//!
//! Each flow has a pair of addresses of its own, even if it shares its hosts with other flows, and one
//! such pair for each version of IP. The addresses of a packet thus show its flow and direction.

use goodqueue_sim::Network;
use goodqueue_types::{Direction, FlowId};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// First six of the eight words of the hosts' IPv6 addresses, a unique local prefix (RFC 4193). The
/// seventh is the flow, and the last is 1 for the client and 2 for the server.
const PREFIX: [u16; 6] = [0xfd67, 0x6f6f, 0x6471, 0, 0, 0];

/// Returns the IPv6 addresses of a flow's client and server.
pub fn addresses6(flow: FlowId) -> [Ipv6Addr; 2] {
    [1, 2].map(|host| {
        let mut words = [flow.0 as u16; 8];
        words[..6].copy_from_slice(&PREFIX);
        words[7] = host;
        Ipv6Addr::from(words)
    })
}

/// Returns the flow with this IPv6 address, and true for its server; none for other addresses.
fn flow_at6(address: Ipv6Addr) -> Option<(FlowId, bool)> {
    let [prefix @ .., flow, host] = address.segments();
    let is_ours = prefix == PREFIX && matches!(host, 1..=2);
    is_ours.then_some((FlowId(flow.into()), host == 2))
}

/// Returns the IPv4 addresses of a flow's client and server.
pub fn addresses(flow: FlowId) -> [Ipv4Addr; 2] {
    let [.., high, low] = flow.0.to_be_bytes();
    [1, 2].map(|host| Ipv4Addr::new(10, 64 + high / 64, low, host + 4 * (high % 64)))
}

/// Returns the flow with this address, and true for its server; none for other addresses.
fn flow_at(address: Ipv4Addr) -> Option<(FlowId, bool)> {
    let [ten, high, low, last] = address.octets();
    let high = high.checked_sub(64).filter(|high| *high < 4)? * 64 + last / 4;
    let flow = FlowId(u32::from_be_bytes([0, 0, high, low]));
    match last % 4 {
        host @ 1..=2 if ten == 10 => Some((flow, host == 2)),
        _ => None,
    }
}

/// The hosts of a network, numbered in order of the flows.
#[derive(Clone, Debug)]
pub struct HostTable {
    /// Hosts of each flow: its client and its server.
    of: Vec<[usize; 2]>,
    /// Ends at each host: flow, and true for its server.
    ends: Vec<Vec<(FlowId, bool)>>,
}

impl HostTable {
    /// Returns the hosts of all flows of a network.
    pub fn new(network: &Network) -> Self {
        let mut numbers = BTreeMap::new();
        let mut ends: Vec<Vec<(FlowId, bool)>> = Vec::new();
        let flows = network.flows.iter().enumerate();
        let of = flows.map(|(flow, config)| {
            let flow = FlowId(flow as u32);
            let both = [(config.hosts.client, false), (config.hosts.server, true)];
            both.map(|(id, is_server)| {
                let host = *numbers.entry(id).or_insert(ends.len());
                if host == ends.len() {
                    ends.push(Vec::new());
                }
                ends[host].push((flow, is_server));
                host
            })
        });
        let of = of.collect();
        Self { of, ends }
    }

    /// Returns the number of hosts.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the host at one end of a flow.
    pub fn host(&self, flow: FlowId, is_server: bool) -> usize {
        self.of[flow.0 as usize][usize::from(is_server)]
    }

    /// Returns the address of a host and that of the other host, for each flow that ends at it and each
    /// version of IP.
    pub fn pairs(&self, host: usize) -> Vec<(IpAddr, IpAddr)> {
        let ends = self.ends[host].iter();
        ends.flat_map(|(flow, is_server)| {
            let both = [
                addresses(*flow).map(IpAddr::from),
                addresses6(*flow).map(IpAddr::from),
            ];
            both.map(|[client, server]| {
                if *is_server {
                    (server, client)
                } else {
                    (client, server)
                }
            })
        })
        .collect()
    }

    /// Returns the flow and direction of an IP packet that a host sends. A packet to any other
    /// address than those of its flows counts as one of the host's first flow.
    pub fn way(&self, host: usize, bytes: &[u8]) -> (FlowId, Direction) {
        let ends = &self.ends[host];
        let addressed = match destination(bytes) {
            Some(IpAddr::V4(address)) => flow_at(address),
            Some(IpAddr::V6(address)) => flow_at6(address),
            None => None,
        };
        let own = addressed.map(|(flow, to_server)| (flow, !to_server));
        let own = own.filter(|end| ends.contains(end)).unwrap_or(ends[0]);
        match own {
            (flow, false) => (flow, Direction::Forward),
            (flow, true) => (flow, Direction::Reverse),
        }
    }

    /// Returns the lines by which a program at one end of a flow finds hosts by name, as in
    /// `/etc/hosts`: `client` and `server` of its flow, and `client-2` and `server-2` of the second
    /// flow and so on, if the flow also ends at the program's host. `client6`, `server6`, `client6-2` and
    /// so on are the IPv6 addresses, which have names of their own because programs would prefer them.
    pub fn names(&self, flow: FlowId, is_server: bool) -> String {
        let mut lines = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
        let mut name = |flow: FlowId, suffix: &str| {
            let [client, server] = addresses(flow);
            let _ = writeln!(lines, "{client} client{suffix}\n{server} server{suffix}");
            let [client, server] = addresses6(flow);
            let _ = writeln!(lines, "{client} client6{suffix}\n{server} server6{suffix}");
        };
        name(flow, "");
        for (other, _) in &self.ends[self.host(flow, is_server)] {
            name(*other, &format!("-{}", other.0 + 1));
        }
        lines
    }
}

/// Returns true if a packet must not leave the link at which it was sent: no router forwards the packets
/// by which a host finds routers and neighbours (RFC 4291 section 2.7).
pub fn stays_on_link(bytes: &[u8]) -> bool {
    match destination(bytes) {
        Some(IpAddr::V6(address)) => {
            let [first, second, ..] = address.octets();
            address.is_unicast_link_local() || first == 0xff && second & 0x0f <= 2
        }
        Some(IpAddr::V4(address)) => {
            address.is_link_local() || address.octets()[..3] == [224, 0, 0]
        }
        None => false,
    }
}

/// Returns the destination of an IP packet.
fn destination(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.first()? >> 4 {
        4 => {
            let address: [u8; 4] = bytes.get(16..20)?.try_into().ok()?;
            Some(Ipv4Addr::from(address).into())
        }
        6 => {
            let address: [u8; 16] = bytes.get(24..40)?.try_into().ok()?;
            Some(Ipv6Addr::from(address).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_queue::Limit;
    use goodqueue_sim::{SourceConfig, WorkloadConfig};
    use goodqueue_testkit::dumbbell::Dumbbell;
    use goodqueue_testkit::networks;
    use goodqueue_types::{Hosts, Rate, Span, Time};
    use proptest::prelude::*;

    /// The first bytes of an IP packet to this address.
    fn packet_to(address: impl Into<IpAddr>) -> Vec<u8> {
        match address.into() {
            IpAddr::V4(address) => [&[0x45; 16][..], &address.octets()].concat(),
            IpAddr::V6(address) => [&[0x60; 24][..], &address.octets()].concat(),
        }
    }

    proptest! {
        #[test]
        fn an_address_names_its_flow(flow in 0..u32::from(u16::MAX)) {
            let [client, server] = addresses(FlowId(flow));
            prop_assert_eq!(flow_at(client), Some((FlowId(flow), false)));
            prop_assert_eq!(flow_at(server), Some((FlowId(flow), true)));
            let [client, server] = addresses6(FlowId(flow));
            prop_assert_eq!(flow_at6(client), Some((FlowId(flow), false)));
            prop_assert_eq!(flow_at6(server), Some((FlowId(flow), true)));
        }

        #[test]
        fn packets_between_shared_hosts_belong_to_their_flow(
            mut network in networks(),
            hosts in prop::collection::vec((0..3_u16, 3..6_u16), 5),
        ) {
            for (flow, (client, server)) in network.flows.iter_mut().zip(hosts) {
                flow.hosts = Hosts { client, server };
            }
            let table = HostTable::new(&network);
            for flow in (0..network.flows.len() as u32).map(FlowId) {
                let [client, server] = addresses(flow);
                let [near, far] = [false, true].map(|is_server| table.host(flow, is_server));
                prop_assert_eq!(table.way(near, &packet_to(server)), (flow, Direction::Forward));
                prop_assert_eq!(table.way(far, &packet_to(client)), (flow, Direction::Reverse));
                prop_assert!(table.pairs(near).contains(&(client.into(), server.into())));
                let [client6, server6] = addresses6(flow);
                let reverse = (flow, Direction::Reverse);
                prop_assert_eq!(table.way(far, &packet_to(client6)), reverse);
                prop_assert!(table.pairs(far).contains(&(server6.into(), client6.into())));
                let names = table.names(flow, false);
                let wanted = format!("{server} server\n");
                prop_assert!(names.contains(&wanted));
                let wanted = format!("{server} server-{}\n", flow.0 + 1);
                prop_assert!(names.contains(&wanted));
            }
        }
    }

    #[test]
    fn no_router_forwards_what_hosts_send_to_their_neighbours() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        for neighbour in [
            "ff02::2",
            "ff02::16",
            "fe80::1",
            "224.0.0.22",
            "169.254.0.1",
        ] {
            assert!(stays_on_link(&packet_to(address(neighbour))), "{neighbour}");
        }
        for other in ["ff05::1", "fd67::1", "2001:db8::1", "224.0.1.1", "8.8.8.8"] {
            assert!(!stays_on_link(&packet_to(address(other))), "{other}");
        }
        assert!(!stays_on_link(&[]));
    }

    #[test]
    fn packets_to_other_addresses_belong_to_the_first_flow() {
        let ping = WorkloadConfig::Source(SourceConfig::Ping {
            interval: Span::from_millis(10),
            packet: 84,
        });
        let mut network = Dumbbell {
            seed: 1,
            rate: Rate(1_000_000),
            access_rate: Rate(1_000_000),
            limit: Limit::Unlimited,
            round_trip: Span::from_millis(40),
            warmup: Time::ZERO,
            end: Time::ZERO + Span::from_secs(1),
        }
        .network(vec![(Time::ZERO, ping.clone()), (Time::ZERO, ping)]);
        for flow in &mut network.flows {
            flow.hosts = Hosts {
                client: 0,
                server: 1,
            };
        }
        let table = HostTable::new(&network);
        let first = (FlowId(0), Direction::Forward);
        assert_eq!(table.way(0, &packet_to(Ipv4Addr::new(8, 8, 8, 8))), first);
        assert_eq!(table.way(0, &[0x60; 40]), first);
        assert_eq!(table.way(0, &[]), first);
    }
}
