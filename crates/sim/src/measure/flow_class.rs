//! The cause that limited a flow and the link at which it did. This is the ground truth against
//! which estimates from packet traces are judged.

use crate::measure::signals::Signal;
use crate::{FlowConfig, WorkloadConfig};
use goodqueue_tcp::{Limited, TimeLimited};
use goodqueue_types::{LinkId, Span};

/// Cause that limited a TCP flow for most of its active time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowClass {
    /// The peer's receive window.
    Window,
    /// A shortage of data. The flow waited for its handshake or its last acknowledgements, or ended
    /// before it met congestion.
    Size,
    /// Congestion control.
    Congestion,
}

impl FlowClass {
    /// Returns the name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Size => "size",
            Self::Congestion => "congestion",
        }
    }
}

/// Times for which each cause limited a TCP flow in the window.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitedOutcome {
    /// Seconds of each cause, at the index `limited as usize`.
    pub seconds: [f64; Limited::COUNT],
    /// Link that dropped and marked most of the flow's data packets. Among equal links it is the
    /// first on the route.
    pub bottleneck: Option<LinkId>,
    /// Cause that limited the flow for longest, or its window if that often held it back and nothing
    /// else did. None if the flow was not active in the window.
    pub class: Option<FlowClass>,
}

impl LimitedOutcome {
    /// Computes the causes of a flow from their times and from the drops and marks of its packets.
    pub fn new(config: &FlowConfig, times: &TimeLimited, signals: &[Signal]) -> Option<Self> {
        let (endless, both_ways) = match &config.workload {
            WorkloadConfig::Stream { stream, .. } => {
                let endless = stream.bytes().is_none() && config.stop.is_none();
                (endless, !config.workload.is_bulk())
            }
            WorkloadConfig::Session { .. } => (false, true),
            WorkloadConfig::Source(_) | WorkloadConfig::Foreign(_) => return None,
        };
        let of_data = |signal: &&Signal| both_ways || signal.is_forward();
        let signals = || signals.iter().filter(of_data);
        let strength = |link: LinkId| -> u64 {
            let here = signals().filter(|signal| signal.link() == link);
            here.map(Signal::strength).sum()
        };
        let way = config.forward.iter().chain(&config.reverse);
        // `max_by_key` returns the last of several equals, so the reversed order gives the first
        // link.
        let strongest = way.rev().max_by_key(|link| strength(**link));
        let bottleneck = strongest.copied().filter(|link| strength(*link) > 0);
        Some(Self {
            seconds: times.map(Span::as_secs_f64),
            bottleneck,
            class: classify(times, endless, bottleneck.is_some()),
        })
    }
}

/// A receive window that holds a flow back for one part in this number of its active time counts as
/// the cause, if the flow met neither drops nor marks. A flow that paces waits for its pace between
/// two segments, although its window holds its rate down.
const OFTEN_AT_WINDOW: u64 = 4;

fn classify(times: &TimeLimited, endless: bool, signalled: bool) -> Option<FlowClass> {
    let time = |limited: Limited| times[limited as usize];
    let congestion = time(Limited::Congestion);
    let window = time(Limited::ReceiverWindow);
    let size = time(Limited::Handshake) + time(Limited::Application);
    let most = congestion.max(window).max(size);
    if most == Span::ZERO {
        return None;
    }
    let often = window * OFTEN_AT_WINDOW >= congestion + window + size;
    let class = if window == most || often && !signalled {
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
        // This flow never left slow start.
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

    #[test]
    fn a_window_that_paced_data_often_fill_is_the_cause_without_congestion() {
        let times = |congestion, window| [0, 0, congestion, window, 0].map(Span::from_millis);
        let class = |times, signalled| classify(&times, true, signalled);
        assert_eq!(class(times(503, 497), false), Some(FlowClass::Window));
        assert_eq!(class(times(503, 497), true), Some(FlowClass::Congestion));
        assert_eq!(class(times(80, 20), false), Some(FlowClass::Congestion));
    }
}
