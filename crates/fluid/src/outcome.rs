//! Results of a run: the figures of the packet engine's outcome.

use goodqueue_types::Histogram;

/// Results of one run, all of its measured part.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidOutcome {
    /// Seconds measured.
    pub measured_s: f64,
    /// Share of the time the link was busy.
    pub utilization: f64,
    /// Packets that arrived at the queue.
    pub arrivals: f64,
    /// Packets that the link sent.
    pub departures: f64,
    /// Packets that were lost.
    pub drops: f64,
    /// Drops over arrivals; 0 without arrivals.
    pub loss_rate: f64,
    /// Waiting times in nanoseconds, weighted by packets.
    pub queueing_delay_ns: Histogram,
    /// Loss events: windows reduced, over all flows.
    pub loss_events: u64,
    /// Overflows: losses with less than a mean round-trip time between one and the next.
    pub loss_bursts: u64,
    /// The flows that lost packets, on average over bursts.
    pub mean_flows_hit: f64,
    /// Flows, group after group.
    pub flows: Vec<FluidFlow>,
    /// Cost of the run.
    pub cost: Cost,
}

/// Results of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FluidFlow {
    /// Packets delivered, each once, per second.
    pub goodput_packets_per_s: f64,
    /// Number of reductions of the window.
    pub loss_events: u32,
}

/// Cost of a run, in the engine's own units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Slots of time that were stepped through.
    pub slots: u64,
    /// Updates of one flow's window.
    pub updates: u64,
    /// Bytes that flows, pipes and queue took.
    pub bytes: u64,
}

impl FluidOutcome {
    /// Mean queueing delay in seconds; 0 without a departure.
    pub fn mean_delay_s(&self) -> f64 {
        self.queueing_delay_ns.mean().unwrap_or(0.0) * 1e-9
    }

    /// A quantile of the queueing delay in seconds; 0 without a departure.
    pub fn delay_quantile_s(&self, q: f64) -> f64 {
        self.queueing_delay_ns.quantile(q).unwrap_or(0) as f64 * 1e-9
    }

    /// Jain's index of the flows' goodputs, from 1/n to 1; none without goodput.
    pub fn jain(&self) -> Option<f64> {
        let rates = || self.flows.iter().map(|flow| flow.goodput_packets_per_s);
        let sum: f64 = rates().sum();
        let squares: f64 = rates().map(|rate| rate * rate).sum();
        (squares > 0.0).then(|| (sum * sum / (self.flows.len() as f64 * squares)).min(1.0))
    }
}
