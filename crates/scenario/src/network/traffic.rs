//! Traffic of each link: base round-trip times and the largest packets.

use crate::flow::FlowGroup;
use crate::flow::workload::largest_packet;
use crate::network::layout::PlacedFlow;
use crate::network::topology::link_of;
use goodqueue_types::{Framing, LinkId, Span};

/// Bytes of an IP packet in a full Ethernet payload, used if no packet size is known.
const FULL_PACKET: u64 = 1_500;

/// Traffic of a scenario's flows on its links.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    /// Base round-trip times of each link.
    base_rtts: Vec<BaseRtts>,
    base_rtt_of_all: BaseRtts,
    /// Largest packet of each direction of a link.
    largest_packets: Vec<u64>,
    /// Largest packet from hosts at the near ends of paths, and from those at the far ends.
    largest_of_hosts: [u64; 2],
}

/// Base round-trip times of TCP flows, and of others.
#[derive(Clone, Debug, Default)]
struct BaseRtts {
    tcp: Sums,
    other: Sums,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u32,
    picoseconds: u128,
    /// Sum of the reciprocals of seconds.
    inverse: f64,
}

impl BaseRtts {
    fn add(&mut self, base_rtt: Span, is_tcp: bool) {
        let sums = if is_tcp {
            &mut self.tcp
        } else {
            &mut self.other
        };
        sums.count += 1;
        sums.picoseconds += u128::from(base_rtt.0);
        sums.inverse += 1.0 / base_rtt.as_secs_f64();
    }

    /// Returns the sums of the TCP flows, or of all flows if none is TCP; `None` without flows.
    fn sums(&self) -> Option<Sums> {
        let sums = if self.tcp.count > 0 {
            self.tcp
        } else {
            self.other
        };
        (sums.count > 0).then_some(sums)
    }

    fn mean(&self) -> Option<Span> {
        let Sums {
            count, picoseconds, ..
        } = self.sums()?;
        let count = u128::from(count);
        Some(Span(((picoseconds + count / 2) / count) as u64))
    }

    fn harmonic_mean(&self) -> Option<Span> {
        let sums = self.sums()?;
        Some(Span::from_secs_f64(f64::from(sums.count) / sums.inverse))
    }
}

impl Traffic {
    /// Returns the traffic of these flows, `placed` individually, on `links` links.
    pub(crate) fn new(links: usize, groups: &[FlowGroup], placed: &[PlacedFlow]) -> Self {
        let mut traffic = Self {
            base_rtts: vec![BaseRtts::default(); links],
            base_rtt_of_all: BaseRtts::default(),
            largest_packets: vec![0; 2 * links],
            largest_of_hosts: [0; 2],
        };
        for flow in placed {
            let group = &groups[flow.group()];
            let path = group.paths.at(flow.index());
            let is_tcp = group.is_tcp();
            traffic.base_rtt_of_all.add(flow.base_rtt, is_tcp);
            for link in &path.links {
                traffic.base_rtts[*link].add(flow.base_rtt, is_tcp);
            }
        }
        for group in groups {
            let packets = [false, true].map(|back| largest_packet(&group.workload, back));
            for path in group.paths.each() {
                for (way, packet) in [&path.forward, &path.reverse].into_iter().zip(packets) {
                    for direction in way {
                        let largest = &mut traffic.largest_packets[direction.0 as usize];
                        *largest = packet.max(*largest);
                    }
                }
                for (back, packet) in packets.into_iter().enumerate() {
                    let largest =
                        &mut traffic.largest_of_hosts[back ^ usize::from(path.reversed())];
                    *largest = packet.max(*largest);
                }
            }
        }
        traffic
    }

    /// Returns the mean base round-trip time of the TCP flows that cross a link in either
    /// direction, or of all flows there if none is TCP.
    pub(crate) fn mean_base_rtt(&self, link: usize) -> Option<Span> {
        self.base_rtts[link].mean()
    }

    /// Returns the mean over all flows.
    pub(crate) fn mean_base_rtt_of_all(&self) -> Option<Span> {
        self.base_rtt_of_all.mean()
    }

    /// Returns the mean on the link of this direction.
    pub(crate) fn mean_base_rtt_on(&self, direction: LinkId) -> Option<Span> {
        self.mean_base_rtt(link_of(direction).0)
    }

    /// Returns the harmonic mean of the same times: the effective round-trip time of Dhamdhere,
    /// Jiang and Dovrolis (INFOCOM 2005, equation 12).
    pub(crate) fn effective_rtt(&self, link: usize) -> Option<Span> {
        self.base_rtts[link].harmonic_mean()
    }

    /// Returns the largest frame that flows send over one direction of a link. It has a full
    /// Ethernet payload if no flow sends there, or only flows without replies.
    pub(crate) fn largest_frame(&self, direction: LinkId, framing: Framing) -> u64 {
        frame(self.largest_packets[direction.0 as usize], framing)
    }

    /// Returns the largest frame that any flow sends over a link that all could cross in either
    /// direction.
    pub(crate) fn largest_frame_of_hosts(&self, framing: Framing) -> u64 {
        let frames = self.largest_of_hosts.map(|packet| frame(packet, framing));
        frames[0].max(frames[1])
    }
}

fn frame(packet: u64, framing: Framing) -> u64 {
    let packet = if packet > 0 { packet } else { FULL_PACKET };
    framing.frame_bytes(packet as u32)
}
