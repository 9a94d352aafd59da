//! RED's control law: the average, the probability, and the spreading of drops.

use super::{RedAdaptation, RedConfig, RedUnit};
use crate::Backlog;
use goodqueue_types::{RandomStream, Time};

/// Decision of RED on an arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RedDecision {
    /// The packet passes.
    Pass,
    /// The packet was chosen at random. The value is the probability before drops are spread.
    Early(f64),
    /// The average requires a drop, without a draw.
    Forced,
}

/// RED without a queue. Other disciplines use this law too.
#[derive(Clone, Debug)]
pub struct RedLaw {
    config: RedConfig,
    /// Packets of mean size that the link sends per second.
    packet_rate: f64,
    average: f64,
    max_probability: f64,
    /// Number of arrivals since the last drop, including the present one.
    count: u64,
    /// Bytes of these arrivals.
    count_bytes: u64,
    /// True if the average was above `min` at the last arrival.
    counting: bool,
    idle_since: Option<Time>,
    adapted: Time,
    region: Region,
}

/// Position of the average relative to the thresholds, for Feng's adaptation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    Below,
    Between,
    Above,
}

impl RedLaw {
    /// Creates the law of an idle link.
    pub fn new(config: RedConfig) -> Self {
        Self {
            config,
            packet_rate: config.bandwidth.0 as f64 / (8.0 * f64::from(config.mean_packet)),
            average: 0.0,
            max_probability: config.max_probability,
            count: 0,
            count_bytes: 0,
            counting: false,
            idle_since: Some(Time::ZERO),
            adapted: Time::ZERO,
            region: Region::Between,
        }
    }

    /// Returns the average backlog in the configured unit.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// Returns the probability at `max`, as adapted.
    pub fn max_probability(&self) -> f64 {
        self.max_probability
    }

    /// Returns the parameters.
    pub fn config(&self) -> &RedConfig {
        &self.config
    }

    /// Sets the thresholds, in the configured unit.
    pub fn set_thresholds(&mut self, min: f64, max: f64) {
        (self.config.min, self.config.max) = (min, max);
    }

    /// Records that the link has nothing to send from now on.
    pub fn idle(&mut self, now: Time) {
        self.idle_since = Some(now);
    }

    /// Decides on a packet of `bytes` bytes that arrives while `backlog` waits.
    pub fn arrive(
        &mut self,
        now: Time,
        backlog: Backlog,
        bytes: u64,
        random: &mut RandomStream,
    ) -> RedDecision {
        let queue = match self.config.unit {
            RedUnit::Packets => backlog.packets,
            RedUnit::Bytes => backlog.bytes,
        };
        self.update_average(now, queue);
        self.adapt(now);
        self.count += 1;
        self.count_bytes += bytes;
        // An arrival that finds an empty queue passes, as in ns-2. In units of packets an arrival
        // that finds one packet passes too.
        if self.average < self.config.min || queue <= 1 {
            self.counting = false;
            return RedDecision::Pass;
        }
        if self.config.mark_below.is_none() && self.average >= self.forced_from() {
            return RedDecision::Forced;
        }
        if !self.counting {
            self.counting = true;
            (self.count, self.count_bytes) = (1, bytes);
            return RedDecision::Pass;
        }
        let probability = self.probability();
        if random.unit() < self.spread(probability, bytes) {
            self.restart_count();
            RedDecision::Early(probability)
        } else {
            RedDecision::Pass
        }
    }

    /// Restarts the spreading of drops after a packet was lost.
    pub fn restart_count(&mut self) {
        (self.count, self.count_bytes) = (0, 0);
    }

    /// Updates the average as in section 4 of the 1993 paper: an exponentially weighted average
    /// over the arrivals, and over those packets that the link could have sent while it was idle.
    fn update_average(&mut self, now: Time, queue: u64) {
        let keep = 1.0 - self.config.weight;
        if let Some(since) = self.idle_since.take() {
            let idle = (now - since).as_secs_f64();
            let imagined = libm::floor(self.packet_rate * idle);
            self.average *= libm::pow(keep, imagined);
        }
        self.average = keep * self.average + self.config.weight * queue as f64;
    }

