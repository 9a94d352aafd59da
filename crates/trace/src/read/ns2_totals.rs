//! The totals that ns-2's queue monitor counts, computed from a trace.

use super::ns2::{Ns2Kind, Ns2Record};
use std::collections::BTreeMap;

/// Largest number of (link, type) pairs, which exceeds that of any trace of ns-2. Further pairs are
/// not counted.
const MAX_ROWS: usize = 1 << 16;

/// Numbers of packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of packets.
    pub packets: u64,
    /// Number of bytes in these packets.
    pub bytes: u64,
}

/// Totals by link and packet type. The monitor's arrivals are the enqueued packets (a packet
/// dropped on arrival has a `+` before its `d`), and its departures are the dequeued packets.
#[derive(Clone, Debug, Default)]
pub struct Ns2Totals {
    rows: BTreeMap<((u32, u32), Ns2Kind), [Counts; 4]>,
}

impl Ns2Totals {
    /// Counts a record.
    pub fn add(&mut self, record: &Ns2Record) {
        let key = (record.link, record.kind);
        if self.rows.len() >= MAX_ROWS && !self.rows.contains_key(&key) {
            return;
        }
        let counts = &mut self.rows.entry(key).or_default()[record.event as usize];
        counts.packets += 1;
        counts.bytes += u64::from(record.size);
    }

    /// Returns the totals of each link and packet type; `Ns2Event as usize` is the index into the
    /// counts.
    pub fn rows(&self) -> impl Iterator<Item = ((u32, u32), &str, &[Counts; 4])> {
        let rows = self.rows.iter();
        rows.map(|((link, kind), counts)| (*link, kind.name(), counts))
    }

    /// Returns the totals of each link over all packet types.
    pub fn links(&self) -> BTreeMap<(u32, u32), [Counts; 4]> {
        let mut links = BTreeMap::<_, [Counts; 4]>::new();
        for (link, _, counts) in self.rows() {
            for (sum, more) in links.entry(link).or_default().iter_mut().zip(counts) {
                sum.packets += more.packets;
                sum.bytes += more.bytes;
            }
        }
        links
    }
}
