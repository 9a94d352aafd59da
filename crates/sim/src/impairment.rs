//! What a link does to packets behind its transmitter: delays that vary, packets held back, copies.
//!
//! Everything here happens in propagation, after the queue and the transmission and after any loss,
//! so that a queue and its limit are what they are without.

use crate::law::Law;
use goodqueue_types::{RandomStream, Span};

/// Impairments of a link; none by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Propagation that varies from packet to packet.
    pub jitter: Option<Jitter>,
    /// Packets that later ones overtake.
    pub reorder: Option<Reorder>,
    /// The probability that a packet arrives twice, from 0 to 1.
    pub duplicate: Option<f64>,
}

/// What is added to the propagation delay.
#[derive(Clone, Debug, PartialEq)]
pub struct Jitter {
    /// Seconds.
    pub law: Law,
    /// Whether a packet waits for those ahead of it. Otherwise they may overtake one another.
    pub keeps_order: bool,
}

/// Packets held back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// How many, from 0 to 1.
    pub probability: f64,
    /// How much longer than the others they are on their way.
    pub delay: Span,
}

impl Impairments {
    /// Whether there are any.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// What chance does to one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// Added to its propagation delay.
    pub jitter: Span,
    /// How long it is held back besides.
    pub held_back: Option<Span>,
    /// What is added to the propagation delay of its copy, if there is one. A copy is not held
    /// back.
    pub copy: Option<Span>,
}

/// Decides on each packet that a link has sent and not lost, in order.
#[derive(Clone, Debug)]
pub struct ImpairmentProcess {
    config: Impairments,
    jitter: RandomStream,
    reorder: RandomStream,
    duplicate: RandomStream,
}

impl ImpairmentProcess {
    /// The impairments of the `index`th link in the run with `seed`; none if it has none.
    pub fn new(config: &Impairments, seed: u64, index: usize) -> Option<Self> {
        let stream = |purpose| RandomStream::new(seed, purpose, index as u64);
        config.any().then(|| Self {
            config: config.clone(),
            jitter: stream("jitter"),
            reorder: stream("reorder"),
            duplicate: stream("duplicate"),
        })
    }

    /// What becomes of the next packet.
    pub fn decide(&mut self) -> Fate {
        let Impairments {
            reorder, duplicate, ..
        } = self.config;
        let jitter = self.draw_jitter();
        let held_back = reorder
            .filter(|reorder| self.reorder.unit() < reorder.probability)
            .map(|reorder| reorder.delay);
        let copied = duplicate.is_some_and(|probability| self.duplicate.unit() < probability);
        Fate {
            jitter,
            held_back,
            copy: copied.then(|| self.draw_jitter()),
        }
    }

    fn draw_jitter(&mut self) -> Span {
        let jitter = self.config.jitter.as_ref();
        jitter.map_or(Span::ZERO, |jitter| jitter.law.draw_span(&mut self.jitter))
    }

    /// Whether packets that are not held back keep their order.
    pub fn keeps_order(&self) -> bool {
        let jitter = self.config.jitter.as_ref();
        jitter.is_none_or(|jitter| jitter.keeps_order)
    }
}

#[cfg(test)]
mod tests;
