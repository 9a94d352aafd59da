//! What flows do: workloads read, written, and what they can put on a link.

use crate::error::Checked;
use crate::reader::{Field, Reader};
use crate::units::{LONGEST, format_size, format_span};
use crate::write::{inline, plain};
use goodqueue_sim::{
    ExchangesConfig, Law, PacketSize, SessionConfig, TransfersConfig, VoiceConfig, WebConfig,
    WorkloadConfig,
};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::{Bytes, Span};
use std::sync::Arc;

/// Bytes of the request for a download.
const REQUEST: u64 = 200;
/// Seconds between requests that wait for no answer, on average at least.
const LEAST_PERIOD: f64 = 1e-6;
/// The most that a link adds to a packet.
const FRAMING: u128 = 1_024;

/// The TCP of a workload that has one.
pub(crate) fn tcp_of(workload: &WorkloadConfig) -> Option<&Arc<TcpConfig>> {
    match workload {
        WorkloadConfig::Bulk { tcp, .. } | WorkloadConfig::Session { tcp, .. } => Some(tcp),
        WorkloadConfig::ConstantBitRate { .. }
        | WorkloadConfig::Poisson { .. }
        | WorkloadConfig::OnOff { .. }
        | WorkloadConfig::Bursts { .. }
        | WorkloadConfig::Voice(_)
        | WorkloadConfig::Ping { .. } => None,
    }
}

/// Reads a flow's `workload`, and its `tcp` over that of all flows.
pub(crate) fn read(flow: &Reader<'_>, common_tcp: Option<&Reader<'_>>) -> Checked<WorkloadConfig> {
    let (kind, table) = Reader::tagged(&flow.require("workload")?)?;
    let own_tcp = flow.table("tcp")?;
    let tcp = || crate::tcp::read(common_tcp, own_tcp.as_ref()).map(Arc::new);
    let session = |session| {
        Ok(WorkloadConfig::Session {
            tcp: tcp()?,
            session: Arc::new(session),
        })
    };
    let workload = match kind {
        "bulk" => WorkloadConfig::Bulk {
            tcp: tcp()?,
            bytes: read_amount(&table)?,
        },
        "transfers" => session(SessionConfig::Transfers(read_transfers(&table)?))?,
        "exchanges" => session(SessionConfig::Exchanges(read_exchanges(&table)?))?,
        "web" => session(SessionConfig::Web(read_web(&table)?))?,
        "cbr" => {
            let packet = table.size("packet")?.unwrap_or(1_500);
            WorkloadConfig::ConstantBitRate {
                interval: read_interval(&table, "rate", packet)?,
                packet: packet as u32,
            }
        }
        "poisson" => {
            let packet = table.size("packet")?.unwrap_or(1_500);
            WorkloadConfig::Poisson {
                mean_interval: read_interval(&table, "rate", packet)?,
                packet: match table.choice("sizes")? {
                    Some("exponential") => PacketSize::Exponential(packet as f64),
                    _ => PacketSize::Fixed(packet as u32),
                },
            }
        }
        "bursts" => {
            let packet = table.size("packet")?.unwrap_or(1_500);
            let packets = table.require("packets")?.integer()?;
            WorkloadConfig::Bursts {
                mean_interval: read_interval(&table, "rate", packet * packets)?,
                packets: packets as u32,
                packet: packet as u32,
            }
        }
        "voice" => WorkloadConfig::Voice(VoiceConfig {
            interval: table.span("interval")?.unwrap_or(Span::from_millis(20)),
            packet: table.size("packet")?.unwrap_or(200) as u32,
            playout: table.span("playout")?.unwrap_or(Span::from_millis(60)),
            concealment: table.flag("concealment")?.unwrap_or(true),
        }),
        "on_off" => read_on_off(&table)?,
        _ => WorkloadConfig::Ping {
            interval: table.span("interval")?.unwrap_or(Span::from_secs(1)),
            packet: table.size("packet")?.unwrap_or(84) as u32,
        },
    };
    if tcp_of(&workload).is_none() && own_tcp.is_some() {
        let message = format!("a \"{kind}\" flow has no TCP");
        return Err(flow.problem("tcp", message, "leave tcp out, or use kind = \"bulk\""));
    }
    Ok(workload)
}

