//! Flows of one group with the same round-trip time: what of theirs is under way, and their windows.

use std::collections::VecDeque;

use crate::control::{Flow, Round};
use crate::link::{FlowGroup, FluidControl};
use crate::noise::Noise;

/// Packets after a lost one that tell its sender of the loss.
const TELLING: f64 = 3.0;

/// A class of flows. Amounts are in packets, marks count packets of the class that came back.
#[derive(Clone, Debug)]
pub struct Class {
    /// Slots of the base round-trip time.
    pub rtt_slots: usize,
    control: FluidControl,
    per_step: f64,
    max_window: f64,
    base_rtt_s: f64,
    proportional: bool,
    /// What comes back to the senders in the slots to come, a ring.
    returns: Vec<f64>,
    flows: Vec<Flow>,
    /// The largest window, or more.
    top: f64,
    /// Packets in flight, those included whose loss is not known.
    window: f64,
    /// What `window` would be without noise.
    wanted: f64,
    /// Packets that came back since the start.
    came_back: f64,
    /// The part of the present round trip that has passed.
    progress: f64,
    /// Sum of the flows' growth per round trip.
    growth: f64,
    /// Packets not sent, per packet that comes back, by flows in recovery.
    reduction: f64,
    /// Senders that will know of a loss, by the mark at which they do.
    losses: VecDeque<(f64, u32)>,
    /// Senders that go on when the mark is reached, with their part of `reduction`.
    pauses: VecDeque<(f64, f64)>,
    /// Recoveries that end.
    recoveries: VecDeque<(f64, u32)>,
    updates: u64,
    reductions: u64,
}

impl Class {
    /// Flows with windows around `window`, each somewhere between two losses.
    pub fn new(
        group: &FlowGroup,
        flows: u64,
        rtt_s: f64,
        window: f64,
        (rtt_slots, ring): (usize, usize),
        noise: &mut Noise,
    ) -> Self {
        let control = group.control;
        let flows: Vec<Flow> = (0..flows)
            .map(|_| control.somewhere(window, noise.unit(), group.max_window))
            .collect();
        let sum = flows.iter().map(|flow| flow.window).sum();
        let count = flows.len();
        Self {
            rtt_slots,
            control,
            per_step: if group.acks.bytes_counted {
                1.0
            } else {
                group.acks.packets
            },
            max_window: group.max_window,
            base_rtt_s: rtt_s,
            proportional: group.recovery.proportional,
            returns: vec![0.0; ring.next_power_of_two()],
            flows,
            top: 0.0,
            window: sum,
            wanted: sum,
            came_back: 0.0,
            progress: 1.0,
            growth: 0.0,
            reduction: 0.0,
            losses: VecDeque::with_capacity(count),
            pauses: VecDeque::with_capacity(count),
            recoveries: VecDeque::with_capacity(count),
            updates: 0,
            reductions: 0,
        }
    }

    /// Spreads what is in flight over the round-trip time that begins now.
    pub fn fill(&mut self, burst: f64, noise: &mut Noise) {
        let slots = self.rtt_slots.max(1);
        let mean = self.window / slots as f64;
        let deviation = if self.flows.len() > 1 {
            (burst * mean).sqrt()
        } else {
            0.0
        };
        let mut sum = 0.0;
        for place in &mut self.returns[..slots] {
            *place = (mean + deviation * noise.normal()).max(0.0);
            sum += *place;
        }
        for place in &mut self.returns[..slots] {
            *place *= self.window / sum;
        }
    }

