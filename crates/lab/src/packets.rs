//! Packets of a short part of a run, each with the times at the stations of its path.

use crate::experiment::Experiment;
use goodqueue_queue::Backlog;
use goodqueue_sim::{Agent, Probe, run_probed};
use goodqueue_types::{Direction, LinkId, Packet, PacketEvent, PacketEventKind, Span, Time};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Part of a run whose packets are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Start of the part.
    pub from: Time,
    /// End of the part.
    pub to: Time,
    /// Most packets. The part ends earlier if more are in the network during it.
    pub most: usize,
}

impl Watch {
    /// Most packets that a page shows.
    pub const MOST_PACKETS: usize = 20_000;
}

impl Experiment {
    /// Returns the packets that are in the network during a part of the run, or none if the run was
    /// stopped. The times at a link are those at the first observed one. The run ends as soon as
    /// these packets have left the network. Every few milliseconds of computing `go_on` gets the
    /// share of the part that is done.
    pub fn packets(&self, watch: Watch, mut go_on: impl FnMut(f64) -> bool) -> Option<Value> {
        let network = self.network();
        let link = network.links.iter().position(|link| link.observed)?;
        let to = watch.to.min(network.end);
        let trips = Rc::new(RefCell::new(Trips {
            watch: Watch { to, ..watch },
            link: LinkId(link as u32),
            present: HashMap::new(),
            gone: Vec::new(),
        }));
        let length = (to - Time::ZERO).as_secs_f64();
        let mut stopped = false;
        // A run that is cut short returns nothing, so the trips are shared with its probe.
        run_probed(network, Watcher(Rc::clone(&trips)), |now| {
            let share = (now - Time::ZERO).as_secs_f64() / length;
            stopped = !go_on(share.min(1.0));
            !stopped && !trips.borrow().are_complete(now)
        });
        if stopped {
            return None;
        }
        let flows = network.flows.len();
        Some(trips.take().picture(&network.links[link].name, flows))
    }
}

/// Times of one packet.
#[derive(Clone, Copy, Debug)]
struct Trip {
    flow: u32,
    direction: Direction,
    bytes: u32,
    sent: Time,
    /// Arrival at the link.
    arrived: Option<Time>,
    /// Start of the transmission over the link.
    started: Option<Time>,
    delivered: Option<Time>,
    dropped: Option<Time>,
    is_marked: bool,
}

/// Trips of the packets that were in the network during the part, as far as the run has come.
#[derive(Debug)]
struct Trips {
    watch: Watch,
    link: LinkId,
    /// Packets in the network, by flow, direction and number.
    present: HashMap<(u32, Direction, u64), Trip>,
    gone: Vec<Trip>,
}

impl Default for Trips {
    fn default() -> Self {
        let watch = Watch {
            from: Time::ZERO,
            to: Time::ZERO,
            most: 0,
        };
        Self {
            watch,
            link: LinkId(0),
            present: HashMap::new(),
            gone: Vec::new(),
        }
    }
}

impl Trips {
    /// Returns true if no later event can concern a packet of the part.
    fn are_complete(&self, now: Time) -> bool {
        now > self.watch.to && self.present.is_empty()
    }

    fn send(&mut self, time: Time, packet: &Packet) {
        if time >= self.watch.to {
            return;
        }
        if self.gone.len() + self.present.len() >= self.watch.most && time > self.watch.from {
            self.watch.to = time;
            return;
        }
        let trip = Trip {
            flow: packet.flow.0,
            direction: packet.direction,
            bytes: packet.size,
            sent: time,
            arrived: None,
            started: None,
            delivered: None,
            dropped: None,
            is_marked: false,
        };
        self.present.insert(key(packet), trip);
    }

    fn note(&mut self, event: &PacketEvent) {
        let PacketEvent { time, kind, packet } = event;
        if *kind == PacketEventKind::Sent {
            return self.send(*time, packet);
        }
        let key = key(packet);
        let Some(trip) = self.present.get_mut(&key) else {
            return;
        };
        match *kind {
            PacketEventKind::Arrived(link) if link == self.link => trip.arrived = Some(*time),
            PacketEventKind::ServiceStarted(link, _) if link == self.link => {
                trip.started = Some(*time);
            }
            PacketEventKind::Marked(..) => trip.is_marked = true,
            PacketEventKind::Delivered => trip.delivered = Some(*time),
            PacketEventKind::Dropped(..) => trip.dropped = Some(*time),
            _ => {}
        }
        if let Some(end) = trip.delivered.or(trip.dropped) {
            let trip = *trip;
            self.present.remove(&key);
            if end >= self.watch.from {
                self.gone.push(trip);
            }
        }
    }

    /// Returns the trips as columns in order of sending, with times in nanoseconds of the run.
    fn picture(self, link: &str, flows: usize) -> Value {
        let to = self.watch.to;
        let mut trips = self.gone;
        trips.extend(self.present.into_values());
        trips.retain(|trip| trip.sent < to);
        trips.sort_by_key(|trip| (trip.sent, trip.flow, trip.direction));
        let column = |time: &dyn Fn(&Trip) -> Option<Time>| -> Vec<Option<u64>> {
            trips.iter().map(|trip| time(trip).map(nanos)).collect()
        };
        json!({
            "link": link,
            "flows": flows,
            "from_ns": nanos(self.watch.from),
            "to_ns": nanos(to),
            "flow": trips.iter().map(|trip| trip.flow).collect::<Vec<_>>(),
            "reverse": trips.iter().map(|trip| trip.direction as u8).collect::<Vec<_>>(),
            "bytes": trips.iter().map(|trip| trip.bytes).collect::<Vec<_>>(),
            "sent_ns": column(&|trip| Some(trip.sent)),
            "arrived_ns": column(&|trip| trip.arrived),
            "started_ns": column(&|trip| trip.started),
            "delivered_ns": column(&|trip| trip.delivered),
            "dropped_ns": column(&|trip| trip.dropped),
            "marked": trips.iter().map(|trip| u8::from(trip.is_marked)).collect::<Vec<_>>(),
        })
    }
}

fn key(packet: &Packet) -> (u32, Direction, u64) {
    (packet.flow.0, packet.direction, packet.number)
}

/// Returns a time in whole nanoseconds of the run.
fn nanos(time: Time) -> u64 {
    (time - Time::ZERO).0 / 1_000
}

/// Probe that shares its trips with the caller of the run.
struct Watcher(Rc<RefCell<Trips>>);

impl Probe for Watcher {
    const ACTIVE: bool = true;

    fn packet(&mut self, event: PacketEvent) {
        self.0.borrow_mut().note(&event);
    }

    fn backlog(&mut self, _: LinkId, _: Time, _: Backlog) {}

    fn agent(&mut self, _: u32, _: Time, _: &Agent, _: Option<Span>) {}
}
