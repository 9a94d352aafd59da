//! The resolved scenario: a file with nothing left to defaults.

use crate::flow::FlowGroup;
use crate::scenario::{SCHEMA_VERSION, Scenario};
use crate::setting::Setting;
use crate::spec::Kind;
use crate::topology::{DuplexLink, LinkDirection, Shape};
use crate::units::{format_rate, format_span};
use goodqueue_sim::PoolConfig;
use std::fmt::Write;

/// `{ a = 1, b = 2 }`.
pub(crate) fn inline(items: &[(&str, String)]) -> String {
    let items: Vec<String> = items
        .iter()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    format!("{{ {} }}", items.join(", "))
}

/// A TOML basic string.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Writes `text` as a quoted value; for texts of this crate only, which need no escapes.
pub(crate) fn plain(text: impl std::fmt::Display) -> String {
    format!("\"{text}\"")
}

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
        write_flow(&mut out, group);
    }
    let record = scenario.record;
    let _ = write!(
        out,
        "\n[record]\nseries = {}\npackets = {}\naccess = {}\n",
        record.series, record.packets, scenario.record_access
    );
    out
}

fn write_topology(out: &mut String, scenario: &Scenario) {
    let topology = &scenario.topology;
    let shape = match topology.shape {
        Shape::Dumbbell => "dumbbell",
        Shape::Chain => "chain",
    };
    let _ = writeln!(out, "\n[topology]\nshape = \"{shape}\"");
    for pool in &topology.pools {
        crate::pool::write(out, pool);
    }
    if let Some(access) = &topology.access {
        for (name, link) in [("access", &access.near), ("far_access", &access.far)] {
            let _ = writeln!(out, "\n[topology.{name}]");
            write_link(out, link, &topology.pools);
        }
    }
    for link in &topology.trunk {
        match topology.shape {
            Shape::Dumbbell => out.push_str("\n[topology.bottleneck]\n"),
            Shape::Chain => {
                let _ = writeln!(out, "\n[[topology.link]]\nname = \"{}\"", link.name);
            }
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
            None => ("rate", plain(format_rate(link.rate))),
            Some(service) => ("service", crate::service::write(service)),
        },
        ("delay", plain(format_span(link.delay))),
        ("framing", link.framing.write(Kind::Flag)),
        ("queue", crate::queue::write(&link.queue)),
        ("drop_list", format!("{:?}", link.drop_list)),
    ];
    if let Some(pool) = link.pool {
        items.push(("pool", plain(&pools[pool as usize].name)));
    }
    if let Some(loss) = &link.loss {
        items.push(("loss", crate::loss::write(loss)));
    }
    items
}

fn write_flow(out: &mut String, group: &FlowGroup) {
    let mut items = vec![
        ("name", plain(&group.name)),
        ("count", group.count.to_string()),
        ("start", plain(format_span(group.start))),
        ("start_interval", plain(format_span(group.start_interval))),
        ("from", group.from.to_string()),
        ("to", group.to.to_string()),
        ("dscp", group.dscp.to_string()),
    ];
    // Left out if it was: whoever averages over replicates may then jitter starts.
    if let Some(jitter) = group.start_jitter {
        items.push(("start_jitter", plain(format_span(jitter))));
    }
    if let Some(rtt) = group.rtt {
        let (from, to) = (plain(format_span(rtt.from)), plain(format_span(rtt.to)));
        let spread = [
            ("from", from.clone()),
            ("to", to),
            ("classes", rtt.classes.to_string()),
        ];
        items.push((
            "rtt",
            if rtt.classes == 1 {
                from
            } else {
                inline(&spread)
            },
        ));
    }
    if let Some(host) = &group.host {
        items.push(("host", plain(host)));
    }
    items.push(("workload", crate::workload::write(&group.workload)));
    if let Some(tcp) = crate::workload::tcp_of(&group.workload) {
        items.push(("tcp", crate::tcp::write(tcp)));
    }
    out.push_str("\n[[flow]]\n");
    for (key, value) in items {
        let _ = writeln!(out, "{key} = {value}");
    }
}
