//! cake-autorate, as its README and the comments of its `defaults.sh` describe it (version 3.2).

use super::{AutorateLaw, AutorateState, Load, Reply};
use goodqueue_types::parameters::{Key, Kind, LONGEST, fraction, integer, number, rate, span};
use goodqueue_types::{Bytes, RandomStream, Rate, Span, Time, parameters};

/// Bits of a full packet on the wire, whose transmission time the thresholds are longer by.
const FULL_PACKET: Bytes = Bytes(1514);

parameters! {
    /// Parameters of cake-autorate in one direction. The defaults are those of its `defaults.sh`, in
    /// which the names of the program's own settings end with these words.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CakeAutorate("cake-autorate") {
        /// Name of the flows whose pings are the reflectors.
        ping: String = String::new() => Key::new(Kind::Name).required().example("reflector");
        /// Smallest rate of the shaper: the lowest at which the line has no queue.
        minimum: Rate = Rate(5_000_000) => rate().default("\"5Mbps\"").example("5Mbps");
        /// Rate to which the shaper returns while the load is low, and the first rate.
        base: Rate = Rate(20_000_000) => rate().default("\"20Mbps\"").example("20Mbps");
        /// Largest rate of the shaper; the program's own default is 35 Mb/s for the upload.
        maximum: Rate = Rate(80_000_000) => rate().default("\"80Mbps\"").example("80Mbps");
        /// Delay above the baseline from which on a reply counts as delayed.
        delay_threshold: Span = Span::from_millis(30)
            => span(Span(1), LONGEST).default("\"30ms\"").example("15ms");
        /// Mean delay up to which the rate grows fastest.
        up_threshold: Span = Span::from_millis(10)
            => span(Span(1), LONGEST).default("\"10ms\"").example("5ms");
        /// Mean delay from which on the rate falls fastest.
        down_threshold: Span = Span::from_millis(60)
            => span(Span(1), LONGEST).default("\"60ms\"").example("30ms");
        /// Number of the last replies that are counted.
        window: u32 = 6 => integer(1, 1_000).example("6");
        /// Delayed replies among them that show a queue.
        delayed: u32 = 3 => integer(1, 1_000).example("2");
        /// Weight of a reply in the baseline that is above it.
        baseline_increase: f64 = 0.001 => fraction().example("0.1%");
        /// Weight of a reply in the baseline that is below it.
        baseline_decrease: f64 = 0.9 => fraction().example("90%");
        /// Factor of the rate at a small queue.
        min_down: f64 = 0.99 => number(0.01, 1.0).example("0.99");
        /// Factor of the rate at a large queue.
        max_down: f64 = 0.75 => number(0.01, 1.0).example("0.75");
        /// Factor of the rate at a high load with some delay.
        min_up: f64 = 1.0 => number(1.0, 10.0).example("1");
        /// Factor of the rate at a high load with little delay.
        max_up: f64 = 1.04 => number(1.0, 10.0).example("1.04");
        /// Factor with which a rate above the base returns to it.
        decay_down: f64 = 0.99 => number(0.01, 1.0).example("0.99");
        /// Factor with which a rate below the base returns to it.
        decay_up: f64 = 1.01 => number(1.0, 10.0).example("1.01");
        /// Share of the rate above which the load is high.
        high_load: f64 = 0.75 => fraction().example("80%");
        /// Shortest time from a reduction to the next change.
        refractory: Span = Span::from_millis(300)
            => span(Span::ZERO, LONGEST).default("\"300ms\"").example("500ms");
        /// Shortest time between two steps back to the base.
        decay_refractory: Span = Span::from_secs(1)
            => span(Span::ZERO, LONGEST).default("\"1s\"").example("2s");
        /// Time for which sent bytes are counted.
        monitor: Span = Span::from_millis(200)
            => span(Span(1_000_000_000), LONGEST).default("\"200ms\"").example("200ms");
    }
}

impl AutorateLaw for CakeAutorate {
    fn ping(&self) -> &str {
        &self.ping
    }

    fn rates(&self) -> [Rate; 3] {
        [self.minimum, self.base, self.maximum]
    }

    fn monitor(&self) -> Span {
        self.monitor
    }

    fn tick(&self) -> Option<Span> {
        None
    }

