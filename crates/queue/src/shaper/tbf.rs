//! A token-bucket filter in front of any discipline (Linux `tbf`).

use crate::config::refuse_small_limit;
use crate::keys::{FRAME, LIMIT};
use crate::shaper::bucket::TokenBucket;
use crate::{
    Backlog, BuiltIn, Configuration, Context, Discipline, Exclusive, Limit, Place, Qdisc,
    QueueConfig, QueueDiscipline, Refusal,
};
use goodqueue_types::parameters::{
    Declared, Given, Key, Kind, LARGEST, LONGEST, Parameter, Parameters, Tc, Value, rate, size,
    span,
};
use goodqueue_types::{DropReason, Packet, RandomStream, Rate, Span, Time, parameters};

/// Default of each of the keys that say what may wait.
const ONE_OF_THREE: &str = "one of `limit`, `latency` and `queue`";

parameters! {
    /// Parameters of a token-bucket filter. `tc` has its options of these names; other names of
    /// `burst` are `buffer` and `maxburst`, and of `mtu` `minburst`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TbfConfig("tbf") {
        /// Long-term rate of frames. From 1bps to 10Tbps.
        rate: Rate = Rate(1) => rate().required().in_tc(Tc::Scaled("rate")).example("10Mbps");
        /// Frame bytes that may go at once after a pause.
        burst: u64 = 0 => size(1, LARGEST).required().in_tc(Tc::Scaled("burst")).example("10kB");
        /// Rate limit within a burst. Without it a burst leaves at the rate of the link.
        peak: Option<TbfPeak> = None;
        /// Discipline whose packets wait for tokens. A plain filter has a drop-tail queue in bytes,
        /// as in Linux; its size is given as `limit` or as `latency`
        /// ([`TbfConfig::limit_of_latency`]).
        inner: Inner = QueueConfig::drop_tail(Limit::Unlimited).into();
    }

    /// Second bucket of a token-bucket filter, which spreads bursts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct TbfPeak("tbf peak") {
        /// Rate at which a burst may go; with `mtu` only.
        rate: Rate = Rate(1) => rate()
            .named("peakrate")
            .in_tc(Tc::Scaled("peakrate"))
            .default("none")
            .example("20Mbps");
        /// Frame bytes that may go at once at most; with `peakrate` only.
        mtu: u64 = 0 => Key::new(FRAME).in_tc(Tc::Scaled("mtu")).default("none").example("1514B");
    }
}

/// Discipline behind a token-bucket filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Inner(pub Box<QueueConfig>);

impl From<QueueConfig> for Inner {
    fn from(queue: QueueConfig) -> Self {
        Self(Box::new(queue))
    }
}

/// The three keys that can set the limit; a table has exactly one of them.
impl Declared for Inner {
    const KEYS: &'static [Key] = &[
        LIMIT.named("limit").default(ONE_OF_THREE).in_tc(Tc::Hook),
        span(Span::ZERO, LONGEST)
            .named("latency")
            .default(ONE_OF_THREE)
            .in_tc(Tc::Hook)
            .example("50ms")
            .doc("The longest that a byte may wait for tokens; it becomes a limit in bytes."),
        Key::new(Kind::Queue)
            .named("queue")
            .default(ONE_OF_THREE)
            .in_tc(Tc::Hook)
            .example("{ kind = \"codel\" }")
            .doc("The queue of the packets that wait for tokens."),
    ];
}

impl Parameters for Inner {
    fn keys(&self) -> &'static [Key] {
        Self::KEYS
    }

    fn get(&self, key: &str) -> Option<Value> {
        (key == "queue").then(|| self.0.value())
    }

    /// Sets the queue or its limit. A latency depends on the filter, which sets it itself.
    fn set(&mut self, key: &str, value: Value) {
        match key {
            "limit" => *self.0 = QueueConfig::drop_tail(Limit::from_value(value)),
            "queue" => *self.0 = QueueConfig::from_value(value),
            _ => {}
        }
    }
}

impl BuiltIn for TbfConfig {
    const QDISC: Qdisc = Qdisc::Named("tbf");
    const EXCLUSIVE: Exclusive = Exclusive {
        keys: &["limit", "latency", "queue"],
        reason: "both say what may wait",
    };
    const RATE_KEY: Option<&'static str> = Some("rate");

