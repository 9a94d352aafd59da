//! One scenario, from its text to the picture of its run.

use crate::bounds::{BoundedRun, Bounds};
use crate::figures::figures;
use crate::probe::Observer;
use crate::refusal::LabError;
use crate::thin::{Columns, Thin};
use goodqueue_scenario::{Files, Scenario, buffer_json, format_span, parse_limit, summary_json};
use goodqueue_sim::{Network, Record};
use goodqueue_types::{Span, Time};
use serde_json::{Value, json};
use std::collections::BTreeMap;

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
    pub const MAX_COLUMNS: usize = 4_000;
    /// Most flows with series.
    pub const MAX_FLOWS: usize = 64;
    /// Most columns of all series together. With more series, each has fewer columns.
    const MAX_CELLS: usize = 400_000;
}

impl Default for View {
    fn default() -> Self {
        Self {
            columns: 600,
            flows: 8,
        }
    }
}

/// A scenario file with the changes that a page makes to it.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// Text of the scenario file.
    pub text: String,
    /// Contents of the files that it names, by name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Keys with values that replace those of the text.
    pub overrides: Vec<(String, String)>,
    /// Link with another limit of its queue, and the limit with its unit.
    pub limit: Option<(String, String)>,
    /// Seed in place of that of the text.
    pub seed: Option<u64>,
}

impl Setting {
    /// Reads the scenario. Nothing is read from the disk.
    ///
    /// # Errors
    /// Returns the first mistake with its line.
    pub fn scenario(&self) -> Result<Scenario, LabError> {
        let (text, files) = (self.text.as_bytes(), Files::Memory(&self.files));
        let mut scenario =
            Scenario::parse_with(text, "scenario", &self.overrides, files, Bounds::READING)?
                .with_record(Record::default());
        if let Some((link, limit)) = &self.limit {
            let limit = scenario.resolve_limit(link, parse_limit(limit)?)?;
            scenario = scenario.with_limit(link, limit)?;
        }
        if let Some(seed) = self.seed {
            scenario = scenario.with_seed(seed);
        }
        Ok(scenario)
    }
}

/// A scenario that is ready to run within the bounds.
#[derive(Clone, Debug)]
pub struct Experiment {
    scenario: Scenario,
    network: Network,
    bounds: Bounds,
    /// Bytes that a run needs from the start.
    from_start: u64,
}

impl Experiment {
    /// Reads a scenario without files and checks that its run keeps the bounds. `overrides` are
    /// keys with values that replace those of the text.
    ///
    /// # Errors
    /// Returns the first mistake with its line, or the bound that the run would exceed.
    pub fn read(
        text: &str,
        overrides: &[(String, String)],
        bounds: Bounds,
    ) -> Result<Self, LabError> {
        let setting = Setting {
            text: text.to_owned(),
            overrides: overrides.to_vec(),
            ..Setting::default()
        };
        Self::set_up(&setting, bounds)
    }

    /// Reads a scenario with its changes and checks that its run keeps the bounds.
    ///
    /// # Errors
    /// Returns the first mistake with its line, or the bound that the run would exceed.
    pub fn set_up(setting: &Setting, bounds: Bounds) -> Result<Self, LabError> {
        let scenario = setting.scenario()?;
        let from_start = bounds.check(&scenario).map_err(LabError::TooLarge)?;
        let network = scenario.network();
        Ok(Self {
            scenario,
            network,
            bounds,
            from_start,
        })
    }

    /// Returns a shorter experiment whose links can send at most `packets` full packets, for a
    /// first picture, or none if this one is short enough or cannot be shortened. Warm-up and
    /// duration shrink by the same factor.
    #[must_use]
    pub fn shortened(&self, setting: &Setting, packets: u64) -> Option<Self> {
        let factor = packets as f64 / self.scenario.packets() as f64;
        if factor >= 1.0 {
            return None;
        }
        let scaled = |span: Span| {
            let millis = (span.as_secs_f64() * factor * 1e3).floor();
            format_span(Span::from_millis(millis as u64))
        };
        let mut shorter = setting.clone();
        for (key, span) in [
            ("duration", self.scenario.duration()),
            ("warmup", self.scenario.warmup()),
        ] {
            shorter.overrides.push((key.to_owned(), scaled(span)));
        }
        Self::set_up(&shorter, self.bounds).ok()
    }

