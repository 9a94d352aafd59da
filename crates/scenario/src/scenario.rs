//! A scenario. A parsed scenario is valid.

use crate::flow::tcp::{CommonTcp, usual_profile};
use crate::flow::{FlowGroup, python, read_flows};
use crate::language::bounds::ReadBounds;
use crate::language::document::Document;
use crate::language::error::{Checked, ScenarioError, nearest, shorten};
use crate::language::file::{Files, Library};
use crate::language::python::Checksums;
use crate::language::reader::Reader;
use crate::language::spec::{RECORD, SCENARIO};
use crate::language::units::{StatedLimit, UnitError, parse_fraction, resolve_limit};
use crate::network::layout::{Layout, Misplaced};
use crate::network::memory::MemoryPart;
use crate::network::topology::{LinkDirection, ReadQueues, Sketch, Topology, link_of};
use crate::output::buffers::BufferEcho;
use goodqueue_queue::{Configuration, Limit, QueueConfig};
use goodqueue_sim::{Network, Record};
use goodqueue_tcp::Profile;
use goodqueue_types::{LinkId, Span};
use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Version of the results' keys, and of resolved scenarios, which name every key.
pub const SCHEMA_VERSION: u64 = 1;

/// A valid scenario. Clones are cheap, because flows are stored as groups.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) duration: Span,
    pub(crate) warmup: Span,
    pub(crate) seed: u64,
    pub(crate) topology: Topology,
    pub(crate) flows: Arc<Vec<FlowGroup>>,
    pub(crate) layout: Arc<Layout>,
    pub(crate) record: Record,
    pub(crate) record_access: bool,
    /// True if the summary has an entry for each flow of any group.
    pub(crate) record_flows: bool,
    /// Profile of TCP flows that name none.
    pub(crate) usual_profile: Profile,
}

impl Scenario {
    /// Reads a scenario. `file` is its name in messages, and files that it names are searched in
    /// the same folder. Each override is a path of keys and a value
    /// (`topology.bottleneck.queue.limit`, `30p`). Overrides are applied before the file is
    /// checked.
    ///
    /// # Errors
    /// Returns the first mistake, with its place and what to write instead.
    pub fn parse(
        text: &[u8],
        file: &str,
        overrides: &[(String, String)],
    ) -> Result<Self, ScenarioError> {
        let bounds = ReadBounds::default();
        Self::parse_with(text, file, overrides, Files::beside(file), bounds)
    }

    /// Reads a scenario as [`Scenario::parse`] does, with the files that it names from this place, and
    /// within these bounds.
    ///
    /// # Errors
    /// Returns the first mistake, with its place and what to write instead.
    pub fn parse_with(
        text: &[u8],
        file: &str,
        overrides: &[(String, String)],
        files: Files<'_>,
        bounds: ReadBounds,
    ) -> Result<Self, ScenarioError> {
        let document = Document::read(text, file, overrides)?;
        read_scenario(&document, files, bounds, None).map_err(|problem| document.locate(problem))
    }

    /// Reads a scenario as [`Scenario::parse`] does, which may name controls and queues in Python.
    /// `checksum` returns the checksum of the source of a class, or the reason why there is none.
    ///
    /// # Errors
    /// Returns the first mistake, with its place and what to write instead.
    pub fn parse_with_python(
        text: &[u8],
        file: &str,
        overrides: &[(String, String)],
        checksum: &Checksums<'_>,
    ) -> Result<Self, ScenarioError> {
        let document = Document::read(text, file, overrides)?;
        let bounds = ReadBounds::default();
        read_scenario(&document, Files::beside(file), bounds, Some(checksum))
            .map_err(|problem| document.locate(problem))
    }

