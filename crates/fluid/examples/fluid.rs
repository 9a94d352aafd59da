//! Runs the hybrid engine on cases read from standard input, one a line.
//!
//! `seed rate frame_bytes buffer flows control profile warmup_s duration_s rtt,rtt,… [codel|red]`

use std::io::BufRead;
use std::time::Instant;

use goodqueue_fluid::{
    Acks, Background, Extent, FlowGroup, FluidControl, FluidLink, FluidQueue, FluidSender, simulate,
};
use goodqueue_types::{Rate, Span};

fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |place: usize| words[place].parse::<f64>().expect("a number");
        let linux = words[6] == "linux";
        let control = match words[5] {
            "cubic" if linux => FluidControl::LINUX_CUBIC,
            "cubic" => FluidControl::CUBIC,
            "scalable" => FluidControl::SCALABLE,
            _ => FluidControl::RENO,
        };
        let rtts = words[9]
            .split(',')
            .map(|rtt| Span::from_secs_f64(rtt.parse().expect("seconds")))
            .collect();
        let question = FluidLink {
            rate: Rate(number(1) as u64),
            frame_bytes: number(2) as u32,
            queue: match words.get(10).copied() {
                Some("codel") => FluidQueue::CoDel {
                    packets: number(3),
                    target: Span::from_millis(5),
                    interval: Span::from_millis(100),
                },
                Some("red") => FluidQueue::Red {
                    packets: number(3),
                    min_threshold: 40.0,
                    max_threshold: 120.0,
                    max_probability: 0.1,
                    weight: 0.002,
                },
                _ => FluidQueue::DropTail { packets: number(3) },
            },
            groups: vec![FlowGroup {
                name: "long".to_owned(),
                count: number(4) as u64,
                rtts,
                control,
                acks: Acks {
                    packets: 2.0,
                    bytes_counted: linux,
                },
                sender: if linux {
                    FluidSender::LINUX
                } else {
                    FluidSender {
                        segment_bytes: Some(number(2) as u32 - 40),
                        ..FluidSender::RFC
                    }
                },
                paced: false,
                max_window: f64::INFINITY,
            }],
            background: Background::default(),
        };
        let extent = Extent {
            seed: number(0) as u64,
            warmup: Span::from_secs_f64(number(7)),
            duration: Span::from_secs_f64(number(8)),
        };
        let before = Instant::now();
        let outcome = simulate(&question, &extent, &mut || true).expect("not stopped");
        println!(
            "{{\"utilization\": {}, \"loss_rate\": {}, \"mean_queueing_delay_s\": {}, \
             \"p50_queueing_delay_s\": {}, \"p99_queueing_delay_s\": {}, \"loss_bursts\": {}, \
             \"mean_flows_hit\": {}, \"jain\": {}, \"loss_events\": {}, \"cpu_s\": {}, \
             \"slots\": {}, \"updates\": {}, \"bytes\": {}}}",
            outcome.utilization,
            outcome.loss_rate,
            outcome.mean_delay_s(),
            outcome.delay_quantile_s(0.5),
            outcome.delay_quantile_s(0.99),
            outcome.loss_bursts,
            outcome.mean_flows_hit,
            outcome.jain().unwrap_or(0.0),
            outcome.loss_events,
            before.elapsed().as_secs_f64(),
            outcome.cost.slots,
            outcome.cost.updates,
            outcome.cost.bytes,
        );
    }
}
