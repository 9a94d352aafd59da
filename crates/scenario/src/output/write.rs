//! The resolved scenario: a file with all defaults written out.

use crate::flow::{FlowGroup, RoundTrips};
use crate::language::spec::Kind;
use crate::language::text::{inline, plain, quote};
use crate::language::units::format_span;
use crate::language::value;
use crate::network::topology::{DuplexLink, LinkDirection, Shape, Topology, link_of};
use crate::scenario::{SCHEMA_VERSION, Scenario};
use goodqueue_sim::{InterfaceConfig, PoolConfig};
use goodqueue_types::parameters::Parameter;
use goodqueue_types::{LinkId, Span};
use std::fmt::Write;

pub(crate) fn write(scenario: &Scenario) -> String {
    let mut out = String::new();
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key} = {value}");
    };
    line("schema_version", SCHEMA_VERSION.to_string());
    line("title", quote(&scenario.title));
    line("description", quote(&scenario.description));
    line("duration", plain(format_span(scenario.duration)));
    line("warmup", plain(format_span(scenario.warmup)));
    line("seed", scenario.seed.to_string());
    write_topology(&mut out, scenario);
    for group in scenario.flows.iter() {
        write_flow(&mut out, group, &scenario.topology);
    }
    let record = scenario.record;
    let _ = write!(
        out,
        "\n[record]\nseries = {}\npackets = {}\naccess = {}\ntcp_delays = {}\n",
        record.series, record.packets, scenario.record_access, record.tcp_delays
    );
    // The key is younger than the others. Without it, scenarios keep the text that identifies them.
    if scenario.record_flows {
        out.push_str("flows = true\n");
    }
    out
}

fn write_topology(out: &mut String, scenario: &Scenario) {
    let topology = &scenario.topology;
    let shape = match topology.shape {
        Shape::Dumbbell => "dumbbell",
        Shape::Chain => "chain",
        Shape::Graph => "graph",
    };
    let _ = writeln!(out, "\n[topology]\nshape = \"{shape}\"");
    for pool in &topology.pools {
        crate::network::link::pool::write(out, pool);
    }
    if let Some(access) = &topology.access {
        for (name, link) in [("access", &access.near), ("far_access", &access.far)] {
            let _ = writeln!(out, "\n[topology.{name}]");
            write_link(out, link, &topology.pools);
        }
    }
    let nodes = &topology.graph.nodes;
    if topology.shape == Shape::Graph {
        for node in nodes {
            let _ = writeln!(out, "\n[[topology.node]]\nname = \"{node}\"");
        }
    }
    for (index, link) in topology.trunk.iter().enumerate() {
        if topology.shape == Shape::Dumbbell {
            out.push_str("\n[topology.bottleneck]\n");
        } else {
            let _ = writeln!(out, "\n[[topology.link]]\nname = \"{}\"", link.name);
        }
        if topology.shape == Shape::Graph {
            let (from, to) = topology.graph.ends(index);
            let _ = writeln!(out, "from = \"{}\"\nto = \"{}\"", nodes[from], nodes[to]);
        }
        write_link(out, link, &topology.pools);
    }
}

fn write_link(out: &mut String, link: &DuplexLink, pools: &[PoolConfig]) {
    for (key, value) in items(&link.forward, pools) {
        let _ = writeln!(out, "{key} = {value}");
    }
    let _ = writeln!(out, "reverse = {}", inline(&items(&link.reverse, pools)));
}

fn items(link: &LinkDirection, pools: &[PoolConfig]) -> Vec<(&'static str, String)> {
    let mut items = vec![
        match &link.service {
            None => (
                "rate",
                crate::network::link::service::write_link_rate(link.rate),
            ),
            Some(service) => ("service", crate::network::link::service::write(service)),
        },
        ("delay", plain(format_span(link.delay))),
        (
            "framing",
            crate::network::link::framing::write(&link.framing),
        ),
        ("queue", crate::language::queue::write(&link.queue)),
        ("drop_list", format!("{:?}", link.drop_list)),
    ];
    if let Some(pool) = link.pool {
        items.push(("pool", plain(&pools[pool as usize].name)));
    }
    if let Some(loss) = &link.loss {
        items.push(("loss", crate::network::link::loss::write(loss)));
    }
    items.extend(crate::network::link::impairment::items(&link.impairments));
    items.extend(link.pause.iter().map(crate::network::link::pause::item));
    items.extend(
        link.autorate
            .iter()
            .map(crate::network::link::autorate::item),
    );
    items
}

