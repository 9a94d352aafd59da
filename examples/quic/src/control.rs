//! quinn's congestion controls, with a meter of round-trip times and with planted faults.

use crate::entropy;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A congestion control of quinn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// `NewReno` of RFC 9002.
    NewReno,
    /// CUBIC of RFC 8312, quinn's default.
    Cubic,
    /// BBR version 1, which quinn calls experimental.
    Bbr,
}

impl Control {
    /// Words of the controls.
    pub const WORDS: [(&str, Self); 3] = [
        ("reno", Self::NewReno),
        ("cubic", Self::Cubic),
        ("bbr", Self::Bbr),
    ];
}

/// A fault that is planted into a control, to see which test finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No loss and no mark reduces the window.
    NoReduction,
    /// No mark reduces the window.
    EcnIgnored,
    /// What the window allows leaves at once.
    NoPacing,
}

impl Fault {
    /// Words of the faults.
    pub const WORDS: [(&str, Self); 3] = [
        ("no-reduction", Self::NoReduction),
        ("ecn-ignored", Self::EcnIgnored),
        ("no-pacing", Self::NoPacing),
    ];
}

/// A window in bytes for which quinn does not pace (`Pacer::delay`).
const UNPACED: u64 = 1 << 40;

/// Round-trip time of the packet that was acknowledged last, in nanoseconds, or 0 if it has been taken.
pub type Sample = Arc<AtomicU64>;

/// Builds the controls of one endpoint.
pub struct Controls {
    /// The control.
    pub control: Control,
    /// Its fault, if it has one.
    pub fault: Option<Fault>,
    /// Place of the round-trip times.
    pub sample: Sample,
    /// Seed of a control that draws.
    pub seed: u64,
    /// Number of controls that were built.
    pub built: AtomicU64,
}

impl ControllerFactory for Controls {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = match self.control {
            Control::NewReno => Arc::new(NewRenoConfig::default()).build(now, mtu),
            Control::Cubic => Arc::new(CubicConfig::default()).build(now, mtu),
            Control::Bbr => {
                let built = self.built.fetch_add(1, Ordering::Relaxed);
                entropy::with_seed(self.seed ^ built.wrapping_mul(0x9E37_79B9), || {
                    Arc::new(BbrConfig::default()).build(now, mtu)
                })
            }
        };
        Box::new(Watched {
            inner,
            fault: self.fault,
            sample: Arc::clone(&self.sample),
            in_flight: 0,
            mtu,
        })
    }
}

/// A control that notes round-trip times.
struct Watched {
    inner: Box<dyn Controller>,
    fault: Option<Fault>,
    sample: Sample,
    /// Bytes that were sent, and neither acknowledged nor lost.
    in_flight: u64,
    /// Bytes of the largest packet.
    mtu: u16,
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.in_flight += bytes;
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let sample = now.saturating_duration_since(sent).as_nanos();
        self.sample.store(sample as u64, Ordering::Relaxed);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.in_flight = in_flight;
        self.inner
            .on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        // quinn reports a mark as an event without lost bytes.
        let is_mark = lost_bytes == 0;
        match self.fault {
            Some(Fault::NoReduction) => {}
            Some(Fault::EcnIgnored) if is_mark => {}
            _ => self
                .inner
                .on_congestion_event(now, sent, is_persistent_congestion, lost_bytes),
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu;
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        let window = self.inner.window();
        // quinn asks once if the next packet fits into the window, and then paces by the window.
        let fits = self.in_flight + u64::from(self.mtu) < window;
        if self.fault == Some(Fault::NoPacing) && fits {
            return UNPACED;
        }
        window
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            fault: self.fault,
            sample: Arc::clone(&self.sample),
            in_flight: self.in_flight,
            mtu: self.mtu,
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
