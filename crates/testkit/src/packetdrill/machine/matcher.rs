//! Comparison of sent segments with the packet that the script expects.

use super::connection::{Connection, Sent, flags_of, letters};
use super::fast_open;
use crate::packetdrill::script::syntax::{EcnSpec, OptionSpec, PacketSpec};
use goodqueue_types::Ecn;

impl From<Ecn> for EcnSpec {
    fn from(ecn: Ecn) -> Self {
        match ecn {
            Ecn::NotCapable => Self::NotCapable,
            Ecn::Capable0 => Self::Capable0,
            Ecn::Capable1 => Self::Capable1,
            Ecn::Experienced => Self::Experienced,
        }
    }
}

/// Segments that together correspond to one expected packet.
#[derive(Debug, Default)]
pub struct Gathered {
    pub parts: Vec<Sent>,
}

impl Gathered {
    /// Returns the number of payload bytes so far.
    pub fn bytes(&self) -> u64 {
        self.parts
            .iter()
            .map(|part| u64::from(part.segment.payload))
            .sum()
    }

    /// Returns whether the segments contain `bytes` payload bytes.
    pub fn is_complete(&self, bytes: u64) -> bool {
        !self.parts.is_empty() && self.bytes() >= bytes
    }

    /// Adds a segment. All segments but the last must have the same size, and each must follow the
    /// previous one.
    pub fn add(&mut self, sent: Sent, expected: u64) -> Result<(), String> {
        if let Some(last) = self.parts.last() {
            let size = sent.segment.payload;
            if size != last.segment.payload && u64::from(size) < expected - self.bytes() {
                return Err(format!(
                    "a part of {size} bytes after {}",
                    last.segment.payload
                ));
            }
            if sent.segment.seq != last.segment.end_seq() {
                let (end, start) = (last.segment.end_seq(), sent.segment.seq);
                return Err(format!(
                    "a part that begins at {start} after one that ends at {end}"
                ));
            }
        }
        self.parts.push(sent);
        Ok(())
    }
}

/// Compares the gathered segments with the packet that the script expects. The error names the
/// field that differs.
pub fn compare(
    connection: &mut Connection,
    spec: &PacketSpec,
    gathered: &Gathered,
    timestamp_tick: Option<(u64, u64)>,
) -> Result<(), String> {
    let [first, ..] = &gathered.parts[..] else {
        return Err("nothing".to_owned());
    };
    let last = &gathered.parts[gathered.parts.len() - 1];
    if spec.flags.contains('S') {
        connection.set_our_isn(spec.seq);
    }
    let mut actual = connection.write(last);
    let start = connection.write(first);
    actual.seq = start.seq;
    // Timestamps are compared in the script's numbering.
    let expected_stamp = spec
        .options
        .iter()
        .flatten()
        .find_map(|option| match option {
            OptionSpec::Timestamps(value, _) => Some(*value),
            _ => None,
        });
    if let Some(expected) = expected_stamp
        && first.segment.timestamps.is_present()
    {
        let value = connection.map_stamp(expected, first.segment.timestamps.value);
        check_stamp(expected, value, timestamp_tick)?;
    }
    check("sequence number", spec.seq, actual.seq)?;
    check("length", spec.payload, gathered.bytes())?;
    let (wanted, found) = (letters(flags_of(&spec.flags)), actual.flags.clone());
    if wanted != found {
        return Err(format!("flags: expected {wanted}, sent {found}"));
    }
    if spec.ack.is_some() || actual.ack.is_some() {
        let show = |ack: Option<u64>| ack.map_or("none".to_owned(), |ack| ack.to_string());
        if spec.ack != actual.ack {
            let (wanted, found) = (show(spec.ack), show(actual.ack));
            return Err(format!("acknowledgement: expected {wanted}, sent {found}"));
        }
    }
    if let Some(window) = spec.window {
        check("window", window, actual.window.unwrap_or(0))?;
    }
    check_ecn(spec, gathered)?;
    check_options(spec, actual.options.as_deref().unwrap_or_default())
}

fn check(field: &str, expected: u64, found: u64) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("{field}: expected {expected}, sent {found}"))
}

/// Compares timestamps, which may differ by the tolerance and a tick.
fn check_stamp(expected: u64, found: u64, tick: Option<(u64, u64)>) -> Result<(), String> {
    let Some((tick, tolerance)) = tick else {
        return Ok(());
    };
    if expected.abs_diff(found) * tick <= tolerance.max(tick) {
        return Ok(());
    }
    Err(format!("timestamp: expected {expected}, sent {found}"))
}

fn check_ecn(spec: &PacketSpec, gathered: &Gathered) -> Result<(), String> {
    let Some(wanted) = spec.ecn else {
        return Ok(());
    };
    for part in &gathered.parts {
        let found = EcnSpec::from(part.ecn);
        let either = matches!(found, EcnSpec::Capable0 | EcnSpec::Capable1);
        if found != wanted && !(wanted == EcnSpec::Capable && either) {
            return Err(format!("ECN field: expected {wanted:?}, sent {found:?}"));
        }
    }
    Ok(())
}

/// Compares the options by kind. The order of options is not compared, but that of SACK blocks is.
fn check_options(spec: &PacketSpec, found: &[OptionSpec]) -> Result<(), String> {
    let Some(wanted) = &spec.options else {
        return Ok(());
    };
    let same = |a: &OptionSpec, b: &OptionSpec| match (a, b) {
        // The value has been compared already. The echo is not compared, as in the original tool.
        (OptionSpec::Timestamps(..), OptionSpec::Timestamps(..)) => true,
        // A cookie that the model issues has no content.
        (OptionSpec::FastOpen(wanted), OptionSpec::FastOpen(found)) => {
            let is_issued = found.text == fast_open::ISSUED && !wanted.text.is_empty();
            wanted == found || is_issued && wanted.is_experimental == found.is_experimental
        }
        _ => a == b,
    };
    let matched = wanted.len() == found.len()
        && wanted
            .iter()
            .all(|option| found.iter().any(|other| same(option, other)));
    if matched {
        return Ok(());
    }
    Err(format!("options: expected {wanted:?}, sent {found:?}"))
}
