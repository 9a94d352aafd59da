//! Classification of a flow: its limiting factor, its bottleneck, and its congestion control.

use crate::connection::half::Half;
use crate::loss::Place;
use crate::quantile::quantile;
use crate::sound::share;
use crate::thresholds::Thresholds;

/// Classes of T-RAT for a connection of which both directions were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The flow ended before it left slow start.
    Size,
    /// The application had no data to send most of the time.
    Application,
    /// The receiver's window limited the flow.
    ReceiverWindow,
    /// A constant window of the sender limited the flow.
    SenderWindow,
    /// Loss or marks limited the flow.
    Congestion,
    /// A link limited the flow: it kept its rate without loss, behind a queue.
    Bandwidth,
    /// The capture does not show the limiting factor.
    Unknown,
}

impl Class {
    /// Names in results, each at its index.
    pub const NAMES: [&str; 7] = [
        "size",
        "application",
        "receiver_window",
        "sender_window",
        "congestion",
        "bandwidth",
        "unknown",
    ];
}

/// Place of the bottleneck of a flow that congestion limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// The target link.
    Local,
    /// Another link.
    Remote,
    /// The reductions or losses are too few for a decision.
    Undecided,
}

impl Bottleneck {
    /// Names in results, each at its index.
    pub const NAMES: [&str; 3] = ["local", "remote", "undecided"];
}

/// Congestion control, inferred from the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The window is halved.
    Reno,
    /// The window is reduced to 70 %.
    Cubic,
    /// Single losses have no effect on the window.
    Bbr,
    /// No control fits, or the windows are too few for a decision.
    Unknown,
}

impl Control {
    /// Names in results, each at its index.
    pub const NAMES: [&str; 4] = ["reno", "cubic", "bbr", "unknown"];
}

/// Shares of a flow's time from its first data to its last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    /// Share of time in which the receiver's window was full.
    pub receiver: f64,
    /// Share of time without data to send.
    pub application: f64,
    /// Share of the remaining time.
    pub congestion: f64,
}

/// Returns the shares of time of a direction.
pub fn shares(half: &Half) -> Shares {
    let first = half.first_data.unwrap_or(half.last_data);
    let whole = half.last_data.saturating_sub(first) as f64;
    let Some(application) = share(half.application as f64, whole) else {
        return Shares::default();
    };
    let receiver = half.rounds.receiver_limited() as f64;
    let receiver = share(receiver, whole).map_or(0.0, |share| share.min(1.0 - application));
    Shares {
        receiver,
        application,
        congestion: (1.0 - application - receiver).max(0.0),
    }
}

/// Returns the limiting factor of a direction.
pub fn class(half: &Half, thresholds: &Thresholds) -> Class {
    let counts = &half.counts;
    let mss = f64::from(half.size.bytes());
    let troubled = counts
        .lost
        .iter()
        .chain(&counts.marked)
        .any(|count| *count > 0);
    let shares = shares(half);
    if (counts.bytes as f64) < thresholds.size_segments * mss && !troubled {
        return Class::Size;
    }
    if shares.application >= thresholds.limited_share {
        return Class::Application;
    }
    if shares.receiver >= thresholds.limited_share {
        return Class::ReceiverWindow;
    }
    if troubled {
        return Class::Congestion;
    }
    if half.finished {
        return Class::Size;
    }
    if half.acks == 0 {
        return Class::Unknown;
    }
    if counts.small as f64 > thresholds.small_share * counts.packets as f64 {
        return Class::Application;
    }
    without_loss(half, mss)
}

/// Tests for a constant window as T-RAT does: among the later half of the flights, the middle ones
/// lie within a few segments.
fn without_loss(half: &Half, mss: f64) -> Class {
    let windows = half.rounds.windows.values();
    if windows.len() < 8 {
        return Class::Unknown;
    }
    let mut late = windows[windows.len() / 2..].to_vec();
    late.sort_unstable();
    let at = |q: f64| quantile(&late, q).map_or(0.0, |flight| flight as f64);
    if at(0.8) < at(0.5) + 3.0 * mss && at(0.2) > at(0.5) - 3.0 * mss {
        let queued = queue_of_its_own(half);
        return if queued {
            Class::Bandwidth
        } else {
            Class::SenderWindow
        };
    }
    Class::Congestion
}

/// Returns true if most round trips were well above the shortest one: the flow keeps a queue
/// somewhere.
fn queue_of_its_own(half: &Half) -> bool {
    let (Some(mean), Some(least)) = (half.rtt.mean_s(), half.rtt.by_pairs()) else {
        return false;
    };
    mean > 1.1 * least as f64 * 1e-9 + 0.001
}

/// Returns the bottleneck of a flow limited by congestion. `local` is the place that represents the
/// target link.
pub fn bottleneck(half: &Half, local: Place, thresholds: &Thresholds) -> Bottleneck {
    let counts = &half.counts;
    let at = |place: Place| counts.lost[place as usize] + counts.marked[place as usize];
    let all: u64 = [Place::Target, Place::Upstream, Place::Downstream]
        .map(at)
        .iter()
        .sum();
    let explained = half.rounds.explained[local as usize];
    // If both directions are seen, losses elsewhere are visible too. A reduction that follows no
    // loss (a pause, BBR's measurement of the base RTT) then does not show the place.
    let reductions = half.rounds.after_loss;
    let judged = |part: f64, whole: f64| {
        if part >= thresholds.local_share * whole {
            Bottleneck::Local
        } else if part < thresholds.remote_share * whole {
            Bottleneck::Remote
        } else {
            Bottleneck::Undecided
        }
    };
    // The decision depends on the losses that precede reductions. If these are few or undecided, it
    // depends on all losses.
    let by_reductions = judged(f64::from(explained), f64::from(reductions));
    let enough = f64::from(reductions) >= thresholds.least_reductions;
    if enough && by_reductions != Bottleneck::Undecided {
        return by_reductions;
    }
    if all == 0 {
        return Bottleneck::Undecided;
    }
    if at(local) * 2 > all {
        Bottleneck::Local
    } else {
        Bottleneck::Remote
    }
}

/// Returns the median ratio of the windows after recoveries to those before.
pub fn decrease_factor(half: &Half, thresholds: &Thresholds) -> Option<f64> {
    let mut factors = half.rounds.decreases.values().to_vec();
    if (factors.len() as f64) < thresholds.least_decreases {
        return None;
    }
    factors.sort_unstable_by(f64::total_cmp);
    quantile(&factors, 0.5)
}

/// Infers the congestion control from the decrease factor and from the share of recoveries that
/// reduce the window.
pub fn control(half: &Half, factor: Option<f64>, thresholds: &Thresholds) -> Control {
    let recoveries = half.counts.fast as f64;
    let large = thresholds.least_window_segments * f64::from(half.size.bytes());
    let heedless = f64::from(half.rounds.reductions) < thresholds.bbr_reductions * recoveries;
    if recoveries >= 2.0 * thresholds.least_decreases
        && heedless
        && half
            .rounds
            .mean_flight()
            .is_some_and(|flight| flight >= large)
    {
        return Control::Bbr;
    }
    match factor {
        None => Control::Unknown,
        Some(factor) if factor < 0.35 => Control::Unknown,
        Some(factor) if factor < thresholds.reno_below => Control::Reno,
        Some(factor) if factor < thresholds.bbr_above => Control::Cubic,
        Some(_) => Control::Bbr,
    }
}