    fn read(given: &Given, _place: &Place) -> Result<Self, Refusal> {
        if !Self::EXCLUSIVE.keys.iter().any(|key| given.has(key)) {
            return Err(Refusal::missing::<Self>("limit"));
        }
        match (given.has("peakrate"), given.has("mtu")) {
            (false, true) => return Err(Refusal::missing::<Self>("peakrate")),
            (true, false) => return Err(Refusal::missing::<Self>("mtu")),
            _ => {}
        }
        let mut config = Self::default();
        config.apply(given);
        if let Some(latency) = given.get("latency") {
            let limit = config.limit_of_latency(Span::from_value(latency.clone()));
            if matches!(limit, Limit::Bytes(bytes) if bytes > LARGEST) {
                return Err(Refusal::new(
                    "latency",
                    "what the shaper passes in this time is more than a terabyte",
                    "write a shorter time",
                ));
            }
            *config.inner.0 = QueueConfig::drop_tail(limit);
        }
        Ok(config)
    }
}

impl TbfConfig {
    /// Returns the limit with which the last byte waits for at most `latency` when no tokens are
    /// left: the bytes that the buckets let pass in that time and at once,
    /// `rate · latency + burst`, or the same for the peak rate if that is less (`tc`'s `latency`).
    pub fn limit_of_latency(&self, latency: Span) -> Limit {
        let of = |rate: Rate, burst: u64| rate.bytes_in(latency).0.saturating_add(burst);
        let bytes = of(self.rate, self.burst);
        let peak = self.peak.map(|peak| of(peak.rate, peak.mtu));
        Limit::Bytes(peak.map_or(bytes, |peak| peak.min(bytes)))
    }

    /// Returns the size of the largest frame that can pass.
    fn largest_frame(&self) -> u64 {
        self.peak
            .map_or(self.burst, |peak| peak.mtu.min(self.burst))
    }
}

impl Configuration for TbfConfig {
    type Queue = Tbf;

    fn build(&self, random: &mut RandomStream) -> Tbf {
        let peak = self.peak.map(|peak| TokenBucket::new(peak.rate, peak.mtu));
        Tbf {
            bucket: TokenBucket::new(self.rate, self.burst),
            peak,
            largest_frame: self.largest_frame(),
            head: None,
            inner: Box::new(self.inner.0.build(random)),
        }
    }

    fn table_bytes(&self) -> usize {
        size_of::<Discipline>() + self.inner.0.table_bytes()
    }

    fn limit(&self) -> Limit {
        self.inner.0.limit()
    }

    fn set_limit(&mut self, limit: Limit) {
        self.inner.0.set_limit(limit);
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        TokenBucket::check("filter", self.rate, self.burst, frame_bytes)?;
        let refuse = |key, message: String, help: &str| Err(Refusal::new(key, message, help));
        if let Some(peak) = self.peak {
            if peak.rate <= self.rate {
                let message = "the peak rate is not above the rate".to_owned();
                return refuse("peakrate", message, "write a higher one, or leave it out");
            }
            if peak.mtu < frame_bytes {
                let mtu = peak.mtu;
                let message =
                    format!("an mtu of {mtu} bytes never holds a frame of {frame_bytes} bytes");
                return refuse("mtu", message, "write at least the largest frame");
            }
        }
        refuse_small_limit(self.inner.0.limit(), frame_bytes)?;
        self.inner.0.check(frame_bytes)
    }

    fn is_work_conserving(&self) -> bool {
        false
    }

    fn drain_rate(&self, link: Rate) -> Rate {
        self.rate.min(link)
    }
}

/// State of a discipline whose packets wait for tokens.
#[derive(Clone, Debug)]
pub struct Tbf {
    bucket: TokenBucket,
    peak: Option<TokenBucket>,
    largest_frame: u64,
    /// Packet that has left the inner discipline but has no tokens yet. Its size must be known to
    /// compute when it may leave. Linux takes it out too (`qdisc_peek_dequeued`) and still counts
    /// it.
    head: Option<Head>,
    inner: Box<Discipline>,
}

