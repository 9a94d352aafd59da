//! Writing of workloads as TOML.

use crate::flow::law::{write_sizes, write_times};
use crate::language::text::{inline, plain};
use crate::language::units::{format_rate, format_seconds, format_size, format_span};
use goodqueue_sim::{
    EchoReply, ExchangesConfig, Law, PacketSize, SessionConfig, TransfersConfig, VideoConfig,
    VoiceConfig, WebConfig, WorkloadConfig,
};
use goodqueue_types::Span;

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
        WorkloadConfig::Game(game) => inline(&[
            kind("game"),
            ("interval", plain(format_span(game.client.interval))),
            ("packet", write_sizes(&game.client.packet)),
            ("server_interval", plain(format_span(game.server.interval))),
            ("server_packet", write_sizes(&game.server.packet)),
            ("deadline", plain(format_span(game.deadline))),
        ]),
        WorkloadConfig::Session { session, .. } => match &**session {
            SessionConfig::Video(config) => write_video(config),
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
            ("on", write_times(on)),
            ("off", write_times(off)),
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
        ("size", write_sizes(size)),
        ("interval", plain(format_seconds(gap.mean()))),
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
        reply_per,
        server_time,
        pause,
        periodic,
        most,
    } = config;
    let per = reply_per.map_or_else(|| "request".to_owned(), format_size);
    inline(&[
        ("kind", plain("exchanges")),
        ("request", write_sizes(request)),
        ("reply", write_sizes(reply)),
        ("reply_per", plain(per)),
        ("server_time", write_times(server_time)),
        ("pause", write_times(pause)),
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
        ("main_size", write_sizes(main_size)),
        ("object_size", write_sizes(object_size)),
        ("objects", format!("{}", objects.mean() as u64)),
        ("request", plain(format_size(*request))),
        ("server_time", write_times(server_time)),
        ("parallel", parallel.to_string()),
        ("persistent", persistent.to_string()),
        ("think", write_times(think)),
        ("most", write_most(*most)),
    ])
}

fn write_video(config: &VideoConfig) -> String {
    let span = |span: Span| plain(format_span(span));
    let rates = config.ladder.iter().map(|rate| plain(format_rate(*rate)));
    let rates: Vec<String> = rates.collect();
    inline(&[
        ("kind", plain("video")),
        ("segment", span(config.segment)),
        ("ladder", format!("[{}]", rates.join(", "))),
        ("variation", format!("{:?}", config.variation)),
        ("request", plain(format_size(config.request))),
        ("startup", span(config.startup)),
        ("max_buffer", span(config.max_buffer)),
        ("reservoir", span(config.reservoir)),
        ("cushion", span(config.cushion)),
        ("most", write_most(config.most)),
    ])
}

fn write_most(most: Option<u64>) -> String {
    most.map_or_else(|| plain("unlimited"), |most| most.to_string())
}
