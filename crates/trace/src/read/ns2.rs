//! ns-2's trace files, which have one line of 12 columns for each event of a packet.
//!
//! `+ 1.84375 0 2 cbr 210 ------- 0 0.0 3.1 225 610`: event, time, start and end of the link,
//! packet type, size, flags, flow, source and destination as node.port, sequence number, packet id.

use super::file::LARGEST_RECORD;
use super::tally::{Skip, Tally};
use goodqueue_types::Ecn;
use goodqueue_types::message::without_mark;
use std::io::{self, BufRead};

/// Largest length of a line, in bytes. All lines that ns-2 writes are shorter.
const LONGEST_LINE: u64 = 4096;

/// Event of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ns2Event {
    /// `+`: the packet reached the queue of a link.
    Enqueued,
    /// `-`: the packet left the queue, and its transmission began.
    Dequeued,
    /// `r`: the packet reached the node at the end of the link.
    Received,
    /// `d`: the queue dropped the packet.
    Dropped,
}

/// Type of a packet: `tcp`, `ack`, `cbr`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ns2Kind {
    /// Letters of the name, padded with zeros.
    letters: [u8; Self::LONGEST],
}

impl Ns2Kind {
    /// Largest length of a name. ns-2's own names (such as `CtrMcast_Encap`) are shorter.
    const LONGEST: usize = 32;

    /// Returns the type with this name, or none if the name is too long.
    fn new(name: &str) -> Option<Self> {
        let mut letters = [0; Self::LONGEST];
        letters
            .get_mut(..name.len())?
            .copy_from_slice(name.as_bytes());
        Some(Self { letters })
    }

    /// Returns the name of the type.
    pub fn name(&self) -> &str {
        let name = std::str::from_utf8(&self.letters).unwrap_or_default();
        name.trim_end_matches('\0')
    }
}

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ns2Record {
    /// Event of the packet.
    pub event: Ns2Event,
    /// Time of the event, in nanoseconds.
    pub time_ns: i64,
    /// Nodes at the start and the end of the link.
    pub link: (u32, u32),
    /// Type of the packet.
    pub kind: Ns2Kind,
    /// Size of the packet, in bytes.
    pub size: u32,
    /// ECN field, as derived from the flags column.
    pub ecn: Ecn,
    /// Flow id.
    pub flow: u32,
    /// Node and port of the source.
    pub source: (u32, u32),
    /// Node and port of the destination.
    pub destination: (u32, u32),
    /// Sequence number, in packets.
    pub sequence: i64,
    /// Unique id of the packet.
    pub id: u64,
}

/// A stream of the lines of a trace.
pub struct Ns2Trace<R> {
    reader: R,
    line: Vec<u8>,
    tally: Tally,
    records: u64,
    position: u64,
}

impl<R: BufRead> Ns2Trace<R> {
    /// Creates a stream of lines from a reader.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            line: Vec::new(),
            tally: Tally::default(),
            records: 0,
            position: 0,
        }
    }

    /// Returns true if a file begins with a valid line of a trace.
    pub fn begins(start: &[u8]) -> bool {
        let line = without_mark(start).split(|byte| *byte == b'\n').next();
        line.and_then(|line| std::str::from_utf8(line).ok())
            .and_then(record)
            .is_some()
    }

    /// Returns the next record, or none at the end. Invalid lines are counted and skipped.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream fails.
    pub fn next_record(&mut self) -> io::Result<Option<Ns2Record>> {
        loop {
            self.line.clear();
            let mut limited = io::Read::take(&mut self.reader, LONGEST_LINE);
            let length = limited.read_until(b'\n', &mut self.line)?;
            if length == 0 {
                return Ok(None);
            }
            self.position += length as u64;
            let whole = self.line.ends_with(b"\n");
            let is_first = self.position == length as u64;
            let line = if is_first {
                without_mark(&self.line)
            } else {
                &self.line
            };
            let line = std::str::from_utf8(line).ok();
            if let Some(record) = line.filter(|_| whole).and_then(record) {
                self.records += 1;
                return Ok(Some(record));
            }
            // The last line of a file is cut off if ns-2 still runs, or if the disk was full.
            let cut = !whole && (length as u64) < LONGEST_LINE;
            self.tally
                .add(if cut { Skip::CutRecord } else { Skip::BadLine });
        }
    }

    /// Returns the counts of everything skipped so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the number of records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns the number of bytes read so far.
    pub fn position(&self) -> u64 {
        self.position
    }
}