fn read_on_off(table: &Reader<'_>) -> Checked<WorkloadConfig> {
    let packet = table.size("packet")?.unwrap_or(1_500);
    let interval = read_interval(table, "rate", packet)?;
    let times = |key| read_times(table, key, Law::Fixed(0.0));
    table.require("on")?;
    table.require("off")?;
    let (on, off) = (times("on")?, times("off")?);
    if on.mean() < interval.as_secs_f64() {
        let message = "the mean on period is shorter than the time between packets";
        let help = format!("at least \"{}\"", format_span(interval));
        return Err(table.problem("on", message.to_owned(), help));
    }
    Ok(WorkloadConfig::OnOff {
        interval,
        packet: packet as u32,
        on,
        off,
    })
}

fn read_transfers(table: &Reader<'_>) -> Checked<TransfersConfig> {
    let size = read_sizes(&table.require("size")?)?;
    let mean = libm::round(size.mean()).max(1.0) as u64;
    let interval = read_interval(table, "load", mean)?.as_secs_f64();
    Ok(TransfersConfig {
        gap: match table.choice("intervals")? {
            Some("fixed") => Law::Fixed(interval),
            _ => Law::Exponential { mean: interval },
        },
        size,
        request: (table.choice("direction")? == Some("down")).then_some(REQUEST),
        most: read_most(table)?,
    })
}

fn read_exchanges(table: &Reader<'_>) -> Checked<ExchangesConfig> {
    let bytes = |key| match table.get(key) {
        Some(field) => read_sizes(&field),
        None => Ok(Law::Fixed(200.0)),
    };
    table.require("pause")?;
    let pause = read_times(table, "pause", Law::Fixed(0.0))?;
    let periodic = table.flag("periodic")?.unwrap_or(false);
    // After answers any pause will do: they take a round trip.
    if periodic && pause.mean() < LEAST_PERIOD {
        let message = "requests this close to each other would fill the connection for ever";
        let help = "write at least \"1us\", or leave periodic out";
        return Err(table.problem("pause", message, help));
    }
    Ok(ExchangesConfig {
        request: bytes("request")?,
        reply: bytes("reply")?,
        server_time: read_times(table, "server_time", Law::Fixed(0.0))?,
        pause,
        periodic,
        most: read_most(table)?,
    })
}

fn read_web(table: &Reader<'_>) -> Checked<WebConfig> {
    let sizes = |key, fallback| match table.get(key) {
        Some(field) => read_sizes(&field),
        None => Ok(fallback),
    };
    let pareto = Law::Pareto {
        mean: 20_000.0,
        shape: 1.5,
    };
    Ok(WebConfig {
        objects: Law::Fixed(table.integer("objects")?.unwrap_or(10) as f64),
        main_size: sizes("main_size", Law::Fixed(30_000.0))?,
        object_size: sizes("object_size", pareto)?,
        request: table.size("request")?.unwrap_or(350),
        server_time: read_times(table, "server_time", Law::Fixed(0.0))?,
        parallel: table.integer("parallel")?.unwrap_or(6) as u32,
        persistent: table.flag("persistent")?.unwrap_or(true),
        think: read_times(table, "think", Law::Exponential { mean: 5.0 })?,
        most: read_most(table)?,
    })
}

fn read_most(table: &Reader<'_>) -> Checked<Option<u64>> {
    match table.get("most") {
        Some(field) if field.as_text() != Some("unlimited") => field.integer().map(Some),
        _ => Ok(None),
    }
}

fn read_amount(table: &Reader<'_>) -> Checked<Option<u64>> {
    match table.get("size") {
        Some(field) if field.as_text() != Some("unlimited") => field.size().map(Some),
        _ => Ok(None),
    }
}

/// Mean time between things of so many bytes, from the interval itself or from their rate.
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

/// Bytes: a size, or a law.
fn read_sizes(field: &Field<'_>) -> Checked<Law> {
    if !field.is_table() {
        return Ok(Law::Fixed(field.size()? as f64));
    }
    read_law(field, |field| Ok(field.size()? as f64))
}

/// Seconds: a time, or a law.
fn read_times(table: &Reader<'_>, key: &str, fallback: Law) -> Checked<Law> {
    match table.get(key) {
        None => Ok(fallback),
        Some(field) if field.is_table() => {
            read_law(&field, |field| Ok(field.span()?.as_secs_f64()))
        }
        Some(field) => Ok(Law::Fixed(field.span()?.as_secs_f64())),
    }
}

