//! Congestion controls in Python, which a scenario names and only a program with leave runs.

use crate::flow::FlowGroup;
use crate::language::error::{Checked, nearest, shorten};
use crate::language::field::Field;
use crate::language::python::{Checksums, Named};
use crate::language::reader::Reader;
use crate::language::units::UnitError;
use crate::scenario::Scenario;
use goodqueue_tcp::cc::{CustomControl, PythonConfig};
use goodqueue_tcp::{CongestionControlConfig, TcpConfig};
use std::sync::Arc;

/// Checks the controls in Python of all groups and writes the checksum of each class's source into
/// its configuration. Without `checksums` no control in Python is accepted, because a scenario file
/// must not run code by itself.
pub(crate) fn check(
    groups: &mut [FlowGroup],
    tables: &[Reader<'_>],
    common: Option<&Reader<'_>>,
    checksums: Option<&Checksums<'_>>,
) -> Checked<()> {
    for (group, table) in groups.iter_mut().zip(tables) {
        let Some(named) = named(group) else { continue };
        let field = field(table, common)?.expect("a control in Python is given in the file");
        let PythonConfig { class, checksum } = named;
        let checksum = Named {
            part: "control",
            example: "controls:Aimd",
            class: &class,
            checksum: &checksum,
        }
        .check(&field, checksums)?;
        let tcp = group
            .workload
            .tcp_mut()
            .expect("it has a congestion control");
        let named = PythonConfig { class, checksum };
        Arc::make_mut(tcp).congestion_control = CongestionControlConfig::Python(named);
    }
    Ok(())
}

/// Returns the control in Python that a group names.
fn named(group: &FlowGroup) -> Option<PythonConfig> {
    match &group.workload.tcp()?.congestion_control {
        CongestionControlConfig::Python(named) => Some(named.clone()),
        _ => None,
    }
}

/// Returns the field with the control of a flow: in its own table `tcp`, or in the common one.
fn field<'a>(table: &Reader<'a>, common: Option<&Reader<'a>>) -> Checked<Option<Field<'a>>> {
    let own = table.table("tcp")?;
    let own = own.and_then(|tcp| tcp.get("congestion_control"));
    Ok(own.or_else(|| common?.get("congestion_control")))
}

impl Scenario {
    /// Returns the groups of flows whose control is a class in Python, each with the class.
    pub fn python_controls(&self) -> Vec<(String, PythonConfig)> {
        let groups = self.flows.iter();
        let named = groups.filter_map(|group| Some((group.name.clone(), named(group)?)));
        named.collect()
    }

    /// Returns the same scenario with this congestion control for all connections of a group of
    /// flows.
    ///
    /// ```
    /// use goodqueue_scenario::Scenario;
    /// use goodqueue_tcp::cc::{AckSample, CongestionControl, CongestionEvent, CustomControl};
    ///
    /// /// A window of ten segments, whatever happens.
    /// #[derive(Debug)]
    /// struct Fixed(f64);
    ///
    /// impl CongestionControl for Fixed {
    ///     fn on_ack(&mut self, _sample: &AckSample) {}
    ///     fn on_congestion_event(&mut self, _event: &CongestionEvent) {}
    ///     fn on_retransmission_timeout(&mut self, _event: Option<&CongestionEvent>) {}
    ///     fn window(&self) -> f64 {
    ///         self.0
    ///     }
    ///     fn set_window(&mut self, _bytes: f64) {}
    ///     fn ssthresh(&self) -> u64 {
    ///         u64::MAX
    ///     }
    ///     fn set_ssthresh(&mut self, _bytes: u64) {}
    /// }
    ///
    /// let text = r#"
    /// schema_version = 2
    /// duration = "10s"
    /// [topology]
    /// shape = "dumbbell"
    /// bottleneck = { rate = "10Mbps", delay = "20ms", queue = { limit = "50p" } }
    /// [[flow]]
    /// name = "upload"
    /// workload = { kind = "bulk" }
    /// "#;
    /// let scenario = Scenario::parse(text.as_bytes(), "fixed.toml", &[]).unwrap();
    /// let fixed = CustomControl::new("fixed", |config| Box::new(Fixed(10.0 * config.mss as f64)));
    /// let network = scenario.with_control("upload", &fixed).unwrap().network();
    /// let outcome = goodqueue_sim::run(&network);
    /// // Ten segments of 1460 bytes per round trip of 41 to 53 ms.
    /// assert!((2.2e6..2.9e6).contains(&outcome.flows[0].goodput_bps));
    /// ```
    ///
    /// # Errors
    /// Fails if there is no such group, or if its flows have no TCP.
    pub fn with_control(&self, group: &str, control: &CustomControl) -> Result<Self, UnitError> {
        let mut flows = Vec::clone(&self.flows);
        let Some(found) = flows.iter_mut().find(|found| found.name == group) else {
            let names: Vec<&str> = self.flows.iter().map(|group| group.name.as_str()).collect();
            let help = match nearest(group, names.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("the flows are {}", names[..names.len().min(8)].join(", ")),
            };
            return Err(UnitError {
                message: format!("there is no flow \"{}\"", shorten(group)),
                help,
            });
        };
        let Some(tcp) = found.workload.tcp_mut() else {
            return Err(UnitError {
                message: format!("the flow \"{group}\" has no congestion control"),
                help: "name a flow whose workload uses TCP".to_owned(),
            });
        };
        let changed: &mut TcpConfig = Arc::make_mut(tcp);
        changed.congestion_control = CongestionControlConfig::Custom(control.clone());
        Ok(Self {
            flows: Arc::new(flows),
            ..self.clone()
        })
    }
}
