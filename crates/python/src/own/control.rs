//! Congestion controls written in Python.

use crate::convert::error::unit_error;
use crate::own::raised::Raised;
use crate::own::views::{Ack, Connection, IntervalReport, Loss, Marks};
use goodqueue_learn::{Every, Monitor};
use goodqueue_scenario::{Scenario, UnitError};
use goodqueue_tcp::TcpConfig;
use goodqueue_tcp::cc::conformance::{self, Claims};
use goodqueue_tcp::cc::{
    AckSample, CongestionControl, CongestionEvent, CustomControl, MarkSample, Needs,
};
use goodqueue_types::{Rate, Span, Time};
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Largest window, in bytes.
const MAX_WINDOW: f64 = 1e15;
/// Largest pacing rate, in bits per second.
const MAX_RATE: f64 = 1e15;

/// Parts that a control in Python has.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an attribute of a class"
)]
struct Parts {
    ack: bool,
    other_ack: bool,
    loss: bool,
    timeout: bool,
    marks: bool,
    undo: bool,
    interval: bool,
    ssthresh: bool,
    rate: bool,
}

/// Values of a control that the sender reads.
#[derive(Clone, Copy, Debug)]
struct Values {
    window: f64,
    ssthresh: u64,
    rate: Option<Rate>,
}

/// A control whose methods are implemented in Python.
#[derive(Debug)]
struct PythonControl {
    control: Option<Py<PyAny>>,
    raised: Raised,
    parts: Parts,
    mss: u32,
    now: Values,
    /// Values that a report brought, which hold from the next ACK or timeout.
    next: Option<Values>,
    /// Window and threshold before the last decrease.
    before: Option<(f64, u64)>,
    monitor: Option<Monitor>,
}

impl PythonControl {
    fn make(factory: &Py<PyAny>, raised: &Raised, config: &TcpConfig) -> Self {
        let mut made = Self {
            control: None,
            raised: raised.clone(),
            parts: Parts::default(),
            mss: config.mss,
            now: Values {
                window: config.initial_window.bytes(config.mss) as f64,
                ssthresh: config.initial_ssthresh_bytes(),
                rate: None,
            },
            next: None,
            before: None,
            monitor: None,
        };
        if raised.is_some() {
            return made;
        }
        let created = Python::attach(|py| {
            let control = factory.call1(py, (Connection::new(config),))?;
            let bound = control.bind(py);
            made.parts = parts(bound)?;
            made.monitor = every(bound)?.map(Monitor::new);
            made.now = made.values(bound, "__init__")?;
            Ok(control)
        });
        made.control = created.map_err(|error| raised.set(error)).ok();
        made
    }

    /// Reads the attributes of the control after a call of `method`.
    fn values(&self, control: &Bound<'_, PyAny>, method: &str) -> PyResult<Values> {
        let py = control.py();
        let window: f64 = control
            .getattr(pyo3::intern!(py, "window_bytes"))?
            .extract()?;
        if !(1.0..=MAX_WINDOW).contains(&window) {
            let message = format!(
                "window_bytes is {window} after {method}: write a number of bytes from 1 on"
            );
            return Err(PyValueError::new_err(message));
        }
        let mut values = Values { window, ..self.now };
        if self.parts.ssthresh {
            let value: f64 = control
                .getattr(pyo3::intern!(py, "ssthresh_bytes"))?
                .extract()?;
            if value.is_nan() || value < 0.0 {
                let message = format!("ssthresh_bytes is {value} after {method}");
                return Err(PyValueError::new_err(message));
            }
            values.ssthresh = value as u64;
        }
        if self.parts.rate {
            let rate = control.getattr(pyo3::intern!(py, "pacing_rate_bps"))?;
            let rate: Option<f64> = rate.extract()?;
            if let Some(rate) = rate.filter(|rate| !(1.0..=MAX_RATE).contains(rate)) {
                let message = format!(
                    "pacing_rate_bps is {rate} after {method}: write bits per second, or None"
                );
                return Err(PyValueError::new_err(message));
            }
            values.rate = rate.map(|rate| Rate(rate as u64));
        }
        Ok(values)
    }

    /// Calls a method of the control and reads its attributes. Returns none if this or an earlier
    /// call raised an exception.
    fn call<V: pyo3::PyClass>(
        &self,
        method: &'static str,
        view: impl Into<PyClassInitializer<V>>,
    ) -> Option<Values> {
        let control = self.control.as_ref().filter(|_| !self.raised.is_some())?;
        let called = Python::attach(|py| {
            let bound = control.bind(py);
            bound.call_method1(method, (Py::new(py, view)?,))?;
            self.values(bound, method)
        });
        called.map_err(|error| self.raised.set(error)).ok()
    }

