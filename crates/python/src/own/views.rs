//! The view that a control in Python has of its connection.

use goodqueue_learn::Report;
use goodqueue_tcp::TcpConfig;
use goodqueue_tcp::cc::{AckSample, CongestionEvent, CongestionSignal, MarkSample};
use goodqueue_types::{Span, Time};
use pyo3::prelude::*;

fn seconds(time: Time) -> f64 {
    (time - Time::ZERO).as_secs_f64()
}

/// Configuration of a connection whose control is created.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Connection {
    mss: u32,
    initial_window: u64,
    initial_ssthresh: u64,
}

impl Connection {
    pub fn new(config: &TcpConfig) -> Self {
        Self {
            mss: config.mss,
            initial_window: config.initial_window.bytes(config.mss),
            initial_ssthresh: config.initial_ssthresh_bytes(),
        }
    }
}

#[pymethods]
impl Connection {
    /// Largest payload of a segment, in bytes.
    #[getter]
    fn mss_bytes(&self) -> u32 {
        self.mss
    }

    /// Congestion window with which the connection starts, in bytes.
    #[getter]
    fn initial_window_bytes(&self) -> u64 {
        self.initial_window
    }

    /// Slow-start threshold with which the connection starts, in bytes; infinite without one.
    #[getter]
    fn initial_ssthresh_bytes(&self) -> f64 {
        match self.initial_ssthresh {
            u64::MAX => f64::INFINITY,
            bytes => bytes as f64,
        }
    }
}

/// Information of an ACK. Byte counts are of payload.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Ack(pub AckSample);

#[pymethods]
impl Ack {
    /// Time at which the ACK arrived, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        seconds(self.0.now)
    }

    /// Bytes by which the window may grow: newly acknowledged ones; 0 if the window was not used.
    #[getter]
    fn acked_bytes(&self) -> u64 {
        self.0.acked
    }

    /// Bytes that the ACK shows to be delivered, in order or selectively.
    #[getter]
    fn delivered_bytes(&self) -> u64 {
        self.0.measured().delivered
    }

    /// Bytes that the sender considers lost since the ACK before.
    #[getter]
    fn lost_bytes(&self) -> u64 {
        self.0.measured().lost
    }

    /// Round-trip time of the newest segment that the ACK shows to be delivered, in seconds; None
    /// if there is none (Karn).
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        let rtt = self.0.measured().rtt.or(self.0.rtt);
        rtt.map(Span::as_secs_f64)
    }

    /// Bytes in flight after the ACK.
    #[getter]
    fn in_flight_bytes(&self) -> u64 {
        self.0.measured().in_flight
    }

    /// Bytes in flight before the ACK.
    #[getter]
    fn prior_in_flight_bytes(&self) -> u64 {
        self.0.measured().prior_in_flight
    }

    /// Acknowledgement number. A round trip has passed when it reaches an earlier `sent_to`.
    #[getter]
    fn acked_to(&self) -> u64 {
        self.0.acked_to
    }

    /// Highest sequence number sent.
    #[getter]
    fn sent_to(&self) -> u64 {
        self.0.sent_to
    }

    /// True if the sender is in fast recovery.
    #[getter]
    fn in_recovery(&self) -> bool {
        self.0.in_recovery
    }

    /// True if the sender repairs losses by go-back-N after a timeout.
    #[getter]
    fn after_timeout(&self) -> bool {
        self.0.after_timeout
    }

    /// True if the window limited sending, False if the application did.
    #[getter]
    fn is_window_limited(&self) -> bool {
        self.0.is_window_limited
    }
}

/// A loss, a congestion mark or a timeout that requires a smaller window.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Loss(pub CongestionEvent);

#[pymethods]
impl Loss {
    /// Time at which the sender noticed it, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        seconds(self.0.now)
    }

    /// Bytes from which the decrease is computed: those in flight, or the window, as the profile
    /// says.
    #[getter]
    fn basis_bytes(&self) -> f64 {
        self.0.basis
    }

    /// True if the signal was an ECN echo and not a loss.
    #[getter]
    fn is_mark(&self) -> bool {
        self.0.signal == CongestionSignal::EcnEcho
    }

    /// Share of the basis that remains, if the signal decides and not the control (RFC 8511).
    #[getter]
    fn kept_share(&self) -> Option<f64> {
        self.0.kept
    }
}

/// Information of an ACK about congestion marks, on a connection with ECN.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Marks(pub MarkSample);

#[pymethods]
impl Marks {
    /// Bytes newly acknowledged in order.
    #[getter]
    fn acked_bytes(&self) -> u64 {
        self.0.acked
    }

    /// Bytes that the receiver reports as marked.
    #[getter]
    fn marked_bytes(&self) -> u64 {
        self.0.marked
    }
}

/// Sums over an interval. Byte counts are of payload.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct IntervalReport(pub Report);

#[pymethods]
impl IntervalReport {
    /// Time of the ACK that ended the interval, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        seconds(self.0.to)
    }

    /// Length of the interval, in seconds.
    #[getter]
    fn length_s(&self) -> f64 {
        self.0.length_s()
    }

    /// Number of ACKs.
    #[getter]
    fn acks(&self) -> u32 {
        self.0.acks
    }

    /// Bytes that ACKs showed to be delivered.
    #[getter]
    fn delivered_bytes(&self) -> u64 {
        self.0.delivered
    }

    /// Bytes that the sender considered lost.
    #[getter]
    fn lost_bytes(&self) -> u64 {
        self.0.lost
    }

    /// Bytes that were sent, new ones and retransmissions.
    #[getter]
    fn sent_bytes(&self) -> u64 {
        self.0.sent
    }

    /// Bytes in flight at the end.
    #[getter]
    fn in_flight_bytes(&self) -> u64 {
        self.0.in_flight
    }

    /// Delivered bits per second.
    #[getter]
    fn delivery_rate_bps(&self) -> f64 {
        self.0.per_second(self.0.delivered)
    }

    /// Sent bits per second.
    #[getter]
    fn send_rate_bps(&self) -> f64 {
        self.0.per_second(self.0.sent)
    }

    /// Mean of the round-trip times, in seconds; None without one.
    #[getter]
    fn mean_rtt_s(&self) -> Option<f64> {
        self.0.mean_rtt_s()
    }

    /// Smallest round-trip time of the interval, in seconds; None without one.
    #[getter]
    fn min_rtt_s(&self) -> Option<f64> {
        self.0.min_rtt.map(Span::as_secs_f64)
    }

    /// Smallest round-trip time of the connection so far, in seconds; None without one.
    #[getter]
    fn base_rtt_s(&self) -> Option<f64> {
        self.0.base_rtt.map(Span::as_secs_f64)
    }

    /// Change of the round-trip time over time, from a least-squares line, without unit.
    #[getter]
    fn rtt_gradient(&self) -> f64 {
        self.0.rtt_gradient
    }

    /// Number of loss events.
    #[getter]
    fn loss_events(&self) -> u32 {
        self.0.loss_events
    }

    /// Number of retransmission timeouts.
    #[getter]
    fn timeouts(&self) -> u32 {
        self.0.timeouts
    }
}
