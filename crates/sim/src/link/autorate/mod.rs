//! Autorates: programs on a router that set the rate of its shaper from the delays of pings.
//!
//! The pings are flows of the network. Each reply is handled [`HANDLING`] after it has reached the
//! host that sent the ping. The program counts the frames that the shaper has sent, as from the
//! interface's counters, and closes this count at the end of each interval.

mod cake_autorate;
mod sqm_autorate;
#[cfg(test)]
mod tests;

use crate::Network;
use crate::measure::link_meter::Window;
use crate::measure::outcome::AutorateOutcome;
use goodqueue_types::parameters::{Key, Kind, key};
use goodqueue_types::{Body, Direction, LinkId, Packet, RandomStream, Rate, Span, Time, variants};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

pub use cake_autorate::CakeAutorate;
pub use sqm_autorate::SqmAutorate;

/// Time from the arrival of a reply to the change of the rate.
pub const HANDLING: Span = Span::from_millis(1);

/// Bits of a kilobit: `tc` is given whole numbers of kilobits per second.
const KILOBIT: f64 = 1e3;

const KIND: Key = key(
    "kind",
    Kind::Choice(AutorateConfig::WORDS),
    "\"cake_autorate\"",
    "cake_autorate",
    AutorateConfig::MEANINGS,
);

variants! {
    /// Program that sets the rate of a link's shaper.
    #[derive(Clone, Debug, PartialEq)]
    pub enum AutorateConfig(KIND) as dyn AutorateLaw {
        /// The rate follows the load and half the round-trip time.
        CakeAutorate(law: CakeAutorate)
            = "cake_autorate"("cake-autorate", "cake-autorate 3.2 with `fping`"),
        /// The rate follows the load and the delay in the link's direction.
        SqmAutorate(law: SqmAutorate)
            = "sqm_autorate"("sqm-autorate", "sqm-autorate 0.6 with its controller `ewma`"),
    }
}

/// Parameters of an autorate.
pub trait AutorateLaw {
    /// Name of the ping flows.
    fn ping(&self) -> &str;

    /// Smallest and first rate, and the largest one that may be first, in this order.
    fn rates(&self) -> [Rate; 3];

    /// Time for which sent bytes are counted.
    fn monitor(&self) -> Span;

    /// Time between decisions that need no reply; none if each reply causes one.
    fn tick(&self) -> Option<Span>;

    /// True if delays are those of the link's own direction, false if they are half of the
    /// round-trip time.
    fn is_one_way(&self) -> bool;

    /// Returns the state at the start of a run.
    fn start(&self, random: RandomStream) -> Box<dyn AutorateState>;
}

/// Throughput of the shaper in the last interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Bits per second that were sent, divided by the shaper's rate at the end of the interval.
    pub share: f64,
    /// True until a decision has used this interval.
    pub is_new: bool,
}

/// Delay that a reply shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reply {
    /// Flow of the ping.
    pub flow: u32,
    /// Delay in seconds.
    pub delay_s: f64,
}

/// State of an autorate. Rates are in bits per second.
pub trait AutorateState: Send {
    /// Returns the rate after a reply.
    fn reply(&mut self, now: Time, reply: Reply, rate: f64, load: &mut Load) -> f64;

    /// Returns the rate at the end of a tick.
    fn tick(&mut self, _now: Time, rate: f64, _load: &mut Load) -> f64 {
        rate
    }
}

/// The state is not printed, as that of losses.
impl fmt::Debug for dyn AutorateState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a law of an autorate")
    }
}

/// Program of one link with the flows that ping for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Autorate {
    /// Program and parameters.
    pub config: AutorateConfig,
    /// Ping flows.
    pub pings: Vec<u32>,
}

/// The program of one link in a run.
#[derive(Debug)]
pub struct AutorateProcess {
    state: Box<dyn AutorateState>,
    /// Ping flows, in rising order.
    pings: Vec<u32>,
    /// Direction of the link on the path of the pings; none for half of the round-trip time.
    direction: Option<Direction>,
    rate: Rate,
    monitor: Span,
    /// End of the present interval, and the bytes sent in it.
    closes: Time,
    bytes: u64,
    load: Load,
    tick: Option<Span>,
    next_tick: Time,
    /// Replies that were not handled yet: time of handling, flow, delay in picoseconds.
    replies: BinaryHeap<Reverse<(Time, u32, u64)>>,
    window: Window,
    since: Time,
    /// Integral of the rate over the window, in bits.
    bits: f64,
    outcome: AutorateOutcome,
}

