//! Long flows, which determine the buffer: they have no end, and their windows fill link and
//! buffer.

use crate::language::units::UnitError;
use crate::scenario::Scenario;
use goodqueue_types::Span;

/// One TCP flow without end, as rules for buffer sizes see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongFlow<'a> {
    /// Name of its group of flows.
    pub name: &'a str,
    /// Number of its group of flows in the file.
    pub group: usize,
    /// Number of flows of that group, including those that do not cross the link.
    pub group_count: u64,
    /// Base round-trip time.
    pub base_rtt: Span,
    /// Name of its congestion control.
    pub congestion_control: &'static str,
    /// True if its window grows by the bytes acknowledged (RFC 3465).
    pub byte_counting: bool,
    /// True if it spaces its packets over the round trip.
    pub paced: bool,
    /// The largest window that its receiver offers, in bytes.
    pub receive_window: u64,
}

impl Scenario {
    /// Returns the TCP flows without end whose data cross a link, in network order. A flow that stops
    /// during the run has an end.
    ///
    /// # Errors
    /// Fails if there is no such link.
    pub fn long_flows(&self, link: &str) -> Result<Vec<LongFlow<'_>>, UnitError> {
        let link = self.find_link(link)?;
        let long = self.layout.flows.iter().filter_map(|flow| {
            let group = &self.flows[flow.group()];
            let (tcp, None) = group.workload.as_bulk()? else {
                return None;
            };
            if group.stop_within(self.duration).is_some() {
                return None;
            }
            let crosses = group.paths.at(flow.index()).forward.contains(&link);
            crosses.then(|| LongFlow {
                name: &group.name,
                group: flow.group(),
                group_count: group.count,
                base_rtt: flow.base_rtt,
                congestion_control: tcp.congestion_control.word(),
                byte_counting: tcp.byte_counting,
                paced: tcp.pacing,
                receive_window: tcp.receive_window,
            })
        });
        Ok(long.collect())
    }
}
