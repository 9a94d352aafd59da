//! Runs a scenario in which flows of TCP belong to quinn, and prints the summary as JSON.

use goodqueue_quinn::{Control, Fault, Logs, Quinn, Workload};
use goodqueue_scenario::{Scenario, parse_override, summary_json};
use goodqueue_sim::{Network, Stack, WorkloadConfig};
use goodqueue_types::Span;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

const USAGE: &str = "\
usage: goodqueue-quinn SCENARIO.toml [OPTION]...

  --flow NAME        flows that quinn takes over, by name or group; all bulk flows without it
  --control CONTROL  reno, cubic or bbr; cubic without it
  --fault FAULT      plant a fault into the control: no-reduction or ecn-ignored
  --bytes N          bytes of each flow; without it a flow has no end
  --streams N        streams of each flow; 1 without it
  --request N        ask for answers on one connection, with requests of this many bytes
  --answer N         bytes of an answer; 100000 without it
  --pause-ms N       milliseconds from an answer to the next request; 0 without it
  --parallel N       requests at once; 1 without it
  --window N         bytes of the receive windows and of the send buffer; quinn's defaults without it
  --seed N           seed of the run, in place of the scenario's
  --set KEY=VALUE    another value of a key of the scenario
  --qlog FILE        write the log of the first flow's client, of later ones to FILE.1, FILE.2 ...
";

/// The options of the command line.
#[derive(Default)]
struct Request {
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

impl Request {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut request = Self::default();
        while let Some(option) = arguments.next() {
            if !option.starts_with("--") {
                request.scenario = PathBuf::from(option);
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

    fn workload(&self) -> Workload {
        match self.request {
            Some(request) => Workload::Requests {
                request,
                answer: self.answer.unwrap_or(100_000),
                pause: Span::from_millis(self.pause_ms),
                parallel: self.parallel.unwrap_or(1),
            },
            None => Workload::Bulk {
                bytes: self.bytes,
                streams: self.streams.unwrap_or(1),
            },
        }
    }

    /// Gives the flows that the request names to the stack.
    fn give(&self, network: &mut Network, stack: &Arc<dyn Stack>) -> Result<(), String> {
        for name in &self.flows {
            if network.set_stack(name, stack) == 0 {
                let names = network.flows.iter().map(|flow| flow.name.as_str());
                let names: Vec<&str> = names.take(8).collect();
                return Err(format!(
                    "there is no flow {name:?}; the flows are {}",
                    names.join(", ")
                ));
            }
        }
        if self.flows.is_empty() {
            for flow in &mut network.flows {
                if flow.workload.is_bulk() {
                    flow.workload = WorkloadConfig::Foreign(Arc::clone(stack));
                }
            }
        }
        Ok(())
    }
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

fn run(request: &Request) -> Result<(), String> {
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
    let stack: Arc<dyn Stack> = Arc::new(Quinn {
        control: request.control.unwrap_or(Control::Cubic),
        fault: request.fault,
        workload: request.workload(),
        window: request.window,
        logs: logs.clone(),
    });
    let mut network = scenario.network();
    request.give(&mut network, &stack)?;
    let outcome = goodqueue_sim::run(&network);
    if let Some(error) = logs.and_then(|logs| logs.take_error()) {
        return Err(format!("cannot write the log: {error}"));
    }
    let summary = summary_json(&scenario, &network, &outcome);
    println!(
        "{}",
        serde_json::to_string_pretty(&summary).map_err(|error| error.to_string())?
    );
    Ok(())
}

fn main() -> ExitCode {
    let request = match Request::parse(std::env::args().skip(1)) {
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
