//! `service` of a link: the changes of its rate.

use crate::language::error::Checked;
use crate::language::field::Field;
use crate::language::file::{Library, NamedFile};
use crate::language::reader::Reader;
use crate::language::spec::SERVICE;
use crate::language::text::plain;
use crate::language::trace::{LARGEST_TRACE, parse_mahimahi, parse_rate_csv};
use crate::language::units::format_rate;
use crate::language::value;
use goodqueue_sim::{RateStep, ServiceConfig};
use goodqueue_types::parameters::{Parameter, Parameters, Unkeyed};
use goodqueue_types::{Rate, Span};

/// Largest number of changes of a rate in a run.
const MAX_CHANGES: u128 = 1_000_000_000;

/// Reads a link's rate: `rate`, or `service` and its mean rate over a run of `duration`.
pub(crate) fn read(
    link: &Reader<'_>,
    files: Library<'_>,
    duration: Span,
) -> Checked<Option<(Rate, Option<ServiceConfig>)>> {
    let rate = link.get("rate").map(|field| read_link_rate(&field));
    match (rate.transpose()?, link.get("service")) {
        (None, None) => Ok(None),
        (Some(rate), None) => Ok(Some((rate, None))),
        (Some(_), Some(service)) => {
            let message = "\"rate\" and \"service\" both say how fast the link is";
            Err(service.problem(message, "keep one of the two"))
        }
        (None, Some(field)) => {
            let service = read_service(&field, files)?;
            let changes = service.law().changes_in(duration);
            if changes > MAX_CHANGES {
                let message = format!("this rate changes {changes} times in the run");
                let help = "write longer intervals, or a shorter duration";
                return Err(field.problem(message, help));
            }
            let mean = service.law().mean_rate(duration);
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

fn read_service(field: &Field<'_>, files: Library<'_>) -> Checked<ServiceConfig> {
    let mut service = ServiceConfig::from_value(value::read(field)?);
    let (_, table) = Reader::tagged(field)?;
    if service.key("file").is_some() {
        let file = NamedFile::read(&table, files, "trace", LARGEST_TRACE)?;
        match &mut service {
            ServiceConfig::Opportunities(trace) => {
                *trace = parse_mahimahi(&file.bytes).map_err(|error| file.problem(error))?;
            }
            ServiceConfig::File(trace) => {
                let steps = parse_rate_csv(&file.bytes).map_err(|error| file.problem(error))?;
                let step = |(at, rate)| RateStep { at, rate };
                trace.steps = Unkeyed(steps.into_iter().map(step).collect());
            }
            _ => unreachable!("only two laws have files"),
        }
        file.name_in(&mut service);
    }
    table.accept(service.law().check())?;
    Ok(service)
}

/// Writes an inline TOML table that reads back the same; a file by its full path and checksum.
pub(crate) fn write(service: &ServiceConfig) -> String {
    value::write(&service.value(), SERVICE)
}
