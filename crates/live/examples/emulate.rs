//! Runs a command behind an emulated link: `emulate MBPS RTT_MS PACKETS SERVER -- CLIENT ...`.

use goodqueue_live::linux::run::{Program, addresses, run};
use goodqueue_live::linux::sandbox;
use goodqueue_queue::Limit;
use goodqueue_sim::{FlowConfig, LinkConfig, Network, Record, WorkloadConfig};
use goodqueue_types::{FlowId, Hosts, LinkId, Rate, Span, Time};
use std::env;
use std::process::Command;

fn main() {
    let args: Vec<String> = env::args().collect();
    let me = env::current_exe().unwrap();
    match args[1].as_str() {
        "route" => route(&args[2..], &me),
        "program" => panic!(
            "{:?}",
            sandbox::become_program(args[2].parse().unwrap(), &args[3], &args[4..])
        ),
        _ => {
            let uid = nix::unistd::Uid::current().to_string();
            let code = sandbox::enter(Command::new(me).arg("route").arg(uid).args(&args[1..]));
            println!("{code:?}");
        }
    }
}

fn route(args: &[String], me: &std::path::Path) {
    sandbox::settle().unwrap();
    let number = |at: usize| args[at].parse::<f64>().unwrap();
    let delay = Span::from_secs_f64(number(2) / 2e3);
    let mut links = Vec::new();
    for (name, limit) in [
        ("link", Limit::Packets(number(3) as u64)),
        ("link.reverse", Limit::Packets(1000)),
    ] {
        let mut link = LinkConfig::drop_tail(Rate((number(1) * 1e6) as u64), delay, limit);
        link.name = name.to_owned();
        link.observed = true;
        links.push(link);
    }
    let network = Network {
        seed: 1,
        warmup: Time::ZERO,
        end: Time::ZERO + Span::from_secs(60),
        links,
        pools: vec![],
        flows: vec![FlowConfig {
            name: "flow".into(),
            group: 0,
            start: Time::ZERO,
            forward: vec![LinkId(0)],
            reverse: vec![LinkId(1)],
            hosts: Hosts::default(),
            dscp: 0,
            between_losses: None,
            workload: WorkloadConfig::Bulk {
                tcp: goodqueue_tcp::TcpConfig::default().into(),
                bytes: None,
            },
        }],
        record: Record {
            series: false,
            packets: false,
            tcp_delays: false,
        },
    };
    let server: Vec<String> = args[4].split(' ').map(str::to_owned).collect();
    let programs = [
        Program {
            flow: FlowId(0),
            is_server: true,
            command: server,
        },
        Program {
            flow: FlowId(0),
            is_server: false,
            command: args[6..].to_vec(),
        },
    ];
    let [client, server] = addresses(FlowId(0));
    let hosts = format!("127.0.0.1 localhost\n{client} client\n{server} server\n");
    let launch = |program: &Program| {
        let mut command = Command::new(me);
        command
            .arg("program")
            .arg(&args[0])
            .arg(&hosts)
            .args(&program.command);
        command
    };
    let emulated = run(&network, &programs, &[], launch).unwrap();
    for link in &emulated.outcome.links {
        println!(
            "{} busy {:.4} loss {:.5} drops {} arrivals {} backlog {:?} p99 {:?}",
            link.name,
            link.utilization,
            link.loss_rate,
            link.drops,
            link.arrivals,
            link.backlog_packets.mean,
            link.queueing_delay_s.p99
        );
    }
    let fidelity = &emulated.fidelity;
    println!(
        "{:?} p50 {:?} p99 {:?} max {:?} unread {:?} stalls {:?} ring {} steal {} cpu {} of {} s",
        fidelity.verdict(),
        fidelity.lateness_s(0.5),
        fidelity.lateness_s(0.99),
        fidelity.lateness_s(1.0),
        fidelity.unread_s(0.99),
        fidelity.stalls(),
        fidelity.ring_drops,
        fidelity.steal_share,
        fidelity.cpu_s,
        emulated.outcome.measured_s
    );
    println!("{:?} {:?}", emulated.ended, emulated.outcome.totals);
}
