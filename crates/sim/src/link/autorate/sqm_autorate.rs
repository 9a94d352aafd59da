//! sqm-autorate with its controller `ewma`, as its README and the comments of its sources describe
//! it (version 0.6).

use super::{AutorateLaw, AutorateState, Load, Reply};
use goodqueue_types::parameters::{Key, Kind, LONGEST, fraction, integer, rate, span};
use goodqueue_types::{RandomStream, Rate, Span, Time, parameters};

/// Time between two decisions.
const TICK: Span = Span::from_millis(500);
/// Times in seconds in which the weight of a reply in the slow and in the fast mean halves.
const SLOW_S: f64 = 135.0;
const FAST_S: f64 = 0.4;
/// Share of the base at which the program starts.
const FIRST: f64 = 0.6;
/// Rank of the delay that decides among those of the reflectors, from 0 on.
const RANK: usize = 2;

parameters! {
    /// Parameters of sqm-autorate in one direction, with the defaults of its settings.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SqmAutorate("sqm-autorate") {
        /// Name of the flows whose pings are the reflectors.
        ping: String = String::new() => Key::new(Kind::Name).required().example("reflector");
        /// Rate that the line usually has without a queue. The first rate is 60 % of it.
        base: Rate = Rate(10_000_000) => rate().default("\"10Mbps\"").example("20Mbps");
        /// Smallest rate, as a share of the base.
        min_share: f64 = 0.2 => fraction().example("50%");
        /// Delay above the baseline that shows a queue.
        delay: Span = Span::from_millis(15)
            => span(Span(1), LONGEST).default("\"15ms\"").example("5ms");
        /// Share of the rate above which the load is high.
        high_load: f64 = 0.8 => fraction().example("75%");
        /// Number of good rates that are remembered.
        history: u32 = 100 => integer(1, 10_000).example("50");
    }
}

impl SqmAutorate {
    fn minimum(&self) -> f64 {
        self.min_share * self.base.0 as f64
    }
}

impl AutorateLaw for SqmAutorate {
    fn ping(&self) -> &str {
        &self.ping
    }

    fn rates(&self) -> [Rate; 3] {
        let share = |of: f64| Rate((of * self.base.0 as f64 / 1e3) as u64 * 1_000);
        [share(self.min_share), share(FIRST), Rate::UNLIMITED]
    }

    fn monitor(&self) -> Span {
        TICK
    }

    fn tick(&self) -> Option<Span> {
        Some(TICK)
    }

    fn is_one_way(&self) -> bool {
        true
    }

    fn start(&self, mut random: RandomStream) -> Box<dyn AutorateState> {
        let base = self.base.0 as f64;
        let good = (0..self.history).map(|_| (0.75 + 0.2 * random.unit()) * base);
        Box::new(Controller {
            good: good.collect(),
            place: 0,
            reflectors: Vec::new(),
            config: self.clone(),
            random,
        })
    }
}

struct Controller {
    config: SqmAutorate,
    /// Rates at which the load was high and the delay low.
    good: Vec<f64>,
    place: usize,
    reflectors: Vec<Reflector>,
    random: RandomStream,
}

/// Means of the delays of one reflector, in seconds.
struct Reflector {
    flow: u32,
    slow: f64,
    fast: f64,
    last: Time,
}

/// Returns the weight of the old mean at each reply.
fn memory(half_s: f64) -> f64 {
    libm::exp2(-TICK.as_secs_f64() / half_s)
}

impl Controller {
    /// Returns the delay above the baseline that decides, or none without recent replies.
    fn delay(&self, now: Time) -> Option<f64> {
        let recent = |one: &&Reflector| one.last + TICK * 2 > now;
        let above = |one: &Reflector| one.fast - one.slow;
        let mut delays: Vec<f64> = self.reflectors.iter().filter(recent).map(above).collect();
        delays.sort_by(f64::total_cmp);
        delays.get(RANK).or(delays.first()).copied()
    }

    fn remember(&mut self, rate: f64) -> f64 {
        self.good[self.place] = libm::floor(rate);
        self.place = (self.place + 1) % self.good.len();
        self.good.iter().copied().fold(0.0, f64::max)
    }

    /// Returns one of the good rates at random.
    fn recall(&mut self) -> f64 {
        let place = (self.random.unit() * self.good.len() as f64) as usize;
        self.good[place.min(self.good.len() - 1)]
    }
}

impl AutorateState for Controller {
    fn reply(&mut self, now: Time, reply: Reply, rate: f64, _load: &mut Load) -> f64 {
        let Reply { flow, delay_s } = reply;
        let found = self.reflectors.iter_mut().find(|one| one.flow == flow);
        let Some(one) = found else {
            let (slow, fast, last) = (delay_s, delay_s, now);
            let new = Reflector {
                flow,
                slow,
                fast,
                last,
            };
            self.reflectors.push(new);
            return rate;
        };
        let mean = |old: f64, half_s| {
            let memory = memory(half_s);
            memory * old + (1.0 - memory) * delay_s
        };
        one.fast = mean(one.fast, FAST_S);
        // The baseline falls at once.
        one.slow = mean(one.slow, SLOW_S).min(one.fast);
        one.last = now;
        rate
    }

    fn tick(&mut self, now: Time, rate: f64, load: &mut Load) -> f64 {
        let least = self.config.minimum();
        let Some(delay) = self.delay(now) else {
            return least;
        };
        let (base, sent) = (self.config.base.0 as f64, rate * load.share);
        let threshold = self.config.delay.as_secs_f64();
        let next = if delay > threshold {
            (0.9 * sent).min(self.recall())
        } else if delay < threshold && load.share > self.config.high_load {
            let best = self.remember(sent);
            rate * (1.0 + 0.1 * (1.0 - rate / best).max(0.0)) + 0.03 * base
        } else {
            rate
        };
        next.max(least)
    }
}
