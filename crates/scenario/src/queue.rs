//! Queue disciplines by name, with their parameters.

use crate::error::Checked;
use crate::reader::{Field, Place, Reader};
use crate::setting::{ReadFrom, Visitor, WriteTo};
use crate::spec::QUEUES;
use goodqueue_queue::{Configuration, DropTailConfig, Limit, QueueConfig, Refusal};

/// The discipline of that name with its defaults.
fn named(word: &str) -> QueueConfig {
    match word {
        "drop_tail" => QueueConfig::drop_tail(Limit::Unlimited),
        other => unreachable!("{other} is not a choice"),
    }
}

/// The name of a discipline.
pub(crate) fn name(config: &QueueConfig) -> &'static str {
    match config {
        QueueConfig::DropTail(_) => "drop_tail",
        _ => unreachable!("no file makes such a queue"),
    }
}

// Taken apart field by field, so that the compiler names a parameter that has no key.

fn visit(v: &mut impl Visitor, config: &mut QueueConfig) -> Checked<()> {
    match config {
        QueueConfig::DropTail(DropTailConfig { limit }) => v.visit("limit", limit),
        _ => Ok(()),
    }
}

/// Reads the table of a queue.
pub(crate) fn read(field: &Field<'_>) -> Checked<QueueConfig> {
    let (word, table) = Reader::tagged(field)?;
    table.check_required()?;
    let mut config = named(word);
    visit(&mut ReadFrom(&table), &mut config)?;
    let frame_bytes = field.place.map_or(1, |place: Place| place.frame_bytes);
    config.check(frame_bytes).map_err(|refusal| {
        let Refusal { key, message, help } = refusal;
        table.problem(key, message, help)
    })?;
    Ok(config)
}

/// Writes a queue with all its parameters as an inline TOML table that reads back the same.
pub(crate) fn write(config: &QueueConfig) -> String {
    let name = name(config);
    let spec = QUEUES
        .iter()
        .find(|variant| variant.0 == name)
        .map_or(QUEUES[0].1, |variant| variant.1);
    let mut table = WriteTo::new(spec);
    table.push("kind", &format!("\"{name}\""));
    let visited = visit(&mut table, &mut config.clone());
    debug_assert!(visited.is_ok(), "writing does not fail");
    table.inline()
}
