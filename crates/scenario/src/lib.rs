//! The scenario file: one parser of keys and units, and the conversion to a run.
//!
//! A parsed scenario is valid: later stages contain no text with units and no second check.

mod buffers;
mod congestion;
mod document;
mod error;
mod explain;
mod file;
mod flow;
mod framing;
mod groups;
mod hybrid;
mod impairment;
mod law;
mod layout;
mod long_flows;
mod loss;
mod memory;
mod metrics;
mod network;
mod path;
mod pool;
mod qdisc;
mod queue;
mod reader;
mod scenario;
mod schema;
mod service;
mod spec;
mod study;
mod summary;
mod taps;
mod tcp;
mod topology;
mod trace;
mod traffic;
mod units;
mod value;
mod wiring;
mod workload;
mod write;

pub use goodqueue_sim::RESULTS_VERSION;

pub use buffers::{BufferEcho, LIMIT_COUNTS};
pub use error::ScenarioError;
pub use hybrid::{HYBRID_VERSION, Hybrid};
pub use long_flows::LongFlow;
pub use memory::MemoryPart;
pub use metrics::metrics;
pub use queue::queue_toml;
pub use scenario::{SCHEMA_VERSION, Scenario, parse_override};
pub use schema::{reference_markdown, schema};
pub use study::{Study, measure_text};
pub use summary::{buffer_json, summary_json};
pub use taps::{Tap, endpoints};
pub use trace::{TraceError, parse_mahimahi, parse_rate_csv};
pub use units::{
    StatedLimit, StatedSpans, UnitError, format_rate, format_size, format_span, parse_fraction,
    parse_limit, parse_rate, parse_size, parse_span, parse_spans,
};
