//! Episodes in which the drop or mark probability of a queue is set from outside.

use goodqueue_queue::{Backlog, Context, CustomQueue, Fifo, Limit, QueueConfig, QueueDiscipline};
use goodqueue_scenario::{Scenario, UnitError};
use goodqueue_sim::{NoProbe, Simulation};
use goodqueue_types::{DropReason, Ecn, Packet, Span, Time};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts of a queue over an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueReport {
    /// End of the interval.
    pub to: Time,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that left for the link, and their bytes with framing.
    pub sent: u64,
    /// Bytes of these packets with framing.
    pub sent_bytes: u64,
    /// Packets that the probability dropped.
    pub dropped: u64,
    /// Packets that found the queue full.
    pub overflowed: u64,
    /// Packets that the probability marked.
    pub marked: u64,
    /// Sum of the sojourn times of the packets that left.
    pub sojourn: Span,
    /// Longest of these sojourn times.
    pub longest: Span,
    /// Packets that wait at the end.
    pub backlog: u64,
    /// Bytes that wait at the end.
    pub backlog_bytes: u64,
    /// Share of arrivals that are dropped or marked.
    pub probability: f64,
}

/// A FIFO that drops arrivals with a probability, or marks them if they are ECN-capable.
#[derive(Clone, Debug)]
struct Dropper {
    waiting: Fifo,
    limit: Limit,
    shared: Arc<Mutex<QueueReport>>,
}

impl Dropper {
    fn counts(&self) -> MutexGuard<'_, QueueReport> {
        locked(&self.shared)
    }
}

fn locked(shared: &Mutex<QueueReport>) -> MutexGuard<'_, QueueReport> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl QueueDiscipline for Dropper {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        let probability = {
            let mut counts = self.counts();
            counts.arrived += 1;
            counts.probability
        };
        let bytes = context.frame_bytes(&packet);
        let fits = self.limit.admits(self.waiting.backlog(), bytes);
        if fits && probability > 0.0 && context.random.unit() < probability {
            if !packet.ecn.is_capable() {
                self.counts().dropped += 1;
                return context.drop(packet, DropReason::Early);
            }
            packet.ecn = Ecn::Experienced;
            self.counts().marked += 1;
            let marked = goodqueue_queue::Verdict::Marked(packet, DropReason::Early);
            context.verdicts.push(marked);
        }
        match self.waiting.push(context, self.limit, packet) {
            Ok(()) => {
                let backlog = self.waiting.backlog();
                let mut counts = self.counts();
                (counts.backlog, counts.backlog_bytes) = (backlog.packets, backlog.bytes);
            }
            Err(packet) => {
                self.counts().overflowed += 1;
                context.drop(packet, DropReason::Overlimit);
            }
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let packet = self.waiting.pop(context)?;
        let bytes = context.frame_bytes(&packet);
        let (backlog, waited) = (self.waiting.backlog(), context.now - packet.arrived);
        let mut counts = self.counts();
        counts.sent += 1;
        counts.sent_bytes += bytes;
        counts.sojourn += waited;
        counts.longest = counts.longest.max(waited);
        (counts.backlog, counts.backlog_bytes) = (backlog.packets, backlog.bytes);
        drop(counts);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}

/// A run in steps of constant length, in which the probability of a link's queue is set before each
/// step.
#[derive(Debug)]
pub struct QueueEpisode {
    simulation: Simulation<'static, NoProbe>,
    shared: Arc<Mutex<QueueReport>>,
    now: Time,
    end: Time,
    step: Span,
}

impl QueueEpisode {
    /// Begins a run of the scenario in which the queue of a link drops by chance. Its limit stays.
    ///
    /// # Errors
    /// Fails if there is no such link, or if it has no queue.
    pub fn new(scenario: &Scenario, link: &str, step: Span) -> Result<Self, UnitError> {
        scenario.check_queue(link)?;
        let limit = scenario.limit(link)?;
        let shared = Arc::<Mutex<QueueReport>>::default();
        let own = Arc::clone(&shared);
        let queue = QueueConfig::Custom(CustomQueue {
            name: "steered",
            make: Arc::new(move || {
                Box::new(Dropper {
                    waiting: Fifo::default(),
                    limit,
                    shared: Arc::clone(&own),
                })
            }),
            limit,
        });
        let mut network = scenario.network();
        network.set_queue(link, &queue);
        let end = network.end;
        Ok(Self {
            simulation: Simulation::owned(network, NoProbe),
            shared,
            now: Time::ZERO,
            end,
            step,
        })
    }

    /// Returns true if the run has reached its end.
    pub fn has_ended(&self) -> bool {
        self.now >= self.end
    }

    /// Sets the probability, which holds for arrivals from now on, and runs for a step.
    pub fn step(&mut self, probability: f64) -> QueueReport {
        {
            let mut counts = locked(&self.shared);
            *counts = QueueReport {
                backlog: counts.backlog,
                backlog_bytes: counts.backlog_bytes,
                probability,
                ..QueueReport::default()
            };
        }
        self.now = self.now.saturating_add(self.step).min(self.end);
        self.simulation.run_until(self.now);
        QueueReport {
            to: self.now,
            ..*locked(&self.shared)
        }
    }
}
