//! The packet-level simulator, which turns a [`Network`] into an [`Outcome`].

/// Version of the results of runs. It increases by one whenever any figure of any scenario may have
/// changed. Stores of results use it to decide which runs to repeat.
pub const RESULTS_VERSION: u32 = 11;

mod engine;
pub mod footprint;
mod host;
mod link;
mod measure;
mod network;
pub mod workload;

pub use engine::in_order::InOrder;
pub use engine::probe::{NoProbe, Probe, Recorder};
pub use engine::routing::TieOrder;
pub use engine::{Simulation, run, run_probed, run_traced, run_while};
pub use goodqueue_tcp::{Limited, TimeLimited};
pub use host::agent::{Agent, agents, flow_outcome, receiver_of};
pub use host::ideal::IdealPath;
pub use host::interface::InterfaceConfig;
pub use link::autorate::{
    Autorate, AutorateConfig, AutorateLaw, AutorateProcess, AutorateState, CakeAutorate, Load,
    Reply, SqmAutorate,
};
pub use link::bottleneck::{Bottleneck, BottleneckEvent, PacketFate};
pub use link::impairment::{
    Duplicate, Fate, ImpairmentProcess, Impairments, Interrupts, Jitter, Reorder,
};
pub use link::loss::{
    GilbertElliott, IndependentLoss, LossConfig, LossLaw, LossOf, LossProcess, LossScope,
    LossState, LossUnit,
};
pub use link::pause::PauseConfig;
pub use link::service::{
    BYTES_PER_OPPORTUNITY, DeliveryTrace, MAX_OPPORTUNITIES, MarkovRates, RateFile, RateStep,
    RateTrace, ServiceConfig, ServiceLaw, ServiceState, Stretch, Stretches, UniformRates,
    VaryingRate,
};
pub use link::shared_buffer::{Buffer, SharedBuffer, shared_buffers};
pub use measure::e_model;
pub use measure::fairness::{Fairness, add_fairness};
pub use measure::flow_class::{FlowClass, LimitedOutcome};
pub use measure::life::{Happening, Life, LifeProbe, LifeRange, Moment, SenderState, Turn};
pub use measure::link_meter::{LinkMeter, Window};
pub use measure::loss_bursts::meters;
pub use measure::outcome::{
    AutorateOutcome, AverageQueue, BusyPeriods, Distribution, FlowOutcome, LinkOutcome,
    LossBurstOutcome, OneWayDelay, Outcome, PauseOutcome, PoolOutcome, Series, Totals,
};
pub use measure::signals::{Signal, Signals};
pub use network::{
    BetweenLosses, Equipment, FlowConfig, LinkConfig, Network, PoolConfig, Record, WorkloadConfig,
};
pub use workload::foreign::{Batch, Endpoint, Placement, Progress, Stack};
pub use workload::law::{ChanceLaw, Drawn, Empirical, Law, Points, SIZES, TIMES};
pub use workload::session::{
    AppOutcome, ExchangesConfig, Intervals, Metric, ResponsivenessConfig, SessionConfig,
    TransferWay, TransfersConfig, VideoConfig, WebConfig,
};
pub use workload::{
    EchoReply, GameConfig, KIND as KIND_OF_WORKLOAD, PacketSize, SourceConfig, SpeechCodec,
    StreamConfig, VoiceConfig, WORKLOADS,
};
