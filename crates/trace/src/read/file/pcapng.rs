//! The pcapng format (draft-ietf-opsawg-pcapng), in which a file consists of sections, and a
//! section of blocks.

use super::capture::{Head, LARGEST_RECORD, MAX_DAMAGE};
use super::source::Source;
use crate::read::bytes::Order;
use crate::read::packet::{Heading, LinkType};
use crate::read::tally::{Skip, Tally};
use std::io::{self, Read};
use std::ops::Range;

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Bytes of a block's type and length before its body and of its repeated length after it.
const FRAMING: usize = 12;
/// Bytes of an enhanced packet's fields before its frame. An obsolete packet has as many.
const PACKET_FIELDS: usize = 20;
/// Largest length of a block, in bytes, with room for a packet and its options.
const LARGEST_BLOCK: usize = LARGEST_RECORD + (1 << 16);
/// Largest number of interfaces that are remembered in a section. A file that describes more must
/// be malicious.
const MAX_INTERFACES: usize = 1 << 16;

const NANOS: i64 = 1_000_000_000;

#[derive(Clone, Copy)]
struct Interface {
    link: LinkType,
    snap: u32,
    clock: Clock,
}

/// Unit and epoch of an interface's timestamps.
#[derive(Clone, Copy)]
struct Clock {
    ticks_per_second: u64,
    offset_s: i64,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            ticks_per_second: 1_000_000,
            offset_s: 0,
        }
    }
}

impl Clock {
    /// Converts a timestamp to nanoseconds, rounded down.
    fn nanoseconds(self, ticks: u64) -> i64 {
        let second = u128::from(self.ticks_per_second);
        let nanos = u128::from(ticks) * NANOS as u128 / second;
        let nanos = i64::try_from(nanos).unwrap_or(i64::MAX);
        nanos.saturating_add(self.offset_s.saturating_mul(NANOS))
    }
}

/// State of reading a pcapng file.
pub struct PcapNg {
    order: Order,
    interfaces: Vec<Interface>,
    seen: usize,
}

impl PcapNg {
    pub fn new() -> Self {
        Self {
            order: Order::Little,
            interfaces: Vec::new(),
            seen: 0,
        }
    }

    /// Returns whether a file begins with a section.
    pub fn begins(start: &[u8]) -> bool {
        start.len() >= FRAMING
            && field(Order::Little, start, 0) == SECTION
            && order_of(start).is_some()
    }

    pub fn interfaces_seen(&self) -> usize {
        self.seen
    }

    /// Returns the next frame, or none at the end.
    pub fn next<R: Read>(
        &mut self,
        source: &mut Source<R>,
        tally: &mut Tally,
    ) -> io::Result<Option<Head>> {
        loop {
            let Some(bytes) = source.whole(FRAMING, tally)? else {
                return Ok(None);
            };
            let Some((kind, length)) = self.frame_of(bytes) else {
                if !self.find_next(source, tally)? {
                    return Ok(None);
                }
                continue;
            };
            if length > LARGEST_BLOCK {
                // The length must be damaged: skipping that many bytes could skip gigabytes of
                // valid blocks.
                tally.add(Skip::OversizedRecord);
                if !self.find_next(source, tally)? {
                    return Ok(None);
                }
                continue;
            }
            let Some(block) = source.whole(length, tally)? else {
                return Ok(None);
            };
            if field(self.order, block, length - 4) as usize != length {
                if !self.find_next(source, tally)? {
                    return Ok(None);
                }
                continue;
            }
            if let Some(head) = self.read(kind, &block[..length], tally) {
                return Ok(Some(head));
            }
            source.consume(length);
        }
    }

    /// Parses the type and length of the block at the front. Returns none if it cannot be a block.
    /// A section header sets the byte order.
    fn frame_of(&mut self, bytes: &[u8]) -> Option<(u32, usize)> {
        // The type of a section header reads the same in both byte orders.
        let kind = field(self.order, bytes, 0);
        if kind == SECTION {
            self.order = order_of(bytes)?;
        }
        let length = field(self.order, bytes, 4) as usize;
        (length >= FRAMING && length.is_multiple_of(4)).then_some((kind, length))
    }

    /// Skips damaged bytes up to a block whose two lengths agree. Returns whether there is one.
    fn find_next<R: Read>(&self, source: &mut Source<R>, tally: &mut Tally) -> io::Result<bool> {
        for _ in 0..MAX_DAMAGE {
            source.consume(1);
            tally.add(Skip::DamagedBytes);
            let bytes = source.fill(FRAMING)?;
            if bytes.len() < FRAMING {
                let rest = bytes.len();
                tally.add_many(Skip::DamagedBytes, rest as u64);
                source.consume(rest);
                return Ok(false);
            }
            let kind = field(self.order, bytes, 0);
            let order = if kind == SECTION {
                order_of(bytes)
            } else {
                Some(self.order)
            };
            let Some(order) = order else {
                continue;
            };
            let length = field(order, bytes, 4) as usize;
            let known = matches!(kind, SECTION | INTERFACE..=ENHANCED_PACKET);
            if !known || !(FRAMING..=LARGEST_BLOCK).contains(&length) || !length.is_multiple_of(4) {
                continue;
            }
            let block = source.fill(length)?;
            if block.len() >= length && field(order, block, length - 4) as usize == length {
                return Ok(true);
            }
        }
        tally.add(Skip::CutRecord);
        Ok(false)
    }

