//! The network that a script describes.

use super::settings::Settings;

/// Random losses of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    pub settings: Settings,
    /// Unit of the rate: `pkt` or `byte`.
    pub unit: String,
    /// Numbers of the packets that are lost, from 0, of an `ErrorModel/List`.
    pub list: Vec<u64>,
    /// True if packets are lost behind the queue.
    pub after: bool,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub from: usize,
    pub to: usize,
    pub rate_bps: u64,
    /// Propagation delay in picoseconds.
    pub delay_ps: u64,
    pub queue: Settings,
    pub loss: Option<Loss>,
    pub line: u32,
}

/// Data of an application.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// TCP data: so many segments, or bytes, or without end.
    Segments(u64),
    Bytes(u64),
    Endless,
    /// Datagrams of a source of traffic.
    Traffic(Settings),
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Name of a variable that had the application, or of its agent.
    pub name: String,
    pub from: usize,
    pub to: usize,
    pub start: f64,
    /// Largest random addition to the start.
    pub jitter: f64,
    pub stop: Option<f64>,
    pub work: Work,
    pub agent: Settings,
    /// Congestion control of an `Agent/TCP/Linux`.
    pub control: Option<String>,
    pub sink: Settings,
    pub line: u32,
}

/// The network that a script describes.
#[derive(Clone, Debug)]
pub struct Model {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    pub links: Vec<Link>,
    pub flows: Vec<Flow>,
    /// Time at which the run ends.
    pub end: f64,
    /// Time at which the script reads its counters for the first time, if it does so once.
    pub warmup: Option<f64>,
    pub notes: Vec<String>,
    /// Names of the files that the script reads.
    pub files: Vec<String>,
    /// Number of random draws.
    pub draws: u64,
    /// True if a draw has no largest value.
    pub unbounded: bool,
}
