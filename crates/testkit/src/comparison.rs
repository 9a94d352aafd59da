//! Comparison of the results of two engines.

use goodqueue_sim::Outcome;
use goodqueue_types::{Direction, LinkId, PacketEvent, PacketEventKind};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Place of a packet event. The events of one place have an order; those of different places have
/// none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Link(LinkId),
    Client(u32),
    Server(u32),
}

/// Compares everything but the number of events, bit for bit: results, series, and the order of
/// events at every link and host.
///
/// # Errors
/// Returns a description of the first difference.
pub fn compare(one: &Outcome, other: &Outcome) -> Result<(), String> {
    let mut totals = one.totals;
    totals.events = other.totals.events;
    let (here, there) = (by_place(&one.packets), by_place(&other.packets));
    same(
        "places",
        &here.keys().collect::<Vec<_>>(),
        &there.keys().collect::<Vec<_>>(),
    )?;
    for (place, events) in &here {
        same_items(&format!("event at {place:?}"), events, &there[place])?;
    }
    same("totals", &totals, &other.totals)?;
    same_items("link", &one.links, &other.links)?;
    same_items("flow", &one.flows, &other.flows)?;
    same_items("shared buffer", &one.pools, &other.pools)?;
    same_items("backlog", &one.series.backlog, &other.series.backlog)?;
    same_items("window", &one.series.windows, &other.series.windows)?;
    same_items("round-trip time", &one.series.rtt, &other.series.rtt)?;
    same_items("limit", &one.series.limits, &other.series.limits)?;
    same("measured time", &one.measured_s, &other.measured_s)
}

fn by_place(events: &[PacketEvent]) -> BTreeMap<Place, Vec<PacketEvent>> {
    let mut places: BTreeMap<Place, Vec<PacketEvent>> = BTreeMap::new();
    for event in events {
        places.entry(place_of(event)).or_default().push(*event);
    }
    places
}

fn place_of(event: &PacketEvent) -> Place {
    let flow = event.packet.flow.0;
    let host = |sends: Direction| match sends {
        Direction::Forward => Place::Client(flow),
        Direction::Reverse => Place::Server(flow),
    };
    match event.kind {
        PacketEventKind::Arrived(link)
        | PacketEventKind::Dropped(link, _)
        | PacketEventKind::Marked(link, _)
        | PacketEventKind::ServiceStarted(link, _) => Place::Link(link),
        PacketEventKind::Sent => host(event.packet.direction),
        PacketEventKind::Delivered => host(event.packet.direction.opposite()),
    }
}

fn same<T: PartialEq + Debug>(what: &str, one: &T, other: &T) -> Result<(), String> {
    if one == other {
        Ok(())
    } else {
        Err(format!("{what}:\n  {one:?}\n  {other:?}"))
    }
}

fn same_items<T: PartialEq + Debug>(what: &str, one: &[T], other: &[T]) -> Result<(), String> {
    for (index, (one, other)) in one.iter().zip(other).enumerate() {
        same(&format!("{what} {index}"), one, other)?;
    }
    same(&format!("number of {what} items"), &one.len(), &other.len())
}
