//! A network of two routers and a pair of hosts for each flow, as a dumbbell.

use super::flows::{Flows, Group};
use super::queue::{losses, queue, unlimited};
use super::units::{delay, list, rate, table};
use crate::error::ImportError;
use crate::network::{Link, Model, Traffic, Work};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Two directions of a link of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Access {
    router: usize,
    rate_bps: u64,
    delay_ps: u64,
}

/// Writes a dumbbell; None if the network has another form.
pub fn write(model: &Model, flows: &Flows<'_>) -> Result<Option<String>, ImportError> {
    let Some(hosts) = hosts(model)? else {
        return Ok(None);
    };
    let core: Vec<&Link> = model
        .links
        .iter()
        .filter(|link| !hosts.contains_key(&link.from) && !hosts.contains_key(&link.to))
        .collect();
    let [forward, back] = core[..] else {
        return Ok(None);
    };
    let ends = |flow: &Traffic| (hosts.get(&flow.from), hosts.get(&flow.to));
    let (Some(first), Some(far)) = ends(&model.flows[0]) else {
        return Ok(None);
    };
    let (forward, back) = if forward.from == first.router {
        (forward, back)
    } else {
        (back, forward)
    };
    let opposite = (forward.from, forward.to) == (back.to, back.from);
    let mut pairs = HashSet::new();
    for flow in &model.flows {
        let (Some(near), Some(other)) = ends(flow) else {
            return Ok(None);
        };
        let apart = near.router == forward.from && other.router == forward.to;
        let rates = near.rate_bps == first.rate_bps && other.rate_bps == far.rate_bps;
        let own = [flow.from, flow.to].iter().all(|host| pairs.insert(*host));
        // A round-trip time divides evenly over both access links.
        let even = near.delay_ps == other.delay_ps;
        if !(apart && rates && own && even) || matches!(flow.work, Work::Traffic(_)) {
            return Ok(None);
        }
    }
    if !opposite || forward.delay_ps != back.delay_ps || pairs.len() != hosts.len() {
        return Ok(None);
    }
    let mut toml = String::from("shape = \"dumbbell\"\n");
    let access = |one: &Access| table(&[("rate", rate(one.rate_bps))]);
    let _ = writeln!(toml, "access = {}", access(first));
    if first.rate_bps != far.rate_bps {
        let _ = writeln!(toml, "far_access = {}", access(far));
    }
    let mut reverse = Vec::new();
    if back.rate_bps != forward.rate_bps {
        reverse.push(("rate", rate(back.rate_bps)));
    }
    if !unlimited(&back.queue)? {
        reverse.push(("queue", queue(&back.queue)?));
    }
    reverse.extend(losses(back)?);
    let mut bottleneck = vec![
        ("rate", rate(forward.rate_bps)),
        ("delay", delay(forward.delay_ps)),
        ("queue", queue(&forward.queue)?),
    ];
    bottleneck.extend(losses(forward)?);
    if !reverse.is_empty() {
        bottleneck.push(("reverse", table(&reverse)));
    }
    let _ = writeln!(toml, "bottleneck = {}", table(&bottleneck));
    let rtt = |flow: &Traffic| {
        let delays = [flow.from, flow.to].map(|host| hosts[&host].delay_ps);
        2 * (delays[0] + delays[1] + forward.delay_ps)
    };
    flows.write(&mut toml, |group| places(group, rtt));
    Ok(Some(toml))
}

/// Returns the hosts and their links; None if a host's link differs by direction or could lose packets.
fn hosts(model: &Model) -> Result<Option<HashMap<usize, Access>>, ImportError> {
    let mut out: HashMap<usize, Vec<&Link>> = HashMap::new();
    for link in &model.links {
        out.entry(link.from).or_default().push(link);
    }
    let ends: HashSet<usize> = model
        .flows
        .iter()
        .flat_map(|flow| [flow.from, flow.to])
        .collect();
    let back: HashMap<(usize, usize), &Link> = model
        .links
        .iter()
        .map(|link| ((link.from, link.to), link))
        .collect();
    let mut hosts = HashMap::new();
    for node in ends {
        let Some([up]) = out.get(&node).map(Vec::as_slice) else {
            return Ok(None);
        };
        let Some(down) = back.get(&(up.to, node)) else {
            return Ok(None);
        };
        let same = up.rate_bps == down.rate_bps && up.delay_ps == down.delay_ps;
        let clean = up.loss.is_none() && down.loss.is_none();
        if !same || !clean || !unlimited(&up.queue)? || !unlimited(&down.queue)? {
            return Ok(None);
        }
        let access = Access {
            router: up.to,
            rate_bps: up.rate_bps,
            delay_ps: up.delay_ps,
        };
        hosts.insert(node, access);
    }
    Ok(Some(hosts))
}

fn places(group: &Group<'_>, rtt: impl Fn(&Traffic) -> u64) -> String {
    let mut toml = String::new();
    if group.flows.len() > 1 {
        let _ = writeln!(toml, "count = {}", group.flows.len());
    }
    let rtts: Vec<u64> = group.flows.iter().map(|flow| rtt(flow)).collect();
    let period =
        (1..rtts.len()).find(|period| rtts.iter().skip(*period).zip(&rtts).all(|(a, b)| a == b));
    let rtts = &rtts[..period.unwrap_or(rtts.len())];
    let text = match rtts {
        [one] => delay(*one),
        [first, .., last] if rtts.len() > 2 && evenly(rtts) => table(&[
            ("from", delay(*first)),
            ("to", delay(*last)),
            ("classes", rtts.len().to_string()),
        ]),
        _ => list(rtts.iter().map(|ps| delay(*ps))),
    };
    let _ = writeln!(toml, "rtt = {text}");
    toml
}

/// True if times rise evenly, but for the picoseconds that rounding takes.
fn evenly(times: &[u64]) -> bool {
    let (first, last) = (times[0] as f64, times[times.len() - 1] as f64);
    let step = (last - first) / (times.len() - 1) as f64;
    let close =
        |(place, time): (usize, &u64)| (first + step * place as f64 - *time as f64).abs() < 10.0;
    last > first && times.iter().enumerate().all(close)
}
