//! Applications over TCP with many small connections, for random networks.

use goodqueue_sim::{
    ExchangesConfig, Intervals, Law, ResponsivenessConfig, SessionConfig, TransferWay,
    TransfersConfig, VideoConfig, WebConfig,
};
use goodqueue_types::{Rate, Span};
use proptest::prelude::*;
use proptest::sample::select;

/// Draws videos whose segments consist of a few packets and last a few round-trip times.
fn video() -> impl Strategy<Value = VideoConfig> {
    let ladder = select(vec![
        vec![Rate(1_000_000)],
        vec![Rate(200_000), Rate(2_000_000), Rate(8_000_000)],
    ]);
    let times = (1_u64..20, 1_u64..30, 0_u64..40, 1_u64..60);
    (ladder, times, 0.0..0.9, prop::option::of(1_u64..8)).prop_map(
        |(ladder, (segment, startup, reservoir, cushion), variation, most)| VideoConfig {
            segment: Span::from_millis(segment),
            ladder,
            variation,
            request: 100,
            startup: Span::from_millis(startup),
            max_buffer: Span::from_millis(100),
            reservoir: Span::from_millis(reservoir),
            cushion: Span::from_millis(cushion),
            most,
        },
    )
}

/// Draws laws of times close to a round-trip time.
pub(crate) fn seconds() -> impl Strategy<Value = Law> {
    prop_oneof![
        Just(Law::Fixed(0.005)),
        Just(Law::exponential(0.01)),
        Just(Law::uniform(0.0, 0.02)),
    ]
}

/// Draws applications with many small connections.
pub(crate) fn session() -> impl Strategy<Value = SessionConfig> {
    let bytes = || {
        prop_oneof![
            Just(Law::Fixed(700.0)),
            Just(Law::exponential(3_000.0)),
            Just(Law::pareto(2_000.0, 1.5)),
        ]
    };
    let most = || prop::option::of(1_u64..8);
    prop_oneof![
        video().prop_map(SessionConfig::Video),
        (1_u32..4, any::<bool>(), 2_u64..50, any::<bool>()).prop_map(
            |(connections, up, ms, tls)| {
                SessionConfig::Responsiveness(ResponsivenessConfig {
                    connections,
                    direction: if up {
                        TransferWay::Up
                    } else {
                        TransferWay::Down
                    },
                    interval: Some(Span::from_millis(ms)),
                    tls,
                })
            }
        ),
        (seconds(), bytes(), prop::option::of(any::<bool>()), most()).prop_map(
            |(gap, size, reuse, most)| {
                SessionConfig::Transfers(TransfersConfig {
                    size,
                    interval: Span::from_secs_f64(gap.mean()),
                    intervals: match gap {
                        Law::Fixed(_) => Intervals::Fixed,
                        Law::Drawn(_) => Intervals::Exponential,
                    },
                    reuse: reuse == Some(true),
                    direction: match reuse {
                        Some(_) => TransferWay::Down,
                        None => TransferWay::Up,
                    },
                    most,
                    ..TransfersConfig::default()
                })
            }
        ),
        (
            bytes(),
            (bytes(), prop::option::of(1_000_u64..20_000)),
            seconds(),
            seconds(),
            any::<bool>(),
            most()
        )
            .prop_map(
                |(request, (reply, reply_per), server_time, pause, periodic, most)| {
                    SessionConfig::Exchanges(ExchangesConfig {
                        request,
                        reply,
                        reply_per,
                        server_time,
                        pause,
                        periodic,
                        most,
                    })
                }
            ),
        (
            bytes(),
            bytes(),
            seconds(),
            seconds(),
            any::<bool>(),
            (1_u32..4, most())
        )
            .prop_map(
                |(main_size, object_size, server_time, think, persistent, (parallel, most))| {
                    SessionConfig::Web(WebConfig {
                        objects: Law::uniform(0.0, 6.0),
                        main_size,
                        object_size,
                        request: 300,
                        server_time,
                        parallel,
                        persistent,
                        think,
                        most,
                    })
                }
            ),
    ]
}
