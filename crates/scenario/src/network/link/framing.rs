//! `framing`: the bytes that a link layer adds to an IP packet.

use crate::language::error::Checked;
use crate::language::field::Field;
use crate::language::spec::{Kind, PRESETS};
use crate::language::units::format_size;
use crate::language::value;
use goodqueue_types::Framing;
use goodqueue_types::parameters::Parameter;

/// Reads a size, the name of a link layer, or a table.
pub(crate) fn read(field: &Field<'_>) -> Checked<Framing> {
    if field.is_table() {
        return value::read(field).map(Framing::from_value);
    }
    let named = field
        .as_text()
        .is_some_and(|text| text.starts_with(|c: char| c.is_ascii_alphabetic()));
    if !named {
        return Ok(Framing::bytes(field.size()? as u32));
    }
    let name = field.choice()?;
    let preset = PRESETS.iter().find(|preset| preset.0 == name);
    Ok(preset.map_or_else(Framing::default, |preset| preset.1))
}

/// Writes a size, or a table that reads back the same.
pub(crate) fn write(framing: &Framing) -> String {
    if *framing == Framing::bytes(framing.overhead) {
        return format!("\"{}\"", format_size(framing.overhead.into()));
    }
    value::write(&framing.value(), Kind::Free)
}
