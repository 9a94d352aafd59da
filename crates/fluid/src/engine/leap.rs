//! Leaps over many round trips in which windows grow steadily and no packet is lost.
//!
//! While no loss is on its way and the queue is well between empty and full, or empty altogether,
//! windows grow by closed forms and the queue follows them: Σ wᵢ / (Tᵢ + q/C) = C. A single flow at
//! 10 Gb/s has a hundred thousand round trips of this kind between two losses.

use crate::engine::{Calm, Engine};
use crate::flows::class::Class;
use crate::link::FluidControl;
use crate::queue::law::Law;

/// Largest part of the distance to a full queue, or of an idle link to a busy one, that a leap may
/// cover.
const PART_OF_WAY: f64 = 0.25;
/// Largest part of all windows that a leap may add to them.
const PART_OF_WINDOW: f64 = 0.03;

/// Least round trips of a leap.
const MIN_ROUNDS: f64 = 6.0;

/// Points of a leap at which the queueing delay is recorded.
const POINTS: u32 = 8;

impl Engine {
    /// Leaps after a round trip without losses, and never beyond `end_s`.
    pub fn leap(&mut self, end_s: f64) {
        let longest = self.classes.iter().map(|class| class.shape.rtt_slots).max();
        let round = longest.unwrap_or(0) as f64 + self.fifo.waiting() / self.per_slot;
        if (self.calm.slots as f64) < round {
            return;
        }
        let calm = std::mem::take(&mut self.calm);
        if calm.lost || self.background > 0.0 || !matches!(self.law, Law::DropTail) {
            return;
        }
        if !self.classes.iter().all(Class::grows_steadily) {
            return;
        }
        if let Some(span_s) = self.calm_span_s(&calm, round * self.slot_s) {
            self.leap_over(span_s.min(end_s - self.now_s()));
        }
    }

    /// Seconds without losses that will follow; none if they are too few round trips of `round_s`
    /// seconds for a leap.
    fn calm_span_s(&self, calm: &Calm, round_s: f64) -> Option<f64> {
        let waiting = self.fifo.waiting();
        let growth: f64 = self
            .classes
            .iter()
            .map(|class| class.growth_rate(waiting / self.packets_per_s))
            .sum();
        let window: f64 = self.classes.iter().map(Class::in_flight).sum();
        let way = if calm.waiting == 0 {
            let rate = self.rate(0.0);
            (1.0 - rate / self.packets_per_s) * window
        } else if calm.waiting == calm.slots && waiting > self.margin + 1.0 {
            self.buffer - self.margin - waiting
        } else {
            return None;
        };
        if growth <= 0.0 {
            return None;
        }
        let span_s = (PART_OF_WAY * way).min(PART_OF_WINDOW * window) / growth;
        (span_s > MIN_ROUNDS * round_s).then_some(span_s)
    }

    fn leap_over(&mut self, span_s: f64) {
        if span_s <= 0.0 {
            return;
        }
        let before = self.fifo.waiting();
        let wait_s = before / self.packets_per_s;
        let rate_before = self.rate(wait_s);
        for class in &mut self.classes {
            class.grow_over(span_s, wait_s);
        }
        let after = if before > 0.0 {
            self.steady_queue()
        } else {
            0.0
        };
        for (place, class) in self.classes.iter_mut().enumerate() {
            let rtt_s = class.shape.rtt_s;
            let share = rtt_s / (rtt_s + after / self.packets_per_s);
            let all = class.in_flight() - class.pending;
            class.scale_returns(share * all);
            self.fifo.scale(place, (1.0 - share) * all);
        }
        self.fifo.sum_up();
        let rate_after = self.rate(after / self.packets_per_s);
        self.record_leap(span_s, (before, after), (rate_before, rate_after));
        self.leapt_s += span_s;
    }

    /// Packets that all windows together send in a second while packets wait `wait_s` seconds.
    fn rate(&self, wait_s: f64) -> f64 {
        let rates = self.classes.iter();
        rates
            .map(|class| class.in_flight() / (class.shape.rtt_s + wait_s))
            .sum()
    }

    /// Queue, in packets, with which all windows together fill the link.
    fn steady_queue(&self) -> f64 {
        let windows: f64 = self.classes.iter().map(Class::in_flight).sum();
        let (mut low, mut high) = (0.0, windows);
        for _ in 0..60 {
            let queue = 0.5 * (low + high);
            let wait_s = queue / self.packets_per_s;
            if self.rate(wait_s) > self.packets_per_s {
                low = queue;
            } else {
                high = queue;
            }
        }
        0.5 * (low + high)
    }

