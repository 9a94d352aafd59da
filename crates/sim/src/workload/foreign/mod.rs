//! Transport stacks from outside as the two hosts of a flow.
//!
//! A stack is a state machine that turns datagrams and times into datagrams, as `quinn-proto` is. It
//! has no socket, no thread and no clock: the simulator tells it the time. What it sends are real
//! bytes, which the simulator keeps beside the network and hands over on arrival.

mod host;
mod wire;

use super::Behaviour;
use crate::{AppOutcome, Network};
use goodqueue_types::{Ecn, FlowId, RandomStream, Span, Time};
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

pub use host::ForeignHost;
pub use wire::Wire;

/// A transport stack and its application, which a flow runs at both of its hosts.
///
/// The network that contains it is shared by threads, so a stack has no state of a run.
pub trait Stack: Debug + Send + Sync {
    /// Creates client and server of one flow. Both must depend on nothing but the stack and this
    /// placement, so that the same seed gives the same run.
    fn pair(&self, placement: &Placement) -> [Box<dyn Endpoint>; 2];
}

/// Facts of the run that the two endpoints of a flow know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Index of the flow in the network.
    pub flow: u32,
    /// Time at which the client begins.
    pub start: Time,
    /// Time at which the application of the client stops; none if it never does.
    pub stop: Option<Time>,
    /// Time from which applications should measure.
    pub measured_from: Time,
    /// Seed of everything random at both endpoints. It follows from the seed of the run and from the
    /// flow.
    pub seed: u64,
}

/// One end of a flow: a transport endpoint together with its application.
///
/// The simulator calls [`receive`](Self::receive) for each datagram that arrives and
/// [`wake`](Self::wake) at each time that [`wakes_at`](Self::wakes_at) asks for. After each of these
/// calls it calls [`transmit`](Self::transmit) until there is nothing to send, and then
/// [`wakes_at`](Self::wakes_at) again. Times never decrease. All times are of the simulated clock; an
/// endpoint that reads another clock makes runs irreproducible.
pub trait Endpoint: Debug + Send {
    /// Receives the payload of a UDP datagram with the ECN field of its IP header. Returns the
    /// round-trip time if the datagram completed a sample.
    fn receive(&mut self, now: Time, ecn: Ecn, datagram: &[u8]) -> Option<Span>;

    /// Does what is due by `now`: timers of the transport, and the application.
    fn wake(&mut self, now: Time);

    /// Returns the time at which [`wake`](Self::wake) is next needed, or none. A time that has passed
    /// means at once. The call must be cheap, because it follows every packet.
    fn wakes_at(&self) -> Option<Time>;

    /// Writes the payloads of datagrams to send now, one after the other, into an empty buffer, and
    /// returns their size and ECN field. Returns none if there is nothing to send.
    fn transmit(&mut self, now: Time, datagrams: &mut Vec<u8>) -> Option<Batch>;

    /// Returns what the endpoint has done so far.
    fn progress(&self) -> Progress;

    /// Returns figures of the application at the end of the run, under names of its own.
    fn outcome(&self, _end: Time) -> AppOutcome {
        AppOutcome::default()
    }
}

/// Datagrams that an endpoint passes to its network interface in one call (generic segmentation
/// offload). They leave back to back, each as a packet of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Bytes of payload of each datagram except the last, which has the rest. At least one.
    pub size: usize,
    /// ECN field of all of them.
    pub ecn: Ecn,
}

/// Counters of an endpoint since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of new data that the transport has handed to the application of this endpoint.
    pub delivered_bytes: u64,
    /// Number of packets that the transport took for lost.
    pub lost_packets: u64,
    /// Number of probe timeouts, or of whatever the transport has in their place.
    pub timeouts: u64,
    /// Time at which all data of a client with a given amount were acknowledged, if they were.
    pub finished_at: Option<Time>,
}

/// Creates client and server of a flow.
pub(crate) fn pair(
    network: &Network,
    id: FlowId,
    stack: &dyn Stack,
    mut random: RandomStream,
) -> [Behaviour; 2] {
    let flow = &network.flows[id.0 as usize];
    let mut links = flow.forward.iter().chain(&flow.reverse);
    let copies = links.any(|link| {
        let link = &network.links[link.0 as usize];
        link.impairments.duplicate.is_some()
    });
    let placement = Placement {
        flow: id.0,
        start: flow.start,
        stop: flow.stop,
        measured_from: network.warmup,
        seed: random.bits(),
    };
    let [there, back] = [(); 2].map(|()| Arc::new(Mutex::new(Wire::new(copies))));
    let [client, server] = stack.pair(&placement);
    let hosts = [
        ForeignHost::new(client, Arc::clone(&there), Arc::clone(&back)),
        ForeignHost::new(server, back, there),
    ];
    hosts.map(|host| Behaviour::Foreign(Box::new(host)))
}
