//! The benchmark: it measures how many delivered data packets are simulated per second of user CPU
//! time, and compares this with ns-2 on the same scenarios in the same run.
//!
//! `goodqueue-bench [CASE ...] [--queues] [--no-ns2] [--json]`. Each case runs in a process of its own, with
//! parsing and set-up included, statistics on and recording off, and is repeated until a second
//! of user CPU time has passed.
//!
//! `goodqueue-bench --counts [--update]` counts instructions instead (`counts.rs`).

mod cases;
mod counts;
mod measure;
mod ns2;
mod queues;

use cases::Case;
use measure::Cost;
use serde::Serialize;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    if let [case, once, simulated] = &arguments[..]
        && once == "--once"
    {
        println!("{}", counts::once(case, simulated));
        return ExitCode::SUCCESS;
    }
    if flag("--counts") {
        return ExitCode::from(u8::from(!counts::report(flag("--update"))));
    }
    let names: Vec<&String> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
    let mut chosen = Vec::new();
    for name in &names {
        let Some(case) = cases::named(name) else {
            let all = cases::all();
            let known: Vec<&str> = all.iter().map(|case| case.name.as_str()).collect();
            eprintln!(
                "error: no case \"{name}\"; there are {}, and crowd-N and crowd-N-linux for N flows",
                known.join(", ")
            );
            return ExitCode::from(2);
        };
        chosen.push(case);
    }
    if names.is_empty() {
        chosen = cases::all();
    }
    if flag("--queues") {
        report_queues(flag("--json"));
        return ExitCode::SUCCESS;
    }
    if flag("--idle") {
        println!("{}", serde_json::json!(measure::idle_flow_bytes()));
        return ExitCode::SUCCESS;
    }
    if flag("--child") {
        // The child process measures only this case.
        for case in chosen {
            println!("{}", serde_json::json!(measure::measure(&case)));
        }
        return ExitCode::SUCCESS;
    }
    report(
        chosen.into_iter(),
        flag("--json"),
        !flag("--no-ns2") && ns2::is_installed(),
    );
    if names.is_empty() {
        report_idle_flows(flag("--json"));
        report_queues(flag("--json"));
    }
    ExitCode::SUCCESS
}

/// Cost of a packet relative to that of another case in the same run.
#[derive(Clone, Copy, Serialize)]
struct Beside {
    case: &'static str,
    /// User CPU time per packet, divided by that of the other case.
    ratio: f64,
}

/// Runs the cases one after the other and prints a row for each when it is finished.
fn report(chosen: impl Iterator<Item = Case>, json: bool, with_ns2: bool) {
    if !json {
        if !with_ns2 {
            println!(
                "ns-2 is not part of this run: not installed (Debian package ns2) or --no-ns2"
            );
        }
        println!(
            "{:<12} {:>9} {:>11} {:>8} {:>9} {:>8} | {:>9} {:>9} {:>7} {:>9}",
            "case",
            "user CPU",
            "packets/s",
            "events",
            "memory",
            "util",
            "ns-2 CPU",
            "set-up",
            "ratio",
            "w/o set-up"
        );
    }
    let mut measured: Vec<(String, Cost)> = Vec::new();
    for case in chosen {
        let ours = measure::in_child(&case);
        let theirs = with_ns2.then(|| ns2::measure(&case)).flatten();
        let beside = case.beside.and_then(|name| {
            let (_, other) = measured.iter().find(|(known, _)| known == name)?;
            let ratio = other.packets_per_cpu_s / ours.packets_per_cpu_s;
            Some(Beside { case: name, ratio })
        });
        measured.push((case.name.clone(), ours));
        if json {
            let row = serde_json::json!({"case": case.name, "ours": ours, "ns2": theirs, "beside": beside});
            println!("{row}");
            continue;
        }
        print!(
            "{:<12} {:>7.3} s {:>9.2} M {:>8.2} {:>5.1} MiB {:>8.5} |",
            case.name,
            ours.user_s,
            ours.packets_per_cpu_s / 1e6,
            ours.events_per_packet,
            ours.peak_memory_bytes as f64 / f64::from(1 << 20),
            ours.utilization
        );
        match theirs {
            Some(ns2) => println!(
                " {:>7.3} s {:>7.3} s {:>6.1}× {:>8.1}×",
                ns2.user_s,
                ns2.setup_s,
                ns2.user_s / ours.user_s,
                (ns2.user_s - ns2.setup_s) / (ours.user_s - ours.setup_s)
            ),
            None => match beside {
                Some(Beside { case, ratio }) => println!(" {ratio:.2}× {case}'s time per packet"),
                None => println!(),
            },
        }
    }
}

/// Prints the memory that a flow takes before it starts.
fn report_idle_flows(json: bool) {
    let bytes = measure::idle_flow_bytes_in_child();
    if json {
        println!("{}", serde_json::json!({"idle_flow_bytes": bytes}));
    } else {
        println!("a flow that has not started takes {bytes:.0} bytes of resident memory");
    }
}

/// Prints the cost of each queue discipline.
fn report_queues(json: bool) {
    if !json {
        println!("{:<24} {:>14} {:>8}", "queue", "per packet", "dropped");
    }
    for cost in queues::measure_all() {
        if json {
            println!("{}", serde_json::json!(cost));
        } else {
            let percent = 100.0 * cost.drop_share;
            println!(
                "{:<24} {:>11.1} ns {percent:>6.1} %",
                cost.queue, cost.ns_per_packet
            );
        }
    }
}
