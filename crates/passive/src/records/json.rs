//! Records as JSON: a list of objects, or one object after another.

use super::table::Table;
use super::time::date;
use super::{MAX_BYTES, Record, protocol, unreadable};
use goodqueue_types::message::UnitError;
use serde_json::{Map, Value};
use std::io::BufRead;

/// Reads records object by object, so that memory does not grow with the file.
pub fn read(input: &mut dyn BufRead, table: &mut Table) -> Result<(), UnitError> {
    let mut object = Vec::new();
    let (mut depth, mut in_text, mut escaped) = (0_u32, false, false);
    let mut number = 0_u64;
    loop {
        let buffer = input.fill_buf().map_err(|error| unreadable(&error))?;
        if buffer.is_empty() {
            break;
        }
        let length = buffer.len();
        for byte in buffer.iter().copied() {
            if depth > 0 {
                object.push(byte);
            }
            if in_text {
                in_text = escaped || byte != b'"';
                escaped = !escaped && byte == b'\\';
                continue;
            }
            match byte {
                b'"' => in_text = depth > 0,
                b'{' => {
                    if depth == 0 {
                        object.clear();
                        object.push(byte);
                    }
                    depth += 1;
                }
                b'}' if depth > 0 => {
                    depth -= 1;
                    if depth == 0 {
                        number += 1;
                        take(&object, number, table)?;
                    }
                }
                _ => {}
            }
            if object.len() > MAX_BYTES {
                let message = format!("record {} has more than {MAX_BYTES} bytes", number + 1);
                return Err(UnitError::new(
                    message,
                    "give the output of `nfdump -o json`",
                ));
            }
        }
        input.consume(length);
    }
    if depth > 0 {
        table.damaged(&format!("record {}", number + 1), "the file ends within it")?;
    }
    Ok(())
}

fn take(object: &[u8], number: u64, table: &mut Table) -> Result<(), UnitError> {
    let parsed = serde_json::from_slice::<Map<String, Value>>(object);
    match parsed.ok().as_ref().and_then(record) {
        Some(record) => table.add(&record),
        None => table.damaged(
            &format!("record {number}"),
            &String::from_utf8_lossy(object),
        ),
    }
}

fn record(object: &Map<String, Value>) -> Option<Record> {
    let get = |names: &[&str]| names.iter().find_map(|name| object.get(*name));
    let text = |names: &[&str]| get(names).and_then(Value::as_str);
    let whole = |names: &[&str]| get(names).and_then(Value::as_u64);
    let port = |name: &str| {
        whole(&[name])
            .and_then(|port| u16::try_from(port).ok())
            .unwrap_or(0)
    };
    let number = match get(&["proto"])? {
        Value::Number(number) => u8::try_from(number.as_u64()?).ok()?,
        Value::String(name) => protocol(name),
        _ => return None,
    };
    Some(Record {
        first_s: date(text(&["first", "t_first"])?)?,
        last_s: date(text(&["last", "t_last"])?)?,
        protocol: number,
        source: (
            text(&["src4_addr", "src6_addr"])?.to_owned(),
            port("src_port"),
        ),
        destination: (
            text(&["dst4_addr", "dst6_addr"])?.to_owned(),
            port("dst_port"),
        ),
        packets: whole(&["in_packets", "packets"])?,
        bytes: whole(&["in_bytes", "bytes"])?,
    })
}
