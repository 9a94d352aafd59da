//! Comparison of the packets that the endpoint sends with those that the script expects.

use goodqueue_types::Time;

use super::clock::{Window, micros, seconds, time};
use super::connection::{flags_of, letters};
use super::driver::Driver;
use super::matcher::{Gathered, compare};
use crate::packetdrill::script::syntax::{Event, PacketSpec, Refusal};

impl Driver<'_> {
    /// Waits for an expected packet and compares it with the one sent.
    pub fn expect(
        &mut self,
        event: &Event,
        spec: &PacketSpec,
        window: Window,
    ) -> Result<(), Refusal> {
        let line = event.line;
        let fail = |complaint: String| Err(Refusal::Malformed(line, complaint));
        let limit = time(window.latest());
        let mut gathered = Gathered::default();
        while !gathered.is_complete(spec.payload) {
            let sent = self.sockets.current().and_then(|c| c.queue.pop_front());
            if let Some(sent) = sent {
                if let Err(complaint) = gathered.add(sent, spec.payload) {
                    return fail(complaint);
                }
            } else if !self.fire_next(limit, line)? {
                let found = gathered.bytes();
                let wanted = describe(spec);
                return fail(format!(
                    "{wanted} expected, {found} bytes and nothing more came"
                ));
            }
        }
        let tick = self
            .settings
            .timestamp_tick
            .map(|tick| (tick, window.tolerance));
        if let Some(connection) = self.sockets.current()
            && let Err(complaint) = compare(connection, spec, &gathered, tick)
        {
            let came: Vec<String> = gathered
                .parts
                .iter()
                .map(|part| describe(&connection.write(part)))
                .collect();
            let at = gathered.parts.last().map_or(Time::ZERO, |part| part.time);
            let at = seconds(micros(at));
            return fail(format!("{complaint}; at {at} s came {}", came.join(", ")));
        }
        for part in &gathered.parts {
            let at = micros(part.time);
            if event.when.start.is_some() && (at < window.earliest() || at > window.latest()) {
                return fail(format!(
                    "{} expected at {}~{} ± {} s, came at {}",
                    describe(spec),
                    seconds(window.start),
                    seconds(window.end),
                    seconds(window.tolerance),
                    seconds(at)
                ));
            }
        }
        Ok(())
    }
}

/// Describes a packet briefly.
fn describe(spec: &PacketSpec) -> String {
    let end = spec.seq + spec.payload;
    let ack = spec
        .ack
        .map(|ack| format!(" ack {ack}"))
        .unwrap_or_default();
    let flags = letters(flags_of(&spec.flags));
    format!("{flags} {}:{end}({}){ack}", spec.seq, spec.payload)
}
