//! Number of flows with standing queues that each host has, and the quantum of each flow that
//! follows from it.

use crate::fair::cake::CakeIsolation;
use crate::fair::flows::SetAssociative;
use goodqueue_types::RandomStream;

/// Number of queues in a tin, and of host entries on each side.
pub const QUEUES: u32 = 1024;
/// Number of queues in a set of the set-associative hash.
pub const WAYS: u32 = 8;

/// A whole quantum in 16-bit fixed point.
const WHOLE: u16 = u16::MAX;

/// The hosts of one side, distinguished by a set-associative hash.
#[derive(Clone, Debug)]
struct Side {
    places: SetAssociative,
    hosts: Vec<Host>,
}

/// A host: the number of its flows with standing queues, and the share of a quantum that each of
/// them gets, in 16-bit fixed point. The share changes less often than it is needed.
#[derive(Clone, Copy, Debug)]
struct Host {
    bulk_flows: u16,
    share: u16,
}

impl Host {
    fn set(&mut self, bulk_flows: u16) {
        *self = Self {
            bulk_flows,
            share: WHOLE / bulk_flows.max(1),
        };
    }
}

impl Side {
    fn new() -> Self {
        Self {
            places: SetAssociative::new(QUEUES, WAYS),
            hosts: vec![
                Host {
                    bulk_flows: 0,
                    share: WHOLE
                };
                QUEUES as usize
            ],
        }
    }

    /// Returns the entry of a host. A host with flows keeps its entry.
    fn place(&mut self, hash: u32) -> u16 {
        let hosts = &self.hosts;
        let in_use = |place: u32| hosts[place as usize].bulk_flows > 0;
        self.places.queue(hash, in_use).0 as u16
    }
}

/// Entries of a flow's two hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPair {
    source: u16,
    destination: u16,
}

/// The hosts of a tin.
#[derive(Clone, Debug)]
pub struct HostTable {
    sources: Option<Side>,
    destinations: Option<Side>,
}

impl HostTable {
    /// Bytes of the entry of a host, besides its place in the hash.
    pub const ENTRY_BYTES: usize = size_of::<Host>();

    /// Creates the table for an isolation. Hosts are counted only if flows have queues of their
    /// own.
    pub fn new(isolation: CakeIsolation) -> Self {
        let flows = isolation.separates_flows();
        Self {
            sources: (flows && isolation.sees_sources()).then(Side::new),
            destinations: (flows && isolation.sees_destinations()).then(Side::new),
        }
    }

    /// Returns the entries of two hosts with these hashes.
    pub fn pair(&mut self, source: u32, destination: u32) -> HostPair {
        let place =
            |side: &mut Option<Side>, hash| side.as_mut().map_or(0, |side| side.place(hash));
        HostPair {
            source: place(&mut self.sources, source),
            destination: place(&mut self.destinations, destination),
        }
    }

    /// Increases the number of flows with a standing queue by one for both hosts.
    pub fn add(&mut self, pair: HostPair) {
        for host in self.both(pair) {
            host.set(host.bulk_flows + 1);
        }
    }

    /// Decreases the number of flows with a standing queue by one for both hosts.
    pub fn remove(&mut self, pair: HostPair) {
        for host in self.both(pair) {
            host.set(host.bulk_flows - 1);
        }
    }

    fn both(&mut self, pair: HostPair) -> impl Iterator<Item = &mut Host> {
        let sides = [
            (self.sources.as_mut(), pair.source),
            (self.destinations.as_mut(), pair.destination),
        ];
        sides
            .into_iter()
            .filter_map(|(side, place)| side.map(|side| &mut side.hosts[place as usize]))
    }

    /// Returns the function from a flow's hosts to the bytes that the flow may send in a round:
    /// `whole` divided by the number of flows of the busier host. Random rounding keeps the mean
    /// exact.
    #[inline]
    pub fn quanta<'a>(
        &'a self,
        whole: u32,
        random: &'a mut RandomStream,
    ) -> impl FnMut(HostPair) -> i64 {
        let hosts = |side: &'a Option<Side>| side.as_ref().map_or(&[][..], |side| &side.hosts[..]);
        let (sources, destinations) = (hosts(&self.sources), hosts(&self.destinations));
        let share = |hosts: &[Host], place: u16| {
            let host = hosts.get(usize::from(place));
            host.map_or(WHOLE, |host| host.share)
        };
        move |pair| {
            let share = share(sources, pair.source).min(share(destinations, pair.destination));
            let dither = (random.bits() >> 48) as u32;
            // The product in 16-bit fixed point is at most 1514 · 65535 + 65535.
            i64::from((whole * u32::from(share) + dither) >> 16)
        }
    }

    /// Returns the bytes that a flow of these hosts may send in a round.
    #[inline]
    pub fn quantum(&self, pair: HostPair, whole: u32, random: &mut RandomStream) -> i64 {
        self.quanta(whole, random)(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busier_host_decides() {
        let random = &mut RandomStream::new(1, "test", 0);
        let mut hosts = HostTable::new(CakeIsolation::TripleIsolate);
        let lonely = hosts.pair(1, 2);
        let busy = hosts.pair(3, 4);
        for _ in 0..4 {
            hosts.add(busy);
        }
        hosts.add(lonely);
        let mut mean = |pair| {
            let total: i64 = (0..1000).map(|_| hosts.quantum(pair, 1514, random)).sum();
            total as f64 / 1000.0
        };
        assert!((mean(lonely) - 1514.0).abs() < 0.5);
        assert!((mean(busy) - 1514.0 / 4.0).abs() < 0.5);
        let mixed = HostPair {
            source: lonely.source,
            destination: busy.destination,
        };
        assert!((mean(mixed) - 1514.0 / 4.0).abs() < 0.5);
    }

    #[test]
    fn a_place_is_kept_while_its_host_has_flows() {
        let mut hosts = HostTable::new(CakeIsolation::DualSrcHost);
        let first = hosts.pair(5, 0);
        hosts.add(first);
        let second = hosts.pair(5 + QUEUES, 0);
        assert_ne!(first, second);
        hosts.remove(first);
        assert_eq!(hosts.pair(5 + 2 * QUEUES, 0), first);
        let mut blind = HostTable::new(CakeIsolation::Hosts);
        assert_eq!(blind.pair(1, 2), HostPair::default());
    }
}
