//! A foreign endpoint as one end of a flow.

use super::{Batch, Endpoint, Progress, Wire};
use crate::AppOutcome;
use crate::workload::DATAGRAM_HEADER;
use goodqueue_types::{Body, Packet, Span, Time};
use std::sync::{Arc, Mutex, MutexGuard};

/// Most calls of an endpoint at one instant without a packet in between.
const MAX_WAKES: u32 = 100_000;

/// Host that runs a foreign endpoint.
#[derive(Debug)]
pub struct ForeignHost {
    endpoint: Box<dyn Endpoint>,
    /// Bytes on their way from here.
    sends: Arc<Mutex<Wire>>,
    /// Bytes on their way to here.
    receives: Arc<Mutex<Wire>>,
    /// Datagrams of the present batch, the bytes of it that have been sent, and its sizes.
    outgoing: Vec<u8>,
    sent: usize,
    batch: Option<Batch>,
    /// The datagram that arrived last.
    incoming: Vec<u8>,
    /// Time of the last call.
    now: Time,
    /// Number of calls of `wake` at this instant.
    wakes: u32,
}

impl ForeignHost {
    /// Creates the host of an endpoint between two wires.
    pub(super) fn new(
        endpoint: Box<dyn Endpoint>,
        sends: Arc<Mutex<Wire>>,
        receives: Arc<Mutex<Wire>>,
    ) -> Self {
        Self {
            endpoint,
            sends,
            receives,
            outgoing: Vec::new(),
            sent: 0,
            batch: None,
            incoming: Vec::new(),
            now: Time::ZERO,
            wakes: 0,
        }
    }

    /// Receives a packet. Returns the round-trip time that it completed, if any.
    #[inline(never)]
    pub fn receive(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        (self.now, self.wakes) = (now, 0);
        let arrives = lock(&self.receives).arrive(packet.number, &mut self.incoming);
        if !arrives {
            return None;
        }
        self.endpoint.receive(now, packet.ecn, &self.incoming)
    }

    /// Does what is due by `now`.
    ///
    /// # Panics
    /// Panics if the endpoint asks for the same instant without end.
    #[inline(never)]
    pub fn wake(&mut self, now: Time) {
        self.wakes = if now == self.now { self.wakes + 1 } else { 0 };
        assert!(
            self.wakes < MAX_WAKES,
            "a foreign endpoint asked {MAX_WAKES} times for a call at {now:?} and did nothing"
        );
        self.now = now;
        self.endpoint.wake(now);
    }

    /// Returns the time at which [`wake`](Self::wake) is next needed, or [`Time::MAX`].
    pub fn wakes_at(&self) -> Time {
        let asked = self.endpoint.wakes_at();
        asked.map_or(Time::MAX, |asked| asked.max(self.now))
    }

    /// Writes the next packet to send now. Returns false if there is none.
    ///
    /// # Panics
    /// Panics if the endpoint gives a batch without bytes, or a datagram that IP cannot carry.
    #[inline(never)]
    pub fn transmit_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        if self.batch.is_none() {
            self.outgoing.clear();
            self.sent = 0;
            self.batch = self.endpoint.transmit(now, &mut self.outgoing);
        }
        let Some(batch) = self.batch else {
            return false;
        };
        let rest = &self.outgoing[self.sent..];
        let datagram = &rest[..batch.size.min(rest.len())];
        let size = datagram.len() as u64 + DATAGRAM_HEADER;
        assert!(!datagram.is_empty(), "a foreign endpoint sent nothing");
        assert!(size <= 0xFFFF, "a datagram of {size} B fits into no packet");
        lock(&self.sends).send(now, datagram);
        packet.size = size as u32;
        packet.body = Body::Datagram;
        packet.ecn = batch.ecn;
        self.sent += datagram.len();
        self.wakes = 0;
        if self.sent == self.outgoing.len() {
            self.batch = None;
        }
        true
    }

    /// Returns what the endpoint has done so far.
    pub fn progress(&self) -> Progress {
        self.endpoint.progress()
    }

    /// Returns figures of the application.
    pub fn outcome(&self, end: Time) -> AppOutcome {
        self.endpoint.outcome(end)
    }

    /// Estimates the bytes of memory for datagrams on their way from here.
    pub fn bytes(&self) -> usize {
        lock(&self.sends).bytes()
    }
}

/// Returns the wire. A run is one thread, so nobody else holds it.
fn lock(wire: &Mutex<Wire>) -> MutexGuard<'_, Wire> {
    wire.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
