//! quinn's own logs in the current draft of qlog, with the times of the simulation.
//!
//! quinn writes an older draft (version 0.3), times of single precision, which after some seconds round
//! to tenths of a millisecond, round-trip times in seconds, and a group that changes with the identifier
//! of the connection. Each record is read back and written anew, as JSON text sequences
//! (RFC 7464) of draft-ietf-quic-qlog-main-schema-14 and draft-ietf-quic-qlog-quic-events-13.

use crate::clock;
use goodqueue_types::Time;
use quinn_proto::{QlogConfig, QlogStream};
use serde_json::{Map, Value, json};
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Picoseconds of the present call of an endpoint.
#[derive(Clone, Debug, Default)]
pub struct Now(pub Arc<AtomicU64>);

type Sink = Box<dyn Write + Send + Sync>;
type Open = dyn Fn(u32) -> io::Result<Sink> + Send + Sync;

/// Places of the clients' logs.
#[derive(Clone)]
pub struct Logs {
    open: Arc<Open>,
    error: Arc<Mutex<Option<io::Error>>>,
}

impl fmt::Debug for Logs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Logs")
    }
}

impl Logs {
    /// Creates the logs of a run. `open` creates the log of a flow's client.
    pub fn new(open: impl Fn(u32) -> io::Result<Sink> + Send + Sync + 'static) -> Self {
        Self {
            open: Arc::new(open),
            error: Arc::default(),
        }
    }

    /// Returns the first error of a file, once.
    pub fn take_error(&self) -> Option<io::Error> {
        self.error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Returns quinn's stream of the log of a flow.
    pub(crate) fn stream(&self, flow: u32, now: &Now) -> Option<QlogStream> {
        let sink = (self.open)(flow).map_err(|error| self.keep(error)).ok()?;
        let mut config = QlogConfig::default();
        config.writer(Box::new(Current {
            sink,
            record: Vec::new(),
            flow,
            now: now.clone(),
            logs: self.clone(),
        }));
        config.start_time(clock::instant(Time::ZERO));
        config.into_stream()
    }

    fn keep(&self, error: io::Error) {
        let mut kept = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(error);
    }
}

/// Writer that turns quinn's records into those of the current draft.
struct Current {
    sink: Sink,
    record: Vec<u8>,
    flow: u32,
    now: Now,
    logs: Logs,
}

/// Separator before each record (RFC 7464).
const SEPARATOR: u8 = 0x1E;

impl Current {
    fn end_record(&mut self) -> io::Result<()> {
        let text = self.record.strip_prefix(&[SEPARATOR]);
        let record: Value = serde_json::from_slice(text.unwrap_or(&self.record))?;
        let record = if record.get("time").is_some() {
            event(record, self.now.0.load(Ordering::Relaxed))
        } else {
            head(self.flow)
        };
        self.record.clear();
        self.sink.write_all(&[SEPARATOR])?;
        serde_json::to_writer(&mut self.sink, &record)?;
        self.sink.write_all(b"\n")
    }
}

impl Write for Current {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            if *byte == b'\n' {
                let ended = self.end_record();
                ended.unwrap_or_else(|error| self.logs.keep(error));
            } else {
                self.record.push(*byte);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.sink.flush();
        flushed.unwrap_or_else(|error| self.logs.keep(error));
        Ok(())
    }
}

fn head(flow: u32) -> Value {
    json!({
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": "a client of quinn-proto in goodqueue's simulator",
        "trace": {
            "common_fields": {
                "group_id": format!("flow {flow}"),
                "time_format": "relative_to_epoch",
                "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
            },
            "vantage_point": { "type": "client" },
            "event_schemas": ["urn:ietf:params:qlog:events:quic-13"],
        },
    })
}

/// Returns an event of quinn in the current draft, at a time in picoseconds.
fn event(mut old: Value, at_ps: u64) -> Value {
    let name = match old["name"].as_str().unwrap_or_default() {
        "recovery:metrics_updated" => "quic:recovery_metrics_updated".to_owned(),
        name => name
            .split_once(':')
            .map_or_else(|| name.to_owned(), |(_, event)| format!("quic:{event}")),
    };
    let mut data = old["data"].take();
    // The length of a packet is a field of its own in the current draft.
    let length = data
        .get_mut("header")
        .and_then(Value::as_object_mut)
        .and_then(|header| header.remove("length"));
    if let (Some(length), Some(data)) = (length, data.as_object_mut()) {
        data.insert("raw".to_owned(), json!({ "length": length }));
    }
    if let Some(data) = data.as_object_mut() {
        // A threshold of no value is left out.
        data.retain(|name, value| name != "ssthresh" || value.as_u64() != Some(u64::MAX));
        for name in ["min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"] {
            if let Some(seconds) = data.get(name).and_then(Value::as_f64) {
                data.insert(name.to_owned(), json!((seconds * 1e9).round() / 1e6));
            }
        }
    }
    let mut event = Map::new();
    event.insert("time".to_owned(), json!(at_ps as f64 / 1e9));
    event.insert("name".to_owned(), json!(name));
    event.insert("data".to_owned(), data);
    Value::Object(event)
}
