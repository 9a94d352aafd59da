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
mod connection;
mod maybe;
mod ranges;
mod receive;
mod sender;

pub use config::profiles::Profile;
pub use config::{
    AccEcnReports, AckRule, CongestionControlConfig, CubicVariant, DecreaseBasis, Details,
    DuplicateAckRule, DuplicateAcksAtTimeout, EcnMode, FastOpen, FastRetransmitGuard, Handshake,
    IdleRestart, InitialSsthresh, InitialWindow, LossDetection, PartialAckTimer, ReceiveWindowRule,
    Recovery, RecoveryExit, RecoveryWindow, RtoConfig, RttEstimatorConfig, SackVariant, SlowStart,
    SynLossRule, TcpConfig, TimingRule, WindowArithmetic,
};
pub use connection::endpoint::{ENDLESS, TcpEndpoint};
pub use connection::feedback::AccEcnCounts;
pub use connection::stats::{CaState, ConnectionState, Phase, TcpInfo, TcpStats};
pub use connection::time_wait::TimeWait;
pub use sender::in_flight::record::RECORD_BYTES;
pub use sender::limits::{Limited, TimeLimited};
