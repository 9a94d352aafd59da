//! Scripts of ns-2 as scenarios.
//!
//! [`import`] interprets a script: the part of Tcl that scripts of wired networks use (`tcl/`), on
//! objects that only remember what they were told (`network/`). Nothing is simulated and no program is
//! run. The scheduled commands are interpreted in the order of their times until the script ends the run,
//! which shows when flows start and stop. Quantities that only a simulation knows have the value
//! [`MEASURED`], and a network that depends on one is refused. The network is then written as a scenario
//! (`scenario/`).
//!
//! Commands, nesting and memory are bounded (`tcl/budget.rs`).

mod error;
mod files;
mod network;
mod place;
mod scenario;
mod tcl;

pub use error::ImportError;

use error::refuse;
use files::Folder;
use goodqueue_types::message::without_mark;
use network::{Draw, Model};
use std::path::Path;
use tcl::Script;

/// Largest script that is read, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// Text of a value that only a simulation knows.
const MEASURED: &str = "<measured>";

/// A script as a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The scenario file.
    pub toml: String,
    /// Differences between the script and the scenario, one sentence each.
    pub notes: Vec<String>,
}

/// Reads a script of ns-2. The script may read others of its `folder` and below.
///
/// A start time that is drawn at random becomes a `start_jitter`: the script is interpreted once with the
/// smallest value of each uniform draw, and once with the largest.
///
/// # Errors
/// Returns the first command that has no equivalent, with its line and the nearest choice.
///
/// # Examples
/// ```
/// let script = r#"
///     set ns [new Simulator]
///     set n0 [$ns node]; set n1 [$ns node]
///     $ns duplex-link $n0 $n1 10Mb 10ms DropTail
///     set tcp [new Agent/TCP/Reno]; set sink [new Agent/TCPSink]
///     $ns attach-agent $n0 $tcp; $ns attach-agent $n1 $sink; $ns connect $tcp $sink
///     set ftp [new Application/FTP]; $ftp attach-agent $tcp
///     $ns at 1.0 "$ftp start"
///     $ns at 9.0 "exit 0"
///     $ns run
/// "#;
/// let imported = goodqueue_ns2::import(script.as_bytes(), "one.tcl", None, &[])?;
/// assert!(imported.toml.contains("queue = { limit = \"49p\" }"));
/// # Ok::<(), goodqueue_ns2::ImportError>(())
/// ```
pub fn import(
    script: &[u8],
    file: &str,
    folder: Option<&Path>,
    arguments: &[String],
) -> Result<Imported, ImportError> {
    if script.len() > MAX_BYTES {
        let message = format!("the script has {} bytes", script.len());
        return Err(refuse(0, message, "give at most 1 MiB").in_files(file, &[]));
    }
    // Scripts of the nineties have comments in Latin-1.
    let text = String::from_utf8_lossy(without_mark(script));
    let script = Script {
        text: &text,
        file,
        arguments,
        folder: &Folder::new(folder),
    };
    let interpret = |draw| tcl::interpret(&script, draw);
    let low = interpret(Draw::Low)?;
    let model = if low.draws == 0 {
        low
    } else {
        let high = interpret(Draw::High)?;
        match joined(low, &high) {
            Some(model) => model,
            None => drawn(interpret(Draw::Seeded)?),
        }
    };
    scenario::write(&model, file).map_err(|error| error.in_files(file, &model.files))
}

/// Returns the model whose starts range from those of one model to those of the other. None if they
/// differ in anything else.
fn joined(mut low: Model, high: &Model) -> Option<Model> {
    if low.unbounded || low.flows.len() != high.flows.len() {
        return None;
    }
    for (flow, other) in low.flows.iter_mut().zip(&high.flows) {
        flow.jitter = other.start - flow.start;
    }
    let mut rest = high.clone();
    for (other, flow) in rest.flows.iter_mut().zip(&low.flows) {
        (other.start, other.jitter) = (flow.start, flow.jitter);
    }
    let later = low.flows.iter().all(|flow| flow.jitter >= 0.0);
    let ends = rest.end.total_cmp(&low.end).is_eq();
    (later && ends && rest.flows == low.flows && rest.links == low.links).then_some(low)
}

fn drawn(mut model: Model) -> Model {
    let note =
        "random numbers of the script shape the network; they were drawn once, and are now fixed";
    model.notes.push(note.to_owned());
    model
}