fn read_law(field: &Field<'_>, value: impl Fn(&Field<'_>) -> Checked<f64>) -> Checked<Law> {
    let (law, table) = Reader::tagged(field)?;
    let of = |key| value(&table.require(key)?);
    match law {
        "exponential" => Ok(Law::Exponential { mean: of("mean")? }),
        "pareto" => Ok(Law::Pareto {
            mean: of("mean")?,
            shape: table.get("shape").map_or(Ok(1.5), |shape| shape.number())?,
        }),
        _ => {
            let (from, to) = (of("from")?, of("to")?);
            if from > to {
                return Err(table.problem("to", "\"to\" is below \"from\"", "swap the two"));
            }
            Ok(Law::Uniform { from, to })
        }
    }
}

/// A workload as one writes it in TOML.
pub(crate) fn write(workload: &WorkloadConfig) -> String {
    let packet = |bytes: u32| ("packet", plain(format_size(bytes.into())));
    let kind = |kind: &str| ("kind", plain(kind));
    match workload {
        WorkloadConfig::Bulk { bytes, .. } => {
            let size = bytes.map_or_else(|| "unlimited".to_owned(), format_size);
            inline(&[kind("bulk"), ("size", plain(size))])
        }
        WorkloadConfig::Session { session, .. } => match &**session {
            SessionConfig::Transfers(config) => write_transfers(config),
            SessionConfig::Exchanges(config) => write_exchanges(config),
            SessionConfig::Web(config) => write_web(config),
        },
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
            ("on", write_law(on, write_seconds)),
            ("off", write_law(off, write_seconds)),
        ]),
        WorkloadConfig::Voice(VoiceConfig {
            interval,
            packet: bytes,
            playout,
            concealment,
        }) => inline(&[
            kind("voice"),
            ("interval", plain(format_span(*interval))),
            packet(*bytes),
            ("playout", plain(format_span(*playout))),
            ("concealment", concealment.to_string()),
        ]),
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

fn write_transfers(config: &TransfersConfig) -> String {
    let TransfersConfig {
        gap,
        size,
        request,
        most,
    } = config;
    let intervals = if matches!(gap, Law::Fixed(_)) {
        "fixed"
    } else {
        "exponential"
    };
    inline(&[
        ("kind", plain("transfers")),
        ("size", write_law(size, write_bytes)),
        ("interval", write_seconds(gap.mean())),
        ("intervals", plain(intervals)),
        (
            "direction",
            plain(if request.is_some() { "down" } else { "up" }),
        ),
        ("most", write_most(*most)),
    ])
}

fn write_exchanges(config: &ExchangesConfig) -> String {
    let ExchangesConfig {
        request,
        reply,
        server_time,
        pause,
        periodic,
        most,
    } = config;
    inline(&[
        ("kind", plain("exchanges")),
        ("request", write_law(request, write_bytes)),
        ("reply", write_law(reply, write_bytes)),
        ("server_time", write_law(server_time, write_seconds)),
        ("pause", write_law(pause, write_seconds)),
        ("periodic", periodic.to_string()),
        ("most", write_most(*most)),
    ])
}

fn write_web(config: &WebConfig) -> String {
    let WebConfig {
        objects,
        main_size,
        object_size,
        request,
        server_time,
        parallel,
        persistent,
        think,
        most,
    } = config;
    inline(&[
        ("kind", plain("web")),
        ("main_size", write_law(main_size, write_bytes)),
        ("object_size", write_law(object_size, write_bytes)),
        ("objects", format!("{}", objects.mean() as u64)),
        ("request", plain(format_size(*request))),
        ("server_time", write_law(server_time, write_seconds)),
        ("parallel", parallel.to_string()),
        ("persistent", persistent.to_string()),
        ("think", write_law(think, write_seconds)),
        ("most", write_most(*most)),
    ])
}

fn write_bytes(bytes: f64) -> String {
    plain(format_size(bytes as u64))
}

fn write_seconds(seconds: f64) -> String {
    plain(format_span(Span::from_secs_f64(seconds)))
}

fn write_most(most: Option<u64>) -> String {
    most.map_or_else(|| plain("unlimited"), |most| most.to_string())
}

