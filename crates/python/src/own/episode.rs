//! Runs that pause for the decisions of a learner, many at a time.

use crate::convert::error::unit_error;
use crate::run::scenario::Scenario;
use goodqueue_learn::{Action, Every, FlowEpisode, QueueEpisode, QueueReport, Report, Steering};
use goodqueue_tcp::CongestionControlConfig;
use goodqueue_types::{Rate, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Numbers in a row about a flow; see [`flow_row`].
const FLOW_FIELDS: usize = 18;
/// Numbers in a row about a queue; see [`queue_row`].
const QUEUE_FIELDS: usize = 12;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn optional(span: Option<Span>) -> f64 {
    span.map_or(f64::NAN, Span::as_secs_f64)
}

fn seconds(time: Time) -> f64 {
    (time - Time::ZERO).as_secs_f64()
}

/// Applies `work` to each item, on this number of threads, and joins the rows in order.
fn on_threads<T: Send>(
    items: &mut [T],
    threads: usize,
    work: impl Fn(&mut T) -> Vec<f64> + Sync,
) -> Vec<f64> {
    let chunk = items.len().div_ceil(threads.max(1)).max(1);
    let rows = |items: &mut [T]| -> Vec<f64> { items.iter_mut().flat_map(&work).collect() };
    if items.len() <= chunk {
        return rows(items);
    }
    thread::scope(|scope| {
        let parts = items.chunks_mut(chunk);
        let parts: Vec<_> = parts.map(|part| scope.spawn(move || rows(part))).collect();
        let done = parts.into_iter().map(|part| part.join().expect("no panic"));
        done.flatten().collect()
    })
}

/// Applies `work` to the runs `which`, each with its place in that list, on this number of threads
/// and without the interpreter's lock. Returns the rows of `fields` doubles in the order of the
/// list.
///
/// # Errors
/// Fails if one of the runs has not begun.
fn step_chosen<'py, T: Send>(
    py: Python<'py>,
    episodes: &Mutex<Vec<Option<T>>>,
    which: &[usize],
    (threads, fields): (usize, usize),
    work: impl Fn(usize, &mut T) -> Vec<f64> + Sync,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows = py.detach(|| {
        let mut episodes = locked(episodes);
        let mut chosen: Vec<(usize, &mut T)> = Vec::with_capacity(which.len());
        for (index, place) in episodes.iter_mut().enumerate() {
            if let (Some(at), Some(episode)) =
                (which.iter().position(|wanted| *wanted == index), place)
            {
                chosen.push((at, episode));
            }
        }
        chosen.sort_by_key(|(at, _)| *at);
        on_threads(&mut chosen, threads, |(at, episode)| work(*at, episode))
    });
    if rows.len() != fields * which.len() {
        return Err(PyValueError::new_err("a run has not begun"));
    }
    Ok(bytes_of(py, &rows))
}

/// Returns little-endian doubles.
fn bytes_of<'py>(py: Python<'py>, numbers: &[f64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    PyBytes::new(py, &bytes)
}

/// Reads little-endian doubles.
fn numbers_of(bytes: &[u8], count: usize) -> PyResult<Vec<f64>> {
    if bytes.len() != 8 * count {
        let message = format!("{} bytes of actions: {} are needed", bytes.len(), 8 * count);
        return Err(PyValueError::new_err(message));
    }
    let numbers = bytes.chunks_exact(8);
    Ok(numbers
        .map(|eight| f64::from_le_bytes(eight.try_into().expect("eight bytes")))
        .collect())
}

/// Returns the numbers about a flow: 1 if the run has ended, the flow, time, length, delivered,
/// lost and sent bytes, bytes in flight, mean, smallest, base and smoothed round-trip time, its
/// gradient, loss events, timeouts, ACKs, window and pacing rate (0 without one).
fn flow_row(
    ended: bool,
    flow: usize,
    report: &Report,
    window: f64,
    rate: Option<Rate>,
) -> Vec<f64> {
    vec![
        f64::from(u8::from(ended)),
        flow as f64,
        seconds(report.to),
        report.length_s(),
        report.delivered as f64,
        report.lost as f64,
        report.sent as f64,
        report.in_flight as f64,
        report.mean_rtt_s().unwrap_or(f64::NAN),
        optional(report.min_rtt),
        optional(report.base_rtt),
        optional(report.smoothed_rtt),
        report.rtt_gradient,
        f64::from(report.loss_events),
        f64::from(report.timeouts),
        f64::from(report.acks),
        window,
        rate.map_or(0.0, |rate| rate.0 as f64),
    ]
}

/// An episode, and the flow that waits for an action.
struct Steered {
    episode: FlowEpisode,
    waits: Option<usize>,
}

impl Steered {
    /// Acts for the flow that waits, and runs to the next decision. NaN and 0 change nothing.
    fn step(&mut self, window: f64, rate: f64) -> Vec<f64> {
        if let Some(flow) = self.waits.take() {
            let action = Action {
                window: Some(window).filter(|window| *window > 0.0),
                rate: Some(rate)
                    .filter(|rate| *rate >= 1.0)
                    .map(|rate| Rate(rate as u64)),
            };
            self.episode.act(flow, action);
        }
        self.episode.advance();
        match self.episode.report() {
            Some((flow, report, window, rate)) => {
                self.waits = Some(flow);
                flow_row(false, flow, &report, window, rate)
            }
            None => flow_row(true, 0, &Report::default(), 0.0, None),
        }
    }
}

/// Runs in which the congestion control of flows is steered.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct FlowEpisodes {
    group: String,
    every: Every,
    steering: Steering,
    threads: usize,
    episodes: Mutex<Vec<Option<Steered>>>,
}

