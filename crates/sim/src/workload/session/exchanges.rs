//! Requests and answers on one connection, each after the answer to the one before, or at fixed
//! times.

use super::{Desk, Measure, Reply};
use crate::Law;
use goodqueue_types::Time;
use std::collections::VecDeque;

/// Requests on one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct ExchangesConfig {
    /// Bytes of a request.
    pub request: Law,
    /// Bytes of its answer.
    pub reply: Law,
    /// The server answers each so many bytes of a request, and what is left of it at its end; only
    /// the whole of it if `None`.
    pub reply_per: Option<u64>,
    /// Seconds that the server takes to answer.
    pub server_time: Law,
    /// Seconds to the next request.
    pub pause: Law,
    /// Whether the pause begins with the request and not with its answer: then requests keep their
    /// times however late the answers are.
    pub periodic: bool,
    /// At most so many.
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
    /// Answers that are due: where in the server's stream each ends, and when it was asked for.
    due: VecDeque<(u64, Time)>,
    last_end: u64,
    pub measure: Measure,
}

impl Exchanges {
    /// The first request goes out at `start`, with the opening of the connection.
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
