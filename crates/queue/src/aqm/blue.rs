//! BLUE, whose drop probability grows when the queue overflows and falls when the link is idle
//! (Feng, Kandlur, Saha and Shin, "The BLUE Queue Management Algorithms", IEEE/ACM Transactions on
//! Networking, 2002).

use crate::config::refuse_small_limit;
use crate::keys::{ECN, LIMIT};
use crate::{
    Backlog, BuiltIn, Configuration, Context, Fifo, Limit, Qdisc, QueueDiscipline, Refusal,
};
use goodqueue_types::parameters::{Key, Kind, TIMER, fraction, one_of};
use goodqueue_types::{DropReason, Packet, RandomStream, Span, Time, parameters};

parameters! {
    /// Parameters of BLUE. The defaults are the larger steps of the paper (0.02 and 0.002), at most
    /// one every 100 ms.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct BlueConfig("blue") {
        limit: Limit = Limit::Unlimited => LIMIT.required();
        /// Backlog at and above which the queue counts as overflowing.
        ///
        /// The paper's L.
        threshold: Option<Limit> = None
            => one_of(&[Kind::Limit, Kind::Choice(&["none"])]).example("50p");
        /// Increase of the probability at an overflow.
        ///
        /// The paper's d1.
        increment: f64 = 0.02 => fraction().example("0.02");
        /// Decrease of the probability when the link is idle.
        ///
        /// The paper's d2.
        decrement: f64 = 0.002 => fraction().example("0.002");
        /// Least time between two changes.
        freeze_time: Span = Span::from_millis(100) => Key::new(TIMER).example("100ms");
        ecn: bool = false => ECN;
    }
}

impl BuiltIn for BlueConfig {
    const QDISC: Qdisc = Qdisc::None(
        "BLUE has no equivalent: Linux has it only inside sfb and cake",
        "write kind = \"pie\", which is the nearest",
    );
}

impl BlueConfig {
    /// Returns the defaults with this limit.
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }
}

impl Configuration for BlueConfig {
    type Queue = Blue;

    fn build(&self, _random: &mut RandomStream) -> Blue {
        Blue {
            config: *self,
            waiting: Fifo::default(),
            probability: 0.0,
            changed: Time::ZERO,
            idle: true,
        }
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        for (key, step) in [("increment", self.increment), ("decrement", self.decrement)] {
            if !(step > 0.0 && step <= 1.0) {
                return Err(Refusal::new(
                    key,
                    format!("{step} is not a step of a probability"),
                    "write a number above 0 and at most 1; the paper has 0.02 and 0.002",
                ));
            }
        }
        if self.freeze_time == Span::ZERO {
            return Err(Refusal::new(
                "freeze_time",
                "without a freeze time the probability leaps with each packet",
                "write about a round-trip time, as in freeze_time = \"100ms\"",
            ));
        }
        Ok(())
    }
}

/// State of BLUE over a FIFO.
#[derive(Clone, Debug)]
pub struct Blue {
    config: BlueConfig,
    waiting: Fifo,
    probability: f64,
    changed: Time,
    idle: bool,
}

impl Blue {
    /// Returns the probability with which arrivals are marked or dropped.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    fn overflow(&mut self, now: Time) {
        if now - self.changed > self.config.freeze_time {
            self.probability = (self.probability + self.config.increment).min(1.0);
            self.changed = now;
        }
    }

    /// Lowers the probability because the link has become idle.
    fn underflow(&mut self, now: Time) {
        if now - self.changed > self.config.freeze_time {
            self.decrease(1.0);
            self.changed = now;
        }
    }

    /// Lowers the probability by one step for each whole freeze time that the link was idle.
    fn idle_until(&mut self, now: Time) {
        let frozen = self.config.freeze_time;
        let steps = (now - self.changed).0 / frozen.0;
        self.decrease(steps as f64);
        self.changed = self.changed.saturating_add(frozen.saturating_mul(steps));
    }

    fn decrease(&mut self, steps: f64) {
        self.probability = (self.probability - self.config.decrement * steps).max(0.0);
    }
}

