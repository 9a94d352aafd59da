//! Writing of workloads as TOML.

use crate::language::spec::{TIMES, WORKLOAD};
use crate::language::text::{inline, plain};
use crate::language::units::{format_size, format_span};
use crate::language::value;
use goodqueue_sim::{EchoReply, PacketSize, WorkloadConfig};
use goodqueue_types::parameters::{Parameter, Parameters, TableValue, Value};

/// Writes a workload as TOML.
pub(crate) fn write(workload: &WorkloadConfig) -> String {
    let packet = |bytes: u32| ("packet", plain(format_size(bytes.into())));
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
        WorkloadConfig::Game(game) => declared("game", &**game),
        WorkloadConfig::Session { session, .. } => value::write(&session.value(), WORKLOAD),
        WorkloadConfig::ConstantBitRate {
            interval,
            packet: bytes,
        } => inline(&[
            kind("cbr"),
            ("interval", plain(format_span(*interval))),
            packet(*bytes),
        ]),
        WorkloadConfig::Poisson {
            mean_interval,
            packet: size,
        } => {
            let (bytes, sizes) = match size {
                PacketSize::Fixed(bytes) => (*bytes, "fixed"),
                PacketSize::Exponential(mean) => (*mean as u32, "exponential"),
            };
            let interval = ("interval", plain(format_span(*mean_interval)));
            inline(&[
                kind("poisson"),
                interval,
                packet(bytes),
                ("sizes", plain(sizes)),
            ])
        }
        WorkloadConfig::Bursts {
            mean_interval,
            packets,
            packet: bytes,
        } => inline(&[
            kind("bursts"),
            ("interval", plain(format_span(*mean_interval))),
            ("packets", packets.to_string()),
            packet(*bytes),
        ]),
        WorkloadConfig::OnOff {
            interval,
            packet: bytes,
            on,
            off,
        } => inline(&[
            kind("on_off"),
            ("interval", plain(format_span(*interval))),
            packet(*bytes),
            ("on", value::write(&on.value(), TIMES)),
            ("off", value::write(&off.value(), TIMES)),
        ]),
        WorkloadConfig::Voice(voice) => declared("voice", voice),
        WorkloadConfig::Ping {
            interval,
            packet: bytes,
        } => inline(&[
            kind("ping"),
            ("interval", plain(format_span(*interval))),
            packet(*bytes),
        ]),
    }
}

/// Writes declared parameters as a table of this kind.
fn declared(word: &'static str, parameters: &impl Parameters) -> String {
    let (word, given) = (Some(word), parameters.all());
    value::write(&Value::Table(TableValue { word, given }), WORKLOAD)
}
