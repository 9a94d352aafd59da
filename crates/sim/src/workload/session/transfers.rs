//! Short flows: connections that begin whether or not those before have ended.

use super::measure::{AppOutcome, Metric};
use super::numbered::Numbered;
use super::{Desk, MOST, Measure, Reply};
use crate::{Distribution, IdealPath, Law, SIZES};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::parameters::{
    Declared, INTERVAL, Key, Kind, Parameters, Refusal, Value, flag, key, words,
};
use goodqueue_types::{Direction, Histogram, RandomStream, Span, Time, parameters, words};
use std::collections::VecDeque;
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
        size: Law = Law::Fixed(1.0) => Key::new(SIZES).required()
            .example("{ law = \"pareto\", mean = \"50kB\" }");
        /// Mean time from the start of one transfer to that of the next.
        interval: Span = Span::from_secs(1) => Key::new(INTERVAL)
            .default("one of `interval` and `load`").example("100ms");
        load: Load = Load;
        /// Distribution of the intervals between starts. Transfers under way do not delay a start.
        intervals: Intervals = Intervals::Exponential => words::<Intervals>().example("fixed");
        /// `up`: the client sends and closes. `down`: the client asks with 200 bytes, the server sends and closes.
        direction: TransferWay = TransferWay::Up => words::<TransferWay>().example("down");
        /// True if connections outlive transfers for those that wait, as with a pool of HTTP clients: a
        /// transfer that waits for its handshake begins on the first connection that opens or on which
        /// another transfer ends. Connections that no transfer waits for are closed at the end of the
        /// next one. `down` only.
        reuse: bool = false => flag().example("true");
        most: Option<u64> = None => MOST;
    }
}

impl TransfersConfig {
    /// Refuses reuse without answers.
    ///
    /// # Errors
    ///
    /// The refusal names `reuse` if the transfers are uploads.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.reuse && self.direction == TransferWay::Up {
            let message = "only downloads reuse connections";
            let help = "write direction = \"down\", or leave reuse out";
            return Err(Refusal::new("reuse", message, help));
        }
        Ok(())
    }

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
    /// Position in the server's stream after which the answer begins.
    begins_after: u64,
    /// True from the first byte of an answer on.
    answered: bool,
}

impl UnderWay {
    fn new(began: Time, size: u64) -> Self {
        Self {
            began,
            size,
            begins_after: 0,
            answered: false,
        }
    }
}

/// Most open connections that no transfer uses (`MaxIdleConnsPerHost` of Go's `net/http`).
const MAX_IDLE: usize = 2;

/// Connections that transfers pass on to each other, by the rules of Go's `net/http` for clients that
/// close idle connections after each answer.
#[derive(Debug, Default)]
struct Pool {
    /// Connections whose handshake is not over.
    opening: Numbered<()>,
    /// Transfers that wait for a connection, in order, with the one that each opened.
    waiting: VecDeque<(u32, UnderWay)>,
    /// Open connections that no transfer uses, the latest last.
    idle: Vec<u32>,
    /// Bytes of requests and of answers so far, by open connection.
    streams: Numbered<(u64, u64)>,
    /// True if connections that no transfer waits for are closed: no transfer has begun since the
    /// last end of one.
    closes: bool,
}

impl Pool {
    /// Returns the transfer that begins on a connection that is free, or none if it rests or closes.
    fn take(&mut self, id: u32, desk: &mut Desk<'_>) -> Option<UnderWay> {
        let own = self.waiting.iter().position(|(opened, _)| *opened == id);
        if let Some((_, transfer)) = self.waiting.remove(own.unwrap_or(0)) {
            return Some(transfer);
        }
        if self.closes || self.idle.len() >= MAX_IDLE {
            self.close(id, desk);
        } else {
            self.idle.push(id);
        }
        None
    }

    fn close(&mut self, id: u32, desk: &mut Desk<'_>) {
        self.streams.remove(id);
        desk.close(id);
    }

    /// Closes the connections that no transfer uses.
    fn close_idle(&mut self, desk: &mut Desk<'_>) {
        self.closes = true;
        while let Some(id) = self.idle.pop() {
            self.close(id, desk);
        }
    }