#[pymethods]
impl FlowEpisodes {
    /// Prepares `count` runs. Decisions are due every `interval_s` seconds, or every
    /// `interval_rtts` smoothed round-trip times. Actions change a window of their own, or that of
    /// the built-in control `over`.
    #[new]
    #[pyo3(
        signature = (group, count, *, interval_s = None, interval_rtts = 1.0, over = None, threads = 1),
        text_signature = "(group, count, *, interval_s=None, interval_rtts=1.0, over=None, threads=1)"
    )]
    fn new(
        group: String,
        count: usize,
        interval_s: Option<f64>,
        interval_rtts: f64,
        over: Option<&str>,
        threads: usize,
    ) -> PyResult<Self> {
        let steering = match over {
            None => Steering::Alone,
            Some(word) if CongestionControlConfig::NAMES.contains(&word) => {
                Steering::Over(CongestionControlConfig::defaults(word))
            }
            Some(word) => {
                let message = format!("there is no congestion control {word}");
                return Err(PyValueError::new_err(message));
            }
        };
        let every = match interval_s {
            Some(interval) if interval > 0.0 => Every::Time(Span::from_secs_f64(interval)),
            None if interval_rtts > 0.0 => Every::RoundTrips(interval_rtts),
            _ => return Err(PyValueError::new_err("an interval is longer than 0")),
        };
        Ok(Self {
            group,
            every,
            steering,
            threads,
            episodes: Mutex::new((0..count).map(|_| None).collect()),
        })
    }

    /// Begins a run in the place `index`. Returns the number of its flows that are steered.
    fn begin(
        &self,
        py: Python<'_>,
        index: usize,
        scenario: &Bound<'_, Scenario>,
    ) -> PyResult<usize> {
        let scenario = scenario.get().0.clone();
        let episode = FlowEpisode::new(&scenario, &self.group, self.every, &self.steering);
        let episode = episode.map_err(|error| unit_error(py, "flow", error))?;
        let flows = episode.flows();
        let mut episodes = locked(&self.episodes);
        let Some(place) = episodes.get_mut(index) else {
            return Err(PyValueError::new_err(format!("there is no run {index}")));
        };
        *place = Some(Steered {
            episode,
            waits: None,
        });
        Ok(flows)
    }

    /// Acts in the runs `which` and runs each to its next decision, without the interpreter's lock.
    /// An action is two little-endian doubles: window in bytes and pacing rate in bits per second;
    /// NaN and 0 change nothing. Returns a row of doubles for each of these runs.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "Python hands over a list of its own"
    )]
    fn step<'py>(
        &self,
        py: Python<'py>,
        which: Vec<usize>,
        actions: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let actions = numbers_of(actions, 2 * which.len())?;
        let size = (self.threads, FLOW_FIELDS);
        step_chosen(py, &self.episodes, &which, size, |at, steered| {
            steered.step(actions[2 * at], actions[2 * at + 1])
        })
    }
}

/// Returns the numbers about a queue: 1 if the run has ended, time, arrived, sent, sent bytes,
/// dropped, overflowed and marked packets, mean and longest sojourn time in seconds, and the packets
/// and bytes that wait.
fn queue_row(ended: bool, report: &QueueReport) -> Vec<f64> {
    let mean = report.sojourn.as_secs_f64() / report.sent.max(1) as f64;
    vec![
        f64::from(u8::from(ended)),
        seconds(report.to),
        report.arrived as f64,
        report.sent as f64,
        report.sent_bytes as f64,
        report.dropped as f64,
        report.overflowed as f64,
        report.marked as f64,
        mean,
        report.longest.as_secs_f64(),
        report.backlog as f64,
        report.backlog_bytes as f64,
    ]
}

/// Runs in which the drop or mark probability of a link's queue is set.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct QueueEpisodes {
    link: String,
    step: Span,
    threads: usize,
    episodes: Mutex<Vec<Option<QueueEpisode>>>,
}

#[pymethods]
impl QueueEpisodes {
    /// Prepares `count` runs, in steps of `step_s` seconds.
    #[new]
    #[pyo3(signature = (link, count, *, step_s, threads = 1))]
    fn new(link: String, count: usize, step_s: f64, threads: usize) -> PyResult<Self> {
        if !(1e-6..=1e6).contains(&step_s) {
            return Err(PyValueError::new_err(
                "a step lasts from 1e-6 to 1e6 seconds",
            ));
        }
        Ok(Self {
            link,
            step: Span::from_secs_f64(step_s),
            threads,
            episodes: Mutex::new((0..count).map(|_| None).collect()),
        })
    }

    /// Begins a run in the place `index`.
    fn begin(&self, py: Python<'_>, index: usize, scenario: &Bound<'_, Scenario>) -> PyResult<()> {
        let episode = QueueEpisode::new(&scenario.get().0, &self.link, self.step);
        let episode = episode.map_err(|error| unit_error(py, "link", error))?;
        let mut episodes = locked(&self.episodes);
        let Some(place) = episodes.get_mut(index) else {
            return Err(PyValueError::new_err(format!("there is no run {index}")));
        };
        *place = Some(episode);
        Ok(())
    }

    /// Sets the probability in the runs `which` and runs each for a step, without the interpreter's
    /// lock. An action is a little-endian double. Returns a row of doubles for each of these runs.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "Python hands over a list of its own"
    )]
    fn step<'py>(
        &self,
        py: Python<'py>,
        which: Vec<usize>,
        actions: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let actions = numbers_of(actions, which.len())?;
        let size = (self.threads, QUEUE_FIELDS);
        step_chosen(py, &self.episodes, &which, size, |at, episode| {
            let report = episode.step(actions[at].clamp(0.0, 1.0));
            queue_row(episode.has_ended(), &report)
        })
    }
}
