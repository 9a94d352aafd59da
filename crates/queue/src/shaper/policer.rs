//! A policer: a token bucket that drops what it has no tokens for (Linux's action `police`).

use crate::config::refuse_small_limit;
use crate::keys::LIMIT;
use crate::shaper::bucket::TokenBucket;
use crate::{
    Backlog, BuiltIn, Configuration, Context, Fifo, Limit, Qdisc, QueueDiscipline, Refusal,
};
use goodqueue_types::parameters::{LARGEST, rate, size};
use goodqueue_types::{DropReason, Packet, RandomStream, Rate, parameters};

parameters! {
    /// Parameters of a policer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PolicerConfig("policer") {
        /// Long-term rate of frames. From 1bps to 10Tbps.
        rate: Rate = Rate(1) => rate().required().example("10Mbps");
        /// Frame bytes that may pass at once after a pause.
        burst: u64 = 0 => size(1, LARGEST).required().example("100kB");
        limit: Limit = Limit::Packets(1_000) => LIMIT;
    }
}

impl BuiltIn for PolicerConfig {
    const QDISC: Qdisc = Qdisc::None(
        "a policer is an action of a filter in Linux, and no queue discipline",
        "add it by hand, as in tc filter add dev DEV matchall action police rate 10mbit burst 100k",
    );
}

impl Configuration for PolicerConfig {
    type Queue = Policer;

    fn build(&self, _random: &mut RandomStream) -> Policer {
        Policer {
            bucket: TokenBucket::new(self.rate, self.burst),
            limit: self.limit,
            waiting: Fifo::default(),
        }
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        TokenBucket::check("policer", self.rate, self.burst, frame_bytes)?;
        refuse_small_limit(self.limit, frame_bytes)
    }
}

/// State of a policer. A frame that passes waits for the link in a FIFO; it has used its tokens even if
/// the FIFO is full.
#[derive(Clone, Debug)]
pub struct Policer {
    bucket: TokenBucket,
    limit: Limit,
    waiting: Fifo,
}

impl QueueDiscipline for Policer {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        let bytes = context.frame_bytes(&packet);
        if self.bucket.ready_at(bytes) > context.now {
            return context.drop(packet, DropReason::Overlimit);
        }
        self.bucket.take(context.now, bytes);
        if let Err(packet) = self.waiting.push(context, self.limit, packet) {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.waiting.pop(context)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Rig;
    use goodqueue_types::{Ecn, Framing, Span};

    /// Returns a policer of one byte per microsecond, with a burst of 3000 bytes.
    fn policer() -> PolicerConfig {
        PolicerConfig {
            rate: Rate(8_000_000),
            burst: 3_000,
            limit: Limit::Packets(10),
        }
    }

    #[test]
    fn a_burst_passes_and_what_has_no_tokens_is_dropped() {
        let mut rig = Rig::new(&policer());
        rig.enqueue(5, 1_000, Ecn::NotCapable);
        assert_eq!(rig.queue.backlog().packets, 3);
        assert_eq!(rig.verdicts.len(), 2);
        // The bucket holds 999 bytes before one millisecond has passed, and 1000 then.
        rig.at(Span::from_micros(999))
            .enqueue(1, 1_000, Ecn::NotCapable);
        assert_eq!(rig.queue.backlog().packets, 3);
        rig.at(Span::from_micros(1_000))
            .enqueue(2, 1_000, Ecn::NotCapable);
        assert_eq!(rig.queue.backlog().packets, 4);
        // Nothing that passed is held back.
        assert_eq!(std::iter::from_fn(|| rig.dequeue()).count(), 4);
    }

    #[test]
    fn tokens_pay_for_frames_and_not_only_for_packets() {
        let mut rig = Rig::new(&policer());
        rig.framing = Framing::bytes(500);
        rig.enqueue(3, 1_000, Ecn::NotCapable);
        assert_eq!(rig.queue.backlog().packets, 2);
    }

    #[test]
    fn a_full_fifo_behind_the_bucket_drops_too() {
        let config = PolicerConfig {
            limit: Limit::Packets(2),
            ..policer()
        };
        let mut rig = Rig::new(&config);
        rig.enqueue(3, 1_000, Ecn::NotCapable);
        assert_eq!((rig.queue.backlog().packets, rig.verdicts.len()), (2, 1));
    }

    #[test]
    fn a_bucket_that_holds_no_frame_is_refused() {
        let refused = |config: PolicerConfig| config.check(1_514).map_err(|refusal| refusal.key);
        assert_eq!(refused(policer()), Ok(()));
        let burst = 1_000;
        assert_eq!(
            refused(PolicerConfig { burst, ..policer() }),
            Err("burst".to_owned())
        );
        let rate = Rate(0);
        assert_eq!(
            refused(PolicerConfig { rate, ..policer() }),
            Err("rate".to_owned())
        );
        let limit = Limit::Packets(0);
        assert_eq!(
            refused(PolicerConfig { limit, ..policer() }),
            Err("limit".to_owned())
        );
    }
}
