//! A scenario as the hybrid engine runs it, and what it yields as summary and metrics.

mod convert;
mod report;

use crate::scenario::Scenario;
use crate::topology::link_of;
use goodqueue_fluid::{Extent, FluidLink, FluidOutcome, range, simulate};
use goodqueue_types::{Framing, LinkId, Span};

/// Version of what the hybrid engine yields: whoever changes its figures adds one.
pub const HYBRID_VERSION: u32 = 2;

/// A scenario that the hybrid engine can run.
#[derive(Clone, Debug)]
pub struct Hybrid {
    scenario: Scenario,
    /// The only link at which packets wait.
    at: LinkId,
    link: FluidLink,
    /// A full IP packet.
    packet_bytes: u64,
}

impl Scenario {
    /// The scenario for the hybrid engine.
    ///
    /// # Errors
    /// What the scenario has and the engine has not, in words.
    pub fn hybrid(&self) -> Result<Hybrid, String> {
        let (at, link) = convert::convert(self)?;
        let packet_bytes = self.layout.traffic.largest_frame(at, Framing::default());
        Ok(Hybrid {
            packet_bytes,
            scenario: self.clone(),
            at,
            link,
        })
    }
}

impl Hybrid {
    /// The same with another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Self {
            scenario: self.scenario.with_seed(seed),
            ..self.clone()
        }
    }

    /// The name of the link with the queue.
    pub fn link_name(&self) -> String {
        let (trunk, backward) = link_of(self.at);
        crate::network::trunk_link(&self.scenario, trunk, backward).name
    }

    /// Checks whether the engine was shown to agree with the packet engine on links like this.
    ///
    /// # Errors
    /// Why it was not, in words.
    pub fn check_range(&self) -> Result<(), String> {
        range(&self.link).map_err(|why| why.to_string())
    }

    /// Runs it while `go_on` says so; `None` if it was stopped.
    pub fn run(&self, go_on: &mut dyn FnMut() -> bool) -> Option<FluidOutcome> {
        self.run_share(1.0, go_on)
    }

    /// Runs a share of its duration, from 0 to 1, to see what that costs; the figures are those of a
    /// run with a warm-up that is shorter by as much.
    pub fn run_share(&self, share: f64, go_on: &mut dyn FnMut() -> bool) -> Option<FluidOutcome> {
        let part = |span: Span| Span((span.0 as f64 * share) as u64);
        let extent = Extent {
            seed: self.scenario.seed,
            warmup: part(self.scenario.warmup),
            duration: part(self.scenario.duration),
        };
        simulate(&self.link, &extent, go_on).ok()
    }
}