fn write_flow(out: &mut String, group: &FlowGroup, topology: &Topology) {
    let mut items = vec![
        ("name", plain(&group.name)),
        ("count", group.count.to_string()),
        ("start", plain(format_span(group.start))),
        ("start_interval", plain(format_span(group.start_interval))),
        ("from", nodes(&group.paths.from, topology)),
        ("to", nodes(&group.paths.to, topology)),
        ("dscp", group.dscp.to_string()),
    ];
    // The key is omitted if there is no jitter, so that a user of replicates may add a default
    // jitter.
    if let Some(jitter) = group.start_jitter {
        items.push(("start_jitter", plain(format_span(jitter))));
    }
    if let Some(stop) = group.stop {
        items.push(("stop", plain(format_span(stop))));
    }
    if let Some(rtt) = &group.rtt {
        items.push(("rtt", round_trips(rtt)));
    }
    if !group.peak_windows.is_empty() {
        let windows = group.peak_windows.iter();
        let windows: Vec<String> = windows.map(|n| plain(format!("{n}p"))).collect();
        items.push(("peak_window", one_or_list(&windows)));
        items.push(("peak_spread", format!("{:?}", group.peak_spread)));
    }
    if group.paths.listed {
        let path = group.paths.at(0);
        items.push(("route", route(&path.forward, topology)));
        items.push(("reverse_route", route(&path.reverse, topology)));
    }
    if let Some(host) = &group.host {
        items.push(("host", plain(host)));
    }
    if let Some(interface) = &group.interface {
        let table = Kind::Table(InterfaceConfig::SPEC);
        items.push(("interface", value::write(&interface.value(), table)));
    }
    items.push(("workload", crate::flow::workload::write(&group.workload)));
    if let Some(tcp) = group.workload.tcp() {
        items.push(("tcp", crate::flow::tcp::write(tcp)));
    }
    let programs = [
        ("command", &group.programs.client),
        ("server_command", &group.programs.server),
    ];
    // The keys are omitted without a program, so that scenarios keep the text that identifies them.
    for (key, words) in programs.into_iter().filter(|(_, words)| !words.is_empty()) {
        let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
        items.push((key, list(&words)));
    }
    out.push_str("\n[[flow]]\n");
    for (key, value) in items {
        let _ = writeln!(out, "{key} = {value}");
    }
}

/// Returns one value, or a list of several.
fn one_or_list(values: &[String]) -> String {
    match values {
        [value] => value.clone(),
        _ => list(values),
    }
}

fn list(values: &[String]) -> String {
    format!("[{}]", values.join(", "))
}

/// Returns nodes by their names in a graph, by their numbers in a row.
fn nodes(nodes: &[usize], topology: &Topology) -> String {
    let names = nodes.iter().map(|node| match topology.shape {
        Shape::Graph => plain(&topology.graph.nodes[*node]),
        Shape::Dumbbell | Shape::Chain => node.to_string(),
    });
    one_or_list(&names.collect::<Vec<_>>())
}

fn route(way: &[LinkId], topology: &Topology) -> String {
    let names = way.iter().map(|direction| {
        let (link, _) = link_of(*direction);
        plain(&topology.trunk[link].name)
    });
    list(&names.collect::<Vec<_>>())
}

fn round_trips(rtt: &RoundTrips) -> String {
    let time = |time: &Span| plain(format_span(*time));
    match rtt {
        RoundTrips::Spread {
            from, classes: 1, ..
        } => time(from),
        RoundTrips::Spread { from, to, classes } => inline(&[
            ("from", time(from)),
            ("to", time(to)),
            ("classes", classes.to_string()),
        ]),
        RoundTrips::Listed(times) => one_or_list(&times.iter().map(time).collect::<Vec<_>>()),
    }
}
