//! What limited a flow, and where: the truth that estimators from packet traces are judged by.

use crate::signals::Signal;
use crate::{FlowConfig, WorkloadConfig};
use goodqueue_tcp::{Limited, TimeLimited};
use goodqueue_types::{LinkId, Span};

/// What kept a TCP flow from going faster, for most of the time that it had something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowClass {
    /// The peer's window.
    Window,
    /// It had too little to send: it waited for its own opening or its last acknowledgements, or
    /// ended before it met congestion.
    Size,
    /// The congestion control.
    Congestion,
}

impl FlowClass {
    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Size => "size",
            Self::Congestion => "congestion",
        }
    }
}

/// What limited a TCP flow in the window.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitedOutcome {
    /// Seconds of each cause, at the index `limited as usize`.
    pub seconds: [f64; Limited::COUNT],
    /// The link that dropped and marked most of its data packets, the first on the way if several
    /// did.
    pub bottleneck: Option<LinkId>,
    /// None if the flow did nothing in the window.
    pub class: Option<FlowClass>,
}

impl LimitedOutcome {
    /// What the times and the signals say of a flow.
    pub fn new(config: &FlowConfig, times: &TimeLimited, signals: &[Signal]) -> Option<Self> {
        let (endless, both_ways) = match config.workload {
            WorkloadConfig::Bulk { bytes, .. } => (bytes.is_none(), false),
            WorkloadConfig::Echo { bytes, .. } => (bytes.is_none(), true),
            WorkloadConfig::Session { .. } => (false, true),
            _ => return None,
        };
        let of_data = |signal: &&Signal| both_ways || signal.is_forward();
        let signals = || signals.iter().filter(of_data);
        let strength = |link: LinkId| -> u64 {
            let here = signals().filter(|signal| signal.link() == link);
            here.map(Signal::strength).sum()
        };
        let way = config.forward.iter().chain(&config.reverse);
        // The first of those that are as strong: `max_by_key` takes the last.
        let strongest = way.rev().max_by_key(|link| strength(**link));
        let bottleneck = strongest.copied().filter(|link| strength(*link) > 0);
        Some(Self {
            seconds: times.map(Span::as_secs_f64),
            bottleneck,
            class: classify(times, endless, bottleneck.is_some()),
        })
    }
}

fn classify(times: &TimeLimited, endless: bool, signalled: bool) -> Option<FlowClass> {
    let time = |limited: Limited| times[limited as usize];
    let congestion = time(Limited::Congestion);
    let window = time(Limited::ReceiverWindow);
    let size = time(Limited::Handshake) + time(Limited::Application);
    let most = congestion.max(window).max(size);
    if most == Span::ZERO {
        return None;
    }
    let class = if window == most {
        FlowClass::Window
    } else if size == most || !endless && !signalled {
        FlowClass::Size
    } else {
        FlowClass::Congestion
    };
    Some(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_time_decides() {
        let times = |handshake, congestion, window, application| {
            [0, handshake, congestion, window, application].map(Span::from_millis)
        };
        let class = |times, endless, signalled| classify(&times, endless, signalled);
        let long = times(40, 900, 30, 40);
        assert_eq!(class(long, true, true), Some(FlowClass::Congestion));
        assert_eq!(class(long, true, false), Some(FlowClass::Congestion));
        // It never left slow start.
        assert_eq!(class(long, false, false), Some(FlowClass::Size));
        assert_eq!(
            class(times(40, 9, 30, 0), true, true),
            Some(FlowClass::Size)
        );
        assert_eq!(
            class(times(40, 9, 41, 0), true, true),
            Some(FlowClass::Window)
        );
        assert_eq!(class(times(0, 0, 0, 0), true, true), None);
    }
}
