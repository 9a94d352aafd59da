//! Writing of workloads as TOML.

use crate::language::spec::WORKLOAD;
use crate::language::text::{inline, plain};
use crate::language::units::format_size;
use crate::language::value;
use goodqueue_sim::{EchoReply, WorkloadConfig};
use goodqueue_types::parameters::Parameter;

/// Writes a workload as TOML.
pub(crate) fn write(workload: &WorkloadConfig) -> String {
    let kind = |kind: &str| ("kind", plain(kind));
    match workload {
        WorkloadConfig::Bulk { bytes, .. } => {
            let size = bytes.map_or_else(|| "unlimited".to_owned(), format_size);
            inline(&[kind("bulk"), ("size", plain(size))])
        }
        WorkloadConfig::Echo { bytes, reply, .. } => {
            let size = bytes.map_or_else(|| "unlimited".to_owned(), format_size);
            let reply = match reply {
                EchoReply::Bytes(bytes) => format_size(*bytes),
                EchoReply::Share(share) => format!("{}%", share * 100.0),
            };
            inline(&[kind("echo"), ("size", plain(size)), ("reply", plain(reply))])
        }
        WorkloadConfig::Source(source) => value::write(&source.value(), WORKLOAD),
        WorkloadConfig::Session { session, .. } => value::write(&session.value(), WORKLOAD),
    }
}