    fn bytes(&self) -> usize {
        let waiting = self.waiting.capacity() * size_of::<(u32, UnderWay)>();
        self.opening.bytes() + self.streams.bytes() + waiting
    }
}

/// Sum of the logarithms of durations.
#[derive(Clone, Copy, Debug, Default)]
struct Logarithms {
    sum: f64,
    count: u64,
}

impl Logarithms {
    fn record(&mut self, time: Span) {
        self.sum += libm::log(time.as_secs_f64());
        self.count += 1;
    }

    fn geometric_mean(self) -> Option<f64> {
        (self.count > 0).then(|| libm::exp(self.sum / self.count as f64))
    }
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
    pool: Pool,
    logarithms: Logarithms,
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
            .named("transfers", "transfer_time_s")
            .named("short_transfers", "short_transfer_time_s")
            .named("medium_transfers", "medium_transfer_time_s")
            .named("long_transfers", "long_transfer_time_s");
        if config.direction == TransferWay::Down {
            measure = measure.times("first_byte_time_s");
        }
        Self {
            gap,
            next,
            config,
            begun: 0,
            under_way: Numbered::default(),
            pool: Pool::default(),
            logarithms: Logarithms::default(),
            measured_from: measure.from(),
            measure,
            alone,
            slowdown: Histogram::default(),
        }
    }

    pub fn bytes(&self) -> usize {
        self.under_way.bytes() + self.pool.bytes()
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
        let transfer = UnderWay::new(desk.now, size);
        if self.config.reuse {
            self.pool.closes = false;
            if let Some(id) = self.pool.idle.pop() {
                self.ask(id, transfer, desk);
            } else {
                let id = desk.open();
                self.pool.opening.insert(id, ());
                self.pool.waiting.push_back((id, transfer));
            }
        } else {
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
            self.under_way.insert(id, transfer);
        }
        self.begun += 1;
        let gap = self.gap.draw_span(desk.random);
        self.next = desk.now.saturating_add(gap);
    }

    /// Begins a transfer on an open connection of the pool.
    fn ask(&mut self, id: u32, mut transfer: UnderWay, desk: &mut Desk<'_>) {
        let Some((written, answered)) = self.pool.streams.get_mut(id) else {
            return;
        };
        transfer.begins_after = *answered;
        let reply = Reply {
            bytes: transfer.size,
            after: Span::ZERO,
            closes: false,
        };
        *written = desk.ask(id, REQUEST, *written, reply);
        *answered += transfer.size;
        self.under_way.insert(id, transfer);
    }

    /// Lets a connection of the pool serve the next transfer that waits.
    fn pass_on(&mut self, id: u32, desk: &mut Desk<'_>) {
        if let Some(transfer) = self.pool.take(id, desk) {
            self.ask(id, transfer, desk);
        }
    }

    /// Takes up a connection that has opened, and ends a transfer when its last byte has arrived, or
    /// has been acknowledged.
    pub fn progress(&mut self, id: u32, desk: &mut Desk<'_>) {
        if self.pool.opening.contains(id) && desk.has_opened(id) {
            self.pool.opening.remove(id);
            self.pool.streams.insert(id, (0, 0));
            self.pass_on(id, desk);
        }
        let Some(transfer) = self.under_way.get_mut(id) else {
            return;
        };
        let UnderWay {
            began,
            size,
            begins_after,
            ..
        } = *transfer;
        let ended = match self.config.direction {
            TransferWay::Down => {
                let delivered = desk.delivered(id);
                let answered = delivered > begins_after;
                if answered && !std::mem::replace(&mut transfer.answered, true) {
                    self.measure.record(FIRST_BYTE, began, desk.now);
                }
                delivered >= begins_after + size
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
            if self.config.reuse {
                if desk.now >= self.measured_from {
                    self.logarithms.record(desk.now - began);
                }
                self.pass_on(id, desk);
                self.pool.close_idle(desk);
            }
        }
    }

    /// Returns the measurements.
    pub fn outcome(&self) -> AppOutcome {
        let mut outcome = self.measure.outcome();
        if self.config.reuse {
            let mean = Metric::Number(self.logarithms.geometric_mean());
            outcome
                .metrics
                .push(("geometric_mean_transfer_time_s", mean));
        }
        let slowdown = Distribution::from_histogram(&self.slowdown, SLOWDOWN_UNITS);
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
