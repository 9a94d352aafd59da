//! The movement of a packet over its route, up to the first link at which other packets can
//! interfere.

#![expect(
    clippy::inline_always,
    reason = "part of the engine's two loops, see `engine::core`"
)]

use crate::engine::core::Core;
use crate::engine::probe::Probe;
use crate::engine::routing::{AT_ONCE, Routing, STRETCH, Stretch};
use crate::link::{Link, Offer};
use goodqueue_types::{DropReason, LinkId, Packet, PacketEvent, PacketEventKind, Span, Time};

/// Place at which the walk of a packet ended.
#[derive(Clone, Copy, Debug)]
pub enum Crossed {
    /// The packet reaches its host at this time.
    Arrives(Time),
    /// The packet must wait in line before a hop.
    Waits {
        /// Index of the hop.
        hop: u32,
        /// Time of arrival at the hop.
        at: Time,
    },
    /// The packet is lost, or the run ends before it arrives.
    Ends,
}

impl<P: Probe> Core<P> {
    /// Walks a packet from its host, over the `first` hop of its route and on.
    #[inline(always)]
    pub fn cross_from_host(&mut self, packet: &Packet, first: u32, now: Time) -> Crossed {
        if self.routing.hops[first as usize].line == AT_ONCE {
            self.cross(packet, first, now)
        } else {
            Crossed::Waits {
                hop: first,
                at: now,
            }
        }
    }

    /// Walks a packet over the `index`th hop, which it reaches at `now`, and on as far as nothing
    /// can interfere.
    #[inline(always)]
    pub fn cross(&mut self, packet: &Packet, mut index: u32, mut now: Time) -> Crossed {
        let until = self.window.to;
        let Self {
            routing: Routing {
                hops, stretches, ..
            },
            links,
            probe,
            ..
        } = self;
        for hop in &mut hops[index as usize..] {
            let link = hop.link;
            let (start, arrival) = if let Some(transmitter) = &mut hop.transmitter {
                let (start, arrival) = transmitter.send(now, packet);
                if P::ACTIVE {
                    observe_arrival(probe, link, packet, now);
                    observe_start(probe, link, packet, now, start, until);
                }
                (start, arrival)
            } else if link == STRETCH {
                let stretch = &stretches[hop.own_line as usize];
                (now, pass(stretch, links, probe, packet, now, until))
            } else {
                match offer(links, probe, link, packet, now, until) {
                    Offer::Accepted { start, arrival } => (start, arrival),
                    Offer::Dropped(reason) => {
                        self.lose(link, packet, now, reason);
                        return Crossed::Ends;
                    }
                }
            };
            if arrival > until {
                self.stay(link, start);
                return Crossed::Ends;
            }
            if hop.last {
                return Crossed::Arrives(arrival);
            }
            now = arrival;
            index += 1;
            if hop.before_line {
                return Crossed::Waits {
                    hop: index,
                    at: now,
                };
            }
        }
        unreachable!("the last hop of a route is marked")
    }

    #[cold]
    pub fn lose(&mut self, link: u32, packet: &Packet, now: Time, reason: DropReason) {
        self.signals.drop(LinkId(link), packet, now);
        if P::ACTIVE {
            let kind = PacketEventKind::Dropped(LinkId(link), reason);
            self.probe.packet(PacketEvent {
                time: now,
                kind,
                packet: *packet,
            });
        }
    }

    /// Counts a packet that waits at a link, or is in flight behind it, when the run ends.
    #[cold]
    fn stay(&mut self, link: u32, start: Time) {
        if start <= self.window.to {
            self.in_flight += 1;
        } else if self.links[link as usize].is_none() {
            self.queued_untracked += 1;
        }
    }
}

/// Returns the time at which a packet has passed a stretch of links that only delay.
fn pass<P: Probe>(
    stretch: &Stretch,
    links: &mut [Option<Box<Link>>],
    probe: &mut P,
    packet: &Packet,
    now: Time,
    until: Time,
) -> Time {
    for (link, after) in &stretch.observed {
        if let Some(link) = &mut links[*link as usize] {
            link.pass(now.saturating_add(*after), packet);
        }
    }
    if P::UNFOLDS {
        for (link, after) in &stretch.unfolded {
            let (link, time) = (LinkId(*link), now.saturating_add(*after));
            if time > until {
                break;
            }
            let (arrived, left) = (
                PacketEventKind::Arrived(link),
                PacketEventKind::ServiceStarted(link, Span::ZERO),
            );
            for kind in [arrived, left] {
                let packet = *packet;
                probe.packet(PacketEvent { time, kind, packet });
            }
        }
    }
    now.saturating_add(stretch.delay)
}

/// Offers a packet to a link that has a drop-tail queue.
#[inline(always)]
fn offer<P: Probe>(
    links: &mut [Option<Box<Link>>],
    probe: &mut P,
    link: u32,
    packet: &Packet,
    now: Time,
    until: Time,
) -> Offer {
    if P::ACTIVE {
        observe_arrival(probe, link, packet, now);
    }
    let queueing = links[link as usize]
        .as_mut()
        .expect("made for every such hop");
    let offer = queueing.offer(now, packet, |time, backlog| {
        if P::ACTIVE {
            probe.backlog(LinkId(link), time, backlog);
        }
    });
    if let Offer::Accepted { start, .. } = offer
        && P::ACTIVE
    {
        observe_start(probe, link, packet, now, start, until);
    }
    offer
}

pub fn observe_arrival<P: Probe>(probe: &mut P, link: u32, packet: &Packet, now: Time) {
    let kind = PacketEventKind::Arrived(LinkId(link));
    probe.packet(PacketEvent {
        time: now,
        kind,
        packet: *packet,
    });
}

pub fn observe_start<P: Probe>(
    probe: &mut P,
    link: u32,
    packet: &Packet,
    now: Time,
    start: Time,
    until: Time,
) {
    if start <= until {
        let kind = PacketEventKind::ServiceStarted(LinkId(link), start - now);
        probe.packet(PacketEvent {
            time: start,
            kind,
            packet: *packet,
        });
    }
}