    fn record_leap(&mut self, span_s: f64, waiting: (f64, f64), rate: (f64, f64)) {
        let part_s = span_s / f64::from(POINTS);
        let longer = (waiting.1 - waiting.0) / f64::from(POINTS);
        for point in 0..POINTS {
            let place = (f64::from(point) + 0.5) / f64::from(POINTS);
            let at = |(first, last): (f64, f64)| first + place * (last - first);
            let rate = if waiting.0 > 0.0 {
                self.packets_per_s
            } else {
                at(rate)
            };
            let sent = rate.min(self.packets_per_s) * part_s;
            self.tally.slot(sent + longer, 0.0, sent, at(waiting));
        }
    }
}

impl Class {
    /// Returns true if all flows grow by an amount that does not change with time, and none recovers.
    fn grows_steadily(&self) -> bool {
        !matches!(self.control, FluidControl::Cubic { .. })
            && self
                .flows
                .iter()
                .all(|flow| flow.unknown == 0 && flow.recovers == 0)
    }

    /// Packets by which its windows grow in a second.
    fn growth_rate(&self, wait_s: f64) -> f64 {
        let growth: f64 = self.flows.iter().map(|flow| flow.growth).sum();
        growth / (self.shape.rtt_s + wait_s)
    }

    /// Packets in flight.
    fn in_flight(&self) -> f64 {
        let all: f64 = self
            .trains
            .iter()
            .map(|train| f64::from(train.amount))
            .sum();
        // Packets that the present train has not sent yet are not acknowledged, either.
        all + self.left - self.left * self.factor
    }

    /// Grows windows for this number of seconds.
    fn grow_over(&mut self, span_s: f64, wait_s: f64) {
        let rounds = span_s / (self.shape.rtt_s + wait_s);
        for flow in &mut self.flows {
            let most = (self.max_window - flow.window).max(0.0);
            let more = (flow.growth * rounds).min(most);
            flow.sent += rounds * (flow.flight + 0.5 * more);
            flow.window += more;
            flow.kept = ((flow.flight + more) / flow.flight) as f32;
            flow.flight = 0.0;
        }
        for train in &mut self.trains {
            let flow = &mut self.flows[train.flow as usize];
            train.amount *= flow.kept;
            flow.flight += f64::from(train.amount);
        }
        let flow = self.trains[self.at].flow as usize;
        self.left *= f64::from(self.flows[flow].kept);
    }

    /// Scales the packets that are acknowledged to this number.
    fn scale_returns(&mut self, wanted: f64) {
        let all: f64 = self.returns.iter().sum();
        if all > 0.0 {
            let factor = wanted / all;
            for amount in &mut self.returns {
                *amount *= factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use crate::link::{
        Acks, Background, FlowGroup, FluidControl, FluidLink, FluidQueue, FluidSender,
    };
    use goodqueue_types::{Rate, Span};

    /// Packets in flight are in paths, in the queue, or wait for the rest of a unit.
    #[test]
    fn windows_equal_the_packets_in_flight() {
        for (flows, control) in [
            (1, FluidControl::RENO),
            (7, FluidControl::LINUX_CUBIC),
            (90, FluidControl::RENO),
        ] {
            let link = FluidLink {
                rate: Rate(300_000_000),
                frame_bytes: 1_500,
                queue: FluidQueue::DropTail { packets: 150.0 },
                groups: vec![FlowGroup {
                    name: String::new(),
                    count: flows,
                    rtts: vec![Span::from_millis(20), Span::from_millis(45)],
                    control,
                    acks: Acks {
                        packets: 2.0,
                        bytes_counted: true,
                    },
                    sender: FluidSender::RFC,
                    paced: false,
                    max_window: f64::INFINITY,
                }],
                background: Background::default(),
            };
            let mut engine = Engine::new(&link, 3);
            engine.run(60.0, &mut || true).expect("nobody stops it");
            for (place, class) in engine.classes.iter().enumerate() {
                let paths: f64 = class.returns.iter().sum();
                let there = paths + class.pending + engine.fifo.of_class(place);
                let believed = class.in_flight();
                assert!(
                    (there - believed).abs() < 0.02 * believed + class.shape.unit,
                    "{flows} flows: {there} {believed}"
                );
                let flights: f64 = class.flows.iter().map(|flow| flow.flight).sum();
                let trains: f64 = class
                    .trains
                    .iter()
                    .map(|train| f64::from(train.amount))
                    .sum();
                assert!(
                    (flights - trains).abs() < 0.01 * trains,
                    "{flights} {trains}"
                );
            }
        }
    }
}
