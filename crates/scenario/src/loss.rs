//! `loss` of a link.

use crate::error::Checked;
use crate::reader::Reader;
use crate::setting::{ReadFrom, Visitor, WriteTo, words};
use crate::spec::{GILBERT_ELLIOTT, INDEPENDENT};
use goodqueue_sim::{LossConfig, LossModel, LossOf, LossUnit};

words! {
    LossOf { "all" = Everything, "data" = Data, "acks" = Acks }
}
words! {
    LossUnit { "packet" = Packet, "byte" = Byte }
}

// The configuration is destructured field by field, so that the compiler reports a parameter
// without a key.

fn visit(v: &mut impl Visitor, config: &mut LossConfig) -> Checked<()> {
    let LossConfig {
        model,
        of,
        after_transmission,
    } = config;
    match model {
        LossModel::Independent { probability, per } => {
            v.visit("probability", probability)?;
            v.visit("per", per)?;
        }
        LossModel::GilbertElliott {
            to_bad,
            to_good,
            loss_bad,
            loss_good,
            per,
        } => {
            v.visit("to_bad", to_bad)?;
            v.visit("to_good", to_good)?;
            v.visit("loss_bad", loss_bad)?;
            v.visit("loss_good", loss_good)?;
            v.visit("per", per)?;
        }
    }
    v.visit("of", of)?;
    v.visit("after_transmission", after_transmission)
}

/// Reads the losses from a link's table.
pub(crate) fn read(link: &Reader<'_>) -> Checked<Option<LossConfig>> {
    let Some(field) = link.get("loss") else {
        return Ok(None);
    };
    let (kind, table) = Reader::tagged(&field)?;
    table.check_required()?;
    let mut config = LossConfig {
        model: match kind {
            "gilbert_elliott" => LossModel::GilbertElliott {
                to_bad: 0.0,
                to_good: 0.0,
                loss_bad: 1.0,
                loss_good: 0.0,
                per: LossUnit::default(),
            },
            _ => LossModel::Independent {
                probability: 0.0,
                per: LossUnit::default(),
            },
        },
        of: LossOf::default(),
        after_transmission: false,
    };
    visit(&mut ReadFrom(&table), &mut config)?;
    Ok(Some(config))
}

/// Writes an inline TOML table that reads back the same.
pub(crate) fn write(config: &LossConfig) -> String {
    let (kind, spec) = match config.model {
        LossModel::Independent { .. } => ("independent", &INDEPENDENT),
        LossModel::GilbertElliott { .. } => ("gilbert_elliott", &GILBERT_ELLIOTT),
    };
    let mut table = WriteTo::new(spec);
    table.push("kind", &format!("\"{kind}\""));
    let visited = visit(&mut table, &mut config.clone());
    debug_assert!(visited.is_ok(), "writing does not fail");
    table.inline()
}
