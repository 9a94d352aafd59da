//! The hybrid engine: windows and queue as continuous quantities, losses as discrete events.
//!
//! A link that sends a million packets in a round trip costs the packet engine a million events;
//! here it costs some slots of time and an update of each flow's window. `docs/hybrid.md` describes
//! the model, the links on which it agrees with the packet engine, and its cost; MODEL.md gives the
//! reasons.

mod engine;
mod flows;
mod link;
mod noise;
mod outcome;
mod queue;
mod range;
mod whole;

pub use engine::{Stopped, simulate};
pub use link::{
    Acks, Background, Extent, FlowGroup, FluidControl, FluidLink, FluidQueue, FluidSender,
};
pub use outcome::{Cost, FluidFlow, FluidOutcome};
pub use range::{MIN_BUFFER, MIN_WINDOW, OutOfRange, range};
