//! `service` of a link: the changes of its rate.

use crate::language::error::Checked;
use crate::language::file::{NamedFile, Origin};
use crate::language::reader::{Field, Reader};
use crate::language::text::{inline, plain};
use crate::language::trace::{LARGEST_TRACE, parse_mahimahi, parse_rate_csv, rate_or_zero};
use crate::language::units::{format_rate, format_span};
use goodqueue_sim::{RandomRate, RateDraw, RateTrace, ServiceConfig};
use goodqueue_types::{Rate, Span};
use std::path::Path;

/// Largest number of changes of a rate in a run.
const MOST_CHANGES: u128 = 1_000_000_000;

/// Changes of a link's rate, and the file that contains them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Service {
    pub config: ServiceConfig,
    file: Option<Origin>,
}

/// Reads a link's rate: `rate`, or `service` and its mean rate over a run of `duration`. Files are
/// searched relative to `folder`.
pub(crate) fn read(
    link: &Reader<'_>,
    folder: &Path,
    duration: Span,
) -> Checked<Option<(Rate, Option<Service>)>> {
    let rate = link.get("rate").map(|field| read_link_rate(&field));
    match (rate.transpose()?, link.get("service")) {
        (None, None) => Ok(None),
        (Some(rate), None) => Ok(Some((rate, None))),
        (Some(_), Some(service)) => {
            let message = "\"rate\" and \"service\" both say how fast the link is";
            Err(service.problem(message, "keep one of the two"))
        }
        (None, Some(field)) => {
            let service = read_service(&field, folder)?;
            let changes = service.config.changes_in(duration);
            if changes > MOST_CHANGES {
                let message = format!("this rate changes {changes} times in the run");
                let help = "write longer intervals, or a shorter duration";
                return Err(field.problem(message, help));
            }
            let mean = service.config.mean_rate(duration);
            if mean.0 == 0 {
                let message = "on this link nothing ever passes";
                return Err(field.problem(message, "give it a rate above 0bps at some time"));
            }
            Ok(Some((mean, Some(service))))
        }
    }
}

/// Reads a rate, or `unlimited` for a link that only delays.
fn read_link_rate(field: &Field<'_>) -> Checked<Rate> {
    match field.as_text() {
        Some("unlimited") => Ok(Rate::UNLIMITED),
        _ => field.rate(),
    }
}

/// Writes a rate that [`read`] reads back.
pub(crate) fn write_link_rate(rate: Rate) -> String {
    if rate == Rate::UNLIMITED {
        return plain("unlimited");
    }
    plain(format_rate(rate))
}

fn read_service(field: &Field<'_>, folder: &Path) -> Checked<Service> {
    let (kind, table) = Reader::tagged(field)?;
    table.check_required()?;
    let plain = |config| Service { config, file: None };
    match kind {
        "steps" => read_steps(&table).map(plain),
        "mahimahi" | "csv" => read_trace(kind, &table, folder),
        _ => read_random(kind, &table).map(plain),
    }
}

fn read_steps(table: &Reader<'_>) -> Checked<ServiceConfig> {
    let field = table.require("steps")?;
    let mut steps: Vec<(Span, Rate)> = Vec::new();
    for step in field.tables()? {
        let at = step.require("at")?.span()?;
        let late = match steps.last() {
            None => at > Span::ZERO,
            Some((last, _)) => *last >= at,
        };
        if late {
            let message = "steps begin at 0s and come one after the other";
            return Err(step.problem("at", message, "sort them by \"at\""));
        }
        steps.push((at, read_rate(&step.require("rate")?)?));
    }
    if steps.is_empty() {
        return Err(table.missing("steps"));
    }
    trace(steps, table)
}

/// Returns a trace of these steps, with the table's `repeat`.
fn trace(steps: Vec<(Span, Rate)>, table: &Reader<'_>) -> Checked<ServiceConfig> {
    let repeat = table.span("repeat")?;
    let last = steps.last().map_or(Span::ZERO, |step| step.0);
    if repeat.is_some_and(|repeat| repeat <= last) {
        let message = "the trace would begin again before its last step";
        let help = format!("write more than \"{}\"", format_span(last));
        return Err(table.problem("repeat", message, help));
    }
    let steps = steps.into();
    Ok(ServiceConfig::Trace(RateTrace { steps, repeat }))
}

