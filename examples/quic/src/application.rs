//! Applications over one QUIC connection.

use bytes::Bytes;
use goodqueue_sim::{
    AppOutcome, Distribution, ExchangesConfig, Law, Metric, Placement, SessionConfig,
    WorkloadConfig,
};
use goodqueue_types::{Span, Time};
use quinn_proto::{Connection, Dir, Event, StreamEvent, StreamId, WriteError};
use std::collections::BTreeMap;

/// Bytes that are written in one piece.
const BLOCK: &[u8] = &[0; 1 << 16];

/// The application: what client and server do on their connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// The client sends data on several streams.
    Bulk {
        /// Bytes of all streams together; none for data without end.
        bytes: Option<u64>,
        /// Number of streams, which share the connection's rate in turn.
        streams: u32,
    },
    /// The client asks, and the server answers each request on the same stream.
    Requests {
        /// Bytes of a request.
        request: u64,
        /// Bytes of an answer.
        answer: u64,
        /// Time from an answer to the next request.
        pause: Span,
        /// Number of requests at once.
        parallel: u32,
    },
}

impl Workload {
    /// Returns the workload of a flow of TCP: bulk data, or exchanges whose sizes and pauses are
    /// constant. Others have none.
    pub fn of(tcp: &WorkloadConfig) -> Option<Self> {
        if let Some((_, bytes)) = tcp.as_bulk() {
            return Some(Self::Bulk { bytes, streams: 1 });
        }
        let WorkloadConfig::Session { session, .. } = tcp else {
            return None;
        };
        match &**session {
            SessionConfig::Exchanges(ExchangesConfig {
                request: Law::Fixed(request),
                reply: Law::Fixed(reply),
                reply_per: None,
                server_time: Law::Fixed(0.0),
                pause: Law::Fixed(pause),
                periodic: false,
                most: None,
            }) => Some(Self::Requests {
                request: *request as u64,
                answer: *reply as u64,
                pause: Span::from_secs_f64(*pause),
                parallel: 1,
            }),
            _ => None,
        }
    }
}

/// The application at one end.
#[derive(Debug)]
pub struct Application {
    workload: Workload,
    is_client: bool,
    measured_from: Time,
    /// Bytes left to write on each stream, or none without end.
    writing: BTreeMap<StreamId, Option<u64>>,
    /// Times at which open requests were asked.
    asked: BTreeMap<StreamId, Time>,
    /// Times of the next requests.
    due: Vec<Time>,
    /// Number of streams whose data were not acknowledged as a whole.
    unfinished: u32,
    stopped: bool,
    /// Bytes that arrived, in the order of their streams.
    pub delivered: u64,
    /// Time at which all data of a bulk client were acknowledged.
    pub finished_at: Option<Time>,
    answers_s: Vec<f64>,
    /// Time at which a client begins, and the time that its handshake took.
    start: Time,
    handshake_s: Option<f64>,
}

impl Application {
    /// Creates an application that has done nothing.
    pub fn new(workload: Workload, is_client: bool, placement: &Placement) -> Self {
        Self {
            workload,
            is_client,
            measured_from: placement.measured_from,
            writing: BTreeMap::new(),
            asked: BTreeMap::new(),
            due: Vec::new(),
            unfinished: 0,
            stopped: false,
            delivered: 0,
            finished_at: None,
            answers_s: Vec::new(),
            start: placement.start,
            handshake_s: None,
        }
    }

    /// Returns the time of the next request.
    pub fn wakes_at(&self) -> Option<Time> {
        self.due.iter().min().copied()
    }

