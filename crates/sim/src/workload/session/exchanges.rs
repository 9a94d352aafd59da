//! Requests and answers on one connection. Each request follows the answer to the one before, or is
//! sent at a fixed time.

use super::{Desk, MOST, Measure, Reply, SERVER_TIME};
use crate::{Law, SIZES, TIMES};
use goodqueue_types::parameters::{AMOUNT, Key, Kind, Refusal, flag, one_of};
use goodqueue_types::{Time, parameters};
use std::collections::VecDeque;

/// Smallest mean time in seconds between requests that do not wait for a reply.
const MIN_PERIOD: f64 = 1e-6;
/// Largest number of replies to one request, because each is stored until it is due.
const MAX_REPLIES: f64 = 10_000.0;
/// Largest number of replies to a request that a law draws far above its mean. Each then answers more.
const MAX_DRAWN_REPLIES: u64 = 100_000;

const EXCHANGE: usize = 0;
const FIRST_BYTE: usize = 1;

parameters! {
    /// Parameters of requests on one connection.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ExchangesConfig("exchanges") {
        /// Bytes that the client sends.
        request: Law = Law::Fixed(200.0) => Key::new(SIZES).example("200kB");
        /// Bytes that the server answers.
        reply: Law = Law::Fixed(200.0) => Key::new(SIZES).example("1kB");
        /// Bytes of a request that the server answers at a time, and at its end the rest, as an echo server
        /// does. `request`: the server answers the request as a whole.
        reply_per: Option<u64> = None => one_of(&[AMOUNT, Kind::Choice(&["request"])]).example("536B");
        server_time: Law = Law::Fixed(0.0) => SERVER_TIME;
        /// Time to the next request.
        pause: Law = Law::Fixed(1.0) => Key::new(TIMES).required().example("10s");
        /// True if the pause begins with the request, so that late answers do not delay later requests. False if
        /// it begins with the end of the answer.
        periodic: bool = false => flag().example("true");
        most: Option<u64> = None => MOST;
    }
}

impl ExchangesConfig {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        // After replies any pause is possible, because they take a round trip.
        if self.periodic && self.pause.mean() < MIN_PERIOD {
            let message = "requests this close to each other would fill the connection for ever";
            let help = "write at least \"1us\", or leave periodic out";
            return Err(Refusal::new("pause", message, help));
        }
        if (self.reply_per).is_some_and(|per| self.request.mean() > MAX_REPLIES * per as f64) {
            let message = "a request would have more than 10,000 answers";
            return Err(Refusal::new(
                "reply_per",
                message,
                "write more bytes at a time",
            ));
        }
        Ok(())
    }
}

/// The client of requests on one connection.
#[derive(Debug)]
pub struct Exchanges {
    config: ExchangesConfig,
    connection: Option<u32>,
    next: Time,
    begun: u64,
    written: u64,
    /// Answers that are due: the position in the server's stream at which each ends, and the time
    /// of its request.
    due: VecDeque<(u64, Time)>,
    /// Answers that have not begun: the position after which each begins, and the time of its
    /// request.
    silent: VecDeque<(u64, Time)>,
    last_end: u64,
    pub measure: Measure,
}

impl Exchanges {
    /// Creates a client that sends its first request at `start`, when it opens the connection.
    pub fn new(config: ExchangesConfig, start: Time, measure: Measure) -> Self {
        Self {
            config,
            connection: None,
            next: start,
            begun: 0,
            written: 0,
            due: VecDeque::new(),
            silent: VecDeque::new(),
            last_end: 0,
            measure: measure
                .named("exchanges", "exchange_time_s")
                .times("first_byte_time_s"),
        }
    }

    pub fn bytes(&self) -> usize {
        (self.due.capacity() + self.silent.capacity()) * size_of::<(u64, Time)>()
    }

    pub fn wakes_at(&self) -> Time {
        self.next
    }

    /// Sends the next request.
    pub fn wake(&mut self, desk: &mut Desk<'_>) {
        let id = *self.connection.get_or_insert_with(|| desk.open());
        let request = self.config.request.draw_bytes(desk.random);
        let reply = Reply {
            bytes: self.config.reply.draw_bytes(desk.random),
            after: self.config.server_time.draw_span(desk.random),
            closes: false,
        };
        self.silent.push_back((self.last_end, desk.now));
        let end = self.written + request;
        let least = request.div_ceil(MAX_DRAWN_REPLIES);
        while self.written < end {
            let left = end - self.written;
            let per = self.config.reply_per.map(|per| per.max(least));
            let piece = per.map_or(left, |per| per.min(left));
            self.written = desk.ask(id, piece, self.written, reply);
            self.last_end += reply.bytes;
        }
        self.due.push_back((self.last_end, desk.now));
        self.begun += 1;
        self.next = Time::MAX;
        if self.config.periodic {
            self.plan(desk);
        }
    }

    fn plan(&mut self, desk: &mut Desk<'_>) {
        if self.config.most.is_none_or(|most| self.begun < most) {
            let pause = self.config.pause.draw_span(desk.random);
            self.next = desk.now.saturating_add(pause);
        }
    }

    pub fn progress(&mut self, id: u32, desk: &mut Desk<'_>) {
        let delivered = desk.delivered(id);
        while let Some((begin, asked)) = self.silent.front().copied()
            && begin < delivered
        {
            self.silent.pop_front();
            self.measure.record(FIRST_BYTE, asked, desk.now);
        }
        while let Some((end, asked)) = self.due.front().copied() {
            if end > delivered {
                return;
            }
            self.due.pop_front();
            self.measure.record(EXCHANGE, asked, desk.now);
            if !self.config.periodic {
                self.plan(desk);
            }
        }
    }
}
