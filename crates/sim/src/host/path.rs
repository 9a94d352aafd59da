//! Delays of a path without other traffic.

use crate::{FlowConfig, Network};
use goodqueue_types::{Bytes, LinkId, Span};

/// Returns the time from host to host of a packet that waits nowhere: transmission at each link (at
/// the mean rate if it changes) and propagation.
pub fn unloaded_delay(network: &Network, route: &[LinkId], ip_bytes: u32) -> Span {
    let links = route.iter();
    links.fold(Span::ZERO, |delay, link| {
        delay + transmission(network, *link, ip_bytes) + network.links[link.0 as usize].delay
    })
}

/// Returns the propagation delay of a route.
pub fn propagation(network: &Network, route: &[LinkId]) -> Span {
    let links = route.iter();
    links.fold(Span::ZERO, |delay, link| {
        delay + network.links[link.0 as usize].delay
    })
}

fn transmission(network: &Network, link: LinkId, ip_bytes: u32) -> Span {
    let link = &network.links[link.0 as usize];
    if link.only_delays() {
        return Span::ZERO;
    }
    let frame = Bytes(link.framing.frame_bytes(ip_bytes));
    link.rate.transmission_time(frame)
}

/// Returns the least time that a bulk flow's bytes can take: the first segment to the server and
/// its acknowledgement back, and in parallel the other segments through the slowest link, with
/// headers and framing. It excludes handshake and slow start, as in the slowdown of Montazeri et
/// al. (Homa, SIGCOMM 2018).
pub fn ideal_time(network: &Network, flow: &FlowConfig) -> Option<Span> {
    let (tcp, Some(bytes)) = flow.workload.as_bulk()? else {
        return None;
    };
    let header = tcp.header_bytes();
    let mss = u64::from(tcp.mss);
    let first = mss.min(bytes) as u32;
    let round_trip = unloaded_delay(network, &flow.forward, first + header)
        + unloaded_delay(network, &flow.reverse, header);
    let rest = bytes - u64::from(first);
    let (full, last) = (rest / mss, (rest % mss) as u32);
    let slowest = flow.forward.iter().map(|link| {
        let tail = (last > 0).then(|| transmission(network, *link, last + header));
        let segments = transmission(network, *link, tcp.mss + header).saturating_mul(full);
        segments + tail.unwrap_or_default()
    });
    Some(round_trip + slowest.max().unwrap_or_default())
}
