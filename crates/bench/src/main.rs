//! The benchmark: it measures how many delivered data packets are simulated per second of user CPU
//! time, and compares this with other programs on the same scenarios in the same run.
//!
//! `goodqueue-bench [CASE ...] [--rounds N] [--quick] [--write] [--json] [--profiled PROGRAM]
//! [--htsim PROGRAM] [--no-ns2]`. Each case runs in a process of its own, with parsing and set-up
//! included, statistics on and recording off, and is repeated until a second of user CPU time has
//! passed. In a round the other programs run after it (`rounds.rs`).
//!
//! `--quick` measures s1 to s4 only and does not count instructions. `--write` puts the table into
//! docs/performance.md. `--counts [--update]` counts instructions only (`counts.rs`), `--queues`
//! measures queue disciplines only, and `--queue-counts` counts their instructions (`queues.rs`).

mod bare;
mod caches;
mod cases;
mod counts;
mod goals;
mod measure;
mod options;
mod page;
mod peers;
mod queues;
mod rounds;

use options::Options;
use page::Table;
use rounds::Rounds;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let json = words.contains(&"--json");
    match words[..] {
        // Child processes.
        [case, "--once", simulated] => println!("{}", counts::once(case, simulated)),
        [case, "--bare-once", simulated] => println!("{}", counts::bare_once(case, simulated)),
        [queue, "--queue-once"] => println!("{:.1}", queues::once(queue)),
        [case, "--child"] => {
            let case = cases::named(case).expect("the parent names known cases");
            println!("{}", serde_json::json!(measure::measure(&case)));
        }
        [case, "--bare"] => {
            let case = cases::named(case).expect("the parent names known cases");
            println!("{}", serde_json::json!(measure::measure_bare(&case)));
        }
        ["--idle"] => println!("{}", serde_json::json!(measure::idle_flow_bytes())),
        // Parts of the benchmark.
        ["--counts"] => return ExitCode::from(u8::from(!counts::report(false))),
        ["--counts", "--update"] => return ExitCode::from(u8::from(!counts::report(true))),
        ["--queue-counts"] => return ExitCode::from(u8::from(!queues::write_counts())),
        ["--queues"] | ["--queues", "--json"] => report_queues(json),
        _ => {
            let reported = Options::parse(&arguments).and_then(|options| report(&options));
            if let Err(error) = reported {
                eprintln!("error: {error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}

/// Runs the cases one after the other and prints the rows of each when it is finished.
fn report(options: &Options) -> Result<(), String> {
    let (rounds, beside) = (options.rounds, &options.beside);
    let mut table = Table::begin(rounds, beside);
    if !options.json {
        println!("{}", table.absent());
        println!("counting instructions, then {rounds} rounds of each case");
    }
    let instructions = counts::for_table(options.quick);
    if !options.json {
        println!("\n{}", rounds::HEADER);
    }
    let mut measured: Vec<Rounds> = Vec::new();
    for case in &options.cases {
        let counted = instructions.iter().find(|(name, _)| *name == case.name);
        let counted = counted.map(|(_, counted)| *counted);
        let of_case = Rounds::measure(case, rounds, beside, counted)?;
        if options.json {
            println!("{}", serde_json::json!(of_case));
        }
        for row in of_case.rows(&measured) {
            if !options.json {
                println!("{row}");
            }
            table.rows.push(row);
        }
        measured.push(of_case);
    }
    table.end();
    if !options.json {
        println!("\n{}\n\n{}", table.circumstances(), table.goals());
    }
    if options.write {
        page::write_table(&table)?;
    }
    if options.is_whole() {
        report_idle_flows(options.json)?;
        report_queues(options.json);
    }
    Ok(())
}

/// Prints the memory that a flow takes before it starts.
fn report_idle_flows(json: bool) -> Result<(), String> {
    let bytes = measure::idle_flow_bytes_in_child()?;
    if json {
        println!("{}", serde_json::json!({"idle_flow_bytes": bytes}));
    } else {
        println!("a flow that has not started takes {bytes:.0} bytes of resident memory");
    }
    Ok(())
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
