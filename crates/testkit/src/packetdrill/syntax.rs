//! What a script says, before anybody asks what it means.

/// A parsed script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Lines such as `--tolerance_usecs=10000`, without the dashes: name, value, line.
    pub options: Vec<(String, String, usize)>,
    /// Commands before the first event.
    pub setup: Vec<Command>,
    /// Everything that has a time, in order.
    pub events: Vec<Event>,
}

/// The text of a back-quoted command.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Where it begins.
    pub line: usize,
    /// The text between the quotes.
    pub text: String,
}

/// One thing that happens or must be seen to happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Where it begins.
    pub line: usize,
    /// When.
    pub when: When,
    /// What.
    pub step: Step,
}

/// When an event is due, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct When {
    /// Counted from the event before rather than from the start of the script.
    pub relative: bool,
    /// Earliest time; `None` is any time at all (`*`).
    pub start: Option<u64>,
    /// Latest time, of a range `a~b`.
    pub end: Option<u64>,
    /// When a system call that blocks returns (`a...b`).
    pub returns: Option<u64>,
}

/// What an event is.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A shell command.
    Command(String),
    /// A block of assertions.
    Code(String),
    /// A packet from the network to us.
    Inbound(PacketSpec),
    /// A packet that we must send.
    Outbound(PacketSpec),
    /// A system call of the application.
    Call(Call),
}

/// A system call with what it must return.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// Its arguments as written, split at the outermost commas.
    pub arguments: Vec<String>,
    /// What it returns; `None` is anything (`...`).
    pub returns: Option<i64>,
    /// The error's name, if it returns one.
    pub errno: Option<String>,
}

/// A packet as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketSpec {
    /// The ECN field, if the script names it.
    pub ecn: Option<EcnSpec>,
    /// Flag letters, sorted as written.
    pub flags: String,
    /// First sequence number.
    pub seq: u64,
    /// Payload bytes.
    pub payload: u64,
    /// Acknowledgement number.
    pub ack: Option<u64>,
    /// The window field, unscaled.
    pub window: Option<u64>,
    /// Options; `None` is anything (`<...>`).
    pub options: Option<Vec<OptionSpec>>,
}

/// What a script demands of the ECN field.
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

/// A TCP option. Padding is dropped by the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionSpec {
    /// Maximum segment size.
    Mss(u64),
    /// SACK permitted.
    SackPermitted,
    /// SACK blocks, first to last.
    Sack(Vec<(u64, u64)>),
    /// Window scale.
    WindowScale(u64),
    /// Timestamps: value and echo.
    Timestamps(u64, u64),
}

/// Why a script cannot be run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is wrong, or says something this interpreter does not know: a failure.
    Malformed(usize, String),
    /// It tests what is known and not modelled.
    NotApplicable(usize, String),
}
