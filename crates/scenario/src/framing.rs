//! `framing`: the bytes that a link layer adds to an IP packet.

use crate::error::Checked;
use crate::reader::Field;
use crate::setting::{ReadFrom, Setting, Visitor, WriteTo, words};
use crate::spec::{FRAMING_TABLE, Kind, PRESETS};
use crate::units::format_size;
use goodqueue_types::{Cells, Framing};

words! {
    Cells { "none" = None, "atm" = Atm, "ptm" = Ptm }
}

fn visit(v: &mut impl Visitor, framing: &mut Framing) -> Checked<()> {
    let Framing {
        overhead,
        minimum,
        cells,
    } = framing;
    v.visit("overhead", overhead)?;
    v.visit("minimum", minimum)?;
    v.visit("cells", cells)
}

/// The value is a size, the name of a link layer, or a table of both and cells.
impl Setting for Framing {
    fn read(field: &Field<'_>) -> Checked<Self> {
        if field.is_table() {
            let mut framing = Self::default();
            visit(&mut ReadFrom(&field.table()?), &mut framing)?;
            return Ok(framing);
        }
        let named = field
            .as_text()
            .is_some_and(|text| text.starts_with(|c: char| c.is_ascii_alphabetic()));
        if !named {
            return Ok(Self::bytes(field.size()? as u32));
        }
        let name = field.choice()?;
        let preset = PRESETS.iter().find(|preset| preset.0 == name);
        Ok(preset.map_or_else(Self::default, |preset| preset.1))
    }

    fn write(&self, _: Kind) -> String {
        if *self == Self::bytes(self.overhead) {
            return format!("\"{}\"", format_size(self.overhead.into()));
        }
        let mut table = WriteTo::new(&FRAMING_TABLE);
        let visited = visit(&mut table, &mut self.clone());
        debug_assert!(visited.is_ok(), "writing does not fail");
        table.inline()
    }
}
