//! RED as Linux has it (`net/sched/sch_red.c`, `include/net/red.h`), in its fixed-point arithmetic.

use super::config::{check_probability, check_thresholds};
use crate::config::refuse_small_limit;
use crate::{Backlog, Configuration, Context, Fifo, Limit, QueueDiscipline, Refusal};
use goodqueue_types::{Bytes, DropReason, Packet, RandomStream, Rate, Span, Time};

/// Parameters of Linux `red`, by the names of `tc`. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of tc that can be set without the others"
)]
pub struct LinuxRedConfig {
    /// The most frame bytes that may wait (`limit`).
    pub limit: Limit,
    /// Below this average, in bytes, nothing is dropped (`min`).
    pub min: u32,
    /// From this average on, in bytes, everything is marked or dropped: there is no gentle mode
    /// (`max`).
    pub max: u32,
    /// The mean packet size in bytes (`avpkt`).
    pub avpkt: u32,
    /// Packets that may come at once without harm; sets the weight (`burst`).
    pub burst: u32,
    /// The probability at `max` (`probability`; 0.02).
    pub probability: f64,
    /// The rate at which packets are imagined to leave an idle link (`bandwidth`; 10 Mbit/s,
    /// which tc takes with a warning where none is given).
    pub bandwidth: Rate,
    /// Whether the probability is adapted every 500 ms (`adaptive`; off).
    pub adaptive: bool,
    /// Whether ECN-capable packets are marked instead (`ecn`; off).
    pub ecn: bool,
    /// Whether those, too, are dropped above `max` (`harddrop`; off).
    pub harddrop: bool,
    /// Whether, with `ecn`, those that are not capable are let through (`nodrop`; off).
    pub nodrop: bool,
}

impl LinuxRedConfig {
    /// tc's defaults for a limit in bytes: `max` a quarter of it, `min` a third of that, `burst`
    /// (2 min + max) / (3 avpkt).
    pub fn tc(limit: u32, avpkt: u32) -> Self {
        let max = limit / 4;
        let min = max / 3;
        Self {
            limit: Limit::Bytes(u64::from(limit)),
            min,
            max,
            avpkt,
            burst: Self::default_burst(min, max, avpkt),
            probability: 0.02,
            bandwidth: Rate(10_000_000),
            adaptive: false,
            ecn: false,
            harddrop: false,
            nodrop: false,
        }
    }

    /// The `burst` that tc takes where none is given, in packets.
    pub fn default_burst(min: u32, max: u32, avpkt: u32) -> u32 {
        let bytes = (2 * u64::from(min) + u64::from(max)) / (3 * u64::from(avpkt.max(1)));
        bytes.min(u64::from(u32::MAX)) as u32
    }
}

/// tc's weight: the smallest w from 1 on for which a burst keeps the average below `min`, that is
/// burst + 1 - min / avpkt <= (1 - (1 - W)^burst) / W with W = 2^-w; none if there is none.
pub fn red_wlog(min: u32, burst: u32, avpkt: u32) -> Option<u8> {
    let above = f64::from(burst) + 1.0 - f64::from(min) / f64::from(avpkt);
    let holds = |wlog: &u8| {
        let weight = libm::exp2(-f64::from(*wlog));
        above <= (1.0 - libm::pow(1.0 - weight, f64::from(burst))) / weight
    };
    (above >= 1.0).then(|| (1..32).find(holds))?
}

/// The bits of a random number that give roughly this probability: how often it must be doubled
/// until, divided by max - min, it exceeds 1. Kernels since 3.3 take the probability itself.
pub fn red_plog(min: u32, max: u32, probability: f64) -> Option<u8> {
    let range = max.checked_sub(min).filter(|range| *range > 0)?;
    let share = probability / f64::from(range);
    (0..32).find(|bits| share * libm::exp2(f64::from(*bits)) > 1.0)
}

/// How an idle link forgets: time is cut into cells of 2^`cell_log` microseconds, and after n
/// cells the average is shifted right by `shifts[n]` bits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct IdleTable {
    cell_log: u32,
    shifts: [u8; 256],
}

