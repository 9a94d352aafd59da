//! The network of a script as a scenario file.

mod dumbbell;
mod flows;
mod graph;
mod queue;
mod tcp;
mod units;

use crate::Imported;
use crate::error::ImportError;
use crate::network::Model;
use flows::Flows;
use std::fmt::Write as _;

/// Writes a network as a scenario.
///
/// # Errors
/// Returns the first part of it that a scenario cannot express.
pub fn write(model: &Model, file: &str) -> Result<Imported, ImportError> {
    let mut notes = model.notes.clone();
    let flows = Flows::new(model, !graph::is_tree(model), &mut notes)?;
    let body = match dumbbell::write(model, &flows)? {
        Some(body) => body,
        None => graph::write(model, &flows, &mut notes)?,
    };
    let shown: String = file
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    let mut toml = format!("# Imported by goodqueue from {shown}, a script for ns-2.\n");
    notes.dedup();
    for note in &notes {
        let plain: String = note
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let _ = writeln!(toml, "# - {plain}");
    }
    let title = shown.rsplit('/').next().unwrap_or_default();
    let _ = writeln!(toml, "schema_version = 1");
    let _ = writeln!(
        toml,
        "title = {}",
        units::text(&format!("Imported from {title}"))
    );
    let _ = writeln!(toml, "duration = {}", units::span(model.end));
    if let Some(warmup) = model.warmup {
        let _ = writeln!(toml, "warmup = {}", units::span(warmup));
    }
    let _ = writeln!(toml, "seed = 1\n\n[topology]");
    if flows.framing > 0 {
        let _ = writeln!(toml, "framing = \"{}B\"", flows.framing);
    }
    toml.push_str(&body);
    Ok(Imported { toml, notes })
}
