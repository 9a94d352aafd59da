//! A scenario for the hybrid engine, and its results as summary and metrics.

mod convert;
mod report;

use crate::network::topology::link_of;
use crate::scenario::Scenario;
use goodqueue_fluid::{Extent, FluidLink, FluidOutcome, range, simulate};
use goodqueue_types::{Framing, LinkId, Span};

/// Version of the hybrid engine's results. Increase it with every change of its figures.
pub const HYBRID_VERSION: u32 = 4;

/// A scenario that the hybrid engine can run.
#[derive(Clone, Debug)]
pub struct Hybrid {
    scenario: Scenario,
    /// The only link at which packets wait.
    at: LinkId,
    link: FluidLink,
    /// Bytes of a full IP packet.
    packet_bytes: u64,
}

impl Scenario {
    /// Returns the scenario for the hybrid engine.
    ///
    /// # Errors
    /// Returns a description of the parts that the engine cannot simulate.
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
    /// Returns the same scenario with another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Self {
            scenario: self.scenario.with_seed(seed),
            ..self.clone()
        }
    }

    /// Returns the name of the link with the queue.
    pub fn link_name(&self) -> String {
        let (trunk, backward) = link_of(self.at);
        crate::network::trunk_link(&self.scenario, trunk, backward).name
    }

    /// Checks that the hybrid engine was shown to agree with the packet engine on links like this.
    ///
    /// # Errors
    /// Returns the reason why it was not.
    pub fn check_range(&self) -> Result<(), String> {
        range(&self.link).map_err(|why| why.to_string())
    }

    /// Runs the scenario while `go_on` returns true. Returns `None` if it was stopped.
    pub fn run(&self, go_on: &mut dyn FnMut() -> bool) -> Option<FluidOutcome> {
        self.run_share(1.0, go_on)
    }

    /// Runs a share of its duration, from 0 to 1, to measure the cost. The warm-up is shortened by
    /// the same share.
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