    /// Reads a scenario from a file.
    ///
    /// # Errors
    /// Returns the first mistake, which may be that there is no such file.
    pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        let text = read_file(path).map_err(|error| ScenarioError {
            file: name.clone(),
            line: None,
            column: None,
            key: String::new(),
            message: format!("cannot read the file: {error}"),
            help: "give the path of a scenario file, as in scenarios/bufferbloat.toml".to_owned(),
        })?;
        Self::parse(&text, &name, overrides)
    }

    /// Returns one line that describes the scenario.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the longer description.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the length of a run.
    pub fn duration(&self) -> Span {
        self.duration
    }

    /// Returns the time at which measurements begin.
    pub fn warmup(&self) -> Span {
        self.warmup
    }

    /// Returns the seed of all random streams of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the names of the links in results, both directions of each. The first is the
    /// bottleneck of a dumbbell.
    pub fn link_names(&self) -> Vec<String> {
        self.topology.names().collect()
    }

    /// Returns the number of flows.
    pub fn flow_count(&self) -> usize {
        self.layout.flows.len()
    }

    /// Returns the names of all flows, in network order.
    pub fn flow_names(&self) -> Vec<String> {
        let name = |flow: &crate::network::layout::PlacedFlow| {
            self.flows[flow.group()].flow_name(flow.index())
        };
        self.layout.flows.iter().map(name).collect()
    }

    /// Returns the same scenario with another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Self {
            seed,
            ..self.clone()
        }
    }

    /// Returns the same scenario with this jitter for flows without `start_jitter`, so that
    /// replicates differ. It is limited to a tenth of the run after their start.
    #[must_use]
    pub fn with_default_jitter(&self, jitter: Span) -> Self {
        let mut flows = Vec::clone(&self.flows);
        for group in &mut flows {
            let most = group.most_usual_jitter(self.duration);
            group.start_jitter.get_or_insert(jitter.min(most));
        }
        Self {
            flows: Arc::new(flows),
            ..self.clone()
        }
    }

    /// Returns the same scenario with other records.
    #[must_use]
    pub fn with_record(&self, record: Record) -> Self {
        Self {
            record,
            ..self.clone()
        }
    }

    /// Returns the same scenario with another limit of one link's queue (`bottleneck`,
    /// `bottleneck.reverse`).
    ///
    /// # Errors
    /// Fails if there is no such link, or it has no queue.
    pub fn with_limit(&self, link: &str, limit: Limit) -> Result<Self, UnitError> {
        self.with_queue(link, |queue| queue.set_limit(limit))
    }

    /// Returns the same scenario with a change of one link's queue.
    ///
    /// # Errors
    /// Fails if there is no such link, or it has no queue.
    pub(crate) fn with_queue(
        &self,
        link: &str,
        change: impl FnOnce(&mut QueueConfig),
    ) -> Result<Self, UnitError> {
        self.check_queue(link)?;
        let (index, backward) = link_of(self.find_link(link)?);
        let mut changed = self.clone();
        let duplex = &mut changed.topology.trunk[index];
        change(if backward {
            &mut duplex.reverse.queue
        } else {
            &mut duplex.forward.queue
        });
        Ok(changed)
    }

    /// Returns the profile of the TCP flows that name none, and the names of their groups; `None` if
    /// each of them names a profile, or every key.
    pub fn assumed_hosts(&self) -> Option<(Profile, Vec<&str>)> {
        let groups = self.flows.iter().filter(|group| group.assumes_hosts);
        let names: Vec<&str> = groups.map(|group| group.name.as_str()).collect();
        (!names.is_empty()).then_some((self.usual_profile, names))
    }

    /// Returns the limit of one link's queue.
    ///
    /// # Errors
    /// Fails if there is no such link.
    pub fn limit(&self, link: &str) -> Result<Limit, UnitError> {
        Ok(self.direction(link)?.queue.limit())
    }

    /// Resolves a limit for one link: times and BDPs become bytes, as in the file.
    ///
    /// # Errors
    /// Fails if there is no such link, or it has no queue, or no base round-trip time for a BDP.
    pub fn resolve_limit(&self, link: &str, stated: StatedLimit) -> Result<Limit, UnitError> {
        self.check_queue(link)?;
        let at = self.find_link(link)?;
        let direction = self.topology.direction(at);
        resolve_limit(
            stated,
            direction.queue.drain_rate(direction.rate),
            self.layout.traffic.mean_base_rtt_on(at),
        )
    }

    /// Checks that a link has a queue.
    ///
    /// # Errors
    /// Fails if there is no such link, or if its rate is unlimited, so that nothing waits there.
    pub fn check_queue(&self, link: &str) -> Result<(), UnitError> {
        if !self.direction(link)?.only_delays() {
            return Ok(());
        }
        Err(UnitError {
            message: format!("link \"{link}\" has no queue: its rate is unlimited"),
            help: "name a link with a rate, or give this one a rate".to_owned(),
        })
    }

    fn direction(&self, link: &str) -> Result<&LinkDirection, UnitError> {
        let at = self.find_link(link)?;
        Ok(self.topology.direction(at))
    }

    pub(crate) fn find_link(&self, link: &str) -> Result<LinkId, UnitError> {
        self.topology.find(link).ok_or_else(|| {
            let names = self.link_names();
            let help = match nearest(link, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("the links are {}", names[..names.len().min(8)].join(", ")),
            };
            UnitError {
                message: format!("there is no link \"{}\"", shorten(link)),
                help,
            }
        })
    }

    /// Returns the records that runs of this scenario keep besides the summary.
    pub fn record(&self) -> Record {
        self.record
    }

    /// Estimates the memory of a run that keeps these records.
    pub fn memory(&self, record: Record) -> Vec<MemoryPart> {
        crate::network::memory::parts(self, record)
    }

    /// Estimates the packets that the links between routers carry in a run, or that sources hand to
    /// their hosts' links in vain. A change of a link's rate counts as a packet, an acknowledgement
    /// does not count.
    pub fn packets(&self) -> u64 {
        crate::network::memory::work(self)
    }

    /// Estimates the memory of a run by the hybrid engine.
    pub fn memory_of_hybrid(&self) -> Vec<MemoryPart> {
        crate::network::memory::parts_of_hybrid(self)
    }

    /// Returns the network of a run of this scenario.
    pub fn network(&self) -> Network {
        crate::network::build(self)
    }

    /// Returns the buffers of all reported links, in every unit.
    pub fn buffers(&self) -> Vec<BufferEcho> {
        self.link_names()
            .iter()
            .filter_map(|name| self.buffer(name).ok())
            .collect()
    }

    /// Returns the buffer of one link, in every unit.
    ///
    /// # Errors
    /// Fails if there is no such link.
    pub fn buffer(&self, link: &str) -> Result<BufferEcho, UnitError> {
        self.buffer_of(link, self.limit(link)?)
    }

    /// Returns the buffer of one link with another limit, in every unit.
    ///
    /// # Errors
    /// Fails if there is no such link.
    pub fn buffer_of(&self, link: &str, limit: Limit) -> Result<BufferEcho, UnitError> {
        crate::output::buffers::echo(self, link, limit)
    }

    /// Returns the resolved scenario without parts that do not affect its results: title,
    /// description, seed, and paths of files. Scenarios that agree in it have equal results with
    /// equal seeds.
    pub fn canonical_toml(&self) -> String {
        let mut plain = self.with_default_jitter(Span::ZERO);
        plain.title.clear();
        plain.description.clear();
        plain.seed = 0;
        plain.record = Record::default();
        plain.record_flows = false;
        crate::language::file::without_paths(&plain.resolved_toml())
    }

    /// Returns the relative cost of a run: the number of bits that its links can send. It only
    /// compares scenarios with each other.
    pub fn weight(&self) -> f64 {
        let trunk = self.topology.trunk.iter();
        let limited = trunk.filter(|link| !link.forward.only_delays());
        let rates = limited.map(|link| link.forward.rate.0 as f64);
        self.duration.as_secs_f64() * rates.sum::<f64>()
    }

    /// Returns the scenario with every default written out, limits resolved, in canonical units.
    /// The file parses to the same runs.
    pub fn resolved_toml(&self) -> String {
        crate::output::write::write(self)
    }
}

