//! A probe that thins series to columns of equal time while the run goes on.

use goodqueue_queue::Backlog;
use goodqueue_sim::Agent;
use goodqueue_types::{Direction, LinkId, PacketEvent, PacketEventKind, Span, Time};
use serde_json::{Value, json};

/// Columns of equal time from the start of a run to its end.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    count: usize,
    end: Time,
    /// Time of one column, rounded up to a picosecond.
    width: Span,
}

impl Columns {
    /// Divides the time until `end` into `count` columns, at least one.
    pub fn new(count: usize, end: Time) -> Self {
        let count = count.max(1);
        let width = (end - Time::ZERO).0.div_ceil(count as u64).max(1);
        Self {
            count,
            end,
            width: Span(width),
        }
    }

    /// Returns the column of a time, or none if the run has ended by then.
    fn at(self, time: Time) -> Option<usize> {
        let column = ((time - Time::ZERO).0 / self.width.0) as usize;
        (time < self.end).then_some(column)
    }

    /// Returns the end of a column.
    fn end_of(self, column: usize) -> Time {
        let end = Time::ZERO + Span(self.width.0 * (column as u64 + 1));
        end.min(self.end)
    }

    /// Returns the width of a column in seconds.
    pub fn width_s(self) -> f64 {
        self.width.as_secs_f64()
    }

    /// Returns the length of one column, which is shorter at the end of the run.
    fn length(self, column: usize) -> u64 {
        let start = (self.width.0 * column as u64).min((self.end - Time::ZERO).0);
        (self.end_of(column) - Time::ZERO).0 - start
    }
}

/// A link's backlog, drops and marks by column.
#[derive(Clone, Debug)]
struct LinkSeries {
    columns: Columns,
    /// Packets that wait since the last change.
    level: u64,
    since: Time,
    low: Vec<u64>,
    high: Vec<u64>,
    /// Sum of packets times picoseconds.
    area: Vec<u128>,
    drops: Vec<u64>,
    marks: Vec<u64>,
}

impl LinkSeries {
    fn new(columns: Columns) -> Self {
        let zeros = vec![0; columns.count];
        Self {
            columns,
            level: 0,
            since: Time::ZERO,
            low: vec![u64::MAX; columns.count],
            high: zeros.clone(),
            area: vec![0; columns.count],
            drops: zeros.clone(),
            marks: zeros,
        }
    }

    /// Records that `packets` wait from `now` on.
    fn change(&mut self, now: Time, packets: u64) {
        self.hold_until(now);
        self.level = packets;
        if let Some(column) = self.columns.at(now) {
            self.include(column);
        }
    }

    fn include(&mut self, column: usize) {
        self.low[column] = self.low[column].min(self.level);
        self.high[column] = self.high[column].max(self.level);
    }

    /// Adds the level to all columns from its last change until `now`.
    fn hold_until(&mut self, now: Time) {
        let now = now.min(self.columns.end);
        while let Some(column) = self.columns.at(self.since)
            && self.since < now
        {
            let until = now.min(self.columns.end_of(column));
            self.include(column);
            self.area[column] += u128::from(self.level) * u128::from((until - self.since).0);
            self.since = until;
        }
    }

    fn picture(mut self, name: &str) -> Value {
        self.hold_until(self.columns.end);
        let lengths = (0..self.columns.count).map(|column| self.columns.length(column));
        let mean = self.area.iter().zip(lengths);
        let mean: Vec<f64> = mean
            .map(|(area, length)| *area as f64 / length.max(1) as f64)
            .collect();
        let low = self.low.iter().zip(&self.high);
        let low: Vec<u64> = low.map(|(low, high)| *low.min(high)).collect();
        json!({
            "name": name,
            "low_packets": low,
            "mean_packets": mean,
            "high_packets": self.high,
            "drops": self.drops,
            "marks": self.marks,
        })
    }
}

/// A flow's window, round-trip time and throughput by column.
#[derive(Clone, Debug)]
struct FlowSeries {
    columns: Columns,
    /// Last congestion window of each column in bytes. None before the first one.
    cwnd: Vec<Option<u64>>,
    /// Largest round-trip sample of each column in seconds.
    rtt: Vec<Option<f64>>,
    /// Bytes of IP packets that reached the server.
    delivered: Vec<u64>,
}

