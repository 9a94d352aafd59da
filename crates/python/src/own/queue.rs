//! Queue disciplines written in Python, which the conformance suite checks and which links run.

use crate::own::control::named_class;
use crate::own::raised::Raised;
use goodqueue_queue::conformance::{self, Claims, Violation};
use goodqueue_queue::{Backlog, Context, CustomQueue, Limit, PythonQueueConfig, QueueDiscipline};
use goodqueue_types::{Body, Direction, DropReason, Ecn, Framing, RandomStream, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// A packet as a queue sees it.
#[pyclass(module = "goodqueue._core")]
#[derive(Clone, Copy)]
pub struct Packet(goodqueue_types::Packet);

#[pymethods]
impl Packet {
    /// Number of the packet's flow.
    #[getter]
    fn flow(&self) -> u32 {
        self.0.flow.0
    }

    /// True if the packet goes from the flow's client to its server.
    #[getter]
    fn is_forward(&self) -> bool {
        self.0.direction == Direction::Forward
    }

    /// Number of packets that the flow sent in this direction before.
    #[getter]
    fn number(&self) -> u64 {
        self.0.number
    }

    /// Size of the IP packet, in bytes.
    #[getter]
    fn size(&self) -> u32 {
        self.0.size
    }

    /// Time at which the packet reached the queue, in seconds.
    #[getter]
    fn arrived_s(&self) -> f64 {
        (self.0.arrived - Time::ZERO).as_secs_f64()
    }

    /// ECN field: `not-ect`, `ect0`, `ect1` or `ce`.
    #[getter]
    fn ecn(&self) -> &'static str {
        match self.0.ecn {
            Ecn::NotCapable => "not-ect",
            Ecn::Capable0 => "ect0",
            Ecn::Capable1 => "ect1",
            Ecn::Experienced => "ce",
        }
    }

    /// Differentiated services code point.
    #[getter]
    fn dscp(&self) -> u8 {
        self.0.dscp
    }

    /// Numbers of the flow's hosts: client and server.
    #[getter]
    fn hosts(&self) -> (u16, u16) {
        (self.0.hosts.client, self.0.hosts.server)
    }

    /// True if the packet is a TCP segment without payload.
    #[getter]
    fn is_ack(&self) -> bool {
        matches!(&self.0.body, Body::Tcp(segment) if segment.payload == 0)
    }

    fn __copy__(&self) -> Self {
        *self
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyDict>) -> Self {
        *self
    }
}

/// Time, random numbers and verdicts for one call of a queue.
#[pyclass(module = "goodqueue._core")]
pub struct QueueContext {
    now: Time,
    framing: Framing,
    random: RandomStream,
    verdicts: Vec<Verdict>,
}

struct Verdict {
    packet: goodqueue_types::Packet,
    reason: DropReason,
    marked: bool,
}

fn reason_of(name: &str) -> PyResult<DropReason> {
    let known = DropReason::ALL.into_iter();
    let mut queues = known.filter(|reason| *reason != DropReason::LinkLoss);
    queues.find(|reason| reason.name() == name).ok_or_else(|| {
        PyValueError::new_err(format!(
            "no reason \"{name}\": write overlimit, early, forced or target_exceeded"
        ))
    })
}

#[pymethods]
impl QueueContext {
    /// Current time, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        (self.now - Time::ZERO).as_secs_f64()
    }

    /// Returns the bytes that a packet takes in the queue and on the wire.
    fn frame_bytes(&self, packet: &Packet) -> u64 {
        packet.0.frame_bytes(self.framing)
    }

    /// Returns a number in [0, 1) from the link's own random stream.
    fn random(&mut self) -> f64 {
        self.random.unit()
    }

    /// Drops a packet.
    #[pyo3(signature = (packet, reason = "overlimit"))]
    fn drop(&mut self, packet: &Packet, reason: &str) -> PyResult<()> {
        self.verdicts.push(Verdict {
            packet: packet.0,
            reason: reason_of(reason)?,
            marked: false,
        });
        Ok(())
    }

    /// Marks a packet if it is ECN-capable, and returns whether it is.
    #[pyo3(signature = (packet, reason = "early"))]
    fn mark(&mut self, packet: &mut Packet, reason: &str) -> PyResult<bool> {
        let reason = reason_of(reason)?;
        let capable = packet.0.ecn.is_capable();
        if capable {
            packet.0.ecn = Ecn::Experienced;
            self.verdicts.push(Verdict {
                packet: packet.0,
                reason,
                marked: true,
            });
        }
        Ok(capable)
    }
}

