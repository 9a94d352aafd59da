//! Flows: their paths, start times and workloads.

pub mod congestion;
pub mod law;
pub mod long_flows;
pub mod python;
pub mod tcp;
pub mod workload;

use crate::flow::law::Laws;
use crate::flow::tcp::CommonTcp;
use crate::flow::workload::Around;
use crate::language::error::Checked;
use crate::language::field::Field;
use crate::language::file::Library;
use crate::language::reader::Reader;
use crate::network::path::{Ends, PathReader, Paths};
use crate::network::topology::Topology;
use goodqueue_sim::{InterfaceConfig, WorkloadConfig};
use goodqueue_tcp::CongestionControlConfig;
use goodqueue_types::Span;
use goodqueue_types::parameters::Parameters;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Default for the largest random delay of starts within a group.
const USUAL_JITTER: Span = Span::from_millis(100);

/// A flow or a group of flows with the same settings.
#[derive(Clone, Debug)]
pub(crate) struct FlowGroup {
    pub name: String,
    pub count: u64,
    pub start: Span,
    pub start_interval: Span,
    /// Largest random delay of each start. `None` if the scenario does not set it, and the group has
    /// a single flow or start intervals. Starts are not delayed then.
    pub start_jitter: Option<Span>,
    /// Time at which the applications stop, if they do.
    pub stop: Option<Span>,
    pub rtt: Option<RoundTrips>,
    /// Windows at the last loss, in segments, for flows that begin as if they had sent for long. Flow
    /// i takes entry i, modulo their number. Empty if flows begin with a new connection.
    pub peak_windows: Vec<u32>,
    /// Largest relative deviation of these windows.
    pub peak_spread: f64,
    pub host: Option<String>,
    pub paths: Paths,
    /// Differentiated services code point of its packets, in both directions.
    pub dscp: u8,
    /// Interfaces of the hosts, if they do not pass every packet at once.
    pub interface: Option<Arc<InterfaceConfig>>,
    pub workload: WorkloadConfig,
    /// True if the version of the format decides the TCP of the flows, because they name no profile.
    pub assumes_hosts: bool,
    pub programs: Programs,
}

/// Real programs of a flow, each with its arguments; empty without one. They do not affect a
/// simulated run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// Program of the client.
    pub client: Vec<String>,
    /// Program of the server.
    pub server: Vec<String>,
}

/// Base round-trip times of a group's flows, in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RoundTrips {
    /// Evenly spaced times.
    Spread { from: Span, to: Span, classes: u64 },
    /// Listed times.
    Listed(Vec<Span>),
}

impl RoundTrips {
    /// Returns the round-trip time of flow `index` of the group.
    pub(crate) fn at(&self, index: u64) -> Span {
        match self {
            Self::Spread { from, to, classes } => {
                let steps = u128::from(*classes.max(&2) - 1);
                let class = u128::from(index % classes);
                let width = u128::from(to.saturating_sub(*from).0);
                Span(from.0 + ((width * class + steps / 2) / steps) as u64)
            }
            Self::Listed(times) => times[(index % times.len() as u64) as usize],
        }
    }
}

impl FlowGroup {
    /// Returns the name of flow `index` of the group.
    pub(crate) fn flow_name(&self, index: u64) -> String {
        if self.count == 1 {
            self.name.clone()
        } else {
            format!("{}.{index}", self.name)
        }
    }

    /// Returns the time at which the flows stop, if that is before the end of the run.
    pub(crate) fn stop_within(&self, duration: Span) -> Option<Span> {
        self.stop.filter(|stop| *stop < duration)
    }

    /// Returns the largest random delay of each start.
    pub(crate) fn jitter(&self) -> Span {
        self.start_jitter.unwrap_or_default()
    }

    /// Returns the largest default jitter, a tenth of the run after the start.
    pub(crate) fn most_usual_jitter(&self, duration: Span) -> Span {
        let last_start = self.start + self.start_interval * (self.count - 1);
        duration.saturating_sub(last_start) / 10
    }

