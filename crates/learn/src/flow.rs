//! Episodes in which the congestion control of flows is steered from outside.

use crate::report::{Every, Monitor, Report};
use goodqueue_scenario::{Scenario, UnitError};
use goodqueue_sim::{NoProbe, Simulation};
use goodqueue_tcp::cc::{
    AckSample, CongestionControl, CongestionEvent, CustomControl, LostSegment, MarkSample, Needs,
    built_in,
};
use goodqueue_tcp::{CongestionControlConfig, TcpConfig};
use goodqueue_types::{Rate, Time};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Values that a decision sets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Action {
    /// Window, in bytes; none leaves it as it is.
    pub window: Option<f64>,
    /// Pacing rate; none leaves it as it is.
    pub rate: Option<Rate>,
}

/// The control that an action changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Steering {
    /// Window and rate change by actions alone. A timeout leaves one segment until the next action.
    Alone,
    /// A built-in control runs on between the actions, which set its window.
    Over(CongestionControlConfig),
}

/// State that a flow and its episode share.
#[derive(Debug, Default)]
struct Slot {
    has_action: AtomicBool,
    action: Mutex<Action>,
    /// Report that waits for an action.
    report: Mutex<Option<Report>>,
    state: Mutex<State>,
}

/// Values of a flow at its last decision.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    window: f64,
    rate: Option<Rate>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The slots of an episode, in the order of its flows, and true if a decision is due.
#[derive(Debug, Default)]
struct Board {
    slots: Mutex<Vec<Arc<Slot>>>,
    is_due: AtomicBool,
}

/// A control that reports intervals and takes actions.
#[derive(Debug)]
struct Steered {
    monitor: Monitor,
    slot: Arc<Slot>,
    board: Arc<Board>,
    base: Option<Box<dyn CongestionControl + Send>>,
    window: f64,
    ssthresh: u64,
    rate: Option<Rate>,
    mss: f64,
}

impl Steered {
    fn new(config: &TcpConfig, every: Every, steering: &Steering, board: &Arc<Board>) -> Self {
        let slot = Arc::<Slot>::default();
        locked(&board.slots).push(Arc::clone(&slot));
        let base = match steering {
            Steering::Alone => None,
            Steering::Over(control) => {
                let mut config = config.clone();
                config.congestion_control = control.clone();
                Some(built_in(&config))
            }
        };
        Self {
            monitor: Monitor::new(every),
            slot,
            board: Arc::clone(board),
            base,
            window: config.initial_window.bytes(config.mss) as f64,
            ssthresh: config.initial_ssthresh_bytes(),
            rate: None,
            mss: f64::from(config.mss),
        }
    }

    /// Takes the action that was decided since the last call.
    fn take(&mut self) {
        if !self.slot.has_action.load(Ordering::Relaxed) {
            return;
        }
        self.slot.has_action.store(false, Ordering::Relaxed);
        let action = *locked(&self.slot.action);
        if let Some(window) = action.window {
            match &mut self.base {
                Some(base) => base.set_window(window.max(self.mss)),
                None => self.window = window.max(self.mss),
            }
        }
        self.rate = action.rate.or(self.rate);
    }

    fn note(&mut self, sample: &AckSample) {
        if let Some(report) = self.monitor.note(sample) {
            *locked(&self.slot.report) = Some(report);
            *locked(&self.slot.state) = State {
                window: self.window(),
                rate: self.rate,
            };
            self.board.is_due.store(true, Ordering::Relaxed);
        }
    }
}

impl CongestionControl for Steered {
    fn on_ack(&mut self, sample: &AckSample) {
        self.take();
        if let Some(base) = &mut self.base {
            base.on_ack(sample);
        }
        self.note(sample);
    }

    fn observe(&mut self, sample: &AckSample) {
        self.take();
        if let Some(base) = &mut self.base {
            base.observe(sample);
        }
        self.note(sample);
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        self.take();
        self.monitor.note_loss_event();
        match &mut self.base {
            Some(base) => base.on_congestion_event(event),
            None => self.ssthresh = (self.window as u64).max(2 * self.mss as u64),
        }
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        self.take();
        self.monitor.note_timeout();
        match &mut self.base {
            Some(base) => base.on_retransmission_timeout(event),
            None => self.window = self.mss,
        }
    }

    fn on_marks(&mut self, sample: &MarkSample) {
        if let Some(base) = &mut self.base {
            base.on_marks(sample);
        }
    }

    fn on_lost(&mut self, segment: &LostSegment) {
        if let Some(base) = &mut self.base {
            base.on_lost(segment);
        }
    }

