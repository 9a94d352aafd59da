//! Workloads of flows: reading, writing, and their largest packets.

mod extent;
mod session;

pub(crate) use extent::{Amount, Offer, largest_packet, most_waiting, offer, transfers};

use crate::flow::law::Laws;
use crate::flow::tcp::CommonTcp;
use crate::language::error::Checked;
use crate::language::file::Library;
use crate::language::reader::Reader;
use crate::language::spec::WORKLOAD;
use crate::language::units::{LONGEST, format_span};
use crate::language::value;
use crate::network::topology::Topology;
use goodqueue_sim::{SessionConfig, SourceConfig, StreamConfig, WorkloadConfig};
use goodqueue_types::parameters::{Parameter, Parameters, Value};
use goodqueue_types::{Bytes, Span};
use std::sync::Arc;

/// Surroundings of flows on which their workloads depend.
pub(crate) struct Around<'a> {
    /// Place of the files that workloads name.
    pub files: Library<'a>,
    pub topology: &'a Topology,
}

/// Returns the time between packets of periodic clients, which differ in their phase.
pub(crate) fn period(workload: &WorkloadConfig) -> Option<Span> {
    match workload {
        WorkloadConfig::Source(source) => source.period(),
        _ => None,
    }
}

/// Reads the `workload` of flows on this path, and their `tcp` table over that of all flows.
pub(crate) fn read(
    flow: &Reader<'_>,
    common_tcp: CommonTcp<'_>,
    around: &Around<'_>,
    path: &crate::network::path::Path,
) -> Checked<WorkloadConfig> {
    let (kind, table) = Reader::tagged(&flow.require("workload")?)?;
    let own_tcp = flow.table("tcp")?;
    let tcp = || crate::flow::tcp::read(common_tcp, own_tcp.as_ref()).map(Arc::new);
    let workload = match kind {
        _ if StreamConfig::WORDS.contains(&kind) => {
            let tcp = tcp()?;
            let stream = StreamConfig::from_value(value::read_table(Some(kind), &table, "kind")?);
            table.accept(stream.check())?;
            WorkloadConfig::Stream { tcp, stream }
        }
        _ if SessionConfig::WORDS.contains(&kind) => {
            let tcp = tcp()?;
            let session = session::read(kind, &table, &tcp, around, path)?;
            WorkloadConfig::Session {
                tcp,
                session: Arc::new(session),
            }
        }
        _ => WorkloadConfig::Source(read_source(kind, &table, around.files)?),
    };
    if workload.tcp().is_none() && own_tcp.is_some() {
        let message = format!("a \"{kind}\" flow has no TCP");
        return Err(flow.problem("tcp", message, "leave tcp out, or use kind = \"bulk\""));
    }
    Ok(workload)
}

/// Writes a workload as TOML.
pub(crate) fn write(workload: &WorkloadConfig) -> String {
    let table = match workload {
        WorkloadConfig::Stream { stream, .. } => stream.value(),
        WorkloadConfig::Session { session, .. } => session.value(),
        WorkloadConfig::Source(source) => source.value(),
        WorkloadConfig::Foreign(_) => unreachable!("no file has a foreign stack"),
    };
    value::write(&table, WORKLOAD)
}

/// Reads a workload without TCP.
fn read_source(
    kind: &'static str,
    table: &Reader<'_>,
    files: Library<'_>,
) -> Checked<SourceConfig> {
    let mut source = SourceConfig::read(kind, &Laws(files).given(table, "kind")?);
    if source.key("rate").is_some() {
        let interval = read_interval(table, "rate", source.bytes_at_once())?;
        source.set("interval", Value::Span(interval));
    }
    table.accept(source.check())?;
    Ok(source)
}

/// Reads the mean time between items of `bytes` bytes, from the interval itself or from their rate.
fn read_interval(table: &Reader<'_>, rate: &'static str, bytes: u64) -> Checked<Span> {
    match (table.rate(rate)?, table.span("interval")?) {
        (Some(speed), None) => {
            let interval = speed.transmission_time(Bytes(bytes));
            if interval > LONGEST {
                let message = format!("less often than once in {}", format_span(LONGEST));
                return Err(table.problem(rate, message, "ask for more"));
            }
            Ok(interval)
        }
        (None, Some(interval)) => Ok(interval),
        (Some(_), Some(_)) => {
            let message = format!("\"{rate}\" and \"interval\" say the same thing twice");
            Err(table.problem("interval", message, "keep one of the two"))
        }
        (None, None) => Err(table.missing(rate)),
    }
}
