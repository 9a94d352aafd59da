//! Web pages: a main object, then the others over parallel connections, then a pause in which the
//! user reads.

use super::{Desk, MOST, Measure, REQUEST, Reply, SERVER_TIME};
use crate::{Law, SIZES, TIMES};
use goodqueue_types::parameters::{Key, flag, integer};
use goodqueue_types::{Span, Time, parameters};

parameters! {
    /// Parameters of web pages, which are loaded one after the other.
    #[derive(Clone, Debug, PartialEq)]
    pub struct WebConfig("web") {
        /// Bytes of a page's main object, which is fetched first.
        main_size: Law = Law::Fixed(30_000.0) => Key::new(SIZES).example("30kB");
        /// Bytes of each other object.
        object_size: Law = Law::pareto(20_000.0, 1.5) => Key::new(SIZES)
            .default("{ law = \"pareto\", mean = \"20kB\" }").example("20kB");
        /// Objects of a page besides the main one.
        objects: Law = Law::Fixed(10.0) => integer(0, 10_000).example("40");
        request: u64 = 350 => REQUEST;
        server_time: Law = Law::Fixed(0.0) => SERVER_TIME;
        /// Largest number of connections at a time.
        parallel: u32 = 6 => integer(1, 256).example("2");
        /// True if a connection serves one object after the other until the page is complete. False if each object
        /// has a connection of its own.
        persistent: bool = true => flag().example("false");
        /// Time from the end of a page to the next.
        think: Law = Law::exponential(5.0) => Key::new(TIMES).example("5s");
        most: Option<u64> = None => MOST.example("10").doc("Largest number of pages.");
    }
}

const OBJECT: usize = 0;
const PAGE: usize = 1;
const FIRST_BYTE: usize = 2;

/// A connection of the page.
#[derive(Clone, Copy, Debug)]
struct Lane {
    id: u32,
    written: u64,
    /// Position in the server's stream at which the last requested object ends.
    ends_at: u64,
    asked: Option<Time>,
    /// Position after which the answer begins, until its first byte has arrived.
    begins_after: Option<u64>,
}

/// The client of a web server.
#[derive(Debug)]
pub struct Web {
    config: WebConfig,
    next: Time,
    page_began: Time,
    pages: u64,
    /// Number of objects of the page that are not requested yet.
    left: u64,
    lanes: Vec<Lane>,
    pub measure: Measure,
}

impl Web {
    /// Creates a client that requests its first page at `start`.
    pub fn new(config: WebConfig, start: Time, measure: Measure) -> Self {
        Self {
            config,
            next: start,
            page_began: Time::ZERO,
            pages: 0,
            left: 0,
            lanes: Vec::new(),
            measure: measure
                .named("objects", "object_time_s")
                .named("pages", "page_time_s")
                .times("first_byte_time_s"),
        }
    }

    pub fn wakes_at(&self) -> Time {
        self.next
    }

    /// Requests the main object of the next page.
    pub fn wake(&mut self, desk: &mut Desk<'_>) {
        self.next = Time::MAX;
        self.page_began = desk.now;
        self.left = libm::round(self.config.objects.draw(desk.random)).max(0.0) as u64;
        let size = self.config.main_size.draw_bytes(desk.random);
        let lane = self.free_lane(desk);
        self.fetch(lane, size, desk);
    }

    /// Returns a connection without a pending request, and opens one if there is none.
    fn free_lane(&mut self, desk: &mut Desk<'_>) -> usize {
        if self.config.persistent
            && let Some(free) = self.lanes.iter().position(|lane| lane.asked.is_none())
        {
            return free;
        }
        self.lanes.push(Lane {
            id: desk.open(),
            written: 0,
            ends_at: 0,
            asked: None,
            begins_after: None,
        });
        self.lanes.len() - 1
    }

    fn fetch(&mut self, lane: usize, size: u64, desk: &mut Desk<'_>) {
        let lane = &mut self.lanes[lane];
        let reply = Reply {
            bytes: size,
            after: self.config.server_time.draw_span(desk.random),
            closes: !self.config.persistent,
        };
        lane.written = desk.ask(lane.id, self.config.request, lane.written, reply);
        lane.begins_after = Some(lane.ends_at);
        lane.ends_at += size;
        lane.asked = Some(desk.now);
    }

    fn busy(&self) -> usize {
        self.lanes
            .iter()
            .filter(|lane| lane.asked.is_some())
            .count()
    }

    pub fn progress(&mut self, id: u32, desk: &mut Desk<'_>) {
        let Some(at) = self.lanes.iter().position(|lane| lane.id == id) else {
            return;
        };
        let lane = &mut self.lanes[at];
        let delivered = desk.delivered(id);
        if let Some(asked) = lane.asked
            && lane
                .begins_after
                .take_if(|begin| *begin < delivered)
                .is_some()
        {
            self.measure.record(FIRST_BYTE, asked, desk.now);
        }
        if delivered < lane.ends_at {
            return;
        }
        let Some(asked) = lane.asked.take() else {
            return;
        };
        self.measure.record(OBJECT, asked, desk.now);
        if !self.config.persistent {
            self.lanes.remove(at);
        }
        while self.left > 0 && self.busy() < self.config.parallel as usize {
            self.left -= 1;
            let size = self.config.object_size.draw_bytes(desk.random);
            let lane = self.free_lane(desk);
            self.fetch(lane, size, desk);
        }
        if self.left == 0 && self.busy() == 0 {
            self.end_page(desk);
        }
    }

    fn end_page(&mut self, desk: &mut Desk<'_>) {
        self.measure.record(PAGE, self.page_began, desk.now);
        self.pages += 1;
        for lane in self.lanes.drain(..) {
            desk.close(lane.id);
        }
        if self.config.most.is_none_or(|most| self.pages < most) {
            let think: Span = self.config.think.draw_span(desk.random);
            self.next = desk.now.saturating_add(think);
        }
    }
}
