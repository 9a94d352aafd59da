//! Records of a run in real time besides its results.

use goodqueue_queue::Backlog;
use goodqueue_sim::{Network, Series};
use goodqueue_trace::write::Traces;
use goodqueue_types::{Body, LinkId, PacketEvent, PacketEventKind, PacketSink, Span, Time};
use std::mem::take;

/// Activity of a link since the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Packets whose transmission began.
    pub packets: u64,
    /// IP bytes of these packets.
    pub bytes: u64,
    /// Sum of their queueing delays.
    pub waited: Span,
    /// Packets lost.
    pub drops: u64,
}

/// Quantities over time.
#[derive(Debug, Default)]
pub struct OverTime {
    /// Backlog of the observed links, and round-trip times of pings. Programs do not report their
    /// windows.
    pub series: Series,
    /// (link, time, queueing delay) of each transmission at the observed links.
    pub waits: Vec<(u32, Time, Span)>,
}

/// Records of a run.
#[derive(Default)]
pub struct Records {
    traces: Traces,
    /// Quantities over time, if they are recorded.
    over_time: Option<OverTime>,
    observed: Vec<bool>,
    activities: Vec<Activity>,
    /// Latest end of the run. A busy emulator may handle later events, which are not recorded.
    end: Time,
}

impl Records {
    /// Returns records for a network: traces, and quantities over time if `over_time` is true.
    pub fn new(network: &Network, traces: Traces, over_time: bool) -> Self {
        Self {
            traces,
            over_time: over_time.then(OverTime::default),
            observed: network.links.iter().map(|link| link.observed).collect(),
            activities: vec![Activity::default(); network.links.len()],
            end: network.end,
        }
    }

    /// Records an event of a packet that has these bytes.
    pub fn packet(&mut self, event: &PacketEvent, bytes: &[u8]) {
        if event.time > self.end {
            return;
        }
        match event.kind {
            PacketEventKind::ServiceStarted(link, wait) => {
                let activity = &mut self.activities[link.0 as usize];
                activity.packets += 1;
                activity.bytes += u64::from(event.packet.size);
                activity.waited += wait;
                if let (Some(over_time), true) =
                    (&mut self.over_time, self.observed[link.0 as usize])
                {
                    over_time.waits.push((link.0, event.time, wait));
                }
            }
            PacketEventKind::Dropped(link, _) => self.activities[link.0 as usize].drops += 1,
            PacketEventKind::Delivered => self.pinged(event),
            _ => {}
        }
        if self.traces.wants(event) {
            self.traces.packet_with(event, bytes);
        }
    }

    /// Records the round-trip time of a ping whose reply was delivered.
    fn pinged(&mut self, event: &PacketEvent) {
        let Body::EchoReply { requested } = event.packet.body else {
            return;
        };
        if let Some(over_time) = &mut self.over_time {
            let rtt = event.time.saturating_since(requested).as_secs_f64();
            let sample = (event.packet.flow.0, event.time, rtt);
            over_time.series.rtt.push(sample);
        }
    }

    /// Records a link's backlog, which holds from `time` on.
    pub fn backlog(&mut self, link: LinkId, time: Time, backlog: Backlog) {
        if time > self.end {
            return;
        }
        self.traces.backlog(link, time, backlog.packets);
        if let (Some(over_time), true) = (&mut self.over_time, self.observed[link.0 as usize]) {
            let row = (link.0, time, backlog.packets, backlog.bytes);
            over_time.series.backlog.push(row);
        }
    }

    /// Returns the activity of a link since the last call.
    pub fn take_activity(&mut self, link: LinkId) -> Activity {
        take(&mut self.activities[link.0 as usize])
    }

    /// Returns true if a trace cannot be written.
    pub fn failed(&self) -> bool {
        self.traces.has_failed()
    }

    /// Completes the traces of a run that ended at `end`, and returns the quantities over time,
    /// each link's and flow's in order of time.
    ///
    /// # Errors
    /// Returns a text that names the file that could not be written.
    pub fn finish(mut self, end: Time) -> Result<OverTime, String> {
        self.traces.end_at(end);
        let done = self.traces.finish();
        done.map_err(|(file, error)| format!("{}: {error}", file.display()))?;
        let mut over_time = self.over_time.unwrap_or_default();
        let series = &mut over_time.series;
        series
            .backlog
            .sort_by_key(|(link, time, ..)| (*link, *time));
        series.rtt.sort_by_key(|(flow, time, _)| (*flow, *time));
        over_time
            .waits
            .sort_by_key(|(link, time, _)| (*link, *time));
        Ok(over_time)
    }
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Records({:?})", self.activities)
    }
}
