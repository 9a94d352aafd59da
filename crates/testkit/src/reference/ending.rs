//! The end of a run of the reference engine: results and totals.

use super::plain_pause::in_cycles;
use super::{Reference, What};
use goodqueue_queue::QueueDiscipline;
use goodqueue_sim::{LinkOutcome, Outcome, Series, Totals, add_fairness, flow_outcome};

impl Reference<'_> {
    pub(super) fn finish(mut self) -> Outcome {
        for agent in 0..self.agents.len() {
            self.observe_agent(agent, self.window.to, None);
        }
        let window = self.window;
        let pauses: Vec<_> = self.links.iter().map(|link| link.pause.as_ref()).collect();
        let in_cycle = in_cycles(&pauses, window.to);
        let pauses: Vec<_> = (pauses.iter().zip(in_cycle))
            .map(|(pause, in_cycle)| Some(pause.as_ref()?.outcome(window, in_cycle)))
            .collect();
        let totals = self.totals();
        totals.check().unwrap_or_else(|message| panic!("{message}"));
        let ends = self.agents.chunks_exact(2);
        let ends = ends.map(|ends| (&ends[0], &ends[1]));
        let mut outcome = Outcome {
            measured_s: self.window.seconds(),
            links: self
                .links
                .iter_mut()
                .zip(pauses)
                .filter_map(|(link, pause)| {
                    let mut meter = link.meter.take()?;
                    for time in link.reorderings(self.window.to) {
                        meter.reordering(time);
                    }
                    if let Some(varying) = &link.varying {
                        meter.set_utilization(varying.utilization(self.window));
                    }
                    if let Some(autorate) = &link.autorate {
                        meter.set_autorate(autorate.finish());
                    }
                    let outcome = meter.finish(&link.config.name);
                    Some(LinkOutcome { pause, ..outcome })
                })
                .collect(),
            flows: ends
                .clone()
                .map(|(client, server)| flow_outcome(self.network, client, server, &self.signals))
                .collect(),
            pools: std::mem::take(&mut self.shared)
                .into_iter()
                .zip(&self.network.pools)
                .map(|(buffer, config)| buffer.finish(config))
                .collect(),
            totals,
            series: Series::default(),
            packets: Vec::new(),
        };
        add_fairness(&mut outcome, self.network, ends);
        (outcome.series, outcome.packets) = self.recorder.finish();
        outcome
    }

    /// Computes the totals. Every packet is in one place, and each place is counted separately.
    fn totals(&self) -> Totals {
        let propagating = self
            .events
            .iter()
            .filter(|event| matches!(event.0.what, What::Delivery(_) | What::Arrival(..)));
        let in_service = self.links.iter().filter(|link| link.in_service.is_some());
        Totals {
            sent: self.agents.iter().map(|agent| agent.totals().0).sum(),
            duplicated: self.links.iter().map(|link| link.duplicated).sum(),
            split: self.links.iter().map(|link| link.split).sum(),
            delivered: self.delivered,
            delivered_forward: self
                .agents
                .iter()
                .skip(1)
                .step_by(2)
                .map(|s| s.totals().1)
                .sum(),
            dropped: self.links.iter().map(|link| link.drops).sum(),
            queued: self
                .links
                .iter()
                .map(|link| link.queue.backlog().packets)
                .sum(),
            in_flight: propagating.count() as u64 + in_service.count() as u64,
            events: self.handled,
        }
    }
}