    fn is_one_way(&self) -> bool {
        false
    }

    fn start(&self, _random: RandomStream) -> Box<dyn AutorateState> {
        let window = self.window as usize;
        Box::new(Controller {
            config: self.clone(),
            baselines: Vec::new(),
            last: vec![(0.0, false); window],
            place: 0,
            reduced: Time::ZERO,
            decayed: Time::ZERO,
        })
    }
}

struct Controller {
    config: CakeAutorate,
    /// Delay in seconds without a queue, by flow.
    baselines: Vec<(u32, f64)>,
    /// Delays above the baseline of the last replies, and whether they are above the threshold.
    last: Vec<(f64, bool)>,
    place: usize,
    /// Time of the last reduction, and of the last change that delays a step to the base.
    reduced: Time,
    decayed: Time,
}

impl Controller {
    /// Returns the delay of a reply above the baseline of its flow, which it moves.
    fn above_baseline(&mut self, reply: Reply) -> f64 {
        let known = self
            .baselines
            .iter()
            .position(|(flow, _)| *flow == reply.flow);
        let index = known.unwrap_or_else(|| {
            self.baselines.push((reply.flow, reply.delay_s));
            self.baselines.len() - 1
        });
        let baseline = &mut self.baselines[index].1;
        let weight = if reply.delay_s >= *baseline {
            self.config.baseline_increase
        } else {
            self.config.baseline_decrease
        };
        *baseline = weight * reply.delay_s + (1.0 - weight) * *baseline;
        reply.delay_s - *baseline
    }

    /// Returns the factor of a reduction at this mean delay.
    fn down(&self, mean: f64, [threshold, most]: [f64; 2]) -> f64 {
        let of = position(mean, threshold, most);
        self.config.min_down - of * (self.config.min_down - self.config.max_down)
    }

    /// Returns the factor of an increase at this mean delay.
    fn up(&self, mean: f64, [threshold, least]: [f64; 2]) -> f64 {
        let of = position(mean, threshold, least);
        self.config.min_up + of * (self.config.max_up - self.config.min_up)
    }

    /// Returns the rate after a step back to the base.
    fn towards_base(&self, rate: f64) -> f64 {
        let base = self.config.base.0 as f64;
        if rate > base {
            (rate * self.config.decay_down).max(base)
        } else {
            (rate * self.config.decay_up).min(base)
        }
    }
}

/// Returns the place of a delay between the threshold (0) and the other end (1), which it takes if
/// both ends are in the wrong order.
fn position(mean: f64, threshold: f64, end: f64) -> f64 {
    let of = (mean - threshold) / (end - threshold);
    if of.is_finite() {
        of.clamp(0.0, 1.0)
    } else {
        1.0
    }
}

impl AutorateState for Controller {
    fn reply(&mut self, now: Time, reply: Reply, rate: f64, load: &mut Load) -> f64 {
        let config = self.config.clone();
        let packet_s = 8.0 * FULL_PACKET.0 as f64 / rate;
        let [threshold, least, most] = [
            config.delay_threshold,
            config.up_threshold,
            config.down_threshold,
        ]
        .map(|span| span.as_secs_f64() + packet_s);
        let delta = self.above_baseline(reply);
        let places = self.last.len();
        self.last[self.place] = (delta, delta > threshold);
        self.place = (self.place + 1) % places;
        let mean = self.last.iter().map(|(delta, _)| delta).sum::<f64>() / places as f64;
        let delayed = self.last.iter().filter(|(_, delayed)| *delayed).count();
        let rested = now > self.reduced + config.refractory;
        let next = if delayed >= config.delayed as usize {
            if !rested {
                return rate;
            }
            (self.reduced, self.decayed) = (now, now);
            rate * self.down(mean, [threshold, most])
        } else if load.share > config.high_load {
            if !rested || !std::mem::take(&mut load.is_new) {
                return rate;
            }
            self.decayed = now;
            rate * self.up(mean, [threshold, least])
        } else if now > self.decayed + config.decay_refractory {
            self.decayed = now;
            self.towards_base(rate)
        } else {
            return rate;
        };
        next.clamp(config.minimum.0 as f64, config.maximum.0 as f64)
    }
}