fn read_trace(kind: &str, table: &Reader<'_>, folder: &Path) -> Checked<Service> {
    let file = NamedFile::read(table, folder, "trace", LARGEST_TRACE)?;
    let config = if kind == "mahimahi" {
        let trace = parse_mahimahi(&file.bytes).map_err(|error| file.problem(error))?;
        ServiceConfig::Opportunities(trace)
    } else {
        let steps = parse_rate_csv(&file.bytes).map_err(|error| file.problem(error))?;
        trace(steps, table)?
    };
    let file = Some(file.origin());
    Ok(Service { config, file })
}

fn read_random(kind: &str, table: &Reader<'_>) -> Checked<ServiceConfig> {
    let interval = table.require("interval")?.span()?;
    let draw = if kind == "uniform" {
        let from = read_rate(&table.require("from")?)?;
        let to = read_rate(&table.require("to")?)?;
        if from > to {
            let message = "\"from\" is above \"to\"";
            return Err(table.problem("from", message, "write the lower rate first"));
        }
        RateDraw::Uniform(from, to)
    } else {
        let field = table.require("rates")?;
        let rates: Checked<Vec<Rate>> = field.items()?.iter().map(read_rate).collect();
        let rates = rates?;
        if rates.len() < 2 {
            return Err(field.problem("a chain of one rate", "write two rates or more"));
        }
        RateDraw::Markov {
            rates: rates.into(),
            stay: table.require("stay")?.fraction()?,
        }
    };
    Ok(ServiceConfig::Random(RandomRate { interval, draw }))
}

/// Reads a rate, which may be zero.
fn read_rate(field: &Field<'_>) -> Checked<Rate> {
    match field.as_text() {
        Some(text) => rate_or_zero(text).map_err(|error| field.problem(error.message, error.help)),
        None => field.rate(),
    }
}

/// Writes an inline TOML table that reads back the same; a file by its full path and checksum.
pub(crate) fn write(service: &Service) -> String {
    let rate = |rate: &Rate| plain(format_rate(*rate));
    let span = |span: Span| plain(format_span(span));
    let kind = |kind: &str| ("kind", plain(kind));
    let mut items = match (&service.config, &service.file) {
        (config, Some(origin)) => {
            let mahimahi = matches!(config, ServiceConfig::Opportunities(_));
            let kind = kind(if mahimahi { "mahimahi" } else { "csv" });
            let [file, checksum] = crate::language::file::write(origin);
            vec![kind, file, checksum]
        }
        (ServiceConfig::Trace(trace), None) => {
            let steps = trace.steps.iter();
            let steps: Vec<String> = steps
                .map(|(at, bps)| inline(&[("at", span(*at)), ("rate", rate(bps))]))
                .collect();
            vec![kind("steps"), ("steps", format!("[{}]", steps.join(", ")))]
        }
        (ServiceConfig::Random(random), None) => {
            let interval = ("interval", span(random.interval));
            match &random.draw {
                RateDraw::Uniform(from, to) => {
                    vec![
                        kind("uniform"),
                        interval,
                        ("from", rate(from)),
                        ("to", rate(to)),
                    ]
                }
                RateDraw::Markov { rates, stay } => {
                    let rates: Vec<String> = rates.iter().map(rate).collect();
                    let rates = format!("[{}]", rates.join(", "));
                    let stay = ("stay", stay.to_string());
                    vec![kind("markov"), interval, ("rates", rates), stay]
                }
            }
        }
        (ServiceConfig::Opportunities(_), None) => unreachable!("opportunities come from a file"),
    };
    if let ServiceConfig::Trace(RateTrace {
        repeat: Some(repeat),
        ..
    }) = &service.config
    {
        items.push(("repeat", span(*repeat)));
    }
    inline(&items)
}