impl IdleTable {
    /// tc's table (`tc_red_eval_idle_damping`). It counts in the packet scheduler's ticks of
    /// 64 ns, but the kernel looks microseconds up in it, and it counts the decay in natural
    /// logarithms, but the kernel shifts bits: an average fades by half in the time in which
    /// 15.625 times the bandwidth would have it fade by e. That is what runs in the field.
    fn new(wlog: u8, avpkt: u32, bandwidth: Rate) -> Option<Self> {
        let transmission = bandwidth.transmission_time(Bytes(u64::from(avpkt)));
        let microseconds = transmission.0 / 1_000_000;
        let ticks = (microseconds * 1000 / 64).max(1) as f64;
        let rate = -libm::log1p(-libm::exp2(-f64::from(wlog))) / ticks;
        let longest = 31.0 / rate;
        let cell_log = (0..32).find(|log| longest / libm::exp2(f64::from(*log)) < 512.0)?;
        let mut shifts = [31; 256];
        for (cells, shift) in shifts.iter_mut().enumerate().take(255) {
            let time = (cells as f64) * libm::exp2(f64::from(cell_log));
            *shift = (time * rate).min(31.0) as u8;
        }
        Some(Self { cell_log, shifts })
    }

    /// The average, in fixed point, after an idle time.
    fn decay(&self, average: u64, idle: Span) -> u64 {
        let microseconds = (idle.0 / 1_000_000).min(255 << self.cell_log);
        let shift = self.shifts[(microseconds >> self.cell_log) as usize & 255];
        if shift > 0 {
            return average >> shift;
        }
        // The first cell, where the table is too coarse, decays linearly.
        let less = (u128::from(average) * u128::from(microseconds)) >> self.cell_log;
        average - (less as u64).min(average / 2)
    }
}

/// Bytes between the thresholds.
fn range(config: &LinuxRedConfig) -> u64 {
    u64::from(config.max.saturating_sub(config.min)).max(1)
}

/// One per cent of a probability in units of 2⁻³².
const ONE_PERCENT: u64 = 42_949_673;
/// How often the adaptation looks at the average.
const ADAPTATION_INTERVAL: Span = Span::from_millis(500);

impl Configuration for LinuxRedConfig {
    type Queue = LinuxRed;

    fn build(&self, _random: &mut RandomStream) -> LinuxRed {
        LinuxRed::new(*self)
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        refuse_small_limit(self.limit, frame_bytes)?;
        check_thresholds(f64::from(self.min), f64::from(self.max))?;
        check_probability("probability", self.probability)?;
        if self.avpkt == 0 {
            return Err(Refusal::new(
                "avpkt",
                "packets of no bytes",
                "write the mean size of a packet, as in avpkt = \"1500B\"",
            ));
        }
        let Some(wlog) = red_wlog(self.min, self.burst, self.avpkt) else {
            let least = 1 + self.min / self.avpkt;
            return Err(Refusal::new(
                "burst",
                format!("no weight lets a burst of {} packets pass", self.burst),
                format!("write a burst of {least} packets or a few more"),
            ));
        };
        // As the kernel's red_check_params: fixed point must not overflow 32 bits.
        if u32::BITS - self.max.leading_zeros() + u32::from(wlog) > 32 {
            return Err(Refusal::new(
                "max",
                format!("{} bytes times 2^{wlog} pass 32 bits", self.max),
                "write a smaller max or a smaller burst",
            ));
        }
        if IdleTable::new(wlog, self.avpkt, self.bandwidth).is_none() {
            return Err(Refusal::new(
                "bandwidth",
                "the link is too slow for a table of idle times",
                "write the link's rate, as in bandwidth = \"10Mbps\"",
            ));
        }
        Ok(())
    }
}

/// Linux `red`: a byte FIFO and an average in fixed point with `wlog` fraction bits.
#[derive(Clone, Debug)]
pub struct LinuxRed {
    config: LinuxRedConfig,
    wlog: u8,
    idle_table: IdleTable,
    waiting: Fifo,
    /// The probability at `max`, in units of 2⁻³².
    max_probability: u64,
    /// The same for each byte between the thresholds.
    step: u64,
    /// The average backlog in bytes, shifted left by `wlog`.
    average: u64,
    /// Packets since a random number was drawn; none below `min` and above `max`.
    count: Option<u64>,
    /// That number: the product of excess and count at which a packet is marked.
    mark_at: u64,
    idle_since: Option<Time>,
    next_adaptation: Time,
}

/// What Linux makes of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Pass,
    Early,
    Forced,
}