    /// Processes a whole block. Returns a frame if the block holds one.
    fn read(&mut self, kind: u32, block: &[u8], tally: &mut Tally) -> Option<Head> {
        match kind {
            SECTION => {
                self.interfaces.clear();
                None
            }
            INTERFACE => {
                self.describe(block);
                None
            }
            ENHANCED_PACKET | OBSOLETE_PACKET | SIMPLE_PACKET => {
                let packet = if kind == SIMPLE_PACKET {
                    self.simple_packet(block)
                } else {
                    self.packet(kind, block)
                };
                packet.map_err(|skip| tally.add(skip)).ok()
            }
            _ => {
                tally.add(Skip::OtherBlock);
                None
            }
        }
    }

    fn describe(&mut self, block: &[u8]) {
        if block.len() < FRAMING + 8 || self.interfaces.len() >= MAX_INTERFACES {
            return;
        }
        let mut clock = Clock::default();
        for (code, value) in options(block, 16, self.order) {
            match (code, &block[value]) {
                (9, [resolution, ..]) => clock.ticks_per_second = ticks_per_second(*resolution),
                (14, offset) => {
                    let offset = self.order.wide(offset, 0).unwrap_or_default();
                    clock.offset_s = offset.cast_signed();
                }
                _ => {}
            }
        }
        self.seen += 1;
        self.interfaces.push(Interface {
            link: LinkType(self.order.short(block, 8).unwrap_or_default()),
            snap: field(self.order, block, 12),
            clock,
        });
    }

    /// Parses an enhanced packet, or the obsolete packet that it replaced.
    fn packet(&self, kind: u32, block: &[u8]) -> Result<Head, Skip> {
        if block.len() < FRAMING + PACKET_FIELDS {
            return Err(Skip::BadHeader);
        }
        let field = |at| field(self.order, block, at);
        let index = if kind == ENHANCED_PACKET {
            field(8)
        } else {
            u32::from(self.order.short(block, 8).unwrap_or_default())
        };
        let interface = *self
            .interfaces
            .get(index as usize)
            .ok_or(Skip::UnknownInterface)?;
        let start = 8 + PACKET_FIELDS;
        let captured = field(20) as usize;
        if captured > block.len() - 4 - start {
            return Err(Skip::BadHeader);
        }
        let mut head = Head {
            time_ns: interface
                .clock
                .nanoseconds(u64::from(field(12)) << 32 | u64::from(field(16))),
            link: interface.link,
            bytes: start..start + captured,
            original_len: field(24),
            interface: index,
            heading: Heading::Unknown,
            record: block.len(),
        };
        let after = start + captured.next_multiple_of(4);
        for (code, value) in options(block, after, self.order) {
            match code {
                2 if value.len() == 4 => {
                    head.heading = Heading::of_flags(field(value.start));
                }
                _ => {}
            }
        }
        Ok(head)
    }

    /// Parses a simple packet. It belongs to the first interface and has no timestamp: its time is
    /// the start of the clock.
    fn simple_packet(&self, block: &[u8]) -> Result<Head, Skip> {
        let interface = self.interfaces.first().ok_or(Skip::UnknownInterface)?;
        let original = field(self.order, block, 8);
        let room = block
            .len()
            .checked_sub(FRAMING + 4)
            .ok_or(Skip::BadHeader)?;
        let snap = if interface.snap == 0 {
            usize::MAX
        } else {
            interface.snap as usize
        };
        let captured = (original as usize).min(snap).min(room);
        Ok(Head {
            time_ns: interface.clock.nanoseconds(0),
            link: interface.link,
            bytes: 12..12 + captured,
            original_len: original,
            interface: 0,
            heading: Heading::Unknown,
            record: block.len(),
        })
    }
}

/// Returns the byte order of a section, or none if this is no section.
fn order_of(section: &[u8]) -> Option<Order> {
    match section.get(8..12)? {
        [0x1A, 0x2B, 0x3C, 0x4D] => Some(Order::Big),
        [0x4D, 0x3C, 0x2B, 0x1A] => Some(Order::Little),
        _ => None,
    }
}

/// Decodes `if_tsresol`: a power of ten, or a power of two if the high bit is set. A resolution
/// that does not fit is replaced by the finest one that does.
fn ticks_per_second(resolution: u8) -> u64 {
    let power = u32::from(resolution & 0x7F);
    if resolution & 0x80 == 0 {
        10u64.pow(power.min(19))
    } else {
        1 << power.min(63)
    }
}

/// Iterates over the options between `at` and the end of a block's body, as codes and byte ranges.
fn options(block: &[u8], mut at: usize, order: Order) -> impl Iterator<Item = (u16, Range<usize>)> {
    let end = block.len() - 4;
    std::iter::from_fn(move || {
        if at + 4 > end {
            return None;
        }
        let (code, length) = (order.short(block, at)?, order.short(block, at + 2)?);
        let value = at + 4..at + 4 + usize::from(length);
        if code == 0 || value.end > end {
            return None;
        }
        at = value.start + usize::from(length).next_multiple_of(4);
        Some((code, value))
    })
}

/// Returns the 32-bit field at offset `at` of a block, which must be long enough.
fn field(order: Order, block: &[u8], at: usize) -> u32 {
    order.word(block, at).unwrap_or_default()
}
