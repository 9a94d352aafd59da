//! The probe of all runs of a page. It is one type, because the engine is compiled once for each
//! type of a probe, and a page loads all that is compiled.

use crate::packets::Trips;
use crate::thin::Thin;
use goodqueue_queue::Backlog;
use goodqueue_sim::{Agent, Probe};
use goodqueue_types::{LinkId, PacketEvent, Span, Time};

/// Observations that an answer needs.
#[derive(Debug)]
pub enum Observer {
    /// Series in columns.
    Columns(Thin),
    /// Times of packets.
    Packets(Trips),
}

impl Observer {
    /// Returns the series.
    ///
    /// # Panics
    /// Panics if the run observed packets.
    pub fn into_columns(self) -> Thin {
        match self {
            Self::Columns(thin) => thin,
            Self::Packets(_) => unreachable!("the run of a picture observes series"),
        }
    }

    /// Returns the bytes of memory that grow with the run.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Columns(_) => 0,
            Self::Packets(trips) => trips.bytes(),
        }
    }

    /// Returns the packets.
    ///
    /// # Panics
    /// Panics if the run observed series.
    pub fn packets(&self) -> &Trips {
        match self {
            Self::Packets(trips) => trips,
            Self::Columns(_) => unreachable!("the run of a packet view observes packets"),
        }
    }
}

impl Probe for Observer {
    const ACTIVE: bool = true;

    fn packet(&mut self, event: PacketEvent) {
        match self {
            Self::Columns(thin) => thin.packet(&event),
            Self::Packets(trips) => trips.note(&event),
        }
    }

    fn backlog(&mut self, link: LinkId, time: Time, backlog: Backlog) {
        if let Self::Columns(thin) = self {
            thin.backlog(link, time, backlog);
        }
    }

    fn agent(&mut self, flow: u32, time: Time, agent: &Agent, rtt: Option<Span>) {
        if let Self::Columns(thin) = self {
            thin.agent(flow, time, agent, rtt);
        }
    }
}