/// Reads at most one byte more than the parser accepts.
pub(crate) fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?
        .take((1 << 20) + 1)
        .read_to_end(&mut text)?;
    Ok(text)
}

pub(crate) fn read_scenario(
    document: &Document<'_>,
    files: Files<'_>,
    bounds: ReadBounds,
    checksums: Option<&Checksums<'_>>,
) -> Checked<Scenario> {
    let root = Reader::open(&document.root, &SCENARIO, String::new())?;
    let left = Cell::new(bounds.file_bytes);
    let files = Library { files, left: &left };
    let schema_version = root.require("schema_version")?.integer()?;
    let duration = root.require("duration")?.span()?;
    let warmup = read_warmup(&root, duration)?;
    let topology_field = root.require("topology")?;
    let (shape, topology_table) = Reader::tagged(&topology_field)?;
    let sketch = Sketch::read(shape, &topology_table)?;
    let mut topology = Topology::read(&topology_table, &sketch, files, duration)?;
    let tcp = root.table("tcp")?;
    let common_tcp = CommonTcp {
        table: tcp.as_ref(),
        usual: usual_profile(schema_version),
    };
    // The table `[tcp]` is checked even if no flow uses it.
    crate::flow::tcp::read(common_tcp, None)?;
    let flow_field = root.require("flow")?;
    let tables = flow_field.tables()?;
    if tables.is_empty() {
        return Err(flow_field.problem("there is no flow", "add a [[flow]]"));
    }
    let mut flows = read_flows(
        &tables,
        common_tcp,
        &topology,
        files,
        (duration, bounds.flows),
    )?;
    python::check(&mut flows, &tables, tcp.as_ref(), checksums)?;
    let layout = Layout::new(&topology, &flows).map_err(|misplaced| {
        let Misplaced {
            group,
            key,
            message,
            help,
        } = misplaced;
        tables[group].problem(key, message, help)
    })?;
    let waiting = flows.iter().map(|group| group.most_waiting(duration)).sum();
    let hosts = layout.hosts.len();
    let queues = ReadQueues {
        sketch: &sketch,
        traffic: &layout.traffic,
        hosts,
        waiting,
        flows: &flows,
        checksums,
    };
    topology.read_queues(&topology_table, &queues)?;
    let (record, record_access, record_flows) = read_record(&root)?;
    Ok(Scenario {
        title: root.text("title")?.unwrap_or_default(),
        description: root.text("description")?.unwrap_or_default(),
        duration,
        warmup,
        seed: root.integer("seed")?.unwrap_or(1),
        topology,
        flows: Arc::new(flows),
        layout: Arc::new(layout),
        record,
        record_access,
        record_flows,
        usual_profile: common_tcp.usual,
    })
}