/// Packet that leaves next.
#[derive(Clone, Copy, Debug)]
struct Head {
    packet: Packet,
    bytes: u64,
}

impl Tbf {
    fn ready_at(&self, bytes: u64) -> Time {
        let at_peak = self.peak.map_or(Time::ZERO, |peak| peak.ready_at(bytes));
        self.bucket.ready_at(bytes).max(at_peak)
    }
}

impl QueueDiscipline for Tbf {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        if context.frame_bytes(&packet) > self.largest_frame {
            // Linux: `tbf_segment`.
            if packet.segments() > 1 {
                let pieces = context.split(&packet);
                return pieces.for_each(|piece| self.enqueue(context, piece));
            }
            return context.drop(packet, DropReason::Overlimit);
        }
        self.inner.enqueue(context, packet);
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let now = context.now;
        let Head { packet, bytes } = if let Some(head) = self.head.take() {
            context.account.release(head.bytes);
            head
        } else {
            let packet = self.inner.dequeue(context)?;
            let bytes = context.frame_bytes(&packet);
            Head { packet, bytes }
        };
        if now < self.ready_at(bytes) {
            context.account.restore(bytes);
            self.head = Some(Head { packet, bytes });
            return None;
        }
        self.bucket.take(now, bytes);
        if let Some(peak) = &mut self.peak {
            peak.take(now, bytes);
        }
        Some(packet)
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        match self.head {
            Some(head) => Some(self.ready_at(head.bytes).max(now)),
            None => self.inner.next_ready(now),
        }
    }

    fn backlog(&self) -> Backlog {
        let mut backlog = self.inner.backlog();
        if let Some(head) = self.head {
            backlog.add(head.bytes);
        }
        backlog
    }

    fn average(&self) -> Option<f64> {
        self.inner.average()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::rig::{Rig, check_all_inside};
    use goodqueue_types::{Ecn, Framing};

    const MS: u64 = 1_000_000_000;

    /// Returns a filter of one byte per microsecond, with a burst of 3000 bytes.
    fn filter(peak: Option<TbfPeak>) -> TbfConfig {
        TbfConfig {
            rate: Rate(8_000_000),
            burst: 3_000,
            peak,
            inner: QueueConfig::drop_tail(Limit::Packets(10)).into(),
        }
    }

    /// Offers packets of these sizes at once and asks for them at the times that the queue
    /// announces. Returns the times of departure in picoseconds, and the number of drops.
    fn departures(config: &TbfConfig, sizes: &[u32]) -> (Vec<u64>, usize) {
        let mut rig = Rig::new(config);
        for size in sizes {
            rig.enqueue(1, *size, Ecn::NotCapable);
        }
        let mut left = Vec::new();
        while let Some(ready) = rig.queue.next_ready(rig.now) {
            rig.now = ready;
            if rig.dequeue().is_some() {
                left.push(ready.0);
            }
            rig.call(|queue, context| {
                assert_eq!(context.account.used(), queue.backlog().bytes);
            });
        }
        (left, rig.verdicts.len())
    }

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        let (left, drops) = departures(&filter(None), &[1_000; 6]);
        assert_eq!(left, [0, 0, 0, MS, 2 * MS, 3 * MS]);
        assert_eq!(drops, 0);
        // 500 bytes of tokens are left of the burst, so the next frame waits for the other half.
        let (left, _) = departures(&filter(None), &[1_500, 1_000, 1_000]);
        assert_eq!(left, [0, 0, MS / 2]);
    }

    #[test]
    fn the_peak_rate_spreads_the_burst() {
        let peak = TbfPeak {
            rate: Rate(16_000_000),
            mtu: 1_000,
        };
        let (left, _) = departures(&filter(Some(peak)), &[1_000; 8]);
        // Tokens come at two bytes per microsecond while the burst lasts: at k/2 ms, k + 1 frames
        // have left and 3 + k/2 may have, until k = 4.
        let half = MS / 2;
        assert_eq!(
            left,
            [
                0,
                half,
                2 * half,
                3 * half,
                4 * half,
                6 * half,
                8 * half,
                10 * half
            ]
        );
    }

    #[test]
    fn packets_larger_than_the_bucket_are_dropped_on_arrival() {
        let (left, drops) = departures(&filter(None), &[3_001, 3_000]);
        assert_eq!((left, drops), (vec![0], 1));
    }

    /// Linux's `tbf_segment`: what the bucket does not hold is split, into whatever it held.
    #[test]
    fn super_segments_larger_than_the_bucket_are_split() {
        for (segments, split, waiting) in [(3, 0, 1), (4, 3, 4)] {
            let mut rig = Rig::new(&filter(None));
            rig.enqueue_super(segments, 960);
            let backlog = rig.queue.backlog();
            assert_eq!((rig.split, backlog.packets), (split, waiting));
            assert_eq!(backlog.bytes, u64::from(segments) * 1_000);
            let sizes = std::iter::from_fn(|| rig.dequeue()).map(|packet| packet.size);
            let expected = if split > 0 {
                vec![1_000; 3]
            } else {
                vec![3_000]
            };
            assert_eq!(sizes.collect::<Vec<_>>(), expected);
        }
        // The queue behind the bucket has room for 10 packets.
        let mut rig = Rig::new(&filter(None));
        rig.enqueue_super(14, 960);
        assert_eq!((rig.split, rig.verdicts.len()), (13, 4));
    }

    #[test]
    fn a_packet_that_was_looked_at_still_counts() {
        let mut rig = Rig::new(&filter(None));
        rig.framing = Framing::bytes(18);
        rig.enqueue(3, 1_482, Ecn::NotCapable);
        assert!(rig.dequeue().is_some());
        assert!(rig.dequeue().is_some());
        assert!(rig.dequeue().is_none());
        let backlog = rig.queue.backlog();
        assert_eq!((backlog.packets, backlog.bytes), (1, 1_500));
        assert_eq!(rig.call(|_, context| context.account.used()), 1_500);
        // The packet waits 1.5 ms for its tokens, however often the link asks before.
        rig.now = Time(MS);
        assert!(rig.dequeue().is_none());
        assert_eq!(rig.queue.next_ready(rig.now), Some(Time(3 * MS / 2)));
        assert!(
            !rig.verdicts
                .iter()
                .any(|v| matches!(v, Verdict::Dropped(..)))
        );
    }

    /// The manual page of `tc` (`q_tbf.c`) has 0.5mbit, burst 5kb, latency 70ms, peakrate 1mbit and
    /// minburst 1540. These values give a limit of 9495 bytes.
    #[test]
    fn latency_is_the_limit_that_tc_makes_of_it() {
        let mut config = TbfConfig {
            rate: Rate(500_000),
            burst: 5_120,
            peak: Some(TbfPeak {
                rate: Rate(1_000_000),
                mtu: 1_540,
            }),
            inner: QueueConfig::drop_tail(Limit::Unlimited).into(),
        };
        let limit = |config: &TbfConfig| config.limit_of_latency(Span::from_millis(70));
        assert_eq!(limit(&config), Limit::Bytes(9_495));
        config.burst = 10_000;
        assert_eq!(limit(&config), Limit::Bytes(10_290));
    }

    #[test]
    fn every_discipline_conforms_behind_tokens() {
        check_all_inside(|inner| {
            QueueConfig::Tbf(TbfConfig {
                inner: inner.into(),
                ..filter(None)
            })
        });
    }

    #[test]
    fn buckets_that_hold_no_frame_are_refused() {
        let refused = |config: &TbfConfig| config.check(1_514).unwrap_err().key;
        let peak = |rate, mtu| {
            Some(TbfPeak {
                rate: Rate(rate),
                mtu,
            })
        };
        assert_eq!(filter(None).check(1_514), Ok(()));
        assert_eq!(filter(peak(9_000_000, 2_000)).check(1_514), Ok(()));
        assert_eq!(refused(&filter(peak(9_000_000, 1_000))), "mtu");
        assert_eq!(refused(&filter(peak(8_000_000, 2_000))), "peakrate");
        let mut config = filter(None);
        config.burst = 1_000;
        assert_eq!(refused(&config), "burst");
        config = filter(None);
        config.set_limit(Limit::Packets(0));
        assert_eq!(refused(&config), "limit");
    }
}
