//! What ns-2's queue monitor counts, from a trace.

use super::ns2::{Ns2Kind, Ns2Record};
use std::collections::BTreeMap;

/// More (link, type) pairs than any trace of ns-2 has: what comes after is not counted.
const MOST_ROWS: usize = 1 << 16;

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Totals by link and packet type. The monitor's arrivals are enqueued packets (those dropped at
/// arrival have a `+` before their `d`), its departures dequeued ones.
#[derive(Clone, Debug, Default)]
pub struct Ns2Totals {
    rows: BTreeMap<((u32, u32), Ns2Kind), [Counts; 4]>,
}

impl Ns2Totals {
    /// Counts a record.
    pub fn add(&mut self, record: &Ns2Record) {
        let key = (record.link, record.kind);
        if self.rows.len() >= MOST_ROWS && !self.rows.contains_key(&key) {
            return;
        }
        let counts = &mut self.rows.entry(key).or_default()[record.event as usize];
        counts.packets += 1;
        counts.bytes += u64::from(record.size);
    }

    /// Links with a packet type, and what happened to these packets, by `Ns2Event as usize`.
    pub fn rows(&self) -> impl Iterator<Item = ((u32, u32), &str, &[Counts; 4])> {
        let rows = self.rows.iter();
        rows.map(|((link, kind), counts)| (*link, kind.name(), counts))
    }

    /// What happened at each link, all types together.
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