fn read_warmup(root: &Reader<'_>, duration: Span) -> Checked<Span> {
    let Some(field) = root.get("warmup") else {
        return Ok(Span::ZERO);
    };
    let warmup = match field.as_text() {
        Some(text) if text.ends_with('%') => {
            let share =
                parse_fraction(text).map_err(|error| field.problem(error.message, error.help))?;
            Span((duration.0 as f64 * share) as u64)
        }
        _ => field.span()?,
    };
    if warmup < duration {
        return Ok(warmup);
    }
    let message = "the warm-up leaves nothing of the run to measure";
    Err(field.problem(
        message,
        "write a time below \"duration\", or a share, as in \"25%\"",
    ))
}

/// Returns the records of the engine, and if access links and all flows are reported.
fn read_record(root: &Reader<'_>) -> Checked<(Record, bool, bool)> {
    let Some(field) = root.get("record") else {
        return Ok((Record::default(), false, false));
    };
    let table = Reader::open(field.node, &RECORD, field.path.clone())?;
    let record = Record {
        series: table.flag("series")?.unwrap_or(false),
        packets: table.flag("packets")?.unwrap_or(false),
        tcp_delays: table.flag("tcp_delays")?.unwrap_or(false),
    };
    let [access, flows] = ["access", "flows"].map(|key| table.flag(key));
    Ok((record, access?.unwrap_or(false), flows?.unwrap_or(false)))
}

/// Splits `path=value`, the form of an override.
///
/// # Errors
/// Fails if there is no equals sign.
pub fn parse_override(text: &str) -> Result<(String, String), ScenarioError> {
    match text.split_once('=') {
        Some((path, value)) => Ok((path.trim().to_owned(), value.trim().to_owned())),
        None => Err(ScenarioError {
            file: format!("--set {}", shorten(text)),
            line: None,
            column: None,
            key: String::new(),
            message: "an override needs a path and a value".to_owned(),
            help: "write path=value, as in --set topology.bottleneck.queue.limit=30p".to_owned(),
        }),
    }
}