    fn on_recovery_exit(&mut self, now: Time) {
        if let Some(base) = &mut self.base {
            base.on_recovery_exit(now);
        }
    }

    fn on_undo(&mut self, now: Time) {
        if let Some(base) = &mut self.base {
            base.on_undo(now);
        }
    }

    fn on_send(&mut self, now: Time, idle: bool) {
        if let Some(base) = &mut self.base {
            base.on_send(now, idle);
        }
    }

    fn window(&self) -> f64 {
        self.base.as_ref().map_or(self.window, |base| base.window())
    }

    fn set_window(&mut self, bytes: f64) {
        match &mut self.base {
            Some(base) => base.set_window(bytes),
            None => self.window = bytes,
        }
    }

    fn ssthresh(&self) -> u64 {
        self.base
            .as_ref()
            .map_or(self.ssthresh, |base| base.ssthresh())
    }

    fn set_ssthresh(&mut self, bytes: u64) {
        match &mut self.base {
            Some(base) => base.set_ssthresh(bytes),
            None => self.ssthresh = bytes,
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate.or_else(|| self.base.as_ref()?.pacing_rate())
    }

    fn sets_window_in_recovery(&self) -> bool {
        self.base
            .as_ref()
            .is_none_or(|base| base.sets_window_in_recovery())
    }

    fn needs(&self) -> Needs {
        let base = self.base.as_ref().map(|base| base.needs());
        base.unwrap_or_default().max(Needs::Segments)
    }

    fn lowers_window(&self) -> bool {
        self.base.as_ref().is_some_and(|base| base.lowers_window())
    }
}

/// A run that pauses whenever a decision about a flow of a group is due.
#[derive(Debug)]
pub struct FlowEpisode {
    simulation: Simulation<'static, NoProbe>,
    board: Arc<Board>,
    slots: Vec<Arc<Slot>>,
    now: Time,
    ended: bool,
}

impl FlowEpisode {
    /// Begins a run of the scenario in which the flows of a group are steered.
    ///
    /// # Errors
    /// Fails if there is no such group, or if its flows have no TCP.
    pub fn new(
        scenario: &Scenario,
        group: &str,
        every: Every,
        steering: &Steering,
    ) -> Result<Self, UnitError> {
        let board = Arc::<Board>::default();
        let (shared, steering) = (Arc::clone(&board), steering.clone());
        let control = CustomControl::new("steered", move |config| {
            Box::new(Steered::new(config, every, &steering, &shared))
        });
        let network = scenario.with_control(group, &control)?.network();
        let simulation = Simulation::owned(network, NoProbe);
        let slots = locked(&board.slots).clone();
        if slots.is_empty() {
            return Err(UnitError {
                message: format!("the flow \"{group}\" has no single connection to steer"),
                help: "name flows with workload = { kind = \"bulk\" }".to_owned(),
            });
        }
        Ok(Self {
            simulation,
            board,
            slots,
            now: Time::ZERO,
            ended: false,
        })
    }

    /// Returns the number of flows that are steered.
    pub fn flows(&self) -> usize {
        self.slots.len()
    }

    /// Returns true if the run has reached its end.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Runs until a decision is due or to the end. Does nothing while one is due.
    pub fn advance(&mut self) {
        while !self.ended && !self.board.is_due.load(Ordering::Relaxed) {
            match self.simulation.advance_by(1) {
                Some(now) => self.now = now,
                None => self.ended = true,
            }
        }
    }

    /// Removes the first report that waits for an action. Returns the number of its flow, the
    /// report, and the flow's window and pacing rate.
    pub fn report(&mut self) -> Option<(usize, Report, f64, Option<Rate>)> {
        let found = self.slots.iter().enumerate().find_map(|(flow, slot)| {
            let report = locked(&slot.report).take()?;
            let state = *locked(&slot.state);
            Some((flow, report, state.window, state.rate))
        });
        if found.is_none() {
            self.board.is_due.store(false, Ordering::Relaxed);
        }
        found
    }

    /// Decides for a flow. The action holds from the flow's next ACK, loss event or timeout.
    pub fn act(&mut self, flow: usize, action: Action) {
        let slot = &self.slots[flow];
        *locked(&slot.action) = action;
        slot.has_action.store(true, Ordering::Relaxed);
        let waits = |slot: &Arc<Slot>| locked(&slot.report).is_some();
        let is_due = self.slots.iter().any(waits);
        self.board.is_due.store(is_due, Ordering::Relaxed);
    }
}
