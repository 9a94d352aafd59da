//! The network of a script as a scenario file.

mod datagrams;
mod dumbbell;
mod flows;
mod graph;
mod queue;
mod tcp;
mod units;

use crate::Imported;
use crate::error::ImportError;
use crate::network::{Loss, Model, Work};
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
    if is_rigid(model)? {
        notes.push(RIGID.to_owned());
    }
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

const RIGID: &str = "nothing here is random, so packets may arrive in the instant in which others leave: \
                     rounding then decides which ones a full queue loses, and numbers of losses differ \
                     from ns-2's";

/// True if several flows share a network that draws no random numbers during its run.
fn is_rigid(model: &Model) -> Result<bool, ImportError> {
    let mut random = model.links.iter().any(|link| {
        let list = |loss: &Loss| loss.settings.class == "ErrorModel";
        link.queue.class == "Queue/RED" || link.loss.as_ref().is_some_and(list)
    });
    for flow in &model.flows {
        random |= flow.jitter > 0.0;
        if let Work::Traffic(settings) = &flow.work {
            random |= settings.class != "Application/Traffic/CBR" || settings.truth("random_")?;
        }
    }
    Ok(!random && model.flows.len() > 1)
}
