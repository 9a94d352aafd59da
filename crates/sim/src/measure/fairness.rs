//! Fairness among long flows that share a link, over the whole window and in each interval of it.

use crate::host::agent::Agent;
use crate::measure::link_meter::Window;
use crate::{Network, Outcome, WorkloadConfig};
use goodqueue_types::{LinkId, Span, Time};

/// Number of intervals into which the window is divided.
pub const INTERVALS: usize = 100;

/// Jain's index of the goodputs of bulk flows, and of foreign stacks, whose data cross a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fairness {
    /// Index over the whole window, among flows that were active throughout. None for fewer than
    /// two.
    pub index: Option<f64>,
    /// Mean over the intervals of the index among flows that were active throughout the interval.
    pub mean: Option<f64>,
    /// Smallest index of an interval.
    pub min: Option<f64>,
    /// Length of an interval in seconds.
    pub interval_s: f64,
}

/// Lifetime of a bulk flow, and the bytes that it delivered in an interval, by the interval's
/// number.
struct Delivery<B> {
    from: Time,
    to: Time,
    bytes: B,
}

/// Returns the length of an interval.
pub fn interval(window: Window) -> Span {
    window.to.saturating_since(window.from) / INTERVALS as u64
}

/// Adds the fairness at each link to an outcome. `agents` gives client and server of each flow in
/// turn.
pub fn add_fairness<'a>(
    outcome: &mut Outcome,
    network: &Network,
    agents: impl Iterator<Item = (&'a Agent, &'a Agent)>,
) {
    let window = Window {
        from: network.warmup,
        to: network.end,
    };
    let mut of_links: Vec<Vec<usize>> = vec![Vec::new(); outcome.links.len()];
    let observed = network.links.iter().map(|link| link.observed);
    let places = observed.scan(0, |before, observed| {
        let place = observed.then_some(*before);
        *before += usize::from(observed);
        Some(place)
    });
    let places: Vec<Option<usize>> = places.collect();
    let mut deliveries = Vec::new();
    for (flow, (client, server)) in network.flows.iter().zip(agents) {
        let is_foreign = matches!(flow.workload, WorkloadConfig::Foreign(_));
        if !is_foreign && !flow.workload.is_bulk() {
            continue;
        }
        for LinkId(link) in &flow.forward {
            if let Some(place) = places[*link as usize] {
                of_links[place].push(deliveries.len());
            }
        }
        deliveries.push(Delivery {
            from: flow.start,
            to: client.finished_at().unwrap_or(Time::MAX),
            bytes: |interval| server.delivered_in(interval),
        });
    }
    for (link, flows) in outcome.links.iter_mut().zip(&of_links) {
        let flows: Vec<&Delivery<_>> = flows.iter().map(|flow| &deliveries[*flow]).collect();
        link.fairness = fairness(window, &flows);
    }
}

fn fairness<B: Fn(usize) -> u64>(window: Window, flows: &[&Delivery<B>]) -> Fairness {
    let interval = interval(window);
    let index = |from: Time, to: Time, bytes: &dyn Fn(&Delivery<B>) -> u64| {
        let there = flows
            .iter()
            .filter(|flow| flow.from <= from && to <= flow.to);
        let bytes: Vec<u64> = there.map(|flow| bytes(flow)).collect();
        jain(&bytes)
    };
    let of_interval = |number: usize| {
        let from = window.from + interval * number as u64;
        index(from, from + interval, &|flow| (flow.bytes)(number))
    };
    let indices: Vec<f64> = (0..INTERVALS).filter_map(of_interval).collect();
    let sum: f64 = indices.iter().sum();
    Fairness {
        index: index(window.from, window.to, &|flow| {
            (0..INTERVALS).map(&flow.bytes).sum()
        }),
        mean: (!indices.is_empty()).then(|| sum / indices.len() as f64),
        min: indices.into_iter().reduce(f64::min),
        interval_s: interval.as_secs_f64(),
    }
}

/// Returns Jain's index (Jain, Chiu, Hawe, DEC-TR-301, 1984): 1 if all are equal, 1/n if one has
/// everything. Returns none for fewer than two values, or if all are zero.
fn jain(values: &[u64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| *value as f64).sum();
    let squares: f64 = values
        .iter()
        .map(|value| (*value as f64) * (*value as f64))
        .sum();
    (values.len() > 1 && squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_jains() {
        assert_eq!(jain(&[5, 5, 5]), Some(1.0));
        assert_eq!(jain(&[7, 0, 0, 0]), Some(0.25));
        // The report's example has 1, 3 and 5, which give 81 / 105.
        assert_eq!(jain(&[1, 3, 5]), Some(81.0 / 105.0));
        assert_eq!((jain(&[0, 0]), jain(&[3])), (None, None));
    }

    #[test]
    fn flows_count_where_they_are_all_the_time() {
        let second = |s| Time::ZERO + Span::from_secs(s);
        let window = Window {
            from: second(100),
            to: second(200),
        };
        let flow = |from, to, bytes: fn(usize) -> u64| Delivery {
            from: second(from),
            to,
            bytes,
        };
        // The first flow delivers 3 and 1 in turn, the second always 1, and the third is active
        // from 190.5 s on.
        let by_turns = flow(0, Time::MAX, |second| if second % 2 == 0 { 3 } else { 1 });
        let steady = flow(0, Time::MAX, |_| 1);
        let late = flow(190, second(195), |second| u64::from(second >= 90));
        let fairness = fairness(window, &[&by_turns, &steady, &late]);
        assert!((fairness.interval_s - 1.0).abs() < 1e-12);
        // The two flows deliver 200 and 100 in the window.
        assert_eq!(fairness.index, Some(0.9));
        // 3 and 1 give 16 / 20. With the third flow the index is 25 / 33.
        assert_eq!(fairness.min, Some(25.0 / 33.0));
        let expected = (50.0 + 47.0 * 0.8 + 3.0 * 25.0 / 33.0) / 100.0;
        assert!((fairness.mean.expect("several") - expected).abs() < 1e-12);
    }
}
