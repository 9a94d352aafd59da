//! Records as CSV. The first line names the columns.

use super::table::Table;
use super::time::{date, duration};
use super::{MAX_BYTES, Record, protocol, unreadable};
use goodqueue_types::message::{UnitError, shorten};
use std::io::{BufRead, Read as _};

/// Names of the columns: those of nfdump up to 1.7.4, and those of later versions.
const COLUMNS: [(&str, &[&str]); 10] = [
    ("first", &["ts", "firstSeen"]),
    ("last", &["te", "lastSeen"]),
    ("duration", &["td", "duration"]),
    ("protocol", &["pr", "proto"]),
    ("source", &["sa", "srcAddr"]),
    ("destination", &["da", "dstAddr"]),
    ("source port", &["sp", "srcPort"]),
    ("destination port", &["dp", "dstPort"]),
    ("packets", &["ipkt", "packets", "pkt"]),
    ("bytes", &["ibyt", "bytes", "byt"]),
];

/// Places of the columns in a line.
struct Columns([Option<usize>; COLUMNS.len()]);

impl Columns {
    fn new(line: &str) -> Result<Self, UnitError> {
        let names: Vec<&str> = line.split(',').map(str::trim).collect();
        let place = |known: &&[&str]| names.iter().position(|name| known.contains(name));
        let places = COLUMNS.map(|(_, known)| place(&known));
        let has_end = places[1].is_some() || places[2].is_some();
        for (index, (what, known)) in COLUMNS.iter().enumerate() {
            let needed = !matches!(index, 1 | 2) || !has_end;
            if needed && places[index].is_none() {
                let message = format!(
                    "line 1: {:?} has no column {:?} ({what})",
                    shorten(line),
                    known[0]
                );
                return Err(UnitError::new(
                    message,
                    "give the output of `nfdump -o csv`",
                ));
            }
        }
        Ok(Self(places))
    }

    fn record(&self, line: &str) -> Option<Record> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let get = |index: usize| self.0[index].and_then(|place| fields.get(place).copied());
        let port = |index: usize| -> u16 {
            // Ports of ICMP are a type and a code, as in 8.0.
            get(index).and_then(|text| text.parse().ok()).unwrap_or(0)
        };
        let first_s = date(get(0)?)?;
        // Old versions print whole seconds in dates, and milliseconds in durations only.
        let last_s = match get(2) {
            Some(text) => first_s + duration(text)?,
            None => date(get(1)?)?,
        };
        Some(Record {
            first_s,
            last_s,
            protocol: protocol(get(3)?),
            source: (get(4)?.to_owned(), port(6)),
            destination: (get(5)?.to_owned(), port(7)),
            packets: get(8)?.parse().ok()?,
            bytes: get(9)?.parse().ok()?,
        })
    }
}

/// Reads records up to the summary that old versions print at the end.
pub fn read(input: &mut dyn BufRead, table: &mut Table) -> Result<(), UnitError> {
    let mut columns = None;
    let mut bytes = Vec::new();
    let mut number = 0_u64;
    loop {
        bytes.clear();
        number += 1;
        let mut limited = (&mut *input).take(MAX_BYTES as u64);
        let length = limited
            .read_until(b'\n', &mut bytes)
            .map_err(|error| unreadable(&error))?;
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end();
        if length == 0 || line.starts_with("Summary") || line.starts_with("Total flows") {
            return Ok(());
        }
        if length == MAX_BYTES {
            let message = format!("line {number} has {MAX_BYTES} bytes or more");
            return Err(UnitError::new(
                message,
                "give the output of `nfdump -o csv`",
            ));
        }
        let Some(columns) = &columns else {
            columns = Some(Columns::new(line)?);
            continue;
        };
        // Versions differ in whether they repeat the names, and in empty lines.
        if line.is_empty() || line.starts_with("ts,") || line.starts_with("firstSeen,") {
            continue;
        }
        match columns.record(line) {
            Some(record) => table.add(&record)?,
            None => table.damaged(&format!("line {number}"), line)?,
        }
    }
}