    /// Returns the average from which on every packet is dropped.
    fn forced_from(&self) -> f64 {
        if self.config.gentle {
            2.0 * self.config.max
        } else {
            self.config.max
        }
    }

    /// Returns the probability for the present average. It grows from 0 at `min` to its maximum at
    /// `max`, and from there, if gentle, to 1 at twice `max`.
    fn probability(&self) -> f64 {
        let RedConfig { min, max, .. } = self.config;
        let probability = if self.average < max {
            self.max_probability * (self.average - min) / (max - min)
        } else if self.config.gentle {
            let start = self.gentle_start();
            start + (1.0 - start) * (self.average - max) / max
        } else {
            1.0
        };
        probability.min(1.0)
    }

    fn gentle_start(&self) -> f64 {
        match self.config.adaptation {
            Some(RedAdaptation::Floyd {
                gentle_follows: true,
                ..
            }) => self.max_probability,
            _ => self.config.max_probability,
        }
    }

    /// Returns the probability of this drop such that the gaps between drops are uniform, not
    /// geometric: over 1 to 1/p - 1 arrivals (1993, section 7), or with `wait` over 1/p to 2/p - 1.
    fn spread(&self, probability: f64, bytes: u64) -> f64 {
        let mean = u64::from(self.config.mean_packet);
        // The count is in whole packets, because ns-2 divides integers.
        let count = if self.config.by_size {
            self.count_bytes / mean
        } else {
            self.count
        };
        let passed = count as f64 * probability;
        let spread = match (self.config.wait, passed) {
            (true, passed) if passed < 1.0 => 0.0,
            (true, passed) if passed < 2.0 => probability / (2.0 - passed),
            (false, passed) if passed < 1.0 => probability / (1.0 - passed),
            _ => 1.0,
        };
        if self.config.by_size && spread < 1.0 {
            (spread * bytes as f64 / mean as f64).min(1.0)
        } else {
            spread
        }
    }

    fn adapt(&mut self, now: Time) {
        match self.config.adaptation {
            Some(RedAdaptation::Floyd { interval, .. })
                if now > self.adapted.saturating_add(interval) =>
            {
                self.adapt_floyd(now);
            }
            Some(RedAdaptation::Feng { decrease, increase }) => {
                self.adapt_feng(decrease, increase);
            }
            _ => {}
        }
    }

    /// Adapts the maximum as in "Adaptive RED" (2001), figure 1: additive increase and
    /// multiplicative decrease towards the middle fifth between the thresholds.
    fn adapt_floyd(&mut self, now: Time) {
        let Some(RedAdaptation::Floyd {
            increment,
            decrease,
            least,
            most,
            ..
        }) = self.config.adaptation
        else {
            return;
        };
        let RedConfig { min, max, .. } = self.config;
        let part = 0.4 * (max - min);
        if self.average < min + part && self.max_probability > least {
            self.max_probability *= decrease;
            self.adapted = now;
        } else if self.average > max - part && self.max_probability < most {
            self.max_probability += increment.min(0.25 * self.max_probability);
            self.adapted = now;
        }
    }

    fn adapt_feng(&mut self, decrease: f64, increase: f64) {
        let RedConfig { min, max, .. } = self.config;
        if self.average > min && self.average < max {
            self.region = Region::Between;
        }
        if self.average < min && self.region != Region::Below {
            self.region = Region::Below;
            self.max_probability /= decrease;
        }
        if self.average > max && self.region != Region::Above {
            self.region = Region::Above;
            // ns-2 has no bound here. Its probability may exceed 1 and then needs as many crossings
            // to come back.
            self.max_probability = (self.max_probability * increase).min(1.0);
        }
    }
}
