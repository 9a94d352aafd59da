//! One scenario, from its text to the picture of its run.

use crate::thin::{Columns, Thin};
use goodqueue_scenario::{Scenario, ScenarioError, buffer_json, format_span, summary_json};
use goodqueue_sim::{Network, Record, run_probed};
use goodqueue_types::{Span, Time};
use serde_json::{Value, json};
use std::fmt;

/// Bounds on the cost of a run that a page may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most full packets that the links between the hosts can send during the run.
    pub packets: u64,
    /// Most flows.
    pub flows: usize,
    /// Most bytes of memory, by the estimate before the run.
    pub memory: u64,
}

impl Default for Bounds {
    /// Returns bounds that a run meets in some seconds on a usual computer.
    fn default() -> Self {
        Self {
            packets: 5_000_000,
            flows: 5_000,
            memory: 512 << 20,
        }
    }
}

/// Reason for which a scenario is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabError {
    /// The scenario has a mistake.
    Scenario(ScenarioError),
    /// The run would cost more than a bound, which the text names with its remedy.
    TooLarge(String),
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(f),
            Self::TooLarge(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for LabError {}

/// Parts of a run that a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Columns of each series.
    pub columns: usize,
    /// Flows with series, from the first on.
    pub flows: usize,
}

impl View {
    /// Most columns of a picture: no screen shows more.
    pub const MOST_COLUMNS: usize = 4_000;
    /// Most flows with series.
    pub const MOST_FLOWS: usize = 64;
}

impl Default for View {
    fn default() -> Self {
        Self {
            columns: 600,
            flows: 8,
        }
    }
}

/// A scenario that is ready to run within the bounds.
#[derive(Clone, Debug)]
pub struct Experiment {
    scenario: Scenario,
    network: Network,
}

impl Experiment {
    /// Reads a scenario and checks that its run keeps the bounds. `overrides` are keys with values
    /// that replace those of the text.
    ///
    /// # Errors
    /// Returns the first mistake with its line, or the bound that the run would exceed.
    pub fn read(
        text: &str,
        overrides: &[(String, String)],
        bounds: Bounds,
    ) -> Result<Self, LabError> {
        let scenario = Scenario::parse(text.as_bytes(), "scenario", overrides)
            .map_err(LabError::Scenario)?
            .with_record(Record::default());
        check(&scenario, bounds).map_err(LabError::TooLarge)?;
        let network = scenario.network();
        Ok(Self { scenario, network })
    }

    /// Returns a shorter experiment whose links can send at most `packets` full packets, for a
    /// first picture, or none if this one is short enough or cannot be shortened. Warm-up and
    /// duration shrink by the same factor.
    #[must_use]
    pub fn shortened(&self, text: &str, packets: u64) -> Option<Self> {
        let factor = packets as f64 / most_packets(&self.scenario);
        if factor >= 1.0 {
            return None;
        }
        let scaled = |span: Span| {
            let millis = (span.as_secs_f64() * factor * 1e3).floor();
            format_span(Span::from_millis(millis as u64))
        };
        let duration = ("duration".to_owned(), scaled(self.scenario.duration()));
        let warmup = ("warmup".to_owned(), scaled(self.scenario.warmup()));
        Self::read(text, &[duration, warmup], Bounds::default()).ok()
    }

    /// Runs while `go_on` returns true. Returns the picture, or none if the run was stopped. Every
    /// few milliseconds of computing `go_on` gets the share of the simulated time that is done.
    pub fn run(&self, view: View, mut go_on: impl FnMut(f64) -> bool) -> Option<Value> {
        let links = &self.network.links;
        let shown: Vec<bool> = links.iter().map(|link| link.observed).collect();
        let columns = Columns::new(view.columns.min(View::MOST_COLUMNS), self.network.end);
        let flow_count = view
            .flows
            .min(View::MOST_FLOWS)
            .min(self.network.flows.len());
        let probe = Thin::new(columns, &shown, flow_count);
        let end = (self.network.end - Time::ZERO).as_secs_f64();
        let (outcome, thin) = run_probed(&self.network, probe, |now| {
            go_on((now - Time::ZERO).as_secs_f64() / end)
        })?;
        let observed = links.iter().filter(|link| link.observed);
        let link_names: Vec<&str> = observed.map(|link| link.name.as_str()).collect();
        let flows = self.network.flows.iter().take(flow_count);
        let flow_names: Vec<&str> = flows.map(|flow| flow.name.as_str()).collect();
        let (links, flows) = thin.picture(&link_names, &flow_names);
        let buffers = self.scenario.buffers();
        let buffers: Vec<Value> = buffers.iter().map(buffer_json).collect();
        Some(json!({
            "title": self.scenario.title(),
            "duration_s": end,
            "warmup_s": self.scenario.warmup().as_secs_f64(),
            "column_s": columns.width_s(),
            "summary": summary_json(&self.scenario, &self.network, &outcome),
            "buffers": buffers,
            "links": links,
            "flows": flows,
        }))
    }

    /// Returns what is simulated.
    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the scenario with every default written out.
    pub fn resolved_toml(&self) -> String {
        self.scenario.resolved_toml()
    }
}

/// Returns the number of packets of 1,500 bytes that the links between the hosts can send.
fn most_packets(scenario: &Scenario) -> f64 {
    scenario.weight() / (8.0 * 1500.0)
}

fn check(scenario: &Scenario, bounds: Bounds) -> Result<(), String> {
    let packets = most_packets(scenario);
    if packets > bounds.packets as f64 {
        let fits = scenario.duration().as_secs_f64() * bounds.packets as f64 / packets;
        return Err(format!(
            "this run can send {packets:.0} packets, and the lab runs at most {}: set duration to \
             {fits:.2}s or less, or lower the rates",
            bounds.packets
        ));
    }
    let flows = scenario.flow_names().len();
    if flows > bounds.flows {
        return Err(format!(
            "this scenario has {flows} flows, and the lab runs at most {}: lower count",
            bounds.flows
        ));
    }
    let parts = scenario.memory(Record::default());
    let bytes: u64 = parts.iter().map(|part| part.count * part.bytes_each).sum();
    if bytes > bounds.memory {
        return Err(format!(
            "this run needs about {} MB of memory, and the lab allows {}: lower the buffers or the \
             number of flows",
            bytes / 1_000_000,
            bounds.memory / 1_000_000
        ));
    }
    Ok(())
}
