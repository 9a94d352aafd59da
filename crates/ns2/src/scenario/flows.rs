//! Flows, and groups of equal ones.

use super::datagrams;
use super::tcp::{HEADER, Switches, mss, switches};
use super::units::{list, span, table};
use crate::error::{ImportError, refuse};
use crate::network::{Model, Traffic, Work, picoseconds, single};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Equal flows, which start one after the other at equal distances.
#[derive(Debug)]
pub struct Group<'a> {
    pub name: String,
    pub flows: Vec<&'a Traffic>,
    workload: String,
    tcp: Switches,
}

/// The flows of a model.
#[derive(Debug)]
pub struct Flows<'a> {
    pub groups: Vec<Group<'a>>,
    /// Bytes that each frame has beside its IP packet, on every link.
    pub framing: u64,
    /// Switches that all flows have.
    common: Switches,
}

/// Bytes by which the acknowledgements exceed 40 in all flows.
fn framing(model: &Model) -> Result<u64, ImportError> {
    let mut sizes = Vec::new();
    for flow in &model.flows {
        if !matches!(flow.work, Work::Traffic(_)) {
            sizes.push(flow.sink.count("packetSize_", 0)?);
        }
    }
    sizes.dedup();
    match sizes[..] {
        [size @ HEADER..=1064] => Ok(size - HEADER),
        [] => Ok(0),
        _ => {
            let message =
                "the acknowledgements of the flows have different sizes, or less than 40 bytes";
            Err(refuse(
                0,
                message,
                "leave packetSize_ of Agent/TCPSink at 40",
            ))
        }
    }
}

impl<'a> Flows<'a> {
    /// Groups the flows of a model. Flows of a group have the same ends if they need a `route`.
    pub fn new(
        model: &'a Model,
        routes: bool,
        notes: &mut Vec<String>,
    ) -> Result<Self, ImportError> {
        let framing = framing(model)?;
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut names = HashMap::new();
        for flow in &model.flows {
            let tcp = match flow.work {
                Work::Traffic(_) => Switches::new(),
                _ => switches(flow, framing, notes)?,
            };
            let workload = workload(flow, framing, notes)?;
            let fits = |group: &&mut Group<'_>| {
                let first = group.flows[0];
                let ends = !routes || (first.from, first.to) == (flow.from, flow.to);
                ends && group.tcp == tcp && group.workload == workload && group.takes(flow)
            };
            match groups.last_mut().filter(fits) {
                Some(group) => group.flows.push(flow),
                None => groups.push(Group {
                    name: single(&flow.name, "flow", &mut names),
                    flows: vec![flow],
                    workload,
                    tcp,
                }),
            }
        }
        let mut with_tcp = groups.iter().filter(|group| group.is_tcp());
        let mut common = with_tcp
            .next()
            .map_or_else(Switches::new, |group| group.tcp.clone());
        for group in with_tcp {
            common.retain(|switch| group.tcp.contains(switch));
        }
        Ok(Self {
            groups,
            framing,
            common,
        })
    }

    /// Writes the table `[tcp]` and the flows. `places` writes where a group begins and ends.
    pub fn write(&self, toml: &mut String, places: impl Fn(&Group<'_>) -> String) {
        if self.groups.iter().any(Group::is_tcp) {
            toml.push_str("\n[tcp]\nprofile = \"ns2\"\n");
            for (key, value) in &self.common {
                let _ = writeln!(toml, "{key} = {value}");
            }
        }
        for group in &self.groups {
            let _ = writeln!(toml, "\n[[flow]]\nname = \"{}\"", group.name);
            toml.push_str(&places(group));
            group.write_times(toml);
            let _ = writeln!(toml, "workload = {}", group.workload);
            let own = group
                .tcp
                .iter()
                .filter(|switch| !self.common.contains(switch));
            let own: Switches = own.cloned().collect();
            if !own.is_empty() {
                let _ = writeln!(toml, "tcp = {}", table(&own));
            }
        }
    }
}

impl Group<'_> {
    fn is_tcp(&self) -> bool {
        !matches!(self.flows[0].work, Work::Traffic(_))
    }

    /// Time between the starts of two flows, in seconds.
    fn interval(&self) -> f64 {
        match self.flows[..] {
            [first, second, ..] => second.start - first.start,
            _ => 0.0,
        }
    }

    /// True if a flow continues the group.
    fn takes(&self, flow: &Traffic) -> bool {
        let first = self.flows[0];
        let next = if self.flows.len() == 1 {
            // The first interval is free.
            flow.start >= first.start
        } else {
            let expected = first.start + self.interval() * self.flows.len() as f64;
            (flow.start - expected).abs() < 1e-9
        };
        next && first.name == flow.name
            && (flow.jitter - first.jitter).abs() < 1e-12
            && flow.stop == first.stop
    }

    fn write_times(&self, toml: &mut String) {
        let first = self.flows[0];
        let mut line = |key: &str, seconds: f64| {
            let _ = writeln!(toml, "{key} = {}", span(seconds));
        };
        if first.start > 0.0 {
            line("start", first.start);
        }
        let many = self.flows.len() > 1;
        if many && picoseconds(self.interval()) > 0 {
            line("start_interval", self.interval());
        }
        if many || first.jitter > 0.0 {
            line("start_jitter", first.jitter);
        }
        if let (Some(stop), Work::Endless | Work::Traffic(_)) = (first.stop, &first.work) {
            line("stop", stop);
        }
    }
}

fn workload(flow: &Traffic, framing: u64, notes: &mut Vec<String>) -> Result<String, ImportError> {
    if flow.stop.is_some() && matches!(flow.work, Work::Segments(_) | Work::Bytes(_)) {
        notes.push(
            "a transfer of a given size is stopped in ns-2; here it sends all its data".to_owned(),
        );
    }
    let bulk = |bytes: Option<u64>| match bytes {
        None => "{ kind = \"bulk\" }".to_owned(),
        Some(bytes) => format!("{{ kind = \"bulk\", size = \"{bytes}B\" }}"),
    };
    match &flow.work {
        Work::Endless => Ok(bulk(None)),
        Work::Segments(count) => Ok(bulk(Some(count.saturating_mul(mss(flow, framing)?)))),
        // Every packet of ns-2 is a full segment.
        Work::Bytes(bytes) => {
            let mss = mss(flow, framing)?;
            Ok(bulk(Some(bytes.div_ceil(mss).saturating_mul(mss))))
        }
        Work::Traffic(settings) => datagrams::workload(flow, settings, framing, notes),
    }
}

/// Returns a value for each flow of a group: one if all are equal, else a list.
pub fn each(values: Vec<String>) -> String {
    if values.iter().all(|value| *value == values[0]) {
        values.into_iter().next().unwrap_or_default()
    } else {
        list(values)
    }
}
