//! Runs a scenario in which flows of TCP belong to quinn, and prints the summary as JSON.

use goodqueue_quinn::{Control, Fault, Logs, Quinn, Workload};
use goodqueue_scenario::{Scenario, metrics, parse_override, summary_json};
use goodqueue_sim::{Network, Stack, WorkloadConfig};
use goodqueue_types::Span;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

const USAGE: &str = "\
usage: goodqueue-quinn SCENARIO.toml [OPTION]...

  --flow NAME        flows that quinn takes over, by name or group; without it all with bulk data and
                     all with exchanges of constant sizes and pauses
  --control CONTROL  reno, cubic or bbr; cubic without it
  --fault FAULT      plant a fault into the control: no-reduction, ecn-ignored or no-pacing
  --bytes N          bytes of each flow, in place of the scenario's
  --streams N        streams of each flow; 1 without it
  --request N        ask for answers on one connection, with requests of this many bytes
  --answer N         bytes of an answer; 100000 without it
  --pause-ms N       milliseconds from an answer to the next request; 0 without it
  --parallel N       requests at once; 1 without it
  --window N         bytes of the receive windows and of the send buffer; quinn's defaults without it
  --seed N           seed of the run, in place of the scenario's
  --set KEY=VALUE    another value of a key of the scenario
  --metrics          print the figures of goodqueue's tables by name, in place of the summary
  --qlog FILE        write the log of the first flow's client, of later ones to FILE.1, FILE.2 ...
";

/// The options of the command line.
#[derive(Default)]
struct Command {
    scenario: PathBuf,
    flows: Vec<String>,
    control: Option<Control>,
    fault: Option<Fault>,
    bytes: Option<u64>,
    streams: Option<u32>,
    request: Option<u64>,
    answer: Option<u64>,
    pause_ms: u64,
    parallel: Option<u32>,
    window: Option<u32>,
    seed: Option<u64>,
    overrides: Vec<(String, String)>,
    metrics: bool,
    qlog: Option<PathBuf>,
}

fn word<T: Copy>(option: &str, text: &str, words: &[(&str, T)]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        format!("{option} is one of {}, not {text:?}", words.join(", "))
    })
}

fn number<T: TryFrom<u64>>(option: &str, text: &str, least: u64) -> Result<T, String> {
    let number = text.parse::<u64>().ok().filter(|number| *number >= least);
    number
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| format!("{option} is a whole number from {least} on, not {text:?}"))
}

