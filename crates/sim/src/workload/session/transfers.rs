//! Short flows: connections that begin whether or not those before have ended.

use super::measure::{AppOutcome, Metric};
use super::numbered::Numbered;
use super::{Desk, Measure, Reply};
use crate::{Distribution, IdealPath, Law};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::{Direction, Histogram, RandomStream, Span, Time};
use std::sync::Arc;

/// Number of recorded units in a slowdown of 1.
const SLOWDOWN_UNITS: f64 = 1_000.0;

/// Parameters of transfers in an open loop, each on a connection of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct TransfersConfig {
    /// Law of the seconds from the start of one transfer to that of the next.
    pub gap: Law,
    /// Law of the bytes of a transfer.
    pub size: Law,
    /// Bytes of the request for a download. Without it, the client sends the data itself.
    pub request: Option<u64>,
    /// Largest number of transfers.
    pub most: Option<u64>,
}

/// The client of short flows.
#[derive(Debug)]
pub struct Transfers {
    config: TransfersConfig,
    next: Time,
    begun: u64,
    /// Start time and bytes of each transfer that has not ended.
    under_way: Numbered<(Time, u64)>,
    measure: Measure,
    measured_from: Time,
    /// The path without other traffic, for which the slowdown is 1.
    alone: (IdealPath, Arc<TcpConfig>),
    /// Durations of transfers, divided by their durations without other traffic.
    slowdown: Histogram,
}

impl Transfers {
    /// Creates a client whose first transfer begins one gap after `start`.
    pub fn new(
        config: TransfersConfig,
        start: Time,
        measure: Measure,
        alone: (IdealPath, Arc<TcpConfig>),
        random: &mut RandomStream,
    ) -> Self {
        let next = start.saturating_add(config.gap.draw_span(random));
        Self {
            next,
            config,
            begun: 0,
            under_way: Numbered::default(),
            measured_from: measure.from(),
            measure: measure.of("transfers", "transfer_time_s"),
            alone,
            slowdown: Histogram::default(),
        }
    }

    pub fn wakes_at(&self) -> Time {
        if self.config.most.is_some_and(|most| self.begun >= most) {
            Time::MAX
        } else {
            self.next
        }
    }

    /// Begins the next transfer.
    pub fn wake(&mut self, desk: &mut Desk<'_>) {
        let size = self.config.size.draw_bytes(desk.random);
        let id = desk.open();
        if let Some(request) = self.config.request {
            let reply = Reply {
                bytes: size,
                after: Span::ZERO,
                closes: true,
            };
            desk.ask(id, request, 0, reply);
        } else {
            desk.connections.write(id, size);
            desk.close(id);
        }
        self.begun += 1;
        self.under_way.insert(id, (desk.now, size));
        let gap = self.config.gap.draw_span(desk.random);
        self.next = desk.now.saturating_add(gap);
    }

    /// Ends a transfer when its last byte has arrived, or has been acknowledged.
    pub fn progress(&mut self, id: u32, desk: &mut Desk<'_>) {
        let Some((begun, size)) = self.under_way.get(id).copied() else {
            return;
        };
        let ended = match self.config.request {
            Some(_) => desk.delivered(id) >= size,
            None => desk
                .connections
                .get(id)
                .is_none_or(goodqueue_tcp::TcpEndpoint::is_finished),
        };
        if ended {
            self.under_way.remove(id);
            self.measure.record(0, begun, desk.now);
            self.record_slowdown(size, desk.now - begun, desk.now);
        }
    }

    /// Returns the measurements.
    pub fn outcome(&self) -> AppOutcome {
        let mut outcome = self.measure.outcome();
        let slowdown = Distribution::of(&self.slowdown, SLOWDOWN_UNITS);
        outcome.metrics.push(("slowdown", Metric::Ratio(slowdown)));
        outcome
    }

    fn record_slowdown(&mut self, size: u64, time: Span, now: Time) {
        if now >= self.measured_from {
            let data = match self.config.request {
                Some(_) => Direction::Reverse,
                None => Direction::Forward,
            };
            let (path, tcp) = &self.alone;
            let alone = path.transfer_time(size, data, tcp).0.max(1);
            let slowdown = u128::from(time.0) * SLOWDOWN_UNITS as u128 / u128::from(alone);
            self.slowdown.record(slowdown as u64, 1);
        }
    }
}
