//! Disciplines that control the delay, with targets as short as the queues of random networks.

use goodqueue_queue::{
    CodelConfig, CodelParams, DualPi2Config, DualScheduler, Limit, Pi2Config, Pi2Params, PieConfig,
    PieParams, QueueConfig, StepConfig, StepThreshold,
};
use goodqueue_types::Span;
use proptest::prelude::*;
use proptest::sample::select;

/// Draws one of these disciplines with this limit.
pub fn delay_queue(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    prop_oneof![
        codel(limit),
        pie(limit),
        pi2(limit),
        dualpi2(limit),
        (0_u64..6).prop_map(move |packets| QueueConfig::Step(StepConfig {
            limit,
            threshold: Limit::Packets(packets),
        })),
    ]
}

fn codel(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    let params = select(vec![
        CodelParams::linux(),
        CodelParams::rfc8289(),
        CodelParams::ns3(),
    ]);
    (params, any::<bool>(), any::<bool>()).prop_map(move |(params, ecn, threshold)| {
        let codel = CodelParams {
            target: Span::from_micros(500),
            interval: Span::from_millis(5),
            ecn,
            ce_threshold: threshold.then_some(Span::from_micros(250)),
            ..params
        };
        QueueConfig::Codel(CodelConfig { limit, codel })
    })
}

fn pie(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    let params = select(vec![
        PieParams::linux(),
        PieParams::rfc8033(),
        PieParams::ns3(),
    ]);
    (params, any::<bool>(), any::<bool>()).prop_map(move |(params, ecn, rate)| {
        let pie = PieParams {
            target: Span::from_micros(500),
            tupdate: Span::from_millis(1),
            alpha: 100.0,
            beta: 1000.0,
            max_burst: Span::from_millis(3),
            ecn,
            dq_rate_estimator: rate,
            ..params
        };
        QueueConfig::Pie(PieConfig { limit, pie })
    })
}

/// Parameters of a controller that reacts within milliseconds.
const QUICK: Pi2Params = Pi2Params {
    target: Span::from_micros(500),
    tupdate: Span::from_millis(1),
    alpha: 50.0,
    beta: 500.0,
    mtu: 1000,
};

fn pi2(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    any::<bool>().prop_map(move |ecn| {
        QueueConfig::Pi2(Pi2Config {
            pi2: QUICK,
            ecn,
            ..Pi2Config::new(limit)
        })
    })
}

fn dualpi2(limit: Limit) -> impl Strategy<Value = QueueConfig> {
    let scheduler = select(vec![
        DualScheduler::Weighted {
            classic_percent: 10,
        },
        DualScheduler::TimeShifted {
            shift: Span::from_millis(1),
        },
    ]);
    let step = select(vec![
        StepThreshold::Packets(1),
        StepThreshold::Delay(Span::from_micros(250)),
    ]);
    (scheduler, step, any::<bool>(), any::<bool>()).prop_map(
        move |(scheduler, step, drop_early, drop_overload)| {
            QueueConfig::DualPi2(DualPi2Config {
                pi2: QUICK,
                step,
                drop_early,
                drop_overload,
                scheduler,
                ..DualPi2Config::linux(limit)
            })
        },
    )
}
