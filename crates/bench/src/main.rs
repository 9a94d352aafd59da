//! The benchmark: it measures how many delivered data packets are simulated per second of user CPU
//! time, and compares this with ns-2 on the same scenarios in the same run.
//!
//! `goodqueue-bench [CASE ...] [--rounds N] [--queues] [--no-ns2] [--json]`. Each case runs in a
//! process of its own, with parsing and set-up included, statistics on and recording off, and is
//! repeated until a second of user CPU time has passed. This is a round; in each, ns-2 runs after
//! it (`rounds.rs`).
//!
//! `goodqueue-bench --counts [--update]` counts instructions instead (`counts.rs`).

mod cases;
mod counts;
mod measure;
mod ns2;
mod queues;
mod rounds;

use cases::Case;
use rounds::Row;
use std::process::ExitCode;

/// Usual number of rounds.
const ROUNDS: u32 = 3;

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
    let mut names: Vec<&String> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
    let mut rounds = ROUNDS;
    if let Some(index) = arguments.iter().position(|argument| argument == "--rounds") {
        let given = arguments.get(index + 1);
        let Some(number) = given
            .and_then(|given| given.parse().ok())
            .filter(|n| *n > 0)
        else {
            eprintln!("error: write the number of rounds after --rounds, as in --rounds 5");
            return ExitCode::from(2);
        };
        rounds = number;
        names.retain(|name| !given.is_some_and(|given| std::ptr::eq(*name, given)));
    }
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
        rounds,
        flag("--json"),
        !flag("--no-ns2") && ns2::is_installed(),
    );
    if names.is_empty() {
        report_idle_flows(flag("--json"));
        report_queues(flag("--json"));
    }
    ExitCode::SUCCESS
}

/// Runs the cases one after the other and prints a row for each when it is finished.
fn report(chosen: impl Iterator<Item = Case>, rounds: u32, json: bool, with_ns2: bool) {
    if !json {
        if !with_ns2 {
            println!(
                "ns-2 is not part of this run: not installed (Debian package ns2) or --no-ns2"
            );
        }
        println!(
            "{rounds} rounds; ranges are those of the rounds; {}",
            load()
        );
        println!("{}", rounds::HEADER);
    }
    let mut measured: Vec<Row> = Vec::new();
    for case in chosen {
        let row = Row::measure(&case, rounds, with_ns2, &measured);
        if json {
            println!("{}", serde_json::json!(row));
        } else {
            println!("{row}");
        }
        measured.push(row);
    }
    if !json {
        println!("at the end: {}", load());
    }
}

/// Returns the load of the machine in words.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = text.split(' ').next().filter(|load| !load.is_empty());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "load of the machine {} on {processors} processors",
        load.unwrap_or("unknown")
    )
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
