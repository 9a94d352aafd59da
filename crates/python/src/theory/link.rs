//! Links of `goodqueue.sizing`, and what follows from their description.

#![expect(
    clippy::needless_pass_by_value,
    reason = "Python hands over links and buffers of its own"
)]

use goodqueue_theory::{
    Control, Link, OtherTraffic, Profile, control_words as words_of, rtt_range as even_steps,
    throughput,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A `goodqueue.sizing.link.Link`, by its attributes.
#[derive(FromPyObject)]
struct Described {
    rate_bps: f64,
    rtts_s: Vec<f64>,
    flows: u64,
    packet_bytes: u64,
    framing_bytes: u64,
    local_share: f64,
    congestion_control: String,
    controls: Vec<(String, f64)>,
    profile: Option<String>,
    min_utilization: f64,
    max_loss_rate: Option<f64>,
    max_delay_s: Option<f64>,
    max_window_packets: Option<f64>,
    input_rate_bps: Option<f64>,
    access_rate_bps: Option<f64>,
    paced: bool,
    synchronization: f64,
    byte_counting: bool,
    effective_rtt_s: Option<f64>,
    ack_every: u64,
    configured_packets: Option<u64>,
}

/// A link that Python hands over.
pub struct PyLink(pub Link);

impl<'py> FromPyObject<'_, 'py> for PyLink {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let described: Described = object.extract()?;
        Ok(Self(Link {
            rate_bps: described.rate_bps,
            rtts_s: described.rtts_s,
            flows: described.flows,
            packet_bytes: described.packet_bytes,
            framing_bytes: described.framing_bytes,
            local_share: described.local_share,
            congestion_control: control(&described.congestion_control)?,
            controls: shares(&described.controls)?,
            profile: described.profile.as_deref().map(profile).transpose()?,
            min_utilization: described.min_utilization,
            max_loss_rate: described.max_loss_rate,
            max_delay_s: described.max_delay_s,
            max_window_packets: described.max_window_packets,
            input_rate_bps: described.input_rate_bps,
            access_rate_bps: described.access_rate_bps,
            paced: described.paced,
            synchronization: described.synchronization,
            byte_counting: described.byte_counting,
            effective_rtt_s: described.effective_rtt_s,
            ack_every: described.ack_every,
            configured_packets: described.configured_packets,
        }))
    }
}

fn control(name: &str) -> PyResult<Control> {
    let unknown = || PyValueError::new_err(format!("unknown congestion control {name}"));
    Control::named(name).ok_or_else(unknown)
}

fn shares(named: &[(String, f64)]) -> PyResult<Vec<(Control, f64)>> {
    let shares = named
        .iter()
        .map(|(name, share)| Ok((control(name)?, *share)));
    shares.collect()
}

fn profile(name: &str) -> PyResult<Profile> {
    match name {
        "linux" => Ok(Profile::Linux),
        "rfc" => Ok(Profile::Rfc),
        _ => Err(PyValueError::new_err(format!("unknown profile {name}"))),
    }
}

/// Quantities that follow from the description of a link.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Derived(Link);

#[pymethods]
impl Derived {
    #[new]
    fn new(link: PyLink) -> Self {
        Self(link.0)
    }

    #[getter]
    fn frame_bytes(&self) -> u64 {
        self.0.frame_bytes()
    }

    #[getter]
    fn packet_time_s(&self) -> f64 {
        self.0.packet_time_s()
    }

    #[getter]
    fn mean_rtt_s(&self) -> f64 {
        self.0.mean_rtt_s()
    }

    #[getter]
    fn harmonic_rtt_s(&self) -> f64 {
        self.0.harmonic_rtt_s()
    }

    #[getter]
    fn grows_fast(&self) -> bool {
        self.0.grows_fast()
    }

    #[getter]
    fn bdp_packets(&self) -> f64 {
        self.0.bdp_packets()
    }

    #[getter]
    fn local_rate_bps(&self) -> f64 {
        self.0.local_rate_bps()
    }

    #[getter]
    fn local_bdp_packets(&self) -> f64 {
        self.0.local_bdp_packets()
    }

    #[getter]
    fn window_packets(&self) -> f64 {
        self.0.window_packets()
    }

    #[getter]
    fn decrease(&self) -> Option<f64> {
        self.0.decrease()
    }

    #[getter]
    fn paces(&self) -> bool {
        self.0.paces()
    }

    #[getter]
    fn needs_marks(&self) -> bool {
        self.0.needs_marks()
    }

    /// Returns the transmission time of this number of packets in seconds.
    fn seconds(&self, packets: f64) -> f64 {
        self.0.seconds(packets)
    }
}

/// Traffic of a link beside its long flows, as a dictionary.
#[derive(IntoPyObject)]
pub struct Others {
    remote_flows: u64,
    remote_rate_bps: f64,
    limited_flows: u64,
    limited_rate_bps: f64,
    short_rate_bps: f64,
}

/// Returns the traffic of a link beside its long flows.
#[pyfunction]
pub fn other_traffic(link: PyLink) -> Others {
    let other = OtherTraffic::from_link(&link.0);
    Others {
        remote_flows: other.remote_flows,
        remote_rate_bps: other.remote_rate_bps,
        limited_flows: other.limited_flows,
        limited_rate_bps: other.limited_rate_bps,
        short_rate_bps: other.short_rate_bps,
    }
}

/// Returns evenly spaced round-trip times in seconds with both ends; one if both ends are the same.
#[pyfunction]
pub fn rtt_range(first_s: f64, last_s: f64, steps: usize) -> Vec<f64> {
    even_steps(first_s, last_s, steps)
}

/// A congestion control, as a dictionary.
#[derive(IntoPyObject)]
pub struct ControlFacts {
    name: &'static str,
    decrease: Option<f64>,
    rate_based: bool,
    needs_marks: bool,
    paces: bool,
}

/// Returns the congestion controls that the theory knows.
#[pyfunction]
pub fn theory_controls() -> Vec<ControlFacts> {
    let facts = Control::ALL.into_iter().map(|control| ControlFacts {
        name: control.name(),
        decrease: control.decrease(),
        rate_based: control.is_rate_based(),
        needs_marks: control.needs_marks(),
        paces: control.paces(),
    });
    facts.collect()
}

/// Returns controls with their shares of the flows in the form in which they can be typed.
#[pyfunction]
pub fn control_words(named: Vec<(String, f64)>) -> PyResult<String> {
    Ok(words_of(&shares(&named)?))
}

/// Returns the seconds between two losses of a flow with linear growth.
#[pyfunction]
pub fn linear_epoch_s(window_packets: f64, rtt_s: f64, given_up: f64, ack_every: u64) -> f64 {
    throughput::linear_epoch_s(window_packets, rtt_s, given_up, ack_every)
}

/// Returns the seconds that CUBIC needs to reach the window of its last loss.
#[pyfunction]
pub fn cubic_epoch_s(window_packets: f64) -> f64 {
    throughput::cubic_epoch_s(window_packets)
}
