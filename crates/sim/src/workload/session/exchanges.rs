//! Requests and answers on one connection. Each request follows the answer to the one before, or is
//! sent at a fixed time.

use super::{Desk, Measure, Reply};
use crate::Law;
use goodqueue_types::Time;
use std::collections::VecDeque;

/// Parameters of requests on one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct ExchangesConfig {
    /// Law of the bytes of a request.
    pub request: Law,
    /// Law of the bytes of its answer.
    pub reply: Law,
    /// Number of bytes of a request after which the server answers each time, and once more for the
    /// rest. With `None` it answers only the whole request.
    pub reply_per: Option<u64>,
    /// Law of the seconds that the server takes to answer.
    pub server_time: Law,
    /// Law of the seconds to the next request.
    pub pause: Law,
    /// True if the pause begins with the request, so that requests keep their times however late
    /// the answers are. False if it begins with the answer.
    pub periodic: bool,
    /// Largest number of requests.
    pub most: Option<u64>,
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
            last_end: 0,
            measure: measure.of("exchanges", "exchange_time_s"),
        }
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
        let end = self.written + request;
        while self.written < end {
            let left = end - self.written;
            let piece = self.config.reply_per.map_or(left, |per| per.min(left));
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
        while let Some((end, asked)) = self.due.front().copied() {
            if end > delivered {
                return;
            }
            self.due.pop_front();
            self.measure.record(0, asked, desk.now);
            if !self.config.periodic {
                self.plan(desk);
            }
        }
    }
}
