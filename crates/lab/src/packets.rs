//! Packets of a short part of a run, each with the times at the stations of its path.

use crate::bounds::BoundedRun;
use crate::experiment::Experiment;
use crate::probe::Observer;
use crate::refusal::LabError;
use goodqueue_types::{Direction, LinkId, Packet, PacketEvent, PacketEventKind, Time};
use serde_json::{Value, json};
use std::collections::HashMap;

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
    pub const MAX_PACKETS: usize = 20_000;
}

impl Experiment {
    /// Returns the run that finds the packets in the network during a part of it, or none if no
    /// link is observed. The times at a link are those at the first observed one.
    pub fn watch(self, watch: Watch) -> Option<PacketRun> {
        let (network, run) = self.into_run();
        let link = network.links.iter().position(|link| link.observed)?;
        let to = watch.to.min(network.end);
        let trips = Trips {
            watch: Watch { to, ..watch },
            link: LinkId(link as u32),
            present: HashMap::new(),
            gone: Vec::new(),
        };
        Some(PacketRun {
            link: network.links[link].name.clone(),
            flows: network.flows.len(),
            length_s: (to - Time::ZERO).as_secs_f64(),
            run: run(network, Observer::Packets(trips)),
        })
    }

    /// Returns the packets that are in the network during a part of the run, or none if `go_on`
    /// or a bound stopped the run. It gets the share of the part that is done, every few milliseconds of
    /// computing.
    pub fn packets(&self, watch: Watch, mut go_on: impl FnMut(f64) -> bool) -> Option<Value> {
        let mut run = self.clone().watch(watch)?;
        let mut share = 0.0;
        while go_on(share) {
            let Some(next) = run.advance().ok()? else {
                return Some(run.picture());
            };
            share = next;
        }
        None
    }
}

/// A run in progress that watches packets.
#[derive(Debug)]
pub struct PacketRun {
    run: BoundedRun,
    link: String,
    flows: usize,
    length_s: f64,
}

impl PacketRun {
    /// Runs for some milliseconds of computing. Returns the share of the part that is done, or none
    /// as soon as its packets have left the network.
    ///
    /// # Errors
    /// Returns the bound that the run has exceeded.
    pub fn advance(&mut self) -> Result<Option<f64>, LabError> {
        let Some(now) = self.run.advance()? else {
            return Ok(None);
        };
        if self.trips().are_complete(Time::ZERO + now) {
            return Ok(None);
        }
        Ok(Some((now.as_secs_f64() / self.length_s).min(1.0)))
    }

    fn trips(&self) -> &Trips {
        self.run.simulation.probe().packets()
    }

    /// Returns the packets.
    pub fn picture(self) -> Value {
        self.trips().picture(&self.link, self.flows)
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
pub struct Trips {
    watch: Watch,
    link: LinkId,
    /// Packets in the network, by flow, direction and number.
    present: HashMap<(u32, Direction, u64), Trip>,
    gone: Vec<Trip>,
}

impl Trips {
    /// Returns the bytes of memory for all trips.
    pub fn bytes(&self) -> usize {
        let key = size_of::<(u32, Direction, u64)>();
        let trips = self.present.capacity() + self.gone.capacity();
        trips * (key + size_of::<Trip>())
    }

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

    /// Notes an event of a packet.
    pub fn note(&mut self, event: &PacketEvent) {
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
    fn picture(&self, link: &str, flows: usize) -> Value {
        let to = self.watch.to;
        let mut trips = self.gone.clone();
        trips.extend(self.present.values());
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
