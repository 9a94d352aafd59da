//! Impairments of packets behind a link's transmitter: varying delays, packets held back, copies,
//! and a network card at the far end that interrupts its machine at intervals.
//!
//! They all happen in propagation, after the queue, the transmission and any loss. The queue and
//! its limit are therefore unaffected.

use crate::workload::law::Law;
use goodqueue_types::parameters::{LONGEST, fraction, span};
use goodqueue_types::{RandomStream, Span, Time, parameters};

/// Impairments of a link. The default has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Variation of the propagation delay from packet to packet.
    pub jitter: Option<Jitter>,
    /// Packets that are held back, so that later ones overtake them.
    pub reorder: Option<Reorder>,
    /// Probability that a packet arrives twice, from 0 to 1.
    pub duplicate: Option<f64>,
    /// Interrupts of the network card behind the link.
    pub interrupts: Option<Interrupts>,
}

/// Random addition to the propagation delay.
#[derive(Clone, Debug, PartialEq)]
pub struct Jitter {
    /// Law of the addition, in seconds.
    pub law: Law,
    /// True if a packet waits for those ahead of it. Otherwise packets may overtake one another.
    pub keeps_order: bool,
    /// Time for which an addition holds for all packets that leave; none if each has its own.
    pub every: Option<Span>,
}

parameters! {
    /// Packets that are held back.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Reorder("reordering") {
        /// Share of the packets that is held back.
        probability: f64 = 0.0 => fraction().required().example("1%");
        /// Additional delay of a packet that is held back.
        delay: Span = Span::ZERO => span(Span(1), LONGEST).required().example("5ms")
            .doc("Additional delay of these packets.");
    }

    /// A network card that hands packets over to its machine in interrupts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Interrupts("interrupts") {
        /// Shortest time between two interrupts of the network card behind the link. A packet that
        /// arrives after a longer time interrupts at once. Others wait until the time is over, and
        /// all that wait are handed over together.
        interval: Span = Span(1)
            => span(Span(1), Span::from_secs(1)).required().example("64us");
    }

    /// Packets that arrive twice.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Duplicate("duplication") {
        /// Share of the packets that arrives twice.
        probability: f64 = 0.0 => fraction().required().example("0.1%");
    }
}

impl Impairments {
    /// Returns true if the link has an impairment.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// Random decisions on one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// Addition to the packet's propagation delay.
    pub jitter: Span,
    /// Time for which the packet is held back, in addition.
    pub held_back: Option<Span>,
    /// Addition to the propagation delay of the packet's copy, if there is one. A copy is not held
    /// back.
    pub copy: Option<Span>,
}

/// Decides on each packet that a link has sent and not lost, in order.
#[derive(Clone, Debug)]
pub struct ImpairmentProcess {
    config: Impairments,
    card: Option<Card>,
    jitter: RandomStream,
    reorder: RandomStream,
    duplicate: RandomStream,
    /// Additions drawn so far for intervals of `every`, and the last one.
    drawn: u64,
    step: Span,
}

impl ImpairmentProcess {
    /// Returns the impairments of the `index`th link in the run with `seed`, or none if it has
    /// none.
    pub fn new(config: &Impairments, seed: u64, index: usize) -> Option<Self> {
        let stream = |purpose| RandomStream::new(seed, purpose, index as u64);
        config.any().then(|| Self {
            config: config.clone(),
            card: config.interrupts.map(Card::new),
            jitter: stream("jitter"),
            reorder: stream("reorder"),
            duplicate: stream("duplicate"),
            drawn: 0,
            step: Span::ZERO,
        })
    }

    /// Decides on the next packet, whose last bit leaves at `end`.
    pub fn decide(&mut self, end: Time) -> Fate {
        let Impairments {
            reorder, duplicate, ..
        } = self.config;
        let jitter = self.draw_jitter(end);
        let held_back = reorder
            .filter(|reorder| self.reorder.unit() < reorder.probability)
            .map(|reorder| reorder.delay);
        let copied = duplicate.is_some_and(|probability| self.duplicate.unit() < probability);
        Fate {
            jitter,
            held_back,
            copy: copied.then(|| self.draw_jitter(end)),
        }
    }

    fn draw_jitter(&mut self, end: Time) -> Span {
        let Some(jitter) = &self.config.jitter else {
            return Span::ZERO;
        };
        let Some(every) = jitter.every else {
            return jitter.law.draw_span(&mut self.jitter);
        };
        // Intervals without a packet have a draw, too, so that steps do not depend on the traffic.
        while self.drawn <= end.0 / every.0 {
            self.step = jitter.law.draw_span(&mut self.jitter);
            self.drawn += 1;
        }
        self.step
    }

    /// Returns the time at which a packet that reaches the end of the link at `arrival` is handed
    /// over. The packets come in order of time, except that one may come while others wait whose
    /// arrival was later; it is handed over with them.
    pub fn hand_over(&mut self, arrival: Time) -> Time {
        let card = self.card.as_mut();
        card.map_or(arrival, |card| card.interrupt(arrival))
    }

    /// Returns true if packets that are not held back keep their order. A network card's receive
    /// queue always does.
    pub fn keeps_order(&self) -> bool {
        let jitter = self.config.jitter.as_ref();
        self.card.is_some() || jitter.is_none_or(|jitter| jitter.keeps_order)
    }
}

/// State of a network card: the time of its last interrupt, which may be to come.
#[derive(Clone, Debug)]
struct Card {
    interval: Span,
    last: Option<Time>,
}

impl Card {
    fn new(config: Interrupts) -> Self {
        let Interrupts { interval } = config;
        Self {
            interval,
            last: None,
        }
    }

    /// Returns the interrupt that hands over a packet that arrives at this time.
    fn interrupt(&mut self, arrival: Time) -> Time {
        let interrupt = match self.last {
            Some(last) if arrival <= last => last,
            Some(last) => arrival.max(last.saturating_add(self.interval)),
            None => arrival,
        };
        self.last = Some(interrupt);
        interrupt
    }
}

#[cfg(test)]
mod tests;
