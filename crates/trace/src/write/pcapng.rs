//! Files in the pcapng format, with a section header, one interface, and packets with comments
//! (draft-ietf-opsawg-pcapng).

use std::io::{self, Write};

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const LINK_TYPE_ETHERNET: u32 = 1;

const COMMENT: u16 = 1;
const APPLICATION: u16 = 4;
const NAME: u16 = 2;
const RESOLUTION: u16 = 9;
const FLAGS: u16 = 2;

/// Description of the capture point in the file.
#[derive(Clone, Debug)]
pub struct InterfaceInfo {
    /// Name of the capture point.
    pub name: String,
    /// Largest number of bytes of a frame that are written.
    pub snap: u32,
}

/// Direction of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Received by the interface.
    In = 1,
    /// Sent by the interface.
    Out = 2,
}

/// A packet to write.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Time of the packet, in nanoseconds since the run began.
    pub time_ns: u64,
    /// Direction of the packet.
    pub way: Way,
    /// Headers of the packet. The rest of the frame is zeros.
    pub headers: &'a [u8],
    /// Length of the whole frame, in bytes.
    pub length: usize,
    /// Comment on the packet; may be empty.
    pub comment: &'a str,
}

/// Writes a file block by block.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    out: W,
    snap: usize,
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins a file with a section header and an interface.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn new(out: W, interface: &InterfaceInfo) -> io::Result<Self> {
        let mut writer = Self {
            out,
            snap: interface.snap as usize,
            block: Vec::with_capacity(256),
        };
        // The section is little-endian, has version 1.0 and an unknown length.
        writer.begin(SECTION);
        writer.put32(0x1A2B_3C4D);
        writer.put32(1);
        writer.block.extend([0xFF; 8]);
        let application = concat!("goodqueue ", env!("CARGO_PKG_VERSION"));
        writer.option(APPLICATION, application.as_bytes());
        writer.end_of_options();
        writer.finish_block()?;
        writer.begin(INTERFACE);
        writer.put32(LINK_TYPE_ETHERNET);
        writer.put32(interface.snap);
        writer.option(NAME, interface.name.as_bytes());
        // Timestamps are multiples of 10⁻⁹ s.
        writer.option(RESOLUTION, &[9]);
        writer.end_of_options();
        writer.finish_block()?;
        Ok(writer)
    }

    /// Writes a packet.
    ///
    /// # Errors
    /// Returns an error if the packet cannot be written.
    pub fn packet(&mut self, record: &Record<'_>) -> io::Result<()> {
        let captured = record.length.min(self.snap);
        self.begin(ENHANCED_PACKET);
        // Number of the only interface.
        self.put32(0);
        self.put32((record.time_ns >> 32) as u32);
        self.put32(record.time_ns as u32);
        self.put32(captured as u32);
        self.put32(record.length as u32);
        let headers = record.headers.len().min(captured);
        self.block.extend_from_slice(&record.headers[..headers]);
        let end = self.block.len() + captured - headers;
        self.block.resize(end.next_multiple_of(4), 0);
        if !record.comment.is_empty() {
            self.option(COMMENT, record.comment.as_bytes());
        }
        self.option(FLAGS, &(record.way as u32).to_le_bytes());
        self.end_of_options();
        self.finish_block()
    }

    /// Flushes the writer.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.put32(kind);
        // The length of the block, which is filled in when the block ends.
        self.put32(0);
    }

    fn put32(&mut self, value: u32) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        // The length of an option has 16 bits. Longer texts are cut.
        let value = &value[..value.len().min(0xFFFF)];
        self.block.extend_from_slice(&code.to_le_bytes());
        let length = value.len() as u16;
        self.block.extend_from_slice(&length.to_le_bytes());
        self.block.extend_from_slice(value);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn end_of_options(&mut self) {
        self.put32(0);
    }

    fn finish_block(&mut self) -> io::Result<()> {
        let length = self.block.len() as u32 + 4;
        self.block[4..8].copy_from_slice(&length.to_le_bytes());
        self.put32(length);
        self.out.write_all(&self.block)
    }
}
