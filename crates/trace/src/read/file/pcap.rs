//! The classic pcap format: a file header, then records that consist of a 16-byte header and a
//! frame (draft-ietf-opsawg-pcap).

use super::capture::{Format, Head, LARGEST_RECORD, MAX_DAMAGE};
use super::source::Source;
use crate::read::bytes::Order;
use crate::read::packet::{Heading, LinkType};
use crate::read::tally::{Skip, Tally};
use std::io::{self, Read};

const RECORD_HEADER: usize = 16;

/// Largest difference in time between two records on either side of damage, in seconds.
const SAME_TIME_S: u64 = 24 * 3600;

/// Parameters of a file's records, from the file header.
pub struct Pcap {
    order: Order,
    nanoseconds: bool,
    link: LinkType,
    last_s: Option<u32>,
}

/// Header of a record.
struct Record {
    seconds: u32,
    fraction: u32,
    captured: usize,
    original: u32,
}

impl Pcap {
    /// Parses the file header. Returns none if `start` is no file header of pcap.
    pub fn begins(start: &[u8]) -> Option<Self> {
        let header: &[u8; 24] = start.get(..24)?.try_into().ok()?;
        let (order, nanoseconds) = match header[..4] {
            [0xD4, 0xC3, 0xB2, 0xA1] => (Order::Little, false),
            [0xA1, 0xB2, 0xC3, 0xD4] => (Order::Big, false),
            [0x4D, 0x3C, 0xB2, 0xA1] => (Order::Little, true),
            [0xA1, 0xB2, 0x3C, 0x4D] => (Order::Big, true),
            _ => return None,
        };
        // The upper bits state whether frames end with a checksum, which the IP length excludes.
        let link = order.word(header, 20)? & 0xFFFF;
        Some(Self {
            order,
            nanoseconds,
            link: LinkType(link as u16),
            last_s: None,
        })
    }

    pub fn format(&self) -> Format {
        if self.nanoseconds {
            Format::PcapNanoseconds
        } else {
            Format::Pcap
        }
    }

    /// Returns the next frame, or none at the end.
    pub fn next<R: Read>(
        &mut self,
        source: &mut Source<R>,
        tally: &mut Tally,
    ) -> io::Result<Option<Head>> {
        loop {
            let Some(bytes) = source.whole(RECORD_HEADER, tally)? else {
                return Ok(None);
            };
            let Some(record) = self.record(bytes) else {
                if !self.find_next(source, tally)? {
                    return Ok(None);
                }
                continue;
            };
            let length = RECORD_HEADER + record.captured;
            if source.whole(length, tally)?.is_none() {
                return Ok(None);
            }
            self.last_s = Some(record.seconds);
            return Ok(Some(self.head(&record, length)));
        }
    }

    fn head(&self, record: &Record, length: usize) -> Head {
        let unit = if self.nanoseconds { 1 } else { 1000 };
        Head {
            time_ns: i64::from(record.seconds) * 1_000_000_000 + i64::from(record.fraction) * unit,
            link: self.link,
            bytes: RECORD_HEADER..length,
            original_len: record.original,
            interface: 0,
            heading: Heading::Unknown,
            record: length,
        }
    }

    /// Parses the record header at the front of `bytes`. Returns none if it cannot be one.
    fn record(&self, bytes: &[u8]) -> Option<Record> {
        let field = |at| self.order.word(bytes, at);
        let record = Record {
            seconds: field(0)?,
            fraction: field(4)?,
            captured: field(8)? as usize,
            original: field(12)?,
        };
        let second = if self.nanoseconds {
            1_000_000_000
        } else {
            1_000_000
        };
        // A record of zeros is the content of a disk that was never written.
        let is_frame = record.captured > 0 || record.original > 0;
        let fits = record.captured <= LARGEST_RECORD && record.fraction < second;
        (is_frame && fits).then_some(record)
    }

    /// Skips damaged bytes up to a place where two valid records follow one another. Returns
    /// whether such a place exists.
    fn find_next<R: Read>(&self, source: &mut Source<R>, tally: &mut Tally) -> io::Result<bool> {
        for _ in 0..MAX_DAMAGE {
            source.consume(1);
            tally.add(Skip::DamagedBytes);
            let bytes = source.fill(RECORD_HEADER)?;
            if bytes.len() < RECORD_HEADER {
                tally.add_many(Skip::DamagedBytes, bytes.len() as u64);
                let rest = bytes.len();
                source.consume(rest);
                return Ok(false);
            }
            let Some(record) = self.record(bytes).filter(|record| self.follows(record)) else {
                continue;
            };
            let length = RECORD_HEADER + record.captured;
            let after = source.fill(length + RECORD_HEADER)?.get(length..);
            let next =
                after.map(|bytes| self.record(bytes).is_some_and(|next| self.follows(&next)));
            if next.unwrap_or(false) || after.is_some_and(<[u8]>::is_empty) {
                return Ok(true);
            }
        }
        tally.add(Skip::CutRecord);
        Ok(false)
    }

    /// Returns whether a record found among damaged bytes is plausible after the last valid record.
    fn follows(&self, record: &Record) -> bool {
        let near = |last: u32| u64::from(last.abs_diff(record.seconds)) <= SAME_TIME_S;
        record.captured > 0
            && record.original as usize >= record.captured
            && record.original as usize <= LARGEST_RECORD
            && self.last_s.is_none_or(near)
    }
}
