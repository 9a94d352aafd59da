//! Congestion control: decides numbers, and nothing else. Loss detection and repair are the
//! sender's.

mod gaimd;
mod reno;
mod window;

use goodqueue_types::{Rate, Span, Time};

pub use gaimd::Gaimd;
pub use reno::Reno;
pub use window::Window;

use crate::config::{CongestionControlConfig, TcpConfig};

/// What a new ACK tells a congestion control.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// When it arrived.
    pub now: Time,
    /// Bytes newly acknowledged.
    pub acked: u64,
    /// The newest round-trip time, if this ACK completed a measurement.
    pub rtt: Option<Span>,
    /// Whether the sender is repairing losses by go-back-N (byte counting then takes L = 1).
    pub after_timeout: bool,
}

/// A loss that asks for a smaller window.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When it was noticed.
    pub now: Time,
    /// What the decrease starts from, in bytes (see `DecreaseBasis`).
    pub basis: f64,
}

/// A congestion control. Windows are in bytes.
pub trait CongestionControl: std::fmt::Debug {
    /// New data were acknowledged outside fast recovery.
    fn on_ack(&mut self, sample: &AckSample);
    /// Duplicate or selective ACKs showed a loss: sets ssthresh, and the window to it.
    fn on_congestion_event(&mut self, event: &CongestionEvent);
    /// The retransmission timer expired. With an event, ssthresh falls; without (the same data
    /// timed out again), it stays. The window becomes one segment.
    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>);
    /// The congestion window without recovery's inflation; a real number in some profiles.
    fn window(&self) -> f64;
    /// Sets the window: recovery's exit, idle restart, the initial window.
    fn set_window(&mut self, bytes: f64);
    /// The slow-start threshold, `u64::MAX` while unlimited.
    fn ssthresh(&self) -> u64;
    /// Sets the slow-start threshold.
    fn set_ssthresh(&mut self, bytes: u64);
    /// The window in whole bytes.
    fn cwnd(&self) -> u64 {
        self.window() as u64
    }
    /// The pace of sending, if the control wants one.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
}

/// The built-in controls, dispatched by match so that the per-ACK path inlines, and any other.
#[derive(Debug)]
pub(crate) enum Controller {
    Reno(Reno),
    Gaimd(Gaimd),
    Custom(Box<dyn CongestionControl + Send>),
}

impl Controller {
    pub fn new(config: &TcpConfig) -> Self {
        let window = Window::new(config);
        match config.congestion_control {
            CongestionControlConfig::Reno => Self::Reno(Reno::new(window)),
            CongestionControlConfig::Gaimd { alpha, beta } => {
                Self::Gaimd(Gaimd::new(window, alpha, beta))
            }
        }
    }
}

macro_rules! dispatch {
    ($self:ident, $control:ident => $call:expr) => {
        match $self {
            Controller::Reno($control) => $call,
            Controller::Gaimd($control) => $call,
            Controller::Custom($control) => $call,
        }
    };
}

impl CongestionControl for Controller {
    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        dispatch!(self, control => control.on_ack(sample));
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        dispatch!(self, control => control.on_congestion_event(event));
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        dispatch!(self, control => control.on_retransmission_timeout(event));
    }

    #[inline]
    fn window(&self) -> f64 {
        dispatch!(self, control => control.window())
    }

    fn set_window(&mut self, bytes: f64) {
        dispatch!(self, control => control.set_window(bytes));
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        dispatch!(self, control => control.ssthresh())
    }

    fn set_ssthresh(&mut self, bytes: u64) {
        dispatch!(self, control => control.set_ssthresh(bytes));
    }

    fn pacing_rate(&self) -> Option<Rate> {
        dispatch!(self, control => control.pacing_rate())
    }
}
