//! ns-2's trace of twelve columns.

use crate::write::TraceWriter;
use crate::write::hops::{Hop, Hops, Wiring};
use goodqueue_types::PacketEvent;
use std::io::{self, Write};
use std::sync::Arc;

/// Writes a `.tr` file.
#[derive(Debug)]
pub struct Ns2Trace<W> {
    out: W,
    hops: Hops,
}

impl<W: Write> Ns2Trace<W> {
    /// Creates the trace of a run that is about to begin.
    pub fn new(out: W, wiring: Arc<Wiring>) -> Self {
        let hops = Hops::new(wiring);
        Self { out, hops }
    }
}

/// Writes one line: event, time, from, to, type, size, flags, flow, source.port, destination.port,
/// number, packet.
fn line(out: &mut impl Write, hop: &Hop) -> io::Result<()> {
    let flags = str::from_utf8(&hop.flags).unwrap_or_default();
    writeln!(
        out,
        "{} {} {} {} {} {} {} {} {}.{} {}.{} {} {}",
        hop.step.letter(),
        hop.time,
        hop.wire.from,
        hop.wire.to,
        hop.kind,
        hop.size,
        flags,
        hop.flow,
        hop.from.0,
        hop.from.1,
        hop.to.0,
        hop.to.1,
        hop.number,
        hop.uid,
    )
}

impl<W: Write> TraceWriter for Ns2Trace<W> {
    fn wants(&self, _: &PacketEvent) -> bool {
        true
    }

    fn packet(&mut self, event: &PacketEvent) -> io::Result<()> {
        for hop in self.hops.translate(event) {
            line(&mut self.out, &hop)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(hop) = self.hops.finish() {
            line(&mut self.out, &hop)?;
        }
        self.out.flush()
    }
}
