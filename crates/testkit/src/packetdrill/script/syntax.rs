//! The syntax tree of a script.

use goodqueue_types::AccEcnOption;

/// A parsed script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Options such as `--tolerance_usecs=10000`: name without the dashes, value, line.
    pub options: Vec<(String, String, usize)>,
    /// Commands before the first event.
    pub setup: Vec<Command>,
    /// Events, which have times, in their order.
    pub events: Vec<Event>,
}

/// A back-quoted command.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Line at which the command begins.
    pub line: usize,
    /// Text between the quotes.
    pub text: String,
}

/// One event: an action, or a packet that the endpoint must send.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Line at which the event begins.
    pub line: usize,
    /// Time of the event.
    pub when: When,
    /// Action or expectation.
    pub step: Step,
}

/// Time at which an event is due, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct When {
    /// True if the time counts from the previous event, false if from the start of the script.
    pub relative: bool,
    /// Earliest time; none if the script permits any time (`*`).
    pub start: Option<u64>,
    /// Latest time, of a range `a~b`.
    pub end: Option<u64>,
    /// Time at which a blocking system call returns (`a...b`).
    pub returns: Option<u64>,
}

/// Action or expectation of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A shell command.
    Command(String),
    /// A block of assertions.
    Code(String),
    /// A packet from the network to the endpoint.
    Inbound(PacketSpec),
    /// A packet that the endpoint must send.
    Outbound(PacketSpec),
    /// A system call of the application.
    Call(Call),
}

/// A system call and its expected result.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Name of the call.
    pub name: String,
    /// Arguments as written, split at the outermost commas.
    pub arguments: Vec<String>,
    /// Expected return value; none if the script permits any (`...`).
    pub returns: Option<i64>,
    /// Name of the expected error, or none.
    pub errno: Option<String>,
}

/// A packet in the script's notation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketSpec {
    /// ECN field, if the script has one.
    pub ecn: Option<EcnSpec>,
    /// Flag letters, in the script's order.
    pub flags: String,
    /// First sequence number.
    pub seq: u64,
    /// Number of payload bytes.
    pub payload: u64,
    /// Acknowledgement number.
    pub ack: Option<u64>,
    /// Window field, unscaled.
    pub window: Option<u64>,
    /// Options; none if the script permits any (`<...>`).
    pub options: Option<Vec<OptionSpec>>,
}

/// The script's condition on the ECN field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnSpec {
    /// Not ECN-capable.
    NotCapable,
    /// ECT(0).
    Capable0,
    /// ECT(1).
    Capable1,
    /// ECT(0) or ECT(1).
    Capable,
    /// Congestion experienced.
    Experienced,
}

/// A TCP option. The parser drops padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionSpec {
    /// Maximum segment size.
    Mss(u64),
    /// SACK permitted.
    SackPermitted,
    /// SACK blocks, in order.
    Sack(Vec<(u64, u64)>),
    /// Window scale.
    WindowScale(u64),
    /// Timestamps: value and echo.
    Timestamps(u64, u64),
    /// Counters of accurate ECN.
    AccEcn(AccEcnOption),
    /// Fast Open.
    FastOpen(Cookie),
}

/// Content of the Fast Open option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cookie {
    /// The cookie as written, empty in a request.
    pub text: String,
    /// True in the option from before RFC 7413, which has an experimental kind (RFC 6994).
    pub is_experimental: bool,
}

/// Reason why a script cannot be run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The script is wrong, or contains a construct that this interpreter does not implement. This
    /// counts as a failure.
    Malformed(usize, String),
    /// The script tests a known feature that is not modelled.
    NotApplicable(usize, String),
}
