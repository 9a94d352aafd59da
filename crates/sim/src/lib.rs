//! The packet-level simulator, which turns a [`Network`] into an [`Outcome`].

/// Version of the results of runs. It increases by one whenever any figure of any scenario may have
/// changed. Stores of results use it to decide which runs to repeat.
pub const RESULTS_VERSION: u32 = 7;

mod agent;
mod delay_meter;
pub mod e_model;
mod engine;
mod event_queue;
mod fairness;
mod flow_class;
pub mod footprint;
mod ideal;
mod impaired_path;
mod impairment;
mod in_order;
mod law;
mod life;
mod line;
mod link;
mod link_meter;
mod loss;
mod loss_bursts;
mod network;
mod outcome;
mod path;
mod probe;
mod routing;
mod served_link;
mod service;
mod shared_buffer;
mod signals;
pub mod workload;

pub use agent::{Agent, agents, flow_outcome, receiver_of};
pub use engine::{Simulation, run, run_probed, run_traced, run_while};
pub use fairness::{Fairness, add_fairness};
pub use flow_class::{FlowClass, LimitedOutcome};
pub use goodqueue_tcp::{Limited, TimeLimited};
pub use ideal::IdealPath;
pub use impairment::{Fate, ImpairmentProcess, Impairments, Jitter, Reorder};
pub use in_order::InOrder;
pub use law::{Empirical, Law};
pub use life::{Happening, Life, LifeProbe, LifeRange, Moment, SenderState, Turn};
pub use link_meter::{LinkMeter, Window};
pub use loss::{LossConfig, LossModel, LossOf, LossProcess, LossUnit};
pub use loss_bursts::meters;
pub use network::{
    BetweenLosses, Equipment, FlowConfig, LinkConfig, Network, PacketSize, PoolConfig, Record,
    WorkloadConfig,
};
pub use outcome::{
    AverageQueue, BusyPeriods, Distribution, FlowOutcome, LinkOutcome, LossBurstOutcome,
    OneWayDelay, Outcome, PoolOutcome, Series, Totals,
};
pub use probe::{NoProbe, Probe, Recorder};
pub use routing::TieOrder;
pub use service::{
    BYTES_PER_OPPORTUNITY, DeliveryTrace, MOST_OPPORTUNITIES, RandomRate, RateDraw, RateTrace,
    ServiceConfig, Stretch, Stretches, VaryingRate,
};
pub use shared_buffer::{Buffer, SharedBuffer, shared_buffers};
pub use signals::{Signal, Signals};
pub use workload::session::{
    AppOutcome, ExchangesConfig, Metric, SessionConfig, TransfersConfig, VideoConfig, WebConfig,
};
pub use workload::{EchoReply, GameConfig, Updates, VoiceConfig};