fn record(line: &str) -> Option<Ns2Record> {
    let mut columns = line.split_ascii_whitespace();
    let mut next = || columns.next();
    let event = match next()? {
        "+" => Ns2Event::Enqueued,
        "-" => Ns2Event::Dequeued,
        "r" => Ns2Event::Received,
        "d" => Ns2Event::Dropped,
        _ => return None,
    };
    let record = Ns2Record {
        event,
        time_ns: nanoseconds(next()?)?,
        link: (next()?.parse().ok()?, next()?.parse().ok()?),
        kind: Ns2Kind::new(next()?)?,
        size: size(next()?)?,
        ecn: ecn_of(next()?),
        flow: next()?.parse().ok()?,
        source: address(next()?)?,
        destination: address(next()?)?,
        sequence: next()?.parse().ok()?,
        id: next()?.parse().ok()?,
    };
    Some(record)
}

/// Parses the size of a packet, in bytes. A size that no packet can have is invalid.
fn size(text: &str) -> Option<u32> {
    let size = text.parse().ok()?;
    (size as usize <= LARGEST_RECORD).then_some(size)
}

/// Parses a decimal number of seconds. ns-2 writes large and small numbers with an exponent.
fn nanoseconds(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(whole) || !plain(fraction) || whole.is_empty() {
        let seconds: f64 = text.parse().ok()?;
        return (seconds.is_finite() && seconds.abs() < 9e9)
            .then(|| (seconds * 1e9).round() as i64);
    }
    let mut nanos = 0;
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
    for digit in digits {
        nanos = nanos * 10 + i64::from(digit - b'0');
    }
    whole
        .parse::<i64>()
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(nanos)
}

fn address(text: &str) -> Option<(u32, u32)> {
    let (node, port) = text.split_once('.')?;
    Some((node.parse().ok()?, port.parse().ok()?))
}

/// Parses the flags column: `E` means congestion experienced and `N` ECN-capable (ns-2's manual,
/// section 26.4).
fn ecn_of(flags: &str) -> Ecn {
    if flags.contains('E') {
        Ecn::Experienced
    } else if flags.contains('N') {
        Ecn::Capable0
    } else {
        Ecn::NotCapable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manuals_line_is_read() {
        let text = "+ 1.84375 0 2 cbr 210 ------- 0 0.0 3.1 225 610\nnonsense\nd 2e-05 0 2 tcp 4";
        let mut trace = Ns2Trace::new(text.as_bytes());
        let record = trace.next_record().unwrap().unwrap();
        assert_eq!(record.event, Ns2Event::Enqueued);
        assert_eq!(
            (record.time_ns, record.link, record.kind.name()),
            (1_843_750_000, (0, 2), "cbr")
        );
        assert_eq!(
            (record.size, record.destination, record.sequence, record.id),
            (210, (3, 1), 225, 610)
        );
        assert!(trace.next_record().unwrap().is_none());
        let left_out: Vec<_> = trace.tally().iter().collect();
        assert_eq!(left_out, [(Skip::CutRecord, 1), (Skip::BadLine, 1)]);
    }

    #[test]
    fn impossible_values_make_a_line_bad() {
        let good = |kind: &str, size: u64| {
            let line = format!("r 1 0 2 {kind} {size} ------- 0 0.0 3.1 225 610\n");
            Ns2Trace::new(line.as_bytes())
                .next_record()
                .unwrap()
                .is_some()
        };
        assert!(good(&"k".repeat(32), 1 << 20));
        assert!(!good(&"k".repeat(33), 40));
        assert!(!good("tcp", (1 << 20) + 1));
    }

    #[test]
    fn times_are_exact_to_the_nanosecond() {
        assert_eq!(nanoseconds("0.1"), Some(100_000_000));
        assert_eq!(nanoseconds("12"), Some(12_000_000_000));
        assert_eq!(nanoseconds("3.0000000019"), Some(3_000_000_001));
        assert_eq!(nanoseconds("1e-06"), Some(1000));
        assert_eq!(nanoseconds("nan"), None);
        assert_eq!(nanoseconds("99999999999999"), None);
    }
}
