//! Flows put together from their records.

use super::summary::Summary;
use super::{MAX_DAMAGED, Record};
use goodqueue_types::message::{UnitError, shorten};
use std::collections::HashMap;

/// Largest number of flows.
const MAX_FLOWS: usize = 5_000_000;

/// UDP port of QUIC.
const QUIC: u16 = 443;

/// Rules by which records are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Packets of the link for each packet that the records count.
    pub sampling: u64,
    /// Longest silence in a flow, in seconds: exporters split a long flow into several records.
    pub gap_s: f64,
    /// Packets from which on a flow is long.
    pub long_packets: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sampling: 1,
            gap_s: 15.0,
            // The threshold is that of the analysis of captures (`persistent_segments`).
            long_packets: 100,
        }
    }
}

/// Transport of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Quic,
    Udp,
    Other,
}

/// One direction of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    pub transport: Transport,
    pub first_s: f64,
    pub last_s: f64,
    pub packets: u64,
    pub bytes: u64,
    /// Bytes of the headers of a packet: IP, and TCP or UDP without options.
    pub headers: u64,
}

impl Flow {
    /// Returns the bytes beyond the headers.
    pub fn payload(&self) -> u64 {
        self.bytes
            .saturating_sub(self.headers.saturating_mul(self.packets))
    }
}

/// Records by flow.
#[derive(Debug)]
pub struct Table {
    options: Options,
    /// The flow that is under way between two ends, by a hash of both.
    under_way: HashMap<u128, Flow>,
    over: Vec<Flow>,
    records: u64,
    damaged: u64,
}

impl Table {
    /// Makes an empty table.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            under_way: HashMap::new(),
            over: Vec::new(),
            records: 0,
            damaged: 0,
        }
    }

    /// Adds a record. Records of a flow follow one another in the order of their ends.
    ///
    /// # Errors
    /// Returns the reason if the flows are too many.
    pub fn add(&mut self, record: &Record) -> Result<(), UnitError> {
        self.records += 1;
        let flow = self.flow(record);
        let gap_s = self.options.gap_s;
        match self.under_way.get_mut(&key(record)) {
            Some(known)
                if flow.first_s <= known.last_s + gap_s && known.first_s <= flow.last_s + gap_s =>
            {
                known.first_s = known.first_s.min(flow.first_s);
                known.last_s = known.last_s.max(flow.last_s);
                known.packets = known.packets.saturating_add(flow.packets);
                known.bytes = known.bytes.saturating_add(flow.bytes);
            }
            Some(known) => self.over.push(std::mem::replace(known, flow)),
            None => {
                self.under_way.insert(key(record), flow);
            }
        }
        if self.under_way.len() + self.over.len() > MAX_FLOWS {
            let message = format!("the records have more than {MAX_FLOWS} flows");
            return Err(UnitError::new(
                message,
                "give a shorter time, such as an hour",
            ));
        }
        Ok(())
    }

    fn flow(&self, record: &Record) -> Flow {
        let ports = [record.source.1, record.destination.1];
        let transport = match record.protocol {
            6 => Transport::Tcp,
            17 if ports.contains(&QUIC) => Transport::Quic,
            17 => Transport::Udp,
            _ => Transport::Other,
        };
        let ip = if record.source.0.contains(':') {
            40
        } else {
            20
        };
        let above = match transport {
            Transport::Tcp => 20,
            Transport::Quic | Transport::Udp => 8,
            Transport::Other => 0,
        };
        Flow {
            transport,
            headers: ip + above,
            first_s: record.first_s.min(record.last_s),
            last_s: record.last_s.max(record.first_s),
            packets: record.packets.saturating_mul(self.options.sampling),
            bytes: record.bytes.saturating_mul(self.options.sampling),
        }
    }

    /// Counts a part of the file that is no record.
    ///
    /// # Errors
    /// Returns the place if no record was read before, or if there were many such parts.
    pub fn damaged(&mut self, place: &str, text: &str) -> Result<(), UnitError> {
        self.damaged += 1;
        if self.records > 0 && self.damaged < MAX_DAMAGED {
            return Ok(());
        }
        let message = format!("{place}: {:?} is no flow record", shorten(text));
        Err(UnitError::new(
            message,
            "give the output of `nfdump -o csv` or `nfdump -o json`",
        ))
    }

    /// Returns the figures of all flows.
    ///
    /// # Errors
    /// Returns the reason if there are no records.
    pub fn summary(mut self) -> Result<Summary, UnitError> {
        if self.records == 0 {
            let help = "give the output of `nfdump -o csv` or `nfdump -o json`";
            return Err(UnitError::new("the file has no flow records", help));
        }
        self.over.extend(self.under_way.into_values());
        // The order of a hash table is not that of the file.
        self.over.sort_by(|a, b| {
            let times = a
                .first_s
                .total_cmp(&b.first_s)
                .then(a.last_s.total_cmp(&b.last_s));
            times
                .then(a.bytes.cmp(&b.bytes))
                .then(a.packets.cmp(&b.packets))
        });
        Ok(Summary::new(
            &self.over,
            self.options,
            self.records,
            self.damaged,
        ))
    }
}

/// Returns a hash of the ends of a flow (FNV-1a with 128 bits).
fn key(record: &Record) -> u128 {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let (from, to) = (&record.source, &record.destination);
    let mut bytes = Vec::new();
    for text in [&from.0, &to.0] {
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'|');
    }
    for port in [from.1, to.1] {
        bytes.extend_from_slice(&port.to_be_bytes());
    }
    bytes.push(record.protocol);
    for byte in bytes {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    hash
}
