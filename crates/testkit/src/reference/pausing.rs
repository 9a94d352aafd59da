//! Flow control in the reference engine: the packets that it counts, and its requests.

use super::plain_pause::{PlainPause, Waiting};
use super::{Reference, What};
use crate::Mutation;
use goodqueue_types::{Packet, Time};

impl Reference<'_> {
    /// Returns the link over which a packet came to a link, unless that only delays.
    fn link_before(&self, packet: &Packet, index: usize) -> Option<usize> {
        let route = self.route(packet);
        let here = route.iter().position(|link| link.0 as usize == index)?;
        let before = route[here.checked_sub(1)?].0 as usize;
        (!self.network.links[before].only_delays()).then_some(before)
    }

    /// Returns the flow control of the link over which a packet came to a link, if it has any.
    fn pause_before(&mut self, packet: &Packet, index: usize) -> Option<&mut PlainPause> {
        let from = self.link_before(packet, index)?;
        self.links[from].pause.as_mut()
    }

    /// Counts a packet that has arrived at a link.
    pub(super) fn waits(&mut self, index: usize, packet: &Packet) {
        let (link, packet) = (index, *packet);
        let bytes = self.links[link].frame_bytes(&packet);
        if let Some(pause) = self.pause_before(&packet, link) {
            let waiting = Waiting {
                link,
                packet,
                bytes,
            };
            pause.waiting.push(waiting);
        }
    }

    /// Counts a packet that waits no longer in front of a link.
    pub(super) fn leaves(&mut self, index: usize, packet: &Packet) {
        let bytes = self.links[index].frame_bytes(packet);
        if let Some(pause) = self.pause_before(packet, index) {
            pause.leaves(index, packet, bytes);
        }
    }

    /// Schedules the effects of all requests to pause or to resume that are due.
    pub(super) fn request_pauses(&mut self, now: Time) {
        let at_once = self.has(Mutation::ReactionForgotten);
        for index in 0..self.links.len() {
            let pause = self.links[index].pause.as_ref();
            let opposite = pause.and_then(|pause| pause.opposite);
            let free = opposite.map_or(now, |link| self.free_for_pause(link, now));
            let pause = self.links[index].pause.as_mut();
            if let Some(effect) = pause.and_then(|pause| pause.request(now, free, at_once)) {
                self.schedule(effect, What::Pause(index));
            }
        }
    }

    /// Returns the time at which a link can send a PAUSE, which waits for a frame that has begun.
    fn free_for_pause(&self, index: usize, now: Time) -> Time {
        let link = &self.links[index];
        let (began, end) = link.times;
        let busy = link.in_service.is_some() && began < now;
        if busy && !self.has(Mutation::PauseInterrupts) {
            end
        } else {
            now
        }
    }

    /// Lets an idle link that may send serve its queue.
    pub(super) fn pause(&mut self, index: usize, now: Time) {
        let link = &self.links[index];
        let pause = link.pause.as_ref();
        if pause.is_some_and(|pause| pause.resumes(now)) && link.in_service.is_none() {
            self.serve(index, now);
        }
    }
}
