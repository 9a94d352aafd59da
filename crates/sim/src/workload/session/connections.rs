//! The TCP connections of one end of a session.

use goodqueue_tcp::{TcpConfig, TcpEndpoint, TcpStats};
use goodqueue_types::{Body, Packet, Segment, SegmentFlags, Span, Time};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// How long the end that closed first stays to answer a repeated FIN (Linux `TCP_TIMEWAIT_LEN`).
const TIME_WAIT: Span = Span::from_secs(60);

/// Connections that are open, and what those that are gone counted.
#[derive(Debug)]
pub struct Connections {
    config: Arc<TcpConfig>,
    /// By their numbers.
    live: BTreeMap<u32, Live>,
    /// Those that may have something to send.
    ready: VecDeque<u32>,
    /// No timer is due before; perhaps none is then.
    wakes_at: Time,
    /// Connections in TIME-WAIT, and when it ends.
    waiting: VecDeque<(Time, u32)>,
    /// What connections that are gone counted.
    gone: TcpStats,
    next: u32,
    last_rtt: Option<Span>,
}

#[derive(Debug)]
struct Live {
    endpoint: Box<TcpEndpoint>,
    closed_first: bool,
    is_done: bool,
}

impl Connections {
    /// None yet.
    pub fn new(config: Arc<TcpConfig>) -> Self {
        Self {
            config,
            live: BTreeMap::new(),
            ready: VecDeque::new(),
            wakes_at: Time::MAX,
            waiting: VecDeque::new(),
            gone: TcpStats::default(),
            next: 0,
            last_rtt: None,
        }
    }

    fn add(&mut self, id: u32, endpoint: TcpEndpoint) {
        let live = Live {
            endpoint: Box::new(endpoint),
            closed_first: false,
            is_done: false,
        };
        self.live.insert(id, live);
    }

    /// Opens a connection and gives its number.
    pub fn open(&mut self, now: Time) -> u32 {
        let mut endpoint = TcpEndpoint::new(self.config.clone());
        endpoint.connect(now);
        let id = self.next;
        self.next += 1;
        self.add(id, endpoint);
        self.touch(id);
        id
    }

    /// A connection, if it is still there.
    pub fn get(&self, id: u32) -> Option<&TcpEndpoint> {
        self.live.get(&id).map(|live| &*live.endpoint)
    }

    /// Offers bytes to send on a connection.
    pub fn write(&mut self, id: u32, bytes: u64) {
        if let Some(live) = self.live.get_mut(&id) {
            live.endpoint.write(bytes);
            self.touch(id);
        }
    }

    /// Closes a connection after what was written.
    pub fn close(&mut self, id: u32) {
        if let Some(live) = self.live.get_mut(&id) {
            live.closed_first = !live.endpoint.is_peer_finished();
            live.endpoint.close();
            self.touch(id);
        }
    }

    /// Takes a packet; gives its connection's number. A SYN of an unknown connection opens it if
    /// this end `listens`; other packets of unknown connections, such as a late duplicate, are
    /// ignored.
    pub fn receive(&mut self, now: Time, packet: &Packet, listens: bool) -> Option<u32> {
        let Body::Tcp(segment) = &packet.body else {
            unreachable!("a session carries segments only")
        };
        let id = packet.connection;
        let is_new = listens && segment.flags.contains(SegmentFlags::SYN);
        if is_new && !self.live.contains_key(&id) {
            let mut endpoint = TcpEndpoint::new(self.config.clone());
            endpoint.listen();
            self.add(id, endpoint);
        }
        let endpoint = &mut self.live.get_mut(&id)?.endpoint;
        endpoint.handle_packet(now, segment, packet.ecn);
        self.last_rtt = endpoint.take_rtt_sample();
        self.touch(id);
        Some(id)
    }

    /// The round-trip sample of the last packet.
    pub fn take_rtt_sample(&mut self) -> Option<Span> {
        self.last_rtt.take()
    }

    /// Lets timers that are due by `now` expire.
    pub fn wake(&mut self, now: Time) {
        while let Some((until, id)) = self.waiting.front().copied() {
            if until > now {
                break;
            }
            self.waiting.pop_front();
            self.remove(id);
        }
        let mut touched = Vec::new();
        for (id, live) in &mut self.live {
            let due = live.endpoint.poll_timeout();
            if due.is_some_and(|due| due <= now) {
                live.endpoint.handle_timeout(now);
                touched.push(*id);
            }
        }
        self.wakes_at = Time::MAX;
        for id in touched {
            self.touch(id);
        }
        let deadlines = self.live.values().filter_map(|l| l.endpoint.poll_timeout());
        let ends = self.waiting.front().map(|(until, _)| *until);
        self.wakes_at = deadlines.chain(ends).min().unwrap_or(Time::MAX);
    }

    /// When [`wake`](Self::wake) is next needed.
    pub fn wakes_at(&self) -> Time {
        self.wakes_at
    }

    /// Notes that a connection may have something to send, and a new deadline.
    fn touch(&mut self, id: u32) {
        if !self.ready.contains(&id) {
            self.ready.push_back(id);
        }
        self.note_deadline(id);
    }

    fn note_deadline(&mut self, id: u32) {
        let deadline = self.get(id).and_then(TcpEndpoint::poll_timeout);
        self.wakes_at = self.wakes_at.min(deadline.unwrap_or(Time::MAX));
    }

    /// Forgets a connection that both ends have closed, at once or after TIME-WAIT.
    pub fn settle(&mut self, now: Time, id: u32) {
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        if live.is_done || !live.endpoint.is_finished() || !live.endpoint.is_peer_finished() {
            return;
        }
        live.is_done = true;
        // What is removed here can still owe an ACK, so it is kept until that is sent.
        let until = if live.closed_first {
            now + TIME_WAIT
        } else {
            now
        };
        let at = self.waiting.partition_point(|(other, _)| *other <= until);
        self.waiting.insert(at, (until, id));
        self.wakes_at = self.wakes_at.min(until);
    }

    fn remove(&mut self, id: u32) {
        if let Some(live) = self.live.remove(&id) {
            self.gone.add(live.endpoint.stats());
        }
    }

    /// Whether nothing is to be sent for sure.
    pub fn may_transmit(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Writes the next segment to send, of whichever connection; false when there is none.
    pub fn transmit_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        if !matches!(packet.body, Body::Tcp(_)) {
            packet.body = Body::Tcp(Segment::default());
        }
        let Body::Tcp(segment) = &mut packet.body else {
            unreachable!("set just now")
        };
        while let Some(id) = self.ready.front().copied() {
            if let Some(live) = self.live.get_mut(&id) {
                let endpoint = &mut live.endpoint;
                if endpoint.poll_transmit_into(now, segment) {
                    packet.size = segment.ip_bytes();
                    packet.ecn = endpoint.transmit_ecn();
                    packet.connection = id;
                    self.note_deadline(id);
                    return true;
                }
                self.note_deadline(id);
            }
            self.ready.pop_front();
        }
        false
    }

    /// What all connections counted.
    pub fn stats(&self) -> TcpStats {
        let mut stats = self.gone;
        for live in self.live.values() {
            stats.add(live.endpoint.stats());
        }
        stats
    }
}
