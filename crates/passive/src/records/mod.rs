//! Flow records of `NetFlow` and IPFIX, as nfdump prints them: CSV of its old and its new form, and JSON.
//!
//! A record counts packets and bytes of one direction of a flow between two times. It shows how many flows
//! there were, how large and how long, and no round-trip time, no loss and no queue.

mod csv;
mod json;
mod summary;
mod table;
mod time;

pub use summary::{Group, Long, Summary};
pub use table::{Options, Table};

use goodqueue_types::message::UnitError;
use std::io::BufRead;

/// Longest line or object that is read, in bytes.
const MAX_BYTES: usize = 64 << 10;

/// Number of damaged records before the file is refused.
const MAX_DAMAGED: u64 = 1000;

/// One record.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Time of the first packet, in seconds since 1970.
    pub first_s: f64,
    /// Time of the last packet.
    pub last_s: f64,
    /// Number of the protocol above IP.
    pub protocol: u8,
    /// Source and destination: addresses and ports.
    pub source: (String, u16),
    /// See `source`.
    pub destination: (String, u16),
    /// Number of packets.
    pub packets: u64,
    /// Number of bytes of IP packets.
    pub bytes: u64,
}

/// Reads records from CSV or JSON, which the first character tells apart.
///
/// # Errors
/// Returns the line that is no record, or the reason why the file has none.
pub fn read(input: &mut dyn BufRead, options: Options) -> Result<Summary, UnitError> {
    let mut table = Table::new(options);
    let first = loop {
        let buffer = input.fill_buf().map_err(|error| unreadable(&error))?;
        let Some(byte) = buffer.first().copied() else {
            break b' ';
        };
        // A byte order mark may come before the text.
        if !byte.is_ascii_whitespace() && !matches!(byte, 0xEF | 0xBB | 0xBF) {
            break byte;
        }
        input.consume(1);
    };
    if matches!(first, b'[' | b'{') {
        json::read(input, &mut table)?;
    } else {
        csv::read(input, &mut table)?;
    }
    table.summary()
}

fn unreadable(error: &std::io::Error) -> UnitError {
    UnitError::new(
        format!("the file cannot be read: {error}"),
        "give a file of flow records",
    )
}

/// Returns the number of a protocol that a record names; 255 if the name is unknown.
fn protocol(text: &str) -> u8 {
    match text {
        "TCP" => 6,
        "UDP" => 17,
        "ICMP" => 1,
        "ICMP6" => 58,
        _ => text.parse().unwrap_or(255),
    }
}