    /// Handles an event of the connection.
    pub fn handle(&mut self, now: Time, connection: &mut Connection, event: &Event) {
        match *event {
            Event::Connected if self.is_client => {
                self.handshake_s = Some((now - self.start).as_secs_f64());
                self.begin(now, connection);
            }
            Event::Stream(StreamEvent::Opened { dir }) => {
                while let Some(id) = connection.streams().accept(dir) {
                    self.read(now, connection, id);
                }
            }
            Event::Stream(StreamEvent::Readable { id }) => self.read(now, connection, id),
            Event::Stream(StreamEvent::Writable { id }) => self.write(connection, id),
            Event::Stream(StreamEvent::Available { .. }) => self.ask(now, connection),
            Event::Stream(StreamEvent::Finished { .. }) => {
                self.unfinished = self.unfinished.saturating_sub(1);
                let is_bulk = matches!(self.workload, Workload::Bulk { bytes: Some(_), .. });
                if self.is_client && is_bulk && self.unfinished == 0 {
                    self.finished_at.get_or_insert(now);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, now: Time, connection: &mut Connection) {
        match self.workload {
            Workload::Bulk { bytes, streams } => {
                let share = |stream: u32| {
                    let (all, stream) = (u64::from(streams), u64::from(stream));
                    bytes.map(|bytes| bytes / all + u64::from(stream < bytes % all))
                };
                for stream in 0..streams {
                    let Some(id) = connection.streams().open(Dir::Uni) else {
                        return;
                    };
                    self.unfinished += 1;
                    self.writing.insert(id, share(stream));
                    self.write(connection, id);
                }
            }
            Workload::Requests { parallel, .. } => {
                self.due = vec![now; parallel as usize];
                self.ask(now, connection);
            }
        }
    }

    /// Sends the requests that are due.
    pub fn ask(&mut self, now: Time, connection: &mut Connection) {
        let Workload::Requests { request, .. } = self.workload else {
            return;
        };
        while let Some(place) = self.due.iter().position(|due| *due <= now) {
            let Some(id) = connection.streams().open(Dir::Bi) else {
                return;
            };
            self.due.swap_remove(place);
            self.asked.insert(id, now);
            self.writing.insert(id, Some(request));
            self.write(connection, id);
        }
    }

    /// Ends the data of a client, which writes no more.
    pub fn stop(&mut self, connection: &mut Connection) {
        if std::mem::replace(&mut self.stopped, true) {
            return;
        }
        self.due.clear();
        for (id, _) in std::mem::take(&mut self.writing) {
            // A stream that the peer has stopped needs no end.
            let _ = connection.send_stream(id).finish();
        }
    }

    /// Writes as much as flow control and the send buffer allow.
    fn write(&mut self, connection: &mut Connection, id: StreamId) {
        let Some(left) = self.writing.get_mut(&id) else {
            return;
        };
        let mut stream = connection.send_stream(id);
        loop {
            let most = left.map_or(BLOCK.len(), |left| BLOCK.len().min(left as usize));
            if most == 0 {
                let _ = stream.finish();
                self.writing.remove(&id);
                return;
            }
            match stream.write_chunks(&mut [Bytes::from_static(&BLOCK[..most])]) {
                Ok(written) => *left = left.map(|left| left - written.bytes as u64),
                Err(WriteError::Blocked) => return,
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => {
                    self.writing.remove(&id);
                    return;
                }
            }
        }
    }

    /// Reads what has arrived in order, and answers a request that is whole.
    fn read(&mut self, now: Time, connection: &mut Connection, id: StreamId) {
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else {
            return;
        };
        let is_whole = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.delivered += chunk.bytes.len() as u64,
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        // The frames that give credit to the peer leave with the next packet, which is sent anyway.
        let _ = chunks.finalize();
        let Workload::Requests { answer, pause, .. } = self.workload else {
            return;
        };
        if !is_whole {
            return;
        }
        if self.is_client {
            if let Some(asked) = self.asked.remove(&id)
                && asked >= self.measured_from
            {
                self.answers_s.push((now - asked).as_secs_f64());
            }
            if !self.stopped {
                self.due.push(now + pause);
                self.ask(now, connection);
            }
        } else {
            self.writing.insert(id, Some(answer));
            self.write(connection, id);
        }
    }

    /// Returns the figures of a client: the time of its handshake, and those of its requests.
    pub fn outcome(&self) -> AppOutcome {
        let mut metrics = Vec::new();
        if self.is_client {
            let handshake: Vec<f64> = self.handshake_s.into_iter().collect();
            metrics.push((
                "handshake_time_s",
                Metric::Seconds(distribution(&handshake)),
            ));
        }
        if matches!(self.workload, Workload::Requests { .. }) {
            metrics.push(("answers", Metric::Count(self.answers_s.len() as u64)));
            metrics.push(("answer_s", Metric::Seconds(distribution(&self.answers_s))));
        }
        AppOutcome { metrics }
    }
}

/// Returns mean and quantiles. A quantile is the smallest value that at least its share does not exceed.
fn distribution(values: &[f64]) -> Distribution {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantile = |share: f64| {
        let rank = (share * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied()
    };
    Distribution {
        mean: (!sorted.is_empty()).then(|| sorted.iter().sum::<f64>() / sorted.len() as f64),
        p50: quantile(0.5),
        p95: quantile(0.95),
        p99: quantile(0.99),
        max: sorted.last().copied(),
    }
}
