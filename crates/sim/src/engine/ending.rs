//! The end of a run: what links, buffers and hosts have counted.

use crate::engine::core::Core;
use crate::engine::probe::Probe;
use crate::link::pause::{PauseState, cycles};
use crate::measure::link_meter::LinkMeter;
use crate::{Network, PoolOutcome, Totals};
use goodqueue_types::LinkId;

impl<P: Probe> Core<P> {
    /// Reports the state of all clients at the end to the probe.
    pub fn observe_end(&mut self) {
        if P::ACTIVE {
            for index in 0..self.hosts.len() {
                self.observe_agent(index, self.window.to, None);
            }
        }
    }

    /// Advances all links to the end of the run.
    ///
    /// # Panics
    /// Panics if a link has not conserved packets.
    pub fn finish_links(&mut self, network: &Network) {
        if self.has_flow_control {
            self.finish_pauses();
        }
        for (index, link) in self.links.iter_mut().enumerate() {
            let Some(link) = link else { continue };
            let probe = &mut self.probe;
            link.finish(self.window.to, |time, backlog| {
                if P::ACTIVE {
                    probe.backlog(LinkId(index as u32), time, backlog);
                }
            });
            let name = &network.links[index].name;
            assert!(link.conserves(), "{name}: packets not conserved");
        }
        for (config, link) in network.links.iter().zip(&self.served) {
            let conserves = link.as_ref().is_none_or(|link| link.conserves());
            assert!(conserves, "{}: packets not conserved", config.name);
        }
    }

    /// Takes the statistics out of a link, if it has any.
    pub fn take_meter(&mut self, index: usize) -> Option<LinkMeter> {
        match (&mut self.links[index], self.served.get_mut(index)) {
            (Some(link), _) => link.take_meter(),
            (None, Some(Some(served))) => served.take_meter(),
            _ => None,
        }
    }

    /// Passes the pauses of each link with flow control to its meter.
    #[cold]
    #[inline(never)]
    fn finish_pauses(&mut self) {
        let pause = |index: usize| self.served.get(index)?.as_ref()?.pause.as_deref();
        let paused = |link: &usize| pause(*link).is_some_and(PauseState::is_paused);
        let waits_for: Vec<Vec<usize>> = (0..self.served.len())
            .map(|index| {
                let waiting = pause(index).filter(|_| paused(&index));
                let waiting = waiting.into_iter().flat_map(PauseState::waiting);
                waiting.map(|link| link as usize).filter(paused).collect()
            })
            .collect();
        let in_cycle = cycles(&waits_for);
        for (link, in_cycle) in self.served.iter_mut().zip(in_cycle) {
            if let Some(link) = link {
                link.finish_pauses(in_cycle);
            }
        }
    }

    /// Takes the results out of the shared buffers.
    pub fn take_pools(&mut self, network: &Network) -> Vec<PoolOutcome> {
        let buffers = std::mem::take(&mut self.shared_buffers).into_iter();
        buffers
            .zip(&network.pools)
            .map(|(buffer, config)| buffer.finish(config))
            .collect()
    }

    /// Returns the counts of the run, each from a source of its own: agents, links, and the engine.
    pub fn totals(&self) -> Totals {
        let servers = self.hosts.iter().skip(1).step_by(2);
        let links = || self.links.iter().flatten();
        let served = || self.served.iter().flatten();
        Totals {
            sent: self.hosts.iter().map(|host| host.agent.totals().0).sum(),
            duplicated: served().map(|link| link.duplicated()).sum(),
            split: served().map(|link| link.split()).sum(),
            delivered: self.delivered,
            delivered_forward: servers.map(|host| host.agent.totals().1).sum(),
            dropped: links().map(|link| link.drops()).sum::<u64>()
                + served().map(|link| link.drops()).sum::<u64>(),
            queued: links().map(|link| link.queued()).sum::<u64>()
                + served().map(|link| link.queued()).sum::<u64>()
                + self.queued_untracked,
            in_flight: self.in_flight + served().map(|link| link.in_flight()).sum::<u64>(),
            events: 0,
        }
    }
}