impl Command {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut request = Self::default();
        while let Some(option) = arguments.next() {
            if !option.starts_with("--") {
                request.scenario = PathBuf::from(option);
                continue;
            }
            if option == "--metrics" {
                request.metrics = true;
                continue;
            }
            let text = arguments
                .next()
                .ok_or_else(|| format!("{option} has no value"))?;
            request.take(&option, &text)?;
        }
        if request.scenario.as_os_str().is_empty() {
            return Err("name a scenario".to_owned());
        }
        Ok(request)
    }

    fn take(&mut self, option: &str, text: &str) -> Result<(), String> {
        match option {
            "--flow" => self.flows.push(text.to_owned()),
            "--control" => self.control = Some(word(option, text, &Control::WORDS)?),
            "--fault" => self.fault = Some(word(option, text, &Fault::WORDS)?),
            "--bytes" => self.bytes = Some(number(option, text, 1)?),
            "--streams" => self.streams = Some(number(option, text, 1)?),
            "--request" => self.request = Some(number(option, text, 1)?),
            "--answer" => self.answer = Some(number(option, text, 1)?),
            "--pause-ms" => self.pause_ms = number(option, text, 0)?,
            "--parallel" => self.parallel = Some(number(option, text, 1)?),
            "--window" => self.window = Some(number(option, text, 1)?),
            "--seed" => self.seed = Some(number(option, text, 0)?),
            "--qlog" => self.qlog = Some(PathBuf::from(text)),
            "--set" => {
                let change = parse_override(text).map_err(|error| error.to_string())?;
                self.overrides.push(change);
            }
            _ => return Err(format!("there is no option {option}")),
        }
        Ok(())
    }

    /// Returns the workload that the options ask for, if they do.
    fn workload(&self) -> Option<Workload> {
        if let Some(request) = self.request {
            return Some(Workload::Requests {
                request,
                answer: self.answer.unwrap_or(100_000),
                pause: Span::from_millis(self.pause_ms),
                parallel: self.parallel.unwrap_or(1),
            });
        }
        let is_asked = self.bytes.is_some() || self.streams.is_some();
        is_asked.then_some(Workload::Bulk {
            bytes: self.bytes,
            streams: self.streams.unwrap_or(1),
        })
    }

    /// Gives the flows that the request names to quinn.
    fn give(&self, network: &mut Network, logs: Option<&Logs>) -> Result<(), String> {
        self.check_names(network)?;
        for flow in &mut network.flows {
            let is_asked = self.flows.iter().any(|name| is_named(&flow.name, name));
            if !self.flows.is_empty() && !is_asked {
                continue;
            }
            let own = Workload::of(&flow.workload);
            let workload = own.and_then(|own| self.workload().or(Some(own)));
            let Some(workload) = workload else {
                if self.flows.is_empty() {
                    continue;
                }
                let name = &flow.name;
                return Err(format!(
                    "quinn has no workload like that of the flow {name:?}"
                ));
            };
            let stack: Arc<dyn Stack> = Arc::new(Quinn {
                control: self.control.unwrap_or(Control::Cubic),
                fault: self.fault,
                workload,
                window: self.window,
                logs: logs.cloned(),
            });
            flow.workload = WorkloadConfig::Foreign(stack);
        }
        Ok(())
    }

    fn check_names(&self, network: &Network) -> Result<(), String> {
        let names = || network.flows.iter().map(|flow| flow.name.as_str());
        for name in &self.flows {
            if !names().any(|flow| is_named(flow, name)) {
                let names: Vec<&str> = names().take(8).collect();
                return Err(format!(
                    "there is no flow {name:?}; the flows are {}",
                    names.join(", ")
                ));
            }
        }
        Ok(())
    }
}

/// Returns true if this is the name of a flow, or of its group.
fn is_named(flow: &str, name: &str) -> bool {
    let rest = flow.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns the place of a flow's log.
fn place(file: &Path, first: u32, flow: u32) -> PathBuf {
    if flow == first {
        return file.to_owned();
    }
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}", flow - first));
    PathBuf::from(name)
}

fn run(request: &Command) -> Result<(), String> {
    let loaded = Scenario::load(&request.scenario, &request.overrides);
    let mut scenario = loaded.map_err(|error| error.to_string())?;
    if let Some(seed) = request.seed {
        scenario = scenario.with_seed(seed);
    }
    let logs = request.qlog.clone().map(|file| {
        let first = std::sync::OnceLock::new();
        Logs::new(move |flow| {
            let first = *first.get_or_init(|| flow);
            let file = File::create(place(&file, first, flow))?;
            Ok(Box::new(BufWriter::new(file)))
        })
    });
    let mut network = scenario.network();
    request.give(&mut network, logs.as_ref())?;
    let outcome = goodqueue_sim::run(&network);
    if let Some(error) = logs.and_then(|logs| logs.take_error()) {
        return Err(format!("cannot write the log: {error}"));
    }
    let mut printed = summary_json(&scenario, &network, &outcome);
    if request.metrics {
        let figures = metrics(&scenario, &printed).into_iter();
        printed = figures
            .map(|(name, value)| (name, Value::from(value)))
            .collect::<Map<_, _>>()
            .into();
    }
    println!(
        "{}",
        serde_json::to_string_pretty(&printed).map_err(|error| error.to_string())?
    );
    Ok(())
}

fn main() -> ExitCode {
    let request = match Command::parse(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(message) => {
            eprint!("error: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&request) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(1)
        }
    }
}