    /// Sets an attribute of the control.
    fn set(&self, name: &str, value: f64) {
        let Some(control) = self.control.as_ref().filter(|_| !self.raised.is_some()) else {
            return;
        };
        if let Err(error) = Python::attach(|py| control.setattr(py, name, value)) {
            self.raised.set(error);
        }
    }

    /// Takes the values that the last report brought, which hold from now on.
    fn begin(&mut self) {
        if let Some(next) = self.next.take() {
            self.now.window = next.window;
            self.now.rate = next.rate;
            if self.parts.ssthresh {
                self.now.ssthresh = next.ssthresh;
            }
        }
    }

    /// Adds an ACK to the interval and reports the interval if it has ended.
    fn report(&mut self, sample: &AckSample) {
        let report = self
            .monitor
            .as_mut()
            .and_then(|monitor| monitor.note(sample));
        if let Some(report) = report {
            self.next = self.call("on_interval", IntervalReport(report));
        }
    }

    fn remember(&mut self) {
        self.before = Some((self.now.window, self.now.ssthresh));
    }

    fn least_ssthresh(&self, bytes: f64) -> u64 {
        (bytes as u64).max(2 * u64::from(self.mss))
    }
}

/// Returns the parts that a control has, or an exception if it lacks a necessary one.
fn parts(control: &Bound<'_, PyAny>) -> PyResult<Parts> {
    let has = |name: &str| control.hasattr(name);
    let name = control.get_type().qualname()?;
    if !has("window_bytes")? {
        let message = format!(
            "{name} has no attribute window_bytes: set it in __init__, as in \
             self.window_bytes = connection.initial_window_bytes"
        );
        return Err(PyAttributeError::new_err(message));
    }
    let parts = Parts {
        ack: has("on_ack")?,
        other_ack: has("on_other_ack")?,
        loss: has("on_loss")?,
        timeout: has("on_timeout")?,
        marks: has("on_marks")?,
        undo: has("on_undo")?,
        interval: has("on_interval")?,
        ssthresh: has("ssthresh_bytes")?,
        rate: has("pacing_rate_bps")?,
    };
    if !parts.ack && !parts.interval {
        let message = format!("{name} has neither on_ack nor on_interval");
        return Err(PyTypeError::new_err(message));
    }
    Ok(parts)
}

/// Returns the length of the intervals about which a control gets reports.
fn every(control: &Bound<'_, PyAny>) -> PyResult<Option<Every>> {
    if !control.hasattr("on_interval")? {
        return Ok(None);
    }
    let number = |name: &str| -> PyResult<Option<f64>> {
        if !control.hasattr(name)? {
            return Ok(None);
        }
        let number: f64 = control.getattr(name)?.extract()?;
        if (1e-6..=1e6).contains(&number) {
            return Ok(Some(number));
        }
        Err(PyValueError::new_err(format!(
            "{name} is {number}: write 1e-6 to 1e6"
        )))
    };
    Ok(Some(
        match (number("interval_s")?, number("interval_rtts")?) {
            (Some(seconds), None) => Every::Time(Span::from_secs_f64(seconds)),
            (None, Some(rtts)) => Every::RoundTrips(rtts),
            (None, None) => Every::RoundTrips(1.0),
            (Some(_), Some(_)) => {
                let message = "a control has interval_s or interval_rtts, not both";
                return Err(PyValueError::new_err(message));
            }
        },
    ))
}

impl CongestionControl for PythonControl {
    fn on_ack(&mut self, sample: &AckSample) {
        self.begin();
        if self.parts.ack
            && let Some(values) = self.call("on_ack", Ack(*sample))
        {
            self.now = values;
        }
        self.report(sample);
    }

    fn observe(&mut self, sample: &AckSample) {
        self.begin();
        if self.parts.other_ack
            && let Some(values) = self.call("on_other_ack", Ack(*sample))
        {
            self.now = values;
        }
        self.report(sample);
    }

    fn on_marks(&mut self, sample: &MarkSample) {
        if self.parts.marks
            && let Some(values) = self.call("on_marks", Marks(*sample))
        {
            self.now = values;
        }
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        self.begin();
        self.remember();
        if let Some(monitor) = &mut self.monitor {
            monitor.note_loss_event();
        }
        if self.parts.loss
            && let Some(values) = self.call("on_loss", Loss(*event))
        {
            self.now = values;
        }
        if !self.parts.ssthresh {
            self.now.ssthresh = self.least_ssthresh(self.now.window);
        }
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        self.begin();
        if let Some(event) = event {
            self.remember();
            if !self.parts.ssthresh {
                self.now.ssthresh = self.least_ssthresh(event.basis / 2.0);
            }
        }
        if let Some(monitor) = &mut self.monitor {
            monitor.note_timeout();
        }
        match (self.parts.timeout, event) {
            (true, Some(event)) => {
                if let Some(values) = self.call("on_timeout", Loss(*event)) {
                    self.now = values;
                }
            }
            _ => self.set_window(f64::from(self.mss)),
        }
    }