/// A queue whose methods are implemented in Python. Rust code accounts for its bytes.
#[derive(Debug)]
struct PythonQueue {
    queue: Option<Py<PyAny>>,
    raised: Raised,
}

impl PythonQueue {
    fn make(factory: &Py<PyAny>, raised: &Raised) -> Self {
        let queue = Python::attach(|py| factory.call0(py));
        Self {
            queue: queue.map_err(|error| raised.set(error)).ok(),
            raised: raised.clone(),
        }
    }

    /// Calls a method. Returns none if this or an earlier call raised an exception.
    fn call<T>(&self, call: impl FnOnce(Python<'_>, &Py<PyAny>) -> PyResult<T>) -> Option<T> {
        let queue = self.queue.as_ref().filter(|_| !self.raised.is_some())?;
        Python::attach(|py| call(py, queue))
            .map_err(|error| self.raised.set(error))
            .ok()
    }

    /// Calls a method with a context, and then executes the drops and marks that it requested.
    fn call_with<T>(
        &self,
        context: &mut Context<'_>,
        call: impl FnOnce(Python<'_>, &Py<PyAny>, &Py<QueueContext>) -> PyResult<T>,
    ) -> Option<T> {
        let given = QueueContext {
            now: context.now,
            framing: context.framing,
            random: context.random.clone(),
            verdicts: Vec::new(),
        };
        let (answer, random, verdicts) = self.call(|py, queue| {
            let given = Py::new(py, given)?;
            let answer = call(py, queue, &given)?;
            let mut given = given.borrow_mut(py);
            let verdicts = std::mem::take(&mut given.verdicts);
            Ok((answer, given.random.clone(), verdicts))
        })?;
        *context.random = random;
        for Verdict {
            packet,
            reason,
            marked,
        } in verdicts
        {
            if marked {
                let verdict = goodqueue_queue::Verdict::Marked(packet, reason);
                context.verdicts.push(verdict);
            } else {
                self.release(context, &packet);
                context.drop(packet, reason);
            }
        }
        Some(answer)
    }

    /// Releases the bytes of a packet, if the queue holds at least this number.
    fn release(&self, context: &mut Context<'_>, packet: &goodqueue_types::Packet) {
        let bytes = context.frame_bytes(packet);
        if context.account.holds(bytes) {
            context.account.release(bytes);
        } else {
            let message = "the queue dropped or gave more packets than it had";
            self.raised.set(PyValueError::new_err(message));
        }
    }
}

impl QueueDiscipline for PythonQueue {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: goodqueue_types::Packet) {
        let bytes = context.frame_bytes(&packet);
        if self.raised.is_some() || !context.account.reserve(bytes) {
            return context.drop(packet, DropReason::Overlimit);
        }
        self.call_with(context, |py, queue, context| {
            let packet = Py::new(py, Packet(packet))?;
            queue.call_method1(py, "enqueue", (context, packet))
        });
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<goodqueue_types::Packet> {
        let packet = self.call_with(context, |py, queue, context| {
            let packet = queue.call_method1(py, "dequeue", (context,))?;
            let packet = packet.bind(py);
            if packet.is_none() {
                return Ok(None);
            }
            Ok(Some(packet.cast::<Packet>()?.borrow().0))
        })??;
        self.release(context, &packet);
        Some(packet)
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        let seconds = (now - Time::ZERO).as_secs_f64();
        let ready = self.call(|py, queue| {
            if queue.bind(py).hasattr("next_ready")? {
                let ready = queue.call_method1(py, "next_ready", (seconds,))?;
                let ready = ready.extract::<Option<f64>>(py)?;
                // A `Time` reaches 18 million seconds.
                if let Some(time) = ready.filter(|time| !(0.0..1e7).contains(time)) {
                    let message = format!("next_ready gave {time}: write a time in seconds");
                    return Err(PyValueError::new_err(message));
                }
                return Ok(Some(ready));
            }
            Ok(None)
        })?;
        match ready {
            // A queue that never holds packets back may omit `next_ready`.
            None => (self.backlog().packets > 0).then_some(now),
            // The time is a nanosecond late, so that rounding never causes a call too early.
            Some(ready) => ready.map(|ready| {
                if ready <= seconds {
                    return now;
                }
                Time::ZERO + Span::from_secs_f64(ready) + Span(1_000)
            }),
        }
    }

    fn backlog(&self) -> Backlog {
        let told = self.call(|py, queue| {
            let told = queue.call_method0(py, "backlog")?;
            told.extract::<(u64, u64)>(py)
        });
        let (packets, bytes) = told.unwrap_or_default();
        Backlog { packets, bytes }
    }
}

/// The copy is one by `copy.deepcopy`.
impl Clone for PythonQueue {
    fn clone(&self) -> Self {
        let queue = self.call(|py, queue| {
            let copy = py.import("copy")?.getattr("deepcopy")?;
            Ok(copy.call1((queue,))?.unbind())
        });
        Self {
            queue,
            raised: self.raised.clone(),
        }
    }
}

/// Returns the configuration of a link's queue that `factory()` creates.
pub fn python_queue(factory: Py<PyAny>, raised: &Raised) -> CustomQueue {
    let raised = raised.clone();
    CustomQueue {
        name: "python",
        make: Arc::new(move || Box::new(PythonQueue::make(&factory, &raised))),
        limit: Limit::Unlimited,
    }
}

/// Returns the queue that a scenario names as `module:Class`, which gets a limit in packets if its
/// class takes one.
pub fn named_queue(
    py: Python<'_>,
    named: &PythonQueueConfig,
    limit_packets: Option<u64>,
    raised: &Raised,
) -> PyResult<CustomQueue> {
    let class = named_class(py, &named.class, &named.checksum)?;
    let plugins = py.import("goodqueue.runs.plugins")?;
    let factory = plugins.getattr("limited")?.call1((class, limit_packets))?;
    Ok(python_queue(factory.unbind(), raised))
}

/// Checks a queue discipline against every rule. `factory()` creates an empty queue. Returns counts
/// and, if a rule was broken, the rule, the load, the call and a description.
#[pyfunction]
#[pyo3(signature = (factory, *, seed, work_conserving, largest_packet))]
#[expect(clippy::type_complexity, reason = "a tuple is what Python takes apart")]
#[expect(
    clippy::needless_pass_by_value,
    reason = "Python hands over a reference of its own"
)]
pub fn check_queue(
    py: Python<'_>,
    factory: Py<PyAny>,
    seed: u64,
    work_conserving: bool,
    largest_packet: u32,
) -> PyResult<(Bound<'_, PyDict>, Option<(String, String, usize, String)>)> {
    let raised = Raised::default();
    let claims = Claims {
        work_conserving,
        largest_packet,
    };
    let result = conformance::check(
        |_| Box::new(PythonQueue::make(&factory, &raised)),
        claims,
        seed,
    );
    if let Some(error) = raised.take() {
        return Err(error);
    }
    let counts = PyDict::new(py);
    match result {
        Ok(report) => {
            counts.set_item("offered", report.offered)?;
            counts.set_item("sent", report.sent)?;
            counts.set_item("dropped", report.dropped.iter().sum::<u64>())?;
            counts.set_item("marked", report.marked.iter().sum::<u64>())?;
            Ok((counts, None))
        }
        Err(Violation {
            rule,
            load,
            call,
            message,
        }) => Ok((counts, Some((format!("{rule:?}"), load, call, message)))),
    }
}