    /// The flows.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Packets in flight.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// Updates of windows and reductions so far.
    pub fn counts(&self) -> (u64, u64) {
        (self.updates, self.reductions)
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.returns)
            + self.flows.capacity() * size_of::<Flow>()
            + self.losses.capacity() * size_of::<(f64, u32)>()
            + self.pauses.capacity() * size_of::<(f64, f64)>()
            + self.recoveries.capacity() * size_of::<(f64, u32)>()
    }

    /// The measured part begins.
    pub fn start_measuring(&mut self) {
        self.reductions = 0;
        for flow in &mut self.flows {
            flow.sent = 0.0;
            flow.events = 0;
        }
    }

    /// What has left the link in slot `now` comes back a base round-trip time later.
    #[inline]
    pub fn send_back(&mut self, now: u64, after: usize, amount: f64) {
        let mask = self.returns.len() - 1;
        self.returns[(now as usize + self.rtt_slots + after) & mask] += amount;
    }

    /// The packets that the class sends in slot `slot`: as many as come back, more by what windows
    /// grow, less by what they shrink.
    #[inline]
    pub fn arrivals(&mut self, slot: u64, now_s: f64, wait_s: f64, noise: &mut Noise) -> f64 {
        let place = slot as usize & (self.returns.len() - 1);
        let back = std::mem::take(&mut self.returns[place]);
        if self.progress >= 1.0 {
            self.update(now_s, wait_s);
        }
        if back <= 0.0 {
            return 0.0;
        }
        self.came_back += back;
        self.know(now_s, wait_s);
        let rounds = back / self.window;
        self.progress += rounds;
        let planned = rounds * self.growth - back * self.reduction;
        self.wanted += planned;
        let mut change = planned + rounds * (self.wanted - planned - self.window);
        if self.flows.len() > 1 {
            change += (rounds * self.growth).sqrt() * noise.normal();
        }
        let change = change.max(-back);
        self.window += change;
        back + change
    }

    /// A new round trip begins: windows have grown, and will grow.
    fn update(&mut self, now_s: f64, wait_s: f64) {
        let round = self.round(now_s, wait_s);
        let (mut growth, mut top) = (0.0, 0.0_f64);
        let passed = self.progress;
        let control = self.control;
        for flow in &mut self.flows {
            if !flow.state.recovers {
                control.advance(flow, passed - f64::from(flow.since));
                flow.growth = control.growth(flow, &round);
                growth += flow.growth;
            }
            flow.sent += flow.window;
            flow.since = 0.0;
            top = top.max(flow.window + flow.growth);
        }
        self.growth = growth;
        self.top = top;
        self.progress = 0.0;
        self.updates += self.flows.len() as u64;
    }

    fn round(&self, now: f64, wait_s: f64) -> Round {
        Round {
            now,
            base_rtt: self.base_rtt_s,
            rtt: self.base_rtt_s + wait_s,
            per_step: self.per_step,
            max_window: self.max_window,
        }
    }

    /// Senders get to know what the packets that came back tell.
    fn know(&mut self, now_s: f64, wait_s: f64) {
        while let Some(&(mark, reduction)) = self.pauses.front()
            && mark <= self.came_back
        {
            self.pauses.pop_front();
            self.reduction -= reduction;
            if self.pauses.is_empty() {
                self.reduction = 0.0;
            }
        }
        while let Some(&(mark, flow)) = self.recoveries.front()
            && mark <= self.came_back
        {
            self.recoveries.pop_front();
            self.go_on(flow as usize, now_s, wait_s);
        }
        while let Some(&(mark, flow)) = self.losses.front()
            && mark <= self.came_back
            && !self.flows[flow as usize].state.recovers
        {
            self.losses.pop_front();
            self.reduce(flow as usize);
        }
    }

    /// Recovery ends; the window grows again.
    fn go_on(&mut self, number: usize, now_s: f64, wait_s: f64) {
        let round = self.round(now_s, wait_s);
        let flow = &mut self.flows[number];
        flow.state.recovers = false;
        self.control.begin_epoch(flow, now_s);
        flow.since = self.progress as f32;
        flow.growth = self.control.growth(flow, &round);
        self.growth += flow.growth;
    }

    /// A sender knows of a loss: it sends less than what comes back until its window is reduced.
    fn reduce(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        flow.state.lost = false;
        self.growth -= flow.growth;
        self.control
            .advance(flow, self.progress - f64::from(flow.since));
        flow.since = self.progress as f32;
        let window = flow.window;
        let less = self.control.reduce(flow);
        flow.state.recovers = true;
        flow.events += 1;
        self.reductions += 1;
        // In a round trip the class gets `window` packets back, and this flow its part of them.
        let (rate, length) = if self.proportional {
            (less / self.window, self.window)
        } else {
            (window / self.window, less / window * self.window)
        };
        self.reduction += rate;
        push(&mut self.pauses, self.came_back + length, rate);
        push(
            &mut self.recoveries,
            self.came_back + self.window,
            number as u32,
        );
    }

    /// A flow drawn in proportion to windows.
    pub fn draw(&self, noise: &mut Noise) -> usize {
        if self.flows.len() == 1 {
            return 0;
        }
        loop {
            let flow = noise.below(self.flows.len());
            if noise.unit() * self.top < self.flows[flow].window {
                return flow;
            }
        }
    }

    /// A packet of a flow is lost, in this burst of losses. Returns whether the burst had not hit the
    /// flow before.
    pub fn lose(&mut self, number: usize, burst: u32) -> bool {
        let flow = &mut self.flows[number];
        let hit = flow.burst != burst;
        flow.burst = burst;
        if !flow.state.lost {
            flow.state.lost = true;
            let mark = self.came_back + self.window + TELLING * self.flows.len() as f64;
            push(&mut self.losses, mark, number as u32);
        }
        hit
    }
}

/// Appends to a list in order of marks.
fn push<T>(list: &mut VecDeque<(f64, T)>, mark: f64, value: T) {
    let last = list.back().map_or(0.0, |(mark, _)| *mark);
    list.push_back((mark.max(last), value));
}
