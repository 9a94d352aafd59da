//! Short flows: connections that begin whether or not those before have ended.

use super::measure::{AppOutcome, Metric};
use super::numbered::Numbered;
use super::{Desk, MOST, Measure, Reply};
use crate::{Distribution, IdealPath, Law, SIZES};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::parameters::{Declared, INTERVAL, Key, Kind, Parameters, Value, key, words};
use goodqueue_types::{Direction, Histogram, RandomStream, Span, Time, parameters, words};
use std::sync::Arc;

/// Number of recorded units in a slowdown of 1.
const SLOWDOWN_UNITS: f64 = 1_000.0;

words! {
    /// Intervals between transfers.
    pub enum Intervals {
        /// Exponential.
        Exponential = "exponential",
        /// Constant.
        Fixed = "fixed",
    }

    /// Way of a transfer's data.
    pub enum TransferWay {
        /// The client sends to the server.
        Up = "up",
        /// The server sends to the client, after a request of [`REQUEST`] bytes.
        Down = "down",
    }
}

/// Sizes up to which transfers are short and medium, as in pFabric (Alizadeh et al., SIGCOMM 2013).
const SHORT: u64 = 100_000;
const MEDIUM: u64 = 10_000_000;

const TRANSFER: usize = 0;
/// Place of the short transfers; medium and long ones follow.
const BY_SIZE: usize = 1;
const FIRST_BYTE: usize = 4;

/// Bytes of the request for a download.
const REQUEST: u64 = 200;

parameters! {
    /// Parameters of transfers in an open loop, each on a connection of its own.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TransfersConfig("transfers") {
        /// Bytes of each transfer.
        size: Law = Law::Fixed(1.0) => Key::of(SIZES).required()
            .example("{ law = \"pareto\", mean = \"50kB\" }");
        /// Mean time from the start of one transfer to that of the next.
        interval: Span = Span::from_secs(1) => Key::of(INTERVAL)
            .default("one of `interval` and `load`").example("100ms");
        load: Load = Load;
        /// Distribution of the intervals between starts. Transfers under way do not delay a start.
        intervals: Intervals = Intervals::Exponential => words::<Intervals>().example("fixed");
        /// `up`: the client sends and closes. `down`: the client asks with 200 bytes, the server sends and closes.
        direction: TransferWay = TransferWay::Up => words::<TransferWay>().example("down");
        most: Option<u64> = None => MOST;
    }
}

impl TransfersConfig {
    /// Returns the law of the seconds from the start of one transfer to that of the next.
    pub fn gap(&self) -> Law {
        let mean = self.interval.as_secs_f64();
        match self.intervals {
            Intervals::Fixed => Law::Fixed(mean),
            Intervals::Exponential => Law::exponential(mean),
        }
    }
}

/// Keys that say the interval in other words. A file's reader turns them into the interval, because
/// it knows the links of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load;

impl Declared for Load {
    const KEYS: &'static [Key] = &[
        key(
            "load",
            Kind::Either(&[Kind::Rate, Kind::Percent]),
            "one of `interval` and `load`",
            "\"5Mbps\"",
            "What each flow asks for, on average. As a rate: application bits, the mean size over the interval. As a \
             share, as in `80%`: of a link's rate, by the frames of the data with all their headers, without \
             handshakes, acknowledgements and retransmissions.",
        ),
        key(
            "of",
            Kind::Name,
            "the slowest link between routers that the data cross",
            "\"bottleneck\"",
            "The link that `load` is a share of, by its name in results (`bottleneck`, `bottleneck.reverse`).",
        ),
    ];
}

impl Parameters for Load {
    fn keys(&self) -> &'static [Key] {
        Self::KEYS
    }

    fn get(&self, _key: &str) -> Option<Value> {
        None
    }

    fn set(&mut self, _key: &str, _value: Value) {}
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    began: Time,
    size: u64,
    /// True from the first byte of an answer on.
    answered: bool,
}

/// The client of short flows.
#[derive(Debug)]
pub struct Transfers {
    config: TransfersConfig,
    gap: Law,
    next: Time,
    begun: u64,
    /// Transfers that have not ended.
    under_way: Numbered<UnderWay>,
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
        let gap = config.gap();
        let next = start.saturating_add(gap.draw_span(random));
        let mut measure = measure
            .of("transfers", "transfer_time_s")
            .of("short_transfers", "short_transfer_time_s")
            .of("medium_transfers", "medium_transfer_time_s")
            .of("long_transfers", "long_transfer_time_s");
        if config.direction == TransferWay::Down {
            measure = measure.times("first_byte_time_s");
        }
        Self {
            gap,
            next,
            config,
            begun: 0,
            under_way: Numbered::default(),
            measured_from: measure.from(),
            measure,
            alone,
            slowdown: Histogram::default(),
        }
    }

    pub fn bytes(&self) -> usize {
        self.under_way.bytes()
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
        if self.config.direction == TransferWay::Down {
            let reply = Reply {
                bytes: size,
                after: Span::ZERO,
                closes: true,
            };
            desk.ask(id, REQUEST, 0, reply);
        } else {
            desk.connections.write(id, size);
            desk.close(id);
        }
        self.begun += 1;
        let transfer = UnderWay {
            began: desk.now,
            size,
            answered: false,
        };
        self.under_way.insert(id, transfer);
        let gap = self.gap.draw_span(desk.random);
        self.next = desk.now.saturating_add(gap);
    }

    /// Ends a transfer when its last byte has arrived, or has been acknowledged.
    pub fn progress(&mut self, id: u32, desk: &mut Desk<'_>) {
        let Some(transfer) = self.under_way.get_mut(id) else {
            return;
        };
        let UnderWay { began, size, .. } = *transfer;
        let ended = match self.config.direction {
            TransferWay::Down => {
                let delivered = desk.delivered(id);
                if delivered > 0 && !std::mem::replace(&mut transfer.answered, true) {
                    self.measure.record(FIRST_BYTE, began, desk.now);
                }
                delivered >= size
            }
            TransferWay::Up => desk
                .connections
                .get(id)
                .is_none_or(goodqueue_tcp::TcpEndpoint::is_finished),
        };
        if ended {
            self.under_way.remove(id);
            self.measure.record(TRANSFER, began, desk.now);
            let class = usize::from(size > SHORT) + usize::from(size > MEDIUM);
            self.measure.record(BY_SIZE + class, began, desk.now);
            self.record_slowdown(size, desk.now - began, desk.now);
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
            let data = match self.config.direction {
                TransferWay::Down => Direction::Reverse,
                TransferWay::Up => Direction::Forward,
            };
            let (path, tcp) = &self.alone;
            let alone = path.transfer_time(size, data, tcp).0.max(1);
            let slowdown = u128::from(time.0) * SLOWDOWN_UNITS as u128 / u128::from(alone);
            self.slowdown.record(slowdown as u64, 1);
        }
    }
}
