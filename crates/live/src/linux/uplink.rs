//! A way from an emulated network to the outside by translation of addresses (NAT).
//!
//! A pair of virtual devices joins the network of a far host with that of this process. Addresses
//! are translated twice: the far host gives its packets the address of its own device, which is
//! different in each run, and this machine gives them its own address. Nothing outlasts this process
//! and the far host: the devices end with the far host's network, this machine's rules with the
//! socket that made them, and the permission to forward packets from the device with the device.

use super::namespace::NetworkNamespace;
use super::netlink::Netlink;
use super::nftables::{Rule, Table};
use nix::net::if_::if_nametoindex;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::process;

/// First address of the devices, in a network for tests of network devices (RFC 2544 appendix C.2.2).
const FIRST: Ipv4Addr = Ipv4Addr::new(198, 19, 0, 0);
/// Number of pairs of addresses. Pairs are four addresses apart.
const PAIRS: u32 = 1 << 14;
/// Name of the device in the far host.
const FAR_NAME: &str = "uplink";
/// Largest number of uplinks of one process.
const MAX_NAMES: u32 = 1000;

/// The devices, addresses and rules of an uplink, until the value is dropped.
pub struct Uplink {
    netlink: Netlink,
    device: u32,
    name: String,
    _rules: [Table; 2],
}

impl Uplink {
    /// Joins the network of a far host with the present one.
    ///
    /// # Errors
    /// Returns the kernel's error, with the step that failed.
    pub fn join(far: &NetworkNamespace) -> io::Result<Self> {
        let mut netlink = Netlink::open()?;
        let name = add_devices(&mut netlink, far).map_err(step("making a pair of devices"))?;
        let device = if_nametoindex(name.as_str())?;
        let rules = set_up(&mut netlink, far, &name, device);
        if rules.is_err() {
            netlink.remove(device).ok();
        }
        Ok(Self {
            _rules: rules?,
            netlink,
            device,
            name,
        })
    }

    /// Returns the name of this machine's device.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Uplink {
    fn drop(&mut self) {
        // The device may have ended with the far host.
        self.netlink.remove(self.device).ok();
    }
}

/// Makes two devices that are joined, one of them in the far host. Returns the name of the other.
fn add_devices(netlink: &mut Netlink, far: &NetworkNamespace) -> io::Result<String> {
    let process = process::id();
    for number in 0..MAX_NAMES {
        let name = format!("gq{process}n{number}");
        match netlink.add_pair(&name, FAR_NAME, far.as_fd()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| name),
        }
    }
    Err(io::Error::other("all names of devices are taken"))
}

/// Gives both devices addresses, routes and rules. Returns the rules of this machine and of the far
/// host.
fn set_up(
    netlink: &mut Netlink,
    far: &NetworkNamespace,
    name: &str,
    device: u32,
) -> io::Result<[Table; 2]> {
    let [near_address, far_address] = addresses(device);
    let far_rules = far
        .enter(|| set_up_far(far_address, near_address))
        .map_err(step("setting up the far host's device"))?;
    netlink.add_address(device, near_address.into(), far_address.into())?;
    netlink.switch_on(device, None, None)?;
    let forwarding = format!("/proc/sys/net/ipv4/conf/{name}/forwarding");
    fs::write(forwarding, "1").map_err(step("letting the device forward"))?;
    let rules = [Rule::TranslateFrom(far_address), Rule::AnswersOnly(device)];
    let near_rules = Table::new(&format!("goodqueue_{name}"), &rules)
        .map_err(step("making a table of nftables"))?;
    Ok([near_rules, far_rules])
}

/// Gives the far host's device its addresses, and sends packets for other networks there.
fn set_up_far(own: Ipv4Addr, other: Ipv4Addr) -> io::Result<Table> {
    let device = if_nametoindex(FAR_NAME)?;
    let mut netlink = Netlink::open()?;
    netlink.add_address(device, own.into(), other.into())?;
    netlink.switch_on(device, None, None)?;
    netlink.set_gateway(device, other)?;
    fs::write("/proc/sys/net/ipv4/ip_forward", "1")?;
    Table::new(FAR_NAME, &[Rule::TranslateTo(device)]).map_err(step("making a table of nftables"))
}

/// Returns the addresses of a device and of the far host's device with which it is joined.
fn addresses(device: u32) -> [Ipv4Addr; 2] {
    let first = u32::from(FIRST) + 4 * (device % PAIRS);
    [1, 2].map(|host| Ipv4Addr::from(first + host))
}

fn step(name: &'static str) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{name}: {error}"))
}
