//! The engine against recorded runs of the packet engine, of links drawn by `evidence/hybrid/oracle.py`.
//!
//! Each case is the mean of two seeds of either engine. Two seeds of the packet engine differ by up to a
//! point of utilisation and a tenth of loss on such links.

#![allow(
    clippy::unreadable_literal,
    reason = "the table is written by a program"
)]

mod common;

use common::{link, packets, run};
use goodqueue_fluid::{Extent, FluidControl, FluidSender};
use goodqueue_types::Span;

/// A link with a buffer, and figures of packets.
struct Case {
    rate: u64,
    flows: u64,
    rtts_us: &'static [u64],
    buffer: f64,
    control: FluidControl,
    linux: bool,
    warmup_s: f64,
    duration_s: f64,
    utilization: f64,
    loss_rate: f64,
}

const CASES: &[Case] = &[
    Case {
        rate: 129307540,
        flows: 5,
        rtts_us: &[61840],
        buffer: 189.0,
        control: FluidControl::RENO,
        linux: true,
        warmup_s: 42.4,
        duration_s: 169.7,
        utilization: 0.9685,
        loss_rate: 0.000133,
    },
    Case {
        rate: 827057851,
        flows: 11,
        rtts_us: &[19871],
        buffer: 131.0,
        control: FluidControl::CUBIC,
        linux: false,
        warmup_s: 18.6,
        duration_s: 74.2,
        utilization: 0.9716,
        loss_rate: 0.000149,
    },
    Case {
        rate: 568892965,
        flows: 39,
        rtts_us: &[27814],
        buffer: 142.0,
        control: FluidControl::LINUX_CUBIC,
        linux: true,
        warmup_s: 3.6,
        duration_s: 14.4,
        utilization: 0.9970,
        loss_rate: 0.001617,
    },
    Case {
        rate: 5998602004,
        flows: 269,
        rtts_us: &[30595],
        buffer: 626.0,
        control: FluidControl::LINUX_CUBIC,
        linux: true,
        warmup_s: 3.0,
        duration_s: 12.0,
        utilization: 0.9768,
        loss_rate: 0.000686,
    },
    Case {
        rate: 316257886,
        flows: 71,
        rtts_us: &[73706],
        buffer: 155.0,
        control: FluidControl::RENO,
        linux: true,
        warmup_s: 7.3,
        duration_s: 29.4,
        utilization: 0.9216,
        loss_rate: 0.003257,
    },
    Case {
        rate: 296704920,
        flows: 182,
        rtts_us: &[106285],
        buffer: 131.0,
        control: FluidControl::RENO,
        linux: true,
        warmup_s: 5.3,
        duration_s: 21.1,
        utilization: 0.9183,
        loss_rate: 0.010484,
    },
    Case {
        rate: 616556493,
        flows: 347,
        rtts_us: &[118813],
        buffer: 220.0,
        control: FluidControl::LINUX_CUBIC,
        linux: true,
        warmup_s: 7.0,
        duration_s: 28.0,
        utilization: 0.9821,
        loss_rate: 0.006798,
    },
    Case {
        rate: 281569124,
        flows: 40,
        rtts_us: &[
            15181, 20391, 25602, 30812, 36023, 41233, 46444, 51655, 56865, 62076, 67286, 72497,
            77708, 82918, 88129, 93339, 98550, 103761, 15181, 20391, 25602, 30812, 36023, 41233,
            46444, 51655, 56865, 62076, 67286, 72497, 77708, 82918, 88129, 93339, 98550, 103761,
            22996, 46444, 69892, 93339,
        ],
        buffer: 148.0,
        control: FluidControl::RENO,
        linux: true,
        warmup_s: 6.1,
        duration_s: 24.3,
        utilization: 0.9794,
        loss_rate: 0.003877,
    },
    Case {
        rate: 60668337,
        flows: 1,
        rtts_us: &[65580],
        buffer: 84.0,
        control: FluidControl::CUBIC,
        linux: false,
        warmup_s: 42.4,
        duration_s: 169.5,
        utilization: 0.9895,
        loss_rate: 0.000048,
    },
    Case {
        rate: 174827889,
        flows: 16,
        rtts_us: &[
            22058, 23812, 25566, 27320, 29073, 30827, 32581, 35212, 37842, 39596, 41350, 43103,
            44857, 46611, 48365, 50995,
        ],
        buffer: 90.0,
        control: FluidControl::LINUX_CUBIC,
        linux: true,
        warmup_s: 5.0,
        duration_s: 20.0,
        utilization: 0.9970,
        loss_rate: 0.001802,
    },
    Case {
        rate: 2287760184,
        flows: 91,
        rtts_us: &[17215],
        buffer: 231.0,
        control: FluidControl::RENO,
        linux: false,
        warmup_s: 4.4,
        duration_s: 17.8,
        utilization: 0.9542,
        loss_rate: 0.000806,
    },
    Case {
        rate: 128634114,
        flows: 14,
        rtts_us: &[
            18200, 19533, 20866, 22864, 24864, 26196, 28196, 30194, 31527, 32860, 34858, 36858,
            38190, 40190,
        ],
        buffer: 120.0,
        control: FluidControl::RENO,
        linux: true,
        warmup_s: 3.8,
        duration_s: 15.2,
        utilization: 0.9953,
        loss_rate: 0.003994,
    },
];

#[test]
fn packets_show_the_same() {
    for case in CASES {
        let mut link = link(case.rate, case.flows, case.control, &[1]);
        link.queue = packets(case.buffer);
        let group = &mut link.groups[0];
        group.rtts = case
            .rtts_us
            .iter()
            .map(|us| Span::from_micros(*us))
            .collect();
        group.acks.bytes_counted = case.linux;
        if !case.linux {
            group.sender = FluidSender::RFC;
        }
        let (mut utilization, mut loss_rate) = (0.0, 0.0);
        for seed in [1, 2] {
            let extent = Extent {
                seed,
                warmup: Span::from_secs_f64(case.warmup_s),
                duration: Span::from_secs_f64(case.duration_s),
            };
            let outcome = run(&link, &extent);
            utilization += 0.5 * outcome.utilization;
            loss_rate += 0.5 * outcome.loss_rate;
        }
        let difference = (utilization - case.utilization).abs();
        let name = format!("{} flows, {} bit/s", case.flows, case.rate);
        assert!(
            difference < 0.02,
            "{name}: {utilization} {}",
            case.utilization
        );
        let ratio = loss_rate / case.loss_rate;
        assert!(
            (0.75..1.33).contains(&ratio),
            "{name}: {loss_rate} {}",
            case.loss_rate
        );
    }
}
