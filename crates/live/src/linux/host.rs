//! A host of an emulated network: a network namespace with one device, whose packets this process
//! reads and writes.

use super::namespace::NetworkNamespace;
use super::netlink::Netlink;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;
use std::process::{Child, Command};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

/// Packets between the kernel of a host and this process. The default of 500 overflows under bursts.
const RING_PACKETS: u32 = 10_000;

/// First port that the kernel chooses for programs that ask for none.
const FIRST_CHOSEN: u16 = 32_768;

/// Parameter with the congestion control of a host's TCP.
const CONTROL: &str = "tcp_congestion_control";

/// Largest IP packet of a host, in bytes.
pub const MTU: u32 = 1500;

/// Index of the loopback device in every network namespace.
const LOOPBACK: u32 = 1;

/// Properties of a host.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// A pair for each flow of the host: its own address, and the address of the flow's other host.
    /// Packets to the second have the first as their source.
    pub pairs: Vec<(IpAddr, IpAddr)>,
    /// Kernel parameters of the host below `/proc/sys/net/ipv4`, by name.
    pub parameters: Vec<(String, String)>,
}

/// A host and its device.
pub struct Host {
    namespace: NetworkNamespace,
    device: SyncDevice,
}

impl Host {
    /// Makes a host.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn new(config: &HostConfig) -> io::Result<Self> {
        let (namespace, device) = NetworkNamespace::with(|| {
            let device = DeviceBuilder::new()
                .name("link")
                .layer(Layer::L3)
                .enable(false)
                .build_sync()
                .map_err(|error| {
                    let text = format!("opening /dev/net/tun: {error}");
                    io::Error::new(error.kind(), text)
                })?;
            device.set_nonblocking(true)?;
            let index = device.if_index()?;
            let mut netlink = Netlink::open()?;
            netlink.switch_on(LOOPBACK, None, None)?;
            // A kernel without IPv6 has no such table.
            let has_ipv6 = Path::new("/proc/thread-self/net/if_inet6").exists();
            let pairs = config
                .pairs
                .iter()
                .filter(|(own, _)| own.is_ipv4() || has_ipv6);
            for (own, _) in pairs.clone() {
                netlink.add_address(index, *own, *own)?;
            }
            netlink.switch_on(index, Some(RING_PACKETS), Some(MTU))?;
            netlink.set_default_route(index)?;
            for (own, other) in pairs {
                netlink.set_route(index, *own, *other)?;
            }
            // The user may ping without privileges. The namespace knows no other group than his.
            set_parameter("ping_group_range", "0 0").ok();
            // The congestion control is always set, so that no later change of the machine's own
            // changes that of the run.
            set_parameter(CONTROL, &parameter(CONTROL)?)?;
            for (name, value) in &config.parameters {
                set_parameter(name, value)?;
            }
            Ok(device)
        })?;
        Ok(Self { namespace, device })
    }

    /// Reads the next packet that the host sends into `bytes`. Returns its length, or none if there
    /// is no packet.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn receive(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        match self.device.recv(bytes) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Lets the host receive a packet.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn deliver(&self, bytes: &[u8]) -> io::Result<()> {
        self.device.send(bytes).map(|_| ())
    }

    /// Returns the number of packets that the kernel dropped before this process read them.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn ring_drops(&self) -> io::Result<u64> {
        let table = self
            .namespace
            .enter(|| fs::read_to_string("/proc/thread-self/net/dev"))?;
        Ok(transmit_drops(&table, "link"))
    }

    /// Returns the values of kernel parameters below `/proc/sys/net/ipv4`, by name. Those that this
    /// kernel does not have are left out.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn parameters(&self, names: &[&str]) -> io::Result<Vec<(String, String)>> {
        self.namespace.enter(|| {
            let read = |name: &&str| Some(((*name).to_owned(), parameter(name).ok()?));
            Ok(names.iter().filter_map(read).collect())
        })
    }

    /// Returns the number of ports that programs of the host have opened, of TCP or UDP.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn open_ports(&self) -> io::Result<usize> {
        let tables = ["tcp", "tcp6", "udp", "udp6"];
        self.namespace.enter(|| {
            let read = |table: &&str| fs::read_to_string(format!("/proc/thread-self/net/{table}"));
            let texts = tables.iter().filter_map(|table| read(table).ok());
            Ok(texts.into_iter().map(|text| open_ports(&text)).sum())
        })
    }

    /// Returns the host's network.
    pub fn network(&self) -> &NetworkNamespace {
        &self.namespace
    }

    /// Starts a command in the host.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn start(&self, command: &mut Command) -> io::Result<Child> {
        self.namespace.enter(|| command.spawn())
    }

    /// Returns the host's device, to wait for its packets.
    pub fn device(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// Returns the number of sockets in a table of the kernel that wait for connections (state 0A), or
/// are unconnected ones of UDP (state 07) whose port was not chosen by the kernel.
fn open_ports(table: &str) -> usize {
    let is_open = |line: &&str| {
        let mut words = line.split_whitespace().skip(1);
        let port = words.next().and_then(|address| address.rsplit(':').next());
        let port = port.and_then(|port| u16::from_str_radix(port, 16).ok());
        let state = words.nth(1);
        state == Some("0A") || state == Some("07") && port.is_some_and(|port| port < FIRST_CHOSEN)
    };
    table.lines().skip(1).filter(is_open).count()
}

fn parameter(name: &str) -> io::Result<String> {
    let text = fs::read_to_string(format!("/proc/sys/net/ipv4/{name}"))?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn set_parameter(name: &str, value: &str) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/ipv4/{name}"), value).map_err(|error| {
        let text = format!("the kernel does not set net.ipv4.{name} to {value}: {error}");
        io::Error::new(error.kind(), text)
    })
}

/// Returns the count of packets that were dropped on their way to a device, from the kernel's table
/// of devices: the 12th number behind the device's name.
fn transmit_drops(table: &str, device: &str) -> u64 {
    let line = table
        .lines()
        .find_map(|line| line.trim().strip_prefix(device));
    let count = line.and_then(|line| line.trim_start_matches(':').split_whitespace().nth(11));
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Host({})", self.device.as_raw_fd())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_that_wait_are_open_ports() {
        let head = "  sl  local_address rem_address   st tx_queue rx_queue\n";
        let line = |port: &str, state: &str| {
            format!("{head}   0: 00000000:{port} 00000000:0000 {state} 0:0\n")
        };
        assert_eq!(open_ports(&line("1451", "0A")), 1);
        assert_eq!(open_ports(&line("0009", "07")), 1);
        assert_eq!(open_ports(&line("9C40", "07")), 0, "a name is looked up");
        assert_eq!(open_ports(&line("1451", "01")), 0, "a connection");
        assert_eq!(open_ports(head), 0);
    }

    #[test]
    fn drops_are_read_from_the_kernel_s_table() {
        let table = "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed\n    lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n  link: 4810 61 0 0 0 0 0 0 96012 114 0 7 0 0 0 0\n";
        assert_eq!(transmit_drops(table, "link"), 7);
        assert_eq!(transmit_drops(table, "lo"), 0);
    }
}
