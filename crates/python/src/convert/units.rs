//! Values with units and lines of `tc`, read as the scenario format reads them.

use crate::convert::error::unit_error;
use goodqueue_queue::Limit;
use goodqueue_scenario::StatedSpans;
use goodqueue_types::Span;
use pyo3::prelude::*;

/// Reads `98%` or a number from 0 to 1; `what` names the value in messages.
#[pyfunction]
pub fn parse_fraction(py: Python<'_>, what: &str, text: &str) -> PyResult<f64> {
    goodqueue_scenario::parse_fraction(text).map_err(|error| unit_error(py, what, error))
}

/// Reads lines of `tc`. Returns the queue's table for a scenario, its `tc` commands, and the
/// properties that the lines do not show.
#[pyfunction]
pub fn parse_qdisc(py: Python<'_>, text: &str) -> PyResult<(String, Vec<String>, Vec<String>)> {
    let refuse = |error| unit_error(py, "qdisc", error);
    let qdisc = goodqueue_tc::parse_qdisc(text).map_err(refuse)?;
    // The frame is a full Ethernet frame, with the header that tc counts.
    goodqueue_tc::check_queue(&qdisc.queue, 1514).map_err(refuse)?;
    let commands = goodqueue_tc::qdisc_commands(&qdisc.queue, 1514, 1500).map_err(refuse)?;
    let table = goodqueue_scenario::queue_toml(&qdisc.queue).unwrap_or_default();
    Ok((table, commands, qdisc.notes))
}

/// A switch, as a dictionary.
#[derive(IntoPyObject)]
pub struct Switch {
    ports: Vec<(u64, u64)>,
    queue: String,
    profile: String,
    alpha: Option<f64>,
    reserved_bytes: u64,
    pool_bytes: u64,
    remarks: Vec<String>,
}

/// Reads the ports of a switch, and the buffer of one of its queues, from `config_db.json` of
/// `SONiC`; `what` names the text in messages.
#[pyfunction]
pub fn read_switch(
    py: Python<'_>,
    what: &str,
    text: &str,
    queue: Option<&str>,
) -> PyResult<Switch> {
    let switch = goodqueue_tc::read_switch(text, queue);
    let switch = switch.map_err(|error| unit_error(py, what, error))?;
    let queue = switch.queue;
    Ok(Switch {
        ports: switch.ports,
        queue: queue.name,
        profile: queue.profile,
        alpha: queue.alpha,
        reserved_bytes: queue.reserved,
        pool_bytes: queue.pool_bytes,
        remarks: queue.notes,
    })
}

/// The queue of a device, as a dictionary.
#[derive(IntoPyObject)]
pub struct DeviceQueue {
    name: String,
    kind: String,
    limit_packets: Option<u64>,
    limit_bytes: Option<u64>,
    is_fifo: bool,
    counters: Option<(u64, u64, u64)>,
    unknown: Option<String>,
    remarks: Vec<String>,
}

/// Reads the queue of a device from `tc -s qdisc show`, with or without `-j`, or from
/// `config_db.json` of `SONiC`. `name` is that of the device, of a class or of the switch's queue;
/// `what` names the text in messages.
#[pyfunction]
pub fn read_device(
    py: Python<'_>,
    what: &str,
    text: &str,
    name: Option<&str>,
) -> PyResult<DeviceQueue> {
    let device = goodqueue_tc::read_device(text, name);
    let device = device.map_err(|error| unit_error(py, what, error))?;
    let (limit_packets, limit_bytes) = match device.limit {
        Ok(Limit::Packets(packets)) => (Some(packets), None),
        Ok(Limit::Bytes(bytes)) => (None, Some(bytes)),
        _ => (None, None),
    };
    Ok(DeviceQueue {
        name: device.name,
        kind: device.kind,
        limit_packets,
        limit_bytes,
        is_fifo: device.is_fifo,
        counters: device
            .counters
            .map(|counters| (counters.packets, counters.drops, counters.marks)),
        unknown: device.limit.err(),
        remarks: device.notes,
    })
}

/// Reads a rate (`50Mbps`) as bits per second; `what` names the value in messages.
#[pyfunction]
pub fn parse_rate(py: Python<'_>, what: &str, text: &str) -> PyResult<u64> {
    goodqueue_scenario::parse_rate(text)
        .map(|rate| rate.0)
        .map_err(|error| unit_error(py, what, error))
}

/// Reads a size (`1500B`) as bytes; `what` names the value in messages.
#[pyfunction]
pub fn parse_size(py: Python<'_>, what: &str, text: &str) -> PyResult<u64> {
    goodqueue_scenario::parse_size(text).map_err(|error| unit_error(py, what, error))
}

/// Reads a time (`50ms`) as seconds; `what` names the value in messages.
#[pyfunction]
pub fn parse_span(py: Python<'_>, what: &str, text: &str) -> PyResult<f64> {
    goodqueue_scenario::parse_span(text)
        .map(Span::as_secs_f64)
        .map_err(|error| unit_error(py, what, error))
}

/// Several times in seconds: a list, or the ends of a range.
#[derive(IntoPyObject)]
pub enum Spans {
    Listed(Vec<f64>),
    Range((f64, f64)),
}

/// Reads times (`40ms`, `20ms,80ms`, `20ms..534ms`) as a list of seconds, or as the two ends of a
/// range; `what` names the values in messages.
#[pyfunction]
pub fn parse_spans(py: Python<'_>, what: &str, text: &str) -> PyResult<Spans> {
    let stated = goodqueue_scenario::parse_spans(text);
    Ok(match stated.map_err(|error| unit_error(py, what, error))? {
        StatedSpans::Listed(spans) => {
            Spans::Listed(spans.into_iter().map(Span::as_secs_f64).collect())
        }
        StatedSpans::Range(from, to) => Spans::Range((from.as_secs_f64(), to.as_secs_f64())),
    })
}