    fn window(&self) -> f64 {
        self.now.window
    }

    fn set_window(&mut self, bytes: f64) {
        self.now.window = bytes;
        self.set("window_bytes", bytes);
    }

    fn ssthresh(&self) -> u64 {
        self.now.ssthresh
    }

    fn set_ssthresh(&mut self, bytes: u64) {
        self.now.ssthresh = bytes;
        if self.parts.ssthresh {
            self.set(
                "ssthresh_bytes",
                if bytes == u64::MAX {
                    f64::INFINITY
                } else {
                    bytes as f64
                },
            );
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.now.rate
    }

    fn on_undo(&mut self, now: Time) {
        if self.parts.undo {
            let seconds = (now - Time::ZERO).as_secs_f64();
            let Some(control) = self.control.as_ref().filter(|_| !self.raised.is_some()) else {
                return;
            };
            let called = Python::attach(|py| {
                let bound = control.bind(py);
                bound.call_method1("on_undo", (seconds,))?;
                self.values(bound, "on_undo")
            });
            match called {
                Ok(values) => self.now = values,
                Err(error) => self.raised.set(error),
            }
        } else if let Some((window, ssthresh)) = self.before.take() {
            self.set_window(self.now.window.max(window));
            self.set_ssthresh(self.now.ssthresh.max(ssthresh));
        }
    }

    fn sets_window_in_recovery(&self) -> bool {
        !self.parts.loss
    }

    fn needs(&self) -> Needs {
        Needs::Segments
    }
}

/// Returns a control whose instances `factory(connection)` creates.
pub fn python_control(factory: Py<PyAny>, raised: &Raised) -> CustomControl {
    let raised = raised.clone();
    CustomControl::new("python", move |config| {
        Box::new(PythonControl::make(&factory, &raised, config))
    })
}

/// Returns the class that a scenario names as `module:Class`, if its source has this checksum.
pub fn named_class(py: Python<'_>, name: &str, checksum: &str) -> PyResult<Py<PyAny>> {
    let plugins = py.import("goodqueue.runs.plugins")?;
    let class = plugins
        .getattr("unchanged_class")?
        .call1((name, checksum))?;
    Ok(class.unbind())
}

/// Returns controls of the caller's, by group of flows, whose groups exist.
pub fn given_controls(
    py: Python<'_>,
    scenario: &Scenario,
    controls: Vec<(String, Py<PyAny>)>,
    raised: &Raised,
) -> PyResult<Vec<(String, CustomControl)>> {
    let controls = controls.into_iter().map(|(group, factory)| {
        let control = python_control(factory, raised);
        scenario
            .with_control(&group, &control)
            .map_err(|error| unit_error(py, "controls", error))?;
        Ok((group, control))
    });
    controls.collect()
}

/// Returns the checksum of the source of a class, which a function in Python computes.
pub fn checksum_of(checksum: &Py<PyAny>, class: &str) -> Result<String, UnitError> {
    Python::attach(|py| {
        let found = checksum
            .call1(py, (class,))
            .and_then(|found| found.extract(py));
        found.map_err(|error: PyErr| UnitError {
            message: error.value(py).to_string(),
            help: "name a class of a module that Python finds, as in \"controls:Aimd\"".to_owned(),
        })
    })
}

/// Checks a congestion control against every rule. `factory(connection)` creates a control. Returns
/// the number of calls, and, if a rule was broken, the rule, the profile, the call and a
/// description.
#[pyfunction]
#[pyo3(signature = (factory, *, reacts_to_loss, restarts_after_timeout, waits_when_unused, seed))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "Python hands over a reference of its own"
)]
#[expect(clippy::type_complexity, reason = "a tuple is what Python takes apart")]
pub fn check_control(
    factory: Py<PyAny>,
    reacts_to_loss: bool,
    restarts_after_timeout: bool,
    waits_when_unused: bool,
    seed: u64,
) -> PyResult<(u64, Option<(String, String, usize, String)>)> {
    let raised = Raised::default();
    let claims = Claims {
        reacts_to_loss,
        restarts_after_timeout,
        waits_when_unused,
    };
    let make = |config: &TcpConfig| -> Box<dyn CongestionControl + Send> {
        Box::new(PythonControl::make(&factory, &raised, config))
    };
    let result = conformance::check(make, claims, seed);
    if let Some(error) = raised.take() {
        return Err(error);
    }
    Ok(match result {
        Ok(calls) => (calls, None),
        Err(broken) => {
            let rule = format!("{:?}", broken.rule);
            (
                0,
                Some((rule, broken.profile.to_owned(), broken.call, broken.message)),
            )
        }
    })
}
