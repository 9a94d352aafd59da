//! What ns-2's queue monitor counts, from a trace.

use super::ns2::{Ns2Event, Ns2Record};
use std::collections::BTreeMap;

/// More (link, type) pairs than any trace of ns-2 has: what comes after is not counted apart.
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
    rows: BTreeMap<((u32, u32), String), [Counts; 4]>,
    span_ns: Option<(i64, i64)>,
}

impl Ns2Totals {
    /// Counts a record.
    pub fn add(&mut self, record: &Ns2Record<'_>) {
        let (first, last) = self.span_ns.unwrap_or((record.time_ns, record.time_ns));
        self.span_ns = Some((first.min(record.time_ns), last.max(record.time_ns)));
        let key = (record.link, record.kind.to_owned());
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
        rows.map(|((link, kind), counts)| (*link, &**kind, counts))
    }

    /// What happened at a link, all types together.
    pub fn at(&self, link: (u32, u32), event: Ns2Event) -> Counts {
        let mut sum = Counts::default();
        for (_, _, counts) in self.rows().filter(|row| row.0 == link) {
            sum.packets += counts[event as usize].packets;
            sum.bytes += counts[event as usize].bytes;
        }
        sum
    }

    /// Times of the first and last record.
    pub fn span_ns(&self) -> Option<(i64, i64)> {
        self.span_ns
    }
}