impl AutorateProcess {
    /// Creates the program of a link, if it has one.
    pub fn new(network: &Network, index: usize, window: Window) -> Option<Self> {
        let Autorate { config, pings } = network.links[index].autorate.as_deref()?;
        let law = config.law();
        let id = LinkId(index as u32);
        let is_forward = |flow: &u32| network.flows[*flow as usize].forward.contains(&id);
        let direction = if pings.first().is_some_and(is_forward) {
            Direction::Forward
        } else {
            Direction::Reverse
        };
        let rate = law.rates()[1];
        Some(Self {
            state: law.start(RandomStream::new(network.seed, "autorate", index as u64)),
            pings: pings.clone(),
            direction: law.is_one_way().then_some(direction),
            rate,
            monitor: law.monitor(),
            closes: Time::ZERO + law.monitor(),
            bytes: 0,
            load: Load::default(),
            tick: law.tick(),
            next_tick: law.tick().map_or(Time::MAX, |tick| Time::ZERO + tick),
            replies: BinaryHeap::new(),
            window,
            since: Time::ZERO,
            bits: 0.0,
            outcome: AutorateOutcome {
                min: rate,
                max: rate,
                mean_bps: 0.0,
                changes: 0,
            },
        })
    }

    /// Returns the present rate.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Returns the time of the next decision without a reply, or [`Time::MAX`].
    pub fn next_tick(&self) -> Time {
        self.next_tick
    }

    /// Counts bytes that the shaper begins to send.
    pub fn sent(&mut self, now: Time, bytes: u64) {
        self.close_intervals(now);
        self.bytes += bytes;
    }

    /// Takes a reply that arrives at its host at `now`. Returns the time at which it is handled.
    pub fn take(&mut self, now: Time, packet: &Packet) -> Option<Time> {
        let Body::EchoReply { requested } = packet.body else {
            return None;
        };
        self.pings.binary_search(&packet.flow.0).ok()?;
        let delay = match self.direction {
            None => (now - requested) / 2,
            Some(Direction::Forward) => packet.sent - requested,
            Some(Direction::Reverse) => now - packet.sent,
        };
        let handled = now.saturating_add(HANDLING);
        self.replies
            .push(Reverse((handled, packet.flow.0, delay.0)));
        Some(handled)
    }

    /// Handles the replies and the tick that are due. Returns the new rate if it has changed.
    pub fn decide(&mut self, now: Time) -> Option<Rate> {
        let before = self.rate;
        while let Some(Reverse((time, flow, delay))) = self.replies.peek().copied()
            && time <= now
        {
            self.replies.pop();
            self.close_intervals(time);
            let delay_s = Span(delay).as_secs_f64();
            let (bps, reply) = (self.rate.0 as f64, Reply { flow, delay_s });
            let next = self.state.reply(time, reply, bps, &mut self.load);
            self.set(time, next);
        }
        if let Some(tick) = self.tick
            && self.next_tick <= now
        {
            self.close_intervals(now);
            self.next_tick = now + tick;
            let next = self.state.tick(now, self.rate.0 as f64, &mut self.load);
            self.set(now, next);
        }
        (self.rate != before).then_some(self.rate)
    }

    /// Returns the results at the end of the run.
    pub fn finish(&self) -> AutorateOutcome {
        let last = self.window.overlap(self.since, self.window.to);
        let bits = self.bits + self.rate.0 as f64 * last.as_secs_f64();
        AutorateOutcome {
            mean_bps: bits / self.window.seconds(),
            ..self.outcome
        }
    }

    fn set(&mut self, now: Time, bps: f64) {
        let rate = Rate((libm::floor(bps / KILOBIT) * KILOBIT) as u64);
        if rate == self.rate {
            return;
        }
        let held = self.window.overlap(self.since, now);
        self.bits += self.rate.0 as f64 * held.as_secs_f64();
        (self.rate, self.since) = (rate, now);
        if now <= self.window.from {
            (self.outcome.min, self.outcome.max) = (rate, rate);
        } else {
            self.outcome.min = self.outcome.min.min(rate);
            self.outcome.max = self.outcome.max.max(rate);
            self.outcome.changes += 1;
        }
    }

    /// Closes the intervals that end by `now`.
    fn close_intervals(&mut self, now: Time) {
        while self.closes <= now {
            let bps = self.bytes as f64 * 8.0 / self.monitor.as_secs_f64();
            self.load = Load {
                share: bps / self.rate.0 as f64,
                is_new: true,
            };
            self.bytes = 0;
            self.closes += self.monitor;
        }
    }
}
