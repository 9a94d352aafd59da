//! A simple implementation of a variable rate, which computes every value from the beginning of the
//! run.

use goodqueue_sim::{Network, ServiceConfig, Window};
use goodqueue_types::{Span, Time};

/// The variable rate of a link.
#[derive(Debug)]
pub struct PlainService<'a> {
    config: &'a ServiceConfig,
    seed: u64,
    link: usize,
    used: u128,
}

impl<'a> PlainService<'a> {
    /// Creates the state of the `index`th link, if its rate varies.
    pub fn new(network: &'a Network, index: usize) -> Option<Self> {
        Some(Self {
            config: network.links[index].service.as_ref()?,
            seed: network.seed,
            link: index,
            used: 0,
        })
    }

    /// Iterates over the intervals of constant rate as (from, until, rate), without those that
    /// ended by `time`.
    fn stretches(&self, time: Time) -> impl Iterator<Item = (Time, Time, u128)> {
        let mut from = Time::ZERO;
        let all = self.config.stretches(self.seed, self.link);
        all.map(move |stretch| {
            let begin = std::mem::replace(&mut from, stretch.until);
            (begin, stretch.until, u128::from(stretch.rate.0))
        })
        .skip_while(move |(_, until, _)| *until <= time)
    }

    /// Returns the first instant from `time` on at which the rate is not zero.
    pub fn opens(&self, time: Time) -> Time {
        let open = self.stretches(time).find(|(_, _, rate)| *rate > 0);
        open.map_or(Time::MAX, |(from, ..)| from.max(time))
    }

    /// Returns the time at which `bytes` have been transmitted since `start`.
    pub fn end(&self, start: Time, bytes: u64) -> Time {
        let mut left = u128::from(bytes) * 8_000_000_000_000;
        for (from, until, rate) in self.stretches(start) {
            let from = from.max(start);
            let offered = rate * u128::from((until - from).0);
            if left <= offered {
                return from.saturating_add(Span(left.div_ceil(rate) as u64));
            }
            left -= offered;
        }
        Time::MAX
    }

    /// Returns the capacity of the link between two times, in units of bit/s · ps.
    fn offered(&self, start: Time, end: Time) -> u128 {
        let stretches = self.stretches(start).take_while(|(from, ..)| *from < end);
        stretches
            .map(|(from, until, rate)| {
                rate * u128::from(until.min(end).saturating_since(from.max(start)).0)
            })
            .sum()
    }

    /// Adds the part of a transmission from `start` to `end` that lies in the window.
    pub fn count(&mut self, start: Time, end: Time, window: Window) {
        self.used += self.offered(start.max(window.from), end.min(window.to));
    }

    /// Returns the share of the capacity in the window that transmissions used.
    pub fn utilization(&self, window: Window) -> f64 {
        match self.offered(window.from, window.to) {
            0 => 0.0,
            offered => self.used as f64 / offered as f64,
        }
    }
}