fn write_law(law: &Law, write: fn(f64) -> String) -> String {
    match law {
        Law::Fixed(value) => write(*value),
        Law::Exponential { mean } => {
            inline(&[("law", plain("exponential")), ("mean", write(*mean))])
        }
        Law::Pareto { mean, shape } => inline(&[
            ("law", plain("pareto")),
            ("mean", write(*mean)),
            ("shape", format!("{shape:?}")),
        ]),
        Law::Uniform { from, to } => inline(&[
            ("law", plain("uniform")),
            ("from", write(*from)),
            ("to", write(*to)),
        ]),
    }
}

/// More frame bytes than a flow can have waiting in the network at once.
pub(crate) fn most_waiting(workload: &WorkloadConfig, duration: Span) -> u128 {
    // Twice the mean, and a thousand, is out of reach of a Poisson source.
    let events = |interval: Span| 2 * u128::from(duration.0 / interval.0.max(1)) + 1_000;
    let datagrams = |interval: Span, bytes: u128| events(interval) * (bytes + FRAMING);
    let window = |tcp: &TcpConfig| {
        let mss = u128::from(tcp.mss);
        let window = tcp.receive_window.max(tcp.initial_window.bytes(tcp.mss));
        // Each segment twice: data, and as many retransmissions or ACKs.
        let segments = 2 * (u128::from(window) / mss + 1);
        segments * (mss + u128::from(tcp.header) + FRAMING)
    };
    match workload {
        WorkloadConfig::Bulk { tcp, .. } => window(tcp),
        WorkloadConfig::Session { tcp, session } => {
            let connections = match &**session {
                SessionConfig::Transfers(config) => events(Span::from_secs_f64(config.gap.mean())),
                SessionConfig::Exchanges(_) => 1,
                SessionConfig::Web(config) => 2 * u128::from(config.parallel),
            };
            connections * window(tcp)
        }
        WorkloadConfig::ConstantBitRate { interval, packet }
        | WorkloadConfig::OnOff {
            interval, packet, ..
        }
        | WorkloadConfig::Voice(VoiceConfig {
            interval, packet, ..
        })
        | WorkloadConfig::Ping { interval, packet } => datagrams(*interval, u128::from(*packet)),
        WorkloadConfig::Bursts {
            mean_interval,
            packets,
            packet,
        } => u128::from(*packets) * datagrams(*mean_interval, u128::from(*packet)),
        WorkloadConfig::Poisson {
            mean_interval,
            packet,
        } => match packet {
            PacketSize::Fixed(bytes) => datagrams(*mean_interval, u128::from(*bytes)),
            PacketSize::Exponential(mean) => datagrams(*mean_interval, 2 * *mean as u128),
        },
    }
}

/// The largest IP packet from client to server, or the other way.
pub(crate) fn largest_packet(workload: &WorkloadConfig, backward: bool) -> u64 {
    match workload {
        // Data go both ways.
        WorkloadConfig::Session { tcp, .. } => header_bytes(tcp) + u64::from(tcp.mss),
        WorkloadConfig::Bulk { tcp, .. } => {
            let options = if tcp.option_bytes && tcp.recovery == goodqueue_tcp::Recovery::Sack {
                // An ACK with all its SACK blocks.
                let room = if tcp.timestamps.is_some() { 3 } else { 4 };
                let blocks = u64::from(tcp.details.sack_blocks).min(room);
                8 * blocks + u64::from(tcp.details.sack_option_overhead)
            } else {
                0
            };
            if backward {
                (header_bytes(tcp) + options).max(1)
            } else {
                header_bytes(tcp) + u64::from(tcp.mss)
            }
        }
        WorkloadConfig::Ping { packet, .. } => u64::from(*packet),
        _ if backward => 0,
        WorkloadConfig::ConstantBitRate { packet, .. }
        | WorkloadConfig::OnOff { packet, .. }
        | WorkloadConfig::Bursts { packet, .. }
        | WorkloadConfig::Voice(VoiceConfig { packet, .. })
        | WorkloadConfig::Poisson {
            packet: PacketSize::Fixed(packet),
            ..
        } => u64::from(*packet),
        // There is no largest; packets are converted by the mean.
        WorkloadConfig::Poisson {
            packet: PacketSize::Exponential(mean),
            ..
        } => *mean as u64,
    }
}

/// IP and TCP header of a segment without SACK blocks.
fn header_bytes(tcp: &TcpConfig) -> u64 {
    let stamped = tcp.timestamps.is_some() && tcp.option_bytes;
    // Ten bytes and two of padding (RFC 7323 appendix A).
    u64::from(tcp.header) + if stamped { 12 } else { 0 }
}
