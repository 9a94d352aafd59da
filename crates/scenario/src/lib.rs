//! The scenario file: one parser of keys and units, and the conversion to a run.
//!
//! A parsed scenario is valid: later stages contain no text with units and no second check.

mod flow;
mod hybrid;
mod language;
mod network;
mod output;
mod scenario;
mod study;

pub use goodqueue_sim::RESULTS_VERSION;

pub use flow::long_flows::LongFlow;
pub use hybrid::{HYBRID_VERSION, Hybrid};
pub use language::bounds::ReadBounds;
pub use language::error::ScenarioError;
pub use language::file::Files;
pub use language::plain::toml_json;
pub use language::python::Checksums;
pub use language::queue::queue_toml;
pub use language::reference::reference_markdown;
pub use language::schema::schema;
pub use language::trace::{TraceError, parse_mahimahi, parse_rate_csv};
pub use language::units::{
    StatedLimit, StatedSpans, UnitError, format_rate, format_size, format_span, parse_fraction,
    parse_limit, parse_rate, parse_size, parse_span, parse_spans,
};
pub use network::memory::{MEMORY_PARTS, MemoryPart};
pub use output::buffers::{BufferEcho, LIMIT_COUNTS};
pub use output::metrics::metrics;
pub use output::summary::{buffer_json, summary_json};
pub use output::taps::{Tap, endpoints};
pub use scenario::{SCHEMA_VERSION, Scenario, parse_override};
pub use study::{Study, measure_text};