impl QueueDiscipline for Blue {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        if std::mem::take(&mut self.idle) {
            self.idle_until(context.now);
        }
        let bytes = context.frame_bytes(&packet);
        let backlog = self.waiting.backlog();
        if let Some(threshold) = self.config.threshold
            && !threshold.admits(backlog, bytes)
        {
            self.overflow(context.now);
        }
        if context.random.unit() < self.probability {
            let marked = self.config.ecn && context.mark(&mut packet, DropReason::Early);
            if !marked {
                return context.drop(packet, DropReason::Early);
            }
        }
        if let Err(packet) = self.waiting.push(context, self.config.limit, packet) {
            self.overflow(context.now);
            context.drop(packet, DropReason::Overlimit);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let packet = self.waiting.pop(context);
        self.idle = packet.is_none();
        if self.idle {
            self.underflow(context.now);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Rig;
    use goodqueue_types::Ecn;

    fn rig() -> Rig<Blue> {
        Rig::new(&BlueConfig::new(Limit::Packets(10)))
    }

    #[track_caller]
    fn assert_probability(rig: &Rig<Blue>, expected: f64) {
        let found = rig.queue.probability();
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    #[test]
    fn overflow_raises_the_probability_once_in_a_freeze_time() {
        let mut rig = rig();
        rig.queue.idle = false;
        rig.at(Span::from_millis(101));
        rig.enqueue(20, 1000, Ecn::NotCapable);
        assert_probability(&rig, 0.02);
        assert_eq!(rig.waiting(), 10);
        rig.at(Span::from_millis(201));
        rig.enqueue(5, 1000, Ecn::NotCapable);
        assert_probability(&rig, 0.02);
        rig.at(Span::from_millis(202));
        rig.enqueue(5, 1000, Ecn::NotCapable);
        assert_probability(&rig, 0.04);
    }

    #[test]
    fn each_freeze_time_of_idleness_lowers_it() {
        let mut rig = rig();
        rig.queue.probability = 0.02;
        rig.at(Span::from_millis(1));
        rig.call(|queue, context| {
            queue.idle = false;
            queue
                .waiting
                .push(context, Limit::Unlimited, Packet::default())
        })
        .unwrap();
        // The link was busy for a long time, so only the end of the busy period lowers the
        // probability.
        rig.at(Span::from_secs(5));
        assert!(rig.dequeue().is_some());
        assert_probability(&rig, 0.02);
        assert!(rig.dequeue().is_none());
        assert_probability(&rig, 0.018);
        rig.at(Span::from_millis(5350));
        rig.enqueue(1, 1000, Ecn::NotCapable);
        assert_probability(&rig, 0.012);
        while rig.dequeue().is_some() {}
        rig.at(Span::from_secs(60));
        rig.enqueue(1, 1000, Ecn::NotCapable);
        assert_probability(&rig, 0.0);
    }

    #[test]
    fn packets_are_lost_or_marked_at_that_probability() {
        for ecn in [Ecn::NotCapable, Ecn::Capable0] {
            let mut rig = Rig::new(&BlueConfig {
                ecn: true,
                ..BlueConfig::new(Limit::Unlimited)
            });
            rig.queue.probability = 0.1;
            rig.queue.idle = false;
            rig.enqueue(40_000, 1000, ecn);
            let (marks, drops) = (rig.marks(DropReason::Early), rig.drops(DropReason::Early));
            assert_eq!(if ecn == Ecn::NotCapable { marks } else { drops }, 0);
            // The tolerance is four standard errors: sqrt(40,000 * 0.1 * 0.9) = 60.
            assert!((marks + drops).abs_diff(4000) < 240, "{marks} {drops}");
        }
    }

    #[test]
    fn steps_and_freeze_times_of_nothing_are_refused() {
        let good = BlueConfig::new(Limit::Packets(10));
        let key = |config: BlueConfig| config.check(1500).unwrap_err().key;
        assert_eq!(good.check(1500), Ok(()));
        assert_eq!(
            key(BlueConfig {
                increment: 0.0,
                ..good
            }),
            "increment"
        );
        assert_eq!(
            key(BlueConfig {
                decrement: 1.1,
                ..good
            }),
            "decrement"
        );
        let freeze_time = Span::ZERO;
        assert_eq!(
            key(BlueConfig {
                freeze_time,
                ..good
            }),
            "freeze_time"
        );
    }
}
