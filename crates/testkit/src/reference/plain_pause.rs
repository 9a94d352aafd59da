//! Flow control of a link in the reference engine: lists of all that waits, and of all requests.

use goodqueue_sim::{Network, PauseConfig, PauseOutcome, Window};
use goodqueue_types::{Packet, Span, Time};

/// A packet that came over a link and waits behind it.
pub struct Waiting {
    /// Link in front of which it waits.
    pub link: usize,
    pub packet: Packet,
    /// Frame bytes; fewer if the queue has split the packet and some of its segments have left.
    pub bytes: u64,
}

/// Flow control of one link.
pub struct PlainPause {
    config: PauseConfig,
    /// Link that carries the PAUSE frames.
    pub opposite: Option<usize>,
    delay: Span,
    pub waiting: Vec<Waiting>,
    /// Times at which requests take effect, and true for a pause, in order.
    pub requests: Vec<(Time, bool)>,
    /// Bytes that wait, after each change.
    levels: Vec<(Time, u64)>,
}

impl PlainPause {
    pub fn new(config: PauseConfig, network: &Network, index: usize) -> Self {
        let opposite = network.links[index].opposite;
        let carrier = opposite.map_or(index, |link| link.0 as usize);
        Self {
            config,
            opposite: opposite.map(|link| link.0 as usize),
            delay: network.links[carrier].delay,
            waiting: Vec::new(),
            requests: Vec::new(),
            levels: vec![(Time::ZERO, 0)],
        }
    }

    /// Counts the frame bytes of a packet, or of a segment of one, that waits no longer.
    pub fn leaves(&mut self, link: usize, packet: &Packet, bytes: u64) {
        let of = |one: &Packet| (one.flow, one.direction, one.arrived);
        let place = self.waiting.iter().position(|waiting| {
            let whole = &waiting.packet;
            let numbers = whole.number..whole.number + u64::from(whole.segments());
            waiting.link == link && of(whole) == of(packet) && numbers.contains(&packet.number)
        });
        if let Some(place) = place {
            self.waiting[place].bytes -= bytes;
            if self.waiting[place].bytes == 0 {
                self.waiting.remove(place);
            }
        }
    }

    /// Returns the time at which a new request takes effect, if the bytes that wait demand one and no
    /// earlier request has the same effect time. Its PAUSE is sent at `free`.
    pub fn request(&mut self, now: Time, free: Time, at_once: bool) -> Option<Time> {
        let bytes = self.waiting.iter().map(|waiting| waiting.bytes).sum();
        if self.levels.last().is_none_or(|(_, last)| *last != bytes) {
            self.levels.push((now, bytes));
        }
        let asked = self.requests.last().is_some_and(|(_, pauses)| *pauses);
        let wanted = if asked {
            bytes > self.config.xon
        } else {
            bytes >= self.config.xoff
        };
        let reaction = if at_once {
            Span(1)
        } else {
            self.config.reaction
        };
        let effect = free.saturating_add(self.delay + reaction);
        // Requests during one frame of the opposite link take effect at one time, once.
        let again = self.requests.last().is_some_and(|(at, _)| *at == effect);
        if wanted != asked {
            self.requests.push((effect, wanted));
        }
        (wanted != asked && !again).then_some(effect)
    }

    /// Returns true if the link is paused at this time.
    pub fn is_paused(&self, now: Time) -> bool {
        let mut past = self.requests.iter().rev().filter(|(at, _)| *at <= now);
        past.next().is_some_and(|(_, pauses)| *pauses)
    }

    /// Returns true if a pause ends at this time.
    pub fn resumes(&self, now: Time) -> bool {
        let mut before = self.requests.iter().rev().filter(|(at, _)| *at < now);
        !self.is_paused(now) && before.next().is_some_and(|(_, pauses)| *pauses)
    }

    pub fn outcome(&self, window: Window, in_cycle: bool) -> PauseOutcome {
        let mut outcome = PauseOutcome {
            in_cycle,
            ..PauseOutcome::default()
        };
        for (place, (at, pauses)) in self.requests.iter().enumerate() {
            if *pauses {
                let until = self
                    .requests
                    .get(place + 1)
                    .map_or(Time::MAX, |next| next.0);
                outcome.pauses += u64::from(window.contains(*at));
                outcome.paused += window.overlap(*at, until);
            }
        }
        let at_start = self.levels.iter().rposition(|(at, _)| *at < window.from);
        let levels = self.levels[at_start.unwrap_or(0)..].iter();
        outcome.peak_bytes = levels.map(|(_, bytes)| *bytes).max().unwrap_or(0);
        outcome
    }
}

/// Returns for each paused link if it waits for itself, over any number of other paused links.
pub fn in_cycles(pauses: &[Option<&PlainPause>], now: Time) -> Vec<bool> {
    let waits = |link: usize| pauses[link].is_some_and(|pause| pause.is_paused(now));
    let links = pauses.len();
    let mut reaches = vec![vec![false; links]; links];
    for (link, pause) in pauses.iter().enumerate() {
        for waiting in pause.iter().flat_map(|pause| &pause.waiting) {
            reaches[link][waiting.link] |= waits(link) && waits(waiting.link);
        }
    }
    for over in 0..links {
        for from in 0..links {
            for to in 0..links {
                reaches[from][to] |= reaches[from][over] && reaches[over][to];
            }
        }
    }
    (0..links).map(|link| reaches[link][link]).collect()
}
