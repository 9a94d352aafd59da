//! Programs that set the rate of a shaper from pings: both engines agree on them, and their rates
//! follow the line.

use goodqueue_queue::{CakeConfig, CakeDiffserv, Limit, QueueConfig};
use goodqueue_sim::{
    Autorate, AutorateConfig, AutorateOutcome, CakeAutorate, FlowConfig, LinkConfig, Network,
    Outcome, Record, ServiceConfig, SourceConfig, SqmAutorate, UniformRates, WorkloadConfig, run,
};
use goodqueue_tcp::{Profile, TcpConfig};
use goodqueue_testkit::dumbbell::link;
use goodqueue_testkit::{compare, run_reference};
use goodqueue_types::{Hosts, LinkId, Rate, Span, Time};
use std::sync::Arc;

const PINGS: u32 = 6;

fn mbps(rate: u64) -> Rate {
    Rate(rate * 1_000_000)
}

fn cake_autorate() -> AutorateConfig {
    AutorateConfig::CakeAutorate(CakeAutorate {
        minimum: mbps(2),
        base: mbps(8),
        maximum: mbps(40),
        ..CakeAutorate::default()
    })
}

fn sqm_autorate() -> AutorateConfig {
    AutorateConfig::SqmAutorate(SqmAutorate {
        base: mbps(12),
        ..SqmAutorate::default()
    })
}

/// Returns a shaper in front of a line in each direction. Both programs see the same six pings.
fn links(config: &AutorateConfig, line: impl Fn(&str) -> LinkConfig) -> Vec<LinkConfig> {
    let shaper = |name| {
        let mut shaper = link(name, mbps(1_000), Span::ZERO, Limit::Unlimited);
        shaper.observed = true;
        shaper.queue = QueueConfig::Cake(CakeConfig {
            diffserv: CakeDiffserv::BestEffort,
            ..CakeConfig::linux(Some(mbps(8)))
        });
        shaper.autorate = Some(Box::new(Autorate {
            config: config.clone(),
            pings: (0..PINGS).collect(),
        }));
        shaper
    };
    vec![
        shaper("shaper"),
        line("line"),
        line("line.reverse"),
        shaper("shaper.reverse"),
    ]
}

fn flow(index: u32, start: Span, workload: WorkloadConfig) -> FlowConfig {
    FlowConfig {
        name: format!("flow {index}"),
        group: index,
        start: Time::ZERO + start,
        forward: vec![LinkId(0), LinkId(1)],
        reverse: vec![LinkId(2), LinkId(3)],
        hosts: Hosts::default(),
        dscp: 0,
        between_losses: None,
        interface: None,
        stop: None,
        workload,
    }
}

/// Returns a network with an upload, and six reflectors that are pinged in turn.
fn network(seed: u64, seconds: u64, links: Vec<LinkConfig>) -> Network {
    let ping = || {
        WorkloadConfig::Source(SourceConfig::Ping {
            interval: Span::from_millis(300),
            packet: 64,
        })
    };
    let turn = |index| Span::from_millis(50) * u64::from(index);
    let mut flows: Vec<_> = (0..PINGS)
        .map(|index| flow(index, turn(index), ping()))
        .collect();
    let tcp = Arc::new(TcpConfig::profile(Profile::Linux));
    flows.push(flow(PINGS, Span::ZERO, WorkloadConfig::bulk(tcp, None)));
    Network {
        seed,
        warmup: Time::ZERO + Span::from_secs(seconds / 4),
        end: Time::ZERO + Span::from_secs(seconds),
        links,
        pools: Vec::new(),
        flows,
        record: Record {
            series: true,
            packets: true,
            tcp_delays: true,
        },
    }
}

fn plain_line(name: &str, rate: Rate) -> LinkConfig {
    let mut line = link(name, rate, Span::from_millis(20), Limit::Bytes(256_000));
    line.observed = true;
    line
}

/// Returns a line whose rate changes each second.
fn changing_line(name: &str) -> LinkConfig {
    let mut line = plain_line(name, mbps(11));
    line.service = Some(ServiceConfig::Uniform(UniformRates {
        interval: Span::from_secs(1),
        from: mbps(2),
        to: mbps(20),
    }));
    line
}

fn rates(outcome: &Outcome, link: usize) -> AutorateOutcome {
    outcome.links[link].autorate.expect("it has a program")
}

#[test]
fn engines_agree_on_rates_that_programs_set() {
    for config in [cake_autorate(), sqm_autorate()] {
        for seed in 1..=4 {
            let network = network(seed, 12, links(&config, changing_line));
            let outcome = run(&network);
            assert_eq!(compare(&outcome, &run_reference(&network)), Ok(()));
            assert!(rates(&outcome, 0).changes > 10, "{seed} {config:?}");
        }
    }
}

/// On a line of 10 Mb/s the rate stays near the line's and below the one of which the line is the high
/// load, beyond which neither program goes up. sqm-autorate distinguishes the directions, so
/// the download without a load keeps its first rate. cake-autorate halves the round-trip time, so the
/// queue of the upload lowers the rate of the download, too.
#[test]
fn the_rate_comes_near_that_of_the_line() {
    for (config, high_load) in [(cake_autorate(), 0.75), (sqm_autorate(), 0.8)] {
        let line = |name: &str| plain_line(name, mbps(10));
        let outcome = run(&network(1, 60, links(&config, line)));
        let (up, down) = (rates(&outcome, 0), rates(&outcome, 3));
        assert!((8e6..10e6 / high_load).contains(&up.mean_bps), "{up:?}");
        match config {
            AutorateConfig::CakeAutorate(_) => assert!(down.min < mbps(8), "{down:?}"),
            AutorateConfig::SqmAutorate(_) => {
                assert_eq!((down.min, down.changes), (Rate(7_200_000), 0), "{down:?}");
            }
        }
    }
}
