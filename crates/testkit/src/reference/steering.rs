//! Programs that set the rates of shapers, in the reference engine.

use super::{Reference, What};
use goodqueue_queue::QueueDiscipline;
use goodqueue_sim::AutorateProcess;
use goodqueue_types::{Packet, Time};

impl Reference<'_> {
    /// Schedules the first tick of each program.
    pub(super) fn begin_autorates(&mut self) {
        for index in 0..self.links.len() {
            self.await_tick(index);
        }
    }

    /// Passes a packet that has reached its host to all programs.
    pub(super) fn take_reply(&mut self, packet: &Packet, now: Time) {
        for index in 0..self.links.len() {
            let autorate = self.links[index].autorate.as_mut();
            if let Some(handled) = autorate.and_then(|autorate| autorate.take(now, packet)) {
                self.schedule(handled, What::Steer(index));
            }
        }
    }

    /// Lets a program decide, after which its queue has the new rate.
    pub(super) fn steer(&mut self, index: usize, now: Time) {
        let link = &mut self.links[index];
        let Some(autorate) = &mut link.autorate else {
            return;
        };
        let is_tick = autorate.next_tick() <= now;
        if let Some(rate) = autorate.decide(now) {
            link.queue.set_rate(rate);
        }
        if is_tick {
            self.await_tick(index);
        }
    }

    fn await_tick(&mut self, index: usize) {
        let autorate = self.links[index].autorate.as_ref();
        let tick = autorate.map(AutorateProcess::next_tick);
        if let Some(tick) = tick.filter(|tick| *tick < Time::MAX) {
            self.schedule(tick, What::Steer(index));
        }
    }
}
