//! `autorate` of a link: the program that sets the rate of its shaper.

use crate::flow::FlowGroup;
use crate::language::error::Checked;
use crate::language::reader::Reader;
use crate::language::spec::AUTORATE;
use crate::language::value;
use goodqueue_queue::QueueConfig;
use goodqueue_sim::{AutorateConfig, SourceConfig, WorkloadConfig};
use goodqueue_types::parameters::Parameter;

/// Reads the program from a link's table, unless it is a host's.
pub(crate) fn read(link: &Reader<'_>) -> Checked<Option<AutorateConfig>> {
    if !link.may_have("autorate") {
        return Ok(None);
    }
    let Some(autorate): Option<AutorateConfig> = value::at(link, "autorate")? else {
        return Ok(None);
    };
    let [least, first, most] = autorate.law().rates();
    if first < least || most < first {
        let message = "the base rate does not lie between the minimum and the maximum";
        let help = "write them in rising order, as in minimum = \"5Mbps\", base = \"20Mbps\", \
             maximum = \"80Mbps\"";
        return Err(link.problem("autorate", message, help));
    }
    Ok(Some(autorate))
}

/// Refuses a program without a shaper that it could set, or without pings.
pub(crate) fn check(
    link: &Reader<'_>,
    autorate: &AutorateConfig,
    queue: &QueueConfig,
    flows: &[FlowGroup],
) -> Checked<()> {
    if !matches!(queue, QueueConfig::Cake(cake) if cake.bandwidth.is_some()) {
        let message = "the queue of this link has no bandwidth that could be set";
        let help = "write queue = { kind = \"cake\", bandwidth = \"20Mbps\" }";
        return Err(link.problem("autorate", message, help));
    }
    let name = autorate.law().ping();
    let pings = flows.iter().find(|group| group.name == name);
    let is_ping = |group: &FlowGroup| {
        let ping = matches!(
            &group.workload,
            WorkloadConfig::Source(SourceConfig::Ping { .. })
        );
        ping && group.interface.is_none()
    };
    if !pings.is_some_and(is_ping) {
        let message = format!("no flow \"{name}\" sends pings at once");
        let help = "add a [[flow]] of this name with workload = { kind = \"ping\" }, without \
             delays at its hosts";
        return Err(link.problem("autorate", message, help));
    }
    Ok(())
}

/// Returns the key of a link that reads back the same.
pub(crate) fn item(autorate: &AutorateConfig) -> (&'static str, String) {
    ("autorate", value::write(&autorate.value(), AUTORATE))
}