    /// Returns the default jitter of flows that would otherwise all start at once. Synchronised
    /// equal flows are an artefact: they lose together, and their packets meet at every hop.
    fn usual_jitter(&self, duration: Span) -> Span {
        let phase = crate::flow::workload::period(&self.workload);
        let jitter = phase.unwrap_or(USUAL_JITTER);
        jitter.min(self.most_usual_jitter(duration))
    }

    /// Returns an upper bound on the frame bytes of the group that wait in the network at once.
    pub(crate) fn most_waiting(&self, duration: Span) -> u128 {
        crate::flow::workload::most_waiting(&self.workload, duration) * u128::from(self.count)
    }

    /// Returns true if these are TCP flows.
    pub(crate) fn is_tcp(&self) -> bool {
        self.workload.tcp().is_some()
    }
}

/// Reads all flows and the files that they name. Checks also that names differ and that there are
/// not too many flows.
pub(crate) fn read_flows(
    tables: &[Reader<'_>],
    common_tcp: CommonTcp<'_>,
    topology: &Topology,
    files: Library<'_>,
    (duration, most_flows): (Span, u64),
) -> Checked<Vec<FlowGroup>> {
    let mut groups: Vec<FlowGroup> = Vec::with_capacity(tables.len());
    let mut names = BTreeSet::new();
    let mut paths = PathReader::new(topology, most_flows);
    let around = Around { files, topology };
    for (index, table) in tables.iter().enumerate() {
        let mut group = read_flow(table, index, common_tcp, &mut paths, &around)?;
        if !names.insert(group.name.clone()) {
            let message = format!("two flows are called \"{}\"", group.name);
            return Err(table.problem("name", message, "give each flow its own name"));
        }
        check_start(table, &group, duration)?;
        let together = group.start_jitter.is_none() && table.get("start_interval").is_none();
        if group.count > 1 && together {
            group.start_jitter = Some(group.usual_jitter(duration));
        }
        check_stop(table, &group)?;
        groups.push(group);
    }
    Ok(groups)
}

fn read_flow(
    table: &Reader<'_>,
    index: usize,
    common_tcp: CommonTcp<'_>,
    paths: &mut PathReader<'_>,
    around: &Around<'_>,
) -> Checked<FlowGroup> {
    let name = table
        .name("name")?
        .unwrap_or_else(|| format!("flow{index}"));
    if name.contains('.') {
        let help = "use \"-\" or \"_\"; \"name.0\" is flow 0 of a group";
        return Err(table.problem("name", "a flow's name has no dots", help));
    }
    let ends = paths.ends(table)?;
    let (count, rtt) = read_count(table, &ends)?;
    let paths_of_flows = paths.paths(table, ends, count)?;
    let workload = crate::flow::workload::read(table, common_tcp, around, paths_of_flows.at(0))?;
    let needs_access = |key: &str| {
        let help = "add access = { rate = \"1Gbps\" } to [topology]: a host's own links are there";
        table.problem(key, format!("\"{key}\" needs access links"), help)
    };
    let host = table.name("host")?;
    match (paths.access(), &rtt, &host) {
        (None, Some(_), _) => return Err(needs_access("rtt")),
        (None, _, Some(_)) => return Err(needs_access("host")),
        _ => {}
    }
    let assumes_hosts = workload.tcp().is_some()
        && crate::flow::tcp::is_assumed(common_tcp, table.table("tcp")?.as_ref())?;
    Ok(FlowGroup {
        name,
        count,
        start: table.span("start")?.unwrap_or_default(),
        start_interval: table.span("start_interval")?.unwrap_or_default(),
        start_jitter: table.span("start_jitter")?,
        stop: read_stop(table, &workload)?,
        rtt,
        peak_windows: read_peak_windows(table, &workload)?,
        peak_spread: read_peak_spread(table)?,
        host,
        paths: paths_of_flows,
        dscp: read_dscp(table)?,
        interface: read_interface(table, around.files)?,
        workload,
        assumes_hosts,
        programs: read_programs(table)?,
    })
}

/// Checks that every flow of the group starts before the run ends, because its results would be
/// empty otherwise.
fn check_start(table: &Reader<'_>, group: &FlowGroup, duration: Span) -> Checked<()> {
    let last = group.start_interval.0.checked_mul(group.count - 1);
    let last = last
        .and_then(|span| span.checked_add(group.start.0))
        .and_then(|span| span.checked_add(group.jitter().0));
    if last.is_some_and(|last| last < duration.0) {
        return Ok(());
    }
    let key = if group.start < duration && group.count > 1 {
        "start_interval"
    } else {
        "start"
    };
    let key = if group.jitter() >= duration {
        "start_jitter"
    } else {
        key
    };
    let message = "the last of these flows may start only after the end of the run";
    Err(table.problem(
        key,
        message,
        "let it start earlier, or lengthen \"duration\"",
    ))
}

/// Reads the time at which applications stop; only for bulk flows without end and for datagrams.
fn read_stop(table: &Reader<'_>, workload: &WorkloadConfig) -> Checked<Option<Span>> {
    let Some(field) = table.get("stop") else {
        return Ok(None);
    };
    let may_stop = match workload {
        WorkloadConfig::Source(source) => source.may_stop(),
        other => matches!(other.as_bulk(), Some((_, None))),
    };
    if !may_stop {
        let message = "\"stop\" belongs to bulk flows without end, and to datagrams";
        let help = "leave it out, or use workload = { kind = \"bulk\" } without a size";
        return Err(field.problem(message, help));
    }
    if table.get("peak_window").is_some() {
        let help = "leave out one of the two";
        return Err(field.problem("\"stop\" of flows that begin between two losses", help));
    }
    field.span().map(Some)
}

/// Checks that every flow of the group starts before it stops.
fn check_stop(table: &Reader<'_>, group: &FlowGroup) -> Checked<()> {
    let last = group.start + group.start_interval * (group.count - 1) + group.jitter();
    if group.stop.is_none_or(|stop| last < stop) {
        return Ok(());
    }
    let message = "the last of these flows may start only after it stops";
    Err(table.problem("stop", message, "let it stop later, or start earlier"))
}

/// Reads the windows at the flows' last losses; only for controls that keep a share of their
/// window.
fn read_peak_windows(table: &Reader<'_>, workload: &WorkloadConfig) -> Checked<Vec<u32>> {
    let Some(field) = table.get("peak_window") else {
        return Ok(Vec::new());
    };
    let Some((tcp, _)) = workload.as_bulk() else {
        let help = "leave it out, or use workload = { kind = \"bulk\" }";
        return Err(field.problem("\"peak_window\" belongs to bulk flows", help));
    };
    if !matches!(
        tcp.congestion_control,
        CongestionControlConfig::Reno
            | CongestionControlConfig::Gaimd(_)
            | CongestionControlConfig::Cubic(_)
            | CongestionControlConfig::Scalable(_)
    ) {
        let message = "this congestion control keeps no share of its window at a loss";
        let help = "leave it out, or use reno, gaimd, cubic or scalable";
        return Err(field.problem(message, help));
    }
    if !field.is_list() {
        return Ok(vec![field.packets()? as u32]);
    }
    let items = field.items()?;
    if items.is_empty() {
        let help = "write at least one window, or leave \"peak_window\" out";
        return Err(field.problem("a list without windows", help));
    }
    items
        .iter()
        .map(|item| item.packets().map(|window| window as u32))
        .collect()
}

fn read_peak_spread(table: &Reader<'_>) -> Checked<f64> {
    let Some(field) = table.get("peak_spread") else {
        return Ok(0.0);
    };
    if table.get("peak_window").is_none() {
        let help = "write a \"peak_window\", or leave it out";
        return Err(field.problem("\"peak_spread\" without a window to spread", help));
    }
    field.fraction()
}

fn read_programs(table: &Reader<'_>) -> Checked<Programs> {
    let programs = Programs {
        client: read_command(table, "command")?,
        server: read_command(table, "server_command")?,
    };
    if programs.client.is_empty() && !programs.server.is_empty() {
        let message = "a server's program without one for the client";
        let help = "add command = [\"program\", \"argument\"], at whose end the emulation ends";
        return Err(table.problem("server_command", message, help));
    }
    Ok(programs)
}

/// Reads a program and its arguments, none if the key is missing.
fn read_command(table: &Reader<'_>, key: &str) -> Checked<Vec<String>> {
    let Some(field) = table.get(key) else {
        return Ok(Vec::new());
    };
    let words = field.items()?;
    let words: Vec<String> = words.iter().map(Field::text).collect::<Checked<_>>()?;
    let is_bad = |word: &String| word.contains('\0');
    if words.first().is_none_or(String::is_empty) || words.iter().any(is_bad) {
        let help = "write the program and its arguments, as in [\"iperf3\", \"-s\"]";
        return Err(field.problem("a command without a program", help));
    }
    Ok(words)
}

/// Reads the interface of the hosts. One that passes every packet at once is none.
fn read_interface(table: &Reader<'_>, files: Library<'_>) -> Checked<Option<Arc<InterfaceConfig>>> {
    let Some(field) = table.get("interface") else {
        return Ok(None);
    };
    let given = Laws(files).given(&field.table()?, "")?;
    let mut config = InterfaceConfig::default();
    config.apply(&given);
    Ok((config != InterfaceConfig::default()).then(|| Arc::new(config)))
}

fn read_dscp(table: &Reader<'_>) -> Checked<u8> {
    let Some(field) = table.get("dscp") else {
        return Ok(0);
    };
    if field.as_text().is_none() {
        return Ok(field.integer()? as u8);
    }
    Ok(code_point(field.choice()?))
}

/// Returns the code point: RFC 2474 (cs), RFC 2597 (af), RFC 3246 (ef), RFC 5865 (va), RFC 8622
/// (le).
fn code_point(name: &str) -> u8 {
    let digit = |at: usize| name.as_bytes()[at] - b'0';
    match name {
        "ef" => 46,
        "va" => 44,
        "le" => 1,
        _ if name.starts_with("cs") => 8 * digit(2),
        _ => 8 * digit(2) + 2 * digit(3),
    }
}

/// Returns the number of flows, by default one per entry of the longest list, and their `rtt`.
fn read_count(table: &Reader<'_>, ends: &Ends) -> Checked<(u64, Option<RoundTrips>)> {
    let rtt = table.get("rtt");
    let times = match rtt.as_ref().filter(|field| field.is_list()) {
        Some(field) => Some(read_times(field)?),
        None => None,
    };
    let listed = times.as_ref().map_or(1, Vec::len) as u64;
    let usual = ends.longest().max(listed);
    let count = table.integer("count")?.unwrap_or(usual);
    let rtt = match (rtt, times) {
        (_, Some(times)) => Some(RoundTrips::Listed(times)),
        (Some(field), None) => Some(read_spread(&field, count)?),
        (None, None) => None,
    };
    Ok((count, rtt))
}

fn read_times(field: &Field<'_>) -> Checked<Vec<Span>> {
    let items = field.items()?;
    if items.is_empty() {
        let help = "write at least one time, or leave \"rtt\" out";
        return Err(field.problem("a list without times", help));
    }
    items.iter().map(Field::span).collect()
}

fn read_spread(field: &Field<'_>, count: u64) -> Checked<RoundTrips> {
    if !field.is_table() {
        let rtt = field.span()?;
        return Ok(RoundTrips::Spread {
            from: rtt,
            to: rtt,
            classes: 1,
        });
    }
    let table = field.table()?;
    let from = table.require("from")?.span()?;
    let to = table.require("to")?.span()?;
    if from > to {
        return Err(table.problem("to", "\"to\" is shorter than \"from\"", "swap the two"));
    }
    let classes = table.integer("classes")?.unwrap_or(count);
    if classes == 1 && from != to {
        let help = "write more classes, or one time, as in rtt = \"40ms\"";
        return Err(table.problem(
            "classes",
            "one class cannot have two round-trip times",
            help,
        ));
    }
    Ok(RoundTrips::Spread { from, to, classes })
}