impl FlowSeries {
    fn new(columns: Columns) -> Self {
        Self {
            columns,
            cwnd: vec![None; columns.count],
            rtt: vec![None; columns.count],
            delivered: vec![0; columns.count],
        }
    }

    fn picture(self, name: &str) -> Value {
        let mut last = None;
        let held = self.cwnd.into_iter().map(|cwnd| {
            last = cwnd.or(last);
            last
        });
        let cwnd: Vec<Option<u64>> = held.collect();
        let lengths = (0..self.columns.count).map(|column| self.columns.length(column));
        let throughput = self.delivered.iter().zip(lengths);
        let throughput: Vec<f64> = throughput
            .map(|(bytes, ps)| *bytes as f64 * 8e12 / ps.max(1) as f64)
            .collect();
        json!({
            "name": name,
            "cwnd_bytes": cwnd,
            "highest_rtt_s": self.rtt,
            "throughput_bps": throughput,
        })
    }
}

/// Probe of a run whose memory depends on the columns, links and flows that are shown.
#[derive(Clone, Debug)]
pub struct Thin {
    /// Place of each link in `links`, for observed links.
    places: Vec<Option<usize>>,
    columns: Columns,
    links: Vec<LinkSeries>,
    flows: Vec<FlowSeries>,
}

impl Thin {
    /// Creates a probe of these links (in network order, true if shown) and the first `flows`
    /// flows.
    pub fn new(columns: Columns, shown: &[bool], flows: usize) -> Self {
        let mut links = Vec::new();
        let places = shown.iter().map(|shown| {
            shown.then(|| {
                links.push(LinkSeries::new(columns));
                links.len() - 1
            })
        });
        Self {
            places: places.collect(),
            columns,
            links,
            flows: vec![FlowSeries::new(columns); flows],
        }
    }

    /// Returns the series of links and flows, whose names come in the same order.
    pub fn picture(self, links: &[&str], flows: &[&str]) -> (Value, Value) {
        let links: Vec<Value> = self
            .links
            .into_iter()
            .zip(links)
            .map(|(link, name)| link.picture(name))
            .collect();
        let flows: Vec<Value> = self
            .flows
            .into_iter()
            .zip(flows)
            .map(|(flow, name)| flow.picture(name))
            .collect();
        (links.into(), flows.into())
    }

    /// Counts a drop, a mark or a delivery.
    pub fn packet(&mut self, event: &PacketEvent) {
        let Some(column) = self.columns.at(event.time) else {
            return;
        };
        match event.kind {
            PacketEventKind::Dropped(link, _) => {
                if let Some(link) = self.link(link) {
                    link.drops[column] += 1;
                }
            }
            PacketEventKind::Marked(link, _) => {
                if let Some(link) = self.link(link) {
                    link.marks[column] += 1;
                }
            }
            PacketEventKind::Delivered if event.packet.direction == Direction::Forward => {
                if let Some(flow) = self.flows.get_mut(event.packet.flow.0 as usize) {
                    flow.delivered[column] += u64::from(event.packet.size);
                }
            }
            _ => {}
        }
    }

    /// Observes a link's new backlog, which holds from `time` on.
    pub fn backlog(&mut self, link: LinkId, time: Time, backlog: Backlog) {
        if let Some(link) = self.link(link) {
            link.change(time, backlog.packets);
        }
    }

    /// Observes the agent of a flow after it received a packet or its timer fired.
    pub fn agent(&mut self, flow: u32, time: Time, agent: &Agent, rtt: Option<Span>) {
        let Some(column) = self.columns.at(time) else {
            return;
        };
        let Some(series) = self.flows.get_mut(flow as usize) else {
            return;
        };
        if let Some(rtt) = rtt {
            let highest = &mut series.rtt[column];
            *highest = Some(highest.unwrap_or(0.0).max(rtt.as_secs_f64()));
        }
        if let Some(info) = agent.behaviour().tcp_info() {
            series.cwnd[column] = Some(info.cwnd);
        }
    }

    fn link(&mut self, link: LinkId) -> Option<&mut LinkSeries> {
        let place = self.places[link.0 as usize]?;
        Some(&mut self.links[place])
    }
}
