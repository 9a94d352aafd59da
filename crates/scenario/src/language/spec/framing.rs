//! The keys of `framing`.

use super::Kind;
use goodqueue_types::{Cells, Framing};

pub(crate) const FRAMING: Kind = Kind::Either(&[
    OVERHEAD,
    Kind::Choice(&PRESET_NAMES),
    Kind::Table(Framing::SPEC),
]);

const OVERHEAD: Kind = Kind::Size { min: 0, max: 1_024 };

const fn framing(overhead: u32, minimum: u32, cells: Cells) -> Framing {
    Framing {
        overhead,
        minimum,
        cells,
    }
}

/// Framings by name, beyond the IP packet. All but `ppp` have the names and numbers of the
/// keywords of Linux `tc-cake`(8); docs/queues/service.md says what they are made of.
pub(crate) const PRESETS: [(&str, Framing); 14] = [
    ("ethernet", framing(38, 84, Cells::None)),
    ("ethernet-vlan", framing(42, 84, Cells::None)),
    ("ppp", framing(7, 0, Cells::None)),
    ("docsis", framing(18, 64, Cells::None)),
    ("ipoa-vcmux", framing(8, 0, Cells::Atm)),
    ("ipoa-llcsnap", framing(16, 0, Cells::Atm)),
    ("bridged-vcmux", framing(24, 0, Cells::Atm)),
    ("bridged-llcsnap", framing(32, 0, Cells::Atm)),
    ("pppoa-vcmux", framing(10, 0, Cells::Atm)),
    ("pppoa-llc", framing(14, 0, Cells::Atm)),
    ("pppoe-vcmux", framing(32, 0, Cells::Atm)),
    ("pppoe-llcsnap", framing(40, 0, Cells::Atm)),
    ("bridged-ptm", framing(22, 0, Cells::Ptm)),
    ("pppoe-ptm", framing(30, 0, Cells::Ptm)),
];

const PRESET_NAMES: [&str; PRESETS.len()] = {
    let mut names = [""; PRESETS.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = PRESETS[index].0;
        index += 1;
    }
    names
};
