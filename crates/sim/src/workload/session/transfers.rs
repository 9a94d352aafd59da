//! Short flows: connections that begin whether or not those before have ended.

use super::measure::{AppOutcome, Metric};
use super::{Desk, Measure, Reply};
use crate::{Distribution, IdealPath, Law};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::{Direction, Histogram, RandomStream, Span, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Slowdowns are kept in thousandths.
const SLOWDOWN_UNITS: f64 = 1_000.0;

/// Transfers in an open loop, each on a connection of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct TransfersConfig {
    /// Seconds from the start of one to that of the next.
    pub gap: Law,
    /// Bytes of each.
    pub size: Law,
    /// Bytes of the request for a download; the client sends the data itself without one.
    pub request: Option<u64>,
    /// At most so many.
    pub most: Option<u64>,
}

/// The client of short flows.
#[derive(Debug)]
pub struct Transfers {
    config: TransfersConfig,
    next: Time,
    begun: u64,
    /// When each that is under way began, and how many bytes it is to get.
    under_way: BTreeMap<u32, (Time, u64)>,
    measure: Measure,
    measured_from: Time,
    /// The path without others, on which no transfer is slowed down.
    alone: (IdealPath, Arc<TcpConfig>),
    /// Times of transfers over what they would be alone.
    slowdown: Histogram,
}

impl Transfers {
    /// The first transfer begins one gap after `start`.
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
            under_way: BTreeMap::new(),
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

    /// A transfer ends when its last byte has come, or has been acknowledged.
    pub fn progress(&mut self, id: u32, desk: &mut Desk<'_>) {
        let Some((begun, size)) = self.under_way.get(&id).copied() else {
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
            self.under_way.remove(&id);
            self.measure.record(0, begun, desk.now);
            self.record_slowdown(size, desk.now - begun, desk.now);
        }
    }

    /// What was measured.
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
