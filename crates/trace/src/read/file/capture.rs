//! A capture file of either format, read as a stream of frames.

use super::pcap::Pcap;
use super::pcapng::PcapNg;
use super::source::Source;
use crate::read::packet::{Heading, LinkType};
use crate::read::tally::{Skip, Tally};
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;

/// Largest length of a record, in bytes. A longer record cannot hold a packet: the largest
/// super-segment of Linux (BIG TCP) has 512 KiB.
pub(in crate::read) const LARGEST_RECORD: usize = 1 << 20;

/// Number of damaged bytes in a row after which the rest of a file is left out. A file of gigabytes
/// of zeros can be compressed to some kilobytes.
pub(super) const MAX_DAMAGE: usize = 1 << 26;

/// Format of a capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// pcap with times in microseconds.
    Pcap,
    /// pcap with times in nanoseconds.
    PcapNanoseconds,
    /// pcapng.
    PcapNg,
}

impl Format {
    /// Returns the name of the format in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pcap => "pcap",
            Self::PcapNanoseconds => "pcap (ns)",
            Self::PcapNg => "pcapng",
        }
    }
}

/// Reason why no frame of a stream can be read.
#[derive(Debug)]
pub enum ReadError {
    /// The stream failed.
    Io(io::Error),
    /// The stream begins like no capture format. The text names the format that the file appears to
    /// have.
    NotACapture(&'static str),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NotACapture(what) => write!(f, "neither pcap nor pcapng: {what}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A captured frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Time of the capture, in nanoseconds since 1970 or since the epoch that the capture counts
    /// from.
    pub time_ns: i64,
    /// Link type, which gives the format of the frame's first header.
    pub link: LinkType,
    /// The captured bytes, which may be fewer than the frame had.
    pub bytes: &'a [u8],
    /// Length of the frame on the wire, in bytes.
    pub original_len: u32,
    /// Index of the interface, counted from 0 in each section.
    pub interface: u32,
    /// Direction of the frame, if the capture records it.
    pub heading: Heading,
}

/// A frame as offsets into the source's memory, before anything borrows from that memory.
pub(super) struct Head {
    pub time_ns: i64,
    pub link: LinkType,
    pub bytes: Range<usize>,
    pub original_len: u32,
    pub interface: u32,
    pub heading: Heading,
    /// Length of the record in the file, in bytes.
    pub record: usize,
}

enum Layout {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

/// A stream of frames.
pub struct Capture<R> {
    source: Source<R>,
    layout: Layout,
    tally: Tally,
    frames: u64,
    /// Length of the record that the last frame was taken from, in bytes.
    pending: usize,
}

impl<R: Read> Capture<R> {
    /// Reads the start of a stream and determines its format.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream fails or is not a capture.
    pub fn new(reader: R) -> Result<Self, ReadError> {
        let mut source = Source::new(reader)?;
        let start = source.fill(24)?;
        let layout = if PcapNg::begins(start) {
            Layout::PcapNg(PcapNg::new())
        } else if let Some(pcap) = Pcap::begins(start) {
            source.consume(24);
            Layout::Pcap(pcap)
        } else {
            return Err(ReadError::NotACapture(looks_like(start)));
        };
        Ok(Self {
            source,
            layout,
            tally: Tally::default(),
            frames: 0,
            pending: 0,
        })
    }

    /// Returns the next frame, or none at the end of the stream.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream fails. Damaged records are no error: they are skipped and
    /// counted.
    pub fn next_frame(&mut self) -> io::Result<Option<Frame<'_>>> {
        self.source.consume(std::mem::take(&mut self.pending));
        let head = match &mut self.layout {
            Layout::Pcap(pcap) => pcap.next(&mut self.source, &mut self.tally)?,
            Layout::PcapNg(pcapng) => pcapng.next(&mut self.source, &mut self.tally)?,
        };
        let Some(head) = head else { return Ok(None) };
        self.pending = head.record;
        self.frames += 1;
        let memory = self.source.bytes();
        Ok(Some(Frame {
            time_ns: head.time_ns,
            link: head.link,
            bytes: &memory[head.bytes],
            original_len: head.original_len,
            interface: head.interface,
            heading: head.heading,
        }))
    }

    /// Returns the format of the file.
    pub fn format(&self) -> Format {
        match &self.layout {
            Layout::Pcap(pcap) => pcap.format(),
            Layout::PcapNg(_) => Format::PcapNg,
        }
    }

    /// Returns the number of interfaces that the file has described so far.
    pub fn interfaces(&self) -> usize {
        match &self.layout {
            Layout::Pcap(_) => 1,
            Layout::PcapNg(pcapng) => pcapng.interfaces_seen(),
        }
    }

    /// Returns the counts of everything skipped so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the number of frames so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the position of the current frame in the file, in bytes.
    pub fn position(&self) -> u64 {
        self.source.position()
    }

    /// Returns the name of the file's compression, if it has one. Positions are then those in the
    /// unpacked data.
    pub fn compression(&self) -> Option<&'static str> {
        self.source.reader().compression()
    }

    /// Returns whether the file was found to end within a record or within compressed data.
    pub fn is_cut(&self) -> bool {
        self.tally.count(Skip::CutRecord) > 0 || self.source.reader().is_damaged()
    }
}

/// Describes what a file that is no capture may be, for an error message.
fn looks_like(start: &[u8]) -> &'static str {
    match start {
        [] => "it is empty",
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => {
            "it is compressed with xz; read it through a pipe, as in \"xz -dc FILE | goodqueue \
             analyze /dev/stdin\""
        }
        [b'B', b'Z', b'h', ..] => "it is compressed with bzip2; unpack it first",
        [0x04, 0x22, 0x4D, 0x18, ..] => "it is compressed with lz4; unpack it first",
        [b'P', b'K', 3, 4, ..] => "it is a ZIP archive; unpack it first",
        [b's', b'n', b'o', b'o', b'p', 0, ..]
        | [b'G', b'M', b'B', b'U', ..]
        | [b'R', b'T', b'S', b'S', ..]
        | [b'X', b'C', b'P', 0, ..]
        | [b'T', b'R', b'S', b'N', b'I', b'F', b'F', ..]
        | [0x34, 0xCD, 0xB2, 0xA1, ..]
        | [0xA1, 0xB2, 0xCD, 0x34, ..] => {
            "it is a capture of another format; \"editcap -F pcapng FILE OUT\" converts it"
        }
        [b'+' | b'-' | b'r' | b'd', b' ', b'0'..=b'9', ..] => {
            "it looks like a trace of ns-2, which is read twice: that has to be a file, not a pipe, \
             whose first line has all 12 columns"
        }
        [b'#' | b'"' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z', ..] if start.is_ascii() => {
            "it is text"
        }
        _ => "it begins with no known number",
    }
}
