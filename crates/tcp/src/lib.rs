//! Sans-IO TCP endpoints.
//!
//! An endpoint is full-duplex and has no clock, network or timer. Its owner calls it with the time
//! and carries the segments that it sends.
//!
//! ```
//! use goodqueue_tcp::{Profile, TcpConfig, TcpEndpoint};
//! use goodqueue_types::Time;
//! use std::sync::Arc;
//!
//! let config = Arc::new(TcpConfig::profile(Profile::Rfc));
//! let (mut client, mut server) = (TcpEndpoint::new(config.clone()), TcpEndpoint::new(config));
//! server.listen();
//! client.connect(Time::ZERO);
//! client.write(1000);
//! // A network without delay or loss: carry segments across until both fall silent.
//! loop {
//!     let sent = client.poll_transmit(Time::ZERO);
//!     let answered = server.poll_transmit(Time::ZERO);
//!     if sent.is_none() && answered.is_none() {
//!         break;
//!     }
//!     sent.inspect(|segment| server.handle_segment(Time::ZERO, segment));
//!     answered.inspect(|segment| client.handle_segment(Time::ZERO, segment));
//! }
//! assert_eq!(server.stats().delivered_bytes, 1000);
//! ```

pub mod cc;
mod config;
mod delayed_ack;
mod ecn;
mod endpoint;
mod ledger;
mod limits;
mod meter;
mod opening;
mod pacing;
mod profiles;
mod prr;
mod rack;
mod ranges;
mod rate;
mod reassembly;
mod receive_window;
mod receiver;
mod records;
mod recovery;
mod reset;
mod rtt;
mod sack;
mod scoreboard;
mod sender;
mod sending;
mod stamps;
mod states;
mod stats;
mod time_wait;
mod timers;
mod transmit;
mod undo;
mod units;
mod validation;

pub use config::{
    AckRule, CongestionControlConfig, CubicVariant, DecreaseBasis, Details, DuplicateAckRule,
    DuplicateAcksAtTimeout, EcnMode, FastRetransmitGuard, Handshake, IdleRestart, InitialSsthresh,
    InitialWindow, LossDetection, PartialAckTimer, ReceiveWindowRule, Recovery, RecoveryExit,
    RecoveryWindow, RtoConfig, RttEstimatorConfig, SackVariant, SlowStart, SynLossRule, TcpConfig,
    TimingRule, WindowArithmetic,
};
pub use endpoint::{ENDLESS, TcpEndpoint};
pub use limits::{Limited, TimeLimited};
pub use profiles::Profile;
pub use records::RECORD_BYTES;
pub use stats::{CaState, ConnectionState, Phase, TcpInfo, TcpStats};
pub use time_wait::TimeWait;