    /// Returns the run of this experiment, which has not started.
    pub fn start(self, view: View) -> Run {
        let Self {
            scenario,
            network,
            bounds,
            from_start,
        } = self;
        let shown: Vec<bool> = network.links.iter().map(|link| link.observed).collect();
        let flow_count = view.flows.min(View::MAX_FLOWS).min(network.flows.len());
        let series = flow_count + shown.iter().filter(|shown| **shown).count();
        let columns = (view.columns).min(View::MAX_COLUMNS.min(View::MAX_CELLS / series.max(1)));
        let columns = Columns::new(columns, network.end);
        let probe = Observer::Columns(Thin::new(columns, &shown, flow_count));
        Run {
            bounded: BoundedRun::new(network.clone(), probe, bounds, from_start),
            scenario,
            network,
            columns,
            flow_count,
        }
    }

    /// Runs while `go_on` returns true. Returns the picture, or none if the run was stopped or
    /// exceeded a bound. Every few milliseconds of computing `go_on` gets the share of the simulated
    /// time that is done.
    pub fn run(&self, view: View, mut go_on: impl FnMut(f64) -> bool) -> Option<Value> {
        let mut run = self.clone().start(view);
        let mut share = 0.0;
        while go_on(share) {
            let Some(next) = run.advance().ok()? else {
                return go_on(1.0).then(|| run.picture());
            };
            share = next;
        }
        None
    }

    /// Returns the network to simulate, and its run for a probe.
    pub(crate) fn into_run(self) -> (Network, impl FnOnce(Network, Observer) -> BoundedRun) {
        let (bounds, from_start) = (self.bounds, self.from_start);
        let run = move |network, probe| BoundedRun::new(network, probe, bounds, from_start);
        (self.network, run)
    }

    /// Returns the scenario with every default written out.
    pub fn resolved_toml(&self) -> String {
        self.scenario.resolved_toml()
    }
}

/// A run in progress.
#[derive(Debug)]
pub struct Run {
    bounded: BoundedRun,
    scenario: Scenario,
    network: Network,
    columns: Columns,
    flow_count: usize,
}

impl Run {
    /// Runs for some milliseconds of computing. Returns the share of the simulated time that is
    /// done, or none if the run has reached its end.
    ///
    /// # Errors
    /// Returns the bound that the run has exceeded.
    pub fn advance(&mut self) -> Result<Option<f64>, LabError> {
        let now = self.bounded.advance()?;
        Ok(now.map(|now| now.as_secs_f64() / self.length_s()))
    }

    fn length_s(&self) -> f64 {
        (self.network.end - Time::ZERO).as_secs_f64()
    }

    /// Returns the picture of a run that has reached its end.
    ///
    /// # Panics
    /// Panics before the end.
    pub fn picture(self) -> Value {
        let length_s = self.length_s();
        let Self {
            bounded,
            scenario,
            network,
            columns,
            flow_count,
        } = self;
        let (outcome, observer) = bounded.simulation.finish();
        let links = network.links.iter().filter(|link| link.observed);
        let link_names: Vec<&str> = links.map(|link| link.name.as_str()).collect();
        let flows = network.flows.iter().take(flow_count);
        let flow_names: Vec<&str> = flows.map(|flow| flow.name.as_str()).collect();
        let (links, flows) = observer.into_columns().picture(&link_names, &flow_names);
        let buffers: Vec<Value> = scenario.buffers().iter().map(buffer_json).collect();
        let summary = summary_json(&scenario, &network, &outcome);
        json!({
            "title": scenario.title(),
            "duration_s": length_s,
            "warmup_s": scenario.warmup().as_secs_f64(),
            "column_s": columns.width_s(),
            "figures": figures(&summary),
            "summary": summary,
            "buffers": buffers,
            "links": links,
            "flows": flows,
        })
    }
}
