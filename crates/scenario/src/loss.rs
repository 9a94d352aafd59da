//! `loss` of a link.

use crate::error::Checked;
use crate::reader::Reader;
use crate::setting::{ReadFrom, Visitor, WriteTo, words};
use crate::spec::INDEPENDENT;
use goodqueue_sim::{LossConfig, LossModel, LossOf};

words! {
    LossOf { "all" = Everything, "data" = Data, "acks" = Acks }
}

// Taken apart field by field, so that the compiler names a parameter that has no key.

fn visit(v: &mut impl Visitor, config: &mut LossConfig) -> Checked<()> {
    let LossConfig {
        model,
        of,
        after_transmission,
    } = config;
    match model {
        LossModel::Independent { probability } => v.visit("probability", probability)?,
    }
    v.visit("of", of)?;
    v.visit("after_transmission", after_transmission)
}

/// What a link's table says of losses.
pub(crate) fn read(link: &Reader<'_>) -> Checked<Option<LossConfig>> {
    let Some(field) = link.get("loss") else {
        return Ok(None);
    };
    let (_, table) = Reader::tagged(&field)?;
    table.check_required()?;
    let mut config = LossConfig {
        model: LossModel::Independent { probability: 0.0 },
        of: LossOf::default(),
        after_transmission: false,
    };
    visit(&mut ReadFrom(&table), &mut config)?;
    Ok(Some(config))
}

/// As an inline TOML table that reads back the same.
pub(crate) fn write(config: &LossConfig) -> String {
    let (kind, spec) = match config.model {
        LossModel::Independent { .. } => ("independent", &INDEPENDENT),
    };
    let mut table = WriteTo::new(spec);
    table.push("kind", &format!("\"{kind}\""));
    let visited = visit(&mut table, &mut config.clone());
    debug_assert!(visited.is_ok(), "writing does not fail");
    table.inline()
}