impl LinuxRed {
    fn new(config: LinuxRedConfig) -> Self {
        // A configuration that passed `check` has both.
        let wlog = red_wlog(config.min, config.burst, config.avpkt).unwrap_or(31);
        let idle_table = IdleTable::new(wlog, config.avpkt, config.bandwidth);
        let max_probability = libm::floor(config.probability * 4_294_967_296.0) as u64;
        Self {
            config,
            wlog,
            idle_table: idle_table.unwrap_or(IdleTable {
                cell_log: 31,
                shifts: [31; 256],
            }),
            waiting: Fifo::default(),
            max_probability,
            step: (max_probability / range(&config)).max(1),
            average: 0,
            count: None,
            mark_at: 0,
            idle_since: Some(Time::ZERO),
            next_adaptation: Time::ZERO + ADAPTATION_INTERVAL,
        }
    }

    /// The average backlog in bytes.
    pub fn average_bytes(&self) -> f64 {
        self.average as f64 / libm::exp2(f64::from(self.wlog))
    }

    fn update_average(&mut self, now: Time) {
        self.average = match self.idle_since.take() {
            Some(since) => self.idle_table.decay(self.average, now - since),
            None => self.average + self.waiting.backlog().bytes - (self.average >> self.wlog),
        };
    }

    fn action(&mut self, random: &mut RandomStream) -> Action {
        let bytes = self.average >> self.wlog;
        let min = u64::from(self.config.min);
        if self.average < min << self.wlog {
            self.count = None;
            return Action::Pass;
        }
        if bytes >= u64::from(self.config.max) {
            self.count = None;
            return Action::Forced;
        }
        let count = self.count.map_or(0, |count| count + 1);
        self.count = Some(count);
        if count == 0 {
            self.mark_at = self.draw(random);
        } else if (bytes - min) * count >= self.mark_at {
            self.count = Some(0);
            self.mark_at = self.draw(random);
            return Action::Early;
        }
        Action::Pass
    }

    /// A number drawn uniformly below (max - min) / probability.
    fn draw(&self, random: &mut RandomStream) -> u64 {
        (random.bits() >> 32) / self.step
    }

    /// What the kernel's timer did every 500 ms since the last call.
    fn adapt_until(&mut self, now: Time) {
        while self.config.adaptive && self.next_adaptation <= now {
            let average = match self.idle_since {
                Some(since) => {
                    let idle = self.next_adaptation.saturating_since(since);
                    self.idle_table.decay(self.average, idle)
                }
                None => self.average,
            };
            self.adapt(average >> self.wlog);
            self.next_adaptation += ADAPTATION_INTERVAL;
        }
    }

    /// Towards the middle fifth between the thresholds (`red_adaptative_algo`).
    fn adapt(&mut self, average: u64) {
        let fifth = range(&self.config) / 5;
        let low = u64::from(self.config.min) + 2 * fifth;
        if average > low + fifth && self.max_probability <= 50 * ONE_PERCENT {
            self.max_probability += ONE_PERCENT.min(self.max_probability / 4);
        } else if average < low && self.max_probability >= ONE_PERCENT {
            self.max_probability = self.max_probability / 10 * 9;
        }
        let range = range(&self.config);
        self.step = ((self.max_probability + range / 2) / range).max(1);
    }

    /// Marks the packet, or says that it must go.
    fn marks_or_lets_pass(
        &self,
        context: &mut Context<'_>,
        packet: &mut Packet,
        action: Action,
    ) -> bool {
        let (reason, markable) = match action {
            Action::Pass => return true,
            Action::Early => (DropReason::Early, self.config.ecn),
            Action::Forced => (DropReason::Forced, self.config.ecn && !self.config.harddrop),
        };
        markable && (context.mark(packet, reason) || self.config.nodrop)
    }
}

impl QueueDiscipline for LinuxRed {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        self.adapt_until(context.now);
        self.update_average(context.now);
        let action = self.action(context.random);
        if !self.marks_or_lets_pass(context, &mut packet, action) {
            let reason = match action {
                Action::Forced => DropReason::Forced,
                _ => DropReason::Early,
            };
            return context.drop(packet, reason);
        }
        if let Err(packet) = self.waiting.push(context, self.config.limit, packet) {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        self.adapt_until(context.now);
        let packet = self.waiting.pop(context);
        if packet.is_none() && self.idle_since.is_none() {
            self.idle_since = Some(context.now);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn average(&self) -> Option<f64> {
        Some(self.average_bytes())
    }

    fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
        Box::new(self.clone())
    }
}
