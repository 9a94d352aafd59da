//! The TCP connections of one end of a session.

use goodqueue_tcp::{TcpConfig, TcpEndpoint, TcpStats, TimeLimited, TimeWait};
use goodqueue_types::{Body, Ecn, Packet, Segment, SegmentFlags, Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use super::numbered::Numbered;
use crate::footprint;

/// Time for which the end that closed first stays to answer a repeated FIN (Linux
/// `TCP_TIMEWAIT_LEN`).
const TIME_WAIT: Span = Span::from_secs(60);

/// Open connections, and the counters of those that have ended.
///
/// A flow may have thousands at once, and open a hundred thousand in a run. Operations on one
/// therefore never scan the others, and one in TIME-WAIT takes a few bytes.
#[derive(Debug)]
pub struct Connections {
    config: Arc<TcpConfig>,
    /// Open connections by number.
    live: Numbered<Live>,
    /// Connections that may have something to send, each once.
    ready: VecDeque<u32>,
    /// Times at which connections' timers must be checked, none of them later than the timer. A
    /// timer that moves to a later time leaves its entry here. Only the entry at `Live::armed`
    /// counts.
    deadlines: Deadlines,
    /// Connections whose timers are due in this wake. The vector is kept to reuse its memory.
    due: Vec<u32>,
    /// Connections in TIME-WAIT, by number.
    resting: Numbered<Resting>,
    /// End of each connection's TIME-WAIT, in order.
    leaving: VecDeque<(Time, u32)>,
    /// Counters of connections that have ended or are in TIME-WAIT.
    gone: TcpStats,
    /// Times for which each cause limited these connections.
    gone_limited: TimeLimited,
    next: u32,
    /// True once a connection was open, so that its client has a cookie for TCP Fast Open.
    has_cookie: bool,
    last_rtt: Option<Span>,
}

/// Times with the numbers of their connections.
type Deadlines = BinaryHeap<Reverse<(Time, u32)>>;

#[derive(Debug)]
struct Live {
    endpoint: Box<TcpEndpoint>,
    closed_first: bool,
    /// True if both ends have closed. The connection then ends when it has nothing more to send.
    is_done: bool,
    is_ready: bool,
    /// Time of its valid entry among the deadlines, or [`Time::MAX`] without one.
    armed: Time,
}

#[derive(Debug)]
struct Resting {
    left: TimeWait,
    /// True if it is among the connections that are ready to send an answer.
    is_ready: bool,
}

impl Connections {
    /// Creates an end without connections.
    pub fn new(config: Arc<TcpConfig>) -> Self {
        Self {
            config,
            live: Numbered::default(),
            ready: VecDeque::new(),
            deadlines: Deadlines::new(),
            due: Vec::new(),
            resting: Numbered::default(),
            leaving: VecDeque::new(),
            gone: TcpStats::default(),
            gone_limited: TimeLimited::default(),
            next: 0,
            has_cookie: false,
            last_rtt: None,
        }
    }

    fn add(&mut self, id: u32, endpoint: TcpEndpoint) {
        let live = Live {
            endpoint: Box::new(endpoint),
            closed_first: false,
            is_done: false,
            is_ready: false,
            armed: Time::MAX,
        };
        self.live.insert(id, live);
    }

    /// Opens a connection and returns its number.
    pub fn open(&mut self, now: Time) -> u32 {
        let mut endpoint = TcpEndpoint::new(self.config.clone());
        if self.has_cookie {
            endpoint.hold_cookie(self.config.offered_mss());
        }
        endpoint.connect(now);
        let id = self.next;
        self.next += 1;
        self.add(id, endpoint);
        self.touch(id);
        id
    }

    /// Returns a connection if it has not ended and is not in TIME-WAIT.
    pub fn get(&self, id: u32) -> Option<&TcpEndpoint> {
        self.live.get(id).map(|live| &*live.endpoint)
    }

    /// Returns the bytes of data sent on a connection with an endless stream, after which nothing
    /// else is ever sent, or none if the stream has an end.
    pub fn sent_of_endless(&self, id: u32) -> Option<u64> {
        let endless = self.get(id).filter(|endpoint| endpoint.is_endless());
        endless.map(TcpEndpoint::sent_bytes)
    }

    /// Queues bytes to send on a connection.
    pub fn write(&mut self, id: u32, bytes: u64) {
        if let Some(live) = self.live.get_mut(id) {
            live.endpoint.write(bytes);
            live.touch(id, &mut self.ready, &mut self.deadlines);
        }
    }

    /// Closes a connection after the bytes that were written.
    pub fn close(&mut self, id: u32) {
        if let Some(live) = self.live.get_mut(id) {
            live.closed_first = !live.endpoint.is_peer_finished();
            live.endpoint.close();
            live.touch(id, &mut self.ready, &mut self.deadlines);
        }
    }

    /// Receives a packet and returns its connection's number. A SYN of an unknown connection opens
    /// it if this end `listens`. Other packets of unknown connections, such as a late duplicate,
    /// are ignored. A packet of a connection in TIME-WAIT is answered, and none is returned.
    pub fn receive(&mut self, now: Time, packet: &Packet, listens: bool) -> Option<u32> {
        let Body::Tcp(segment) = &packet.body else {
            unreachable!("a session carries segments only")
        };
        let id = packet.connection;
        self.forget(now);
        if self.resting.contains(id) {
            self.receive_late(id, segment, packet.ecn);
            return None;
        }
        let is_new = listens && segment.flags.contains(SegmentFlags::SYN);
        if is_new && !self.live.contains(id) {
            let mut endpoint = TcpEndpoint::new(self.config.clone());
            endpoint.listen();
            self.add(id, endpoint);
        }
        let live = self.live.get_mut(id)?;
        live.endpoint.handle_packet(now, segment, packet.ecn);
        self.has_cookie |= live.endpoint.is_established();
        self.last_rtt = live.endpoint.take_rtt_sample();
        live.touch(id, &mut self.ready, &mut self.deadlines);
        Some(id)
    }

    /// Receives a packet of a connection in TIME-WAIT.
    #[cold]
    fn receive_late(&mut self, id: u32, segment: &Segment, mark: Ecn) {
        let payload = u64::from(segment.payload);
        self.gone.received_payload_bytes += payload;
        self.gone.duplicate_payload_bytes += payload;
        self.gone.marked_packets += u64::from(mark == Ecn::Experienced);
        if let Some(resting) = self.resting.get_mut(id)
            && resting.left.handle_segment(segment)
            && !std::mem::replace(&mut resting.is_ready, true)
        {
            self.ready.push_back(id);
        }
    }

    /// Returns the round-trip sample of the last packet.
    pub fn take_rtt_sample(&mut self) -> Option<Span> {
        self.last_rtt.take()
    }

    /// Lets the timers that are due by `now` expire.
    pub fn wake(&mut self, now: Time) {
        let mut due = std::mem::take(&mut self.due);
        while let Some(Reverse((at, id))) = self.deadlines.peek().copied() {
            if at > now {
                break;
            }
            self.deadlines.pop();
            let Some(live) = self.live.get_mut(id).filter(|live| live.armed == at) else {
                continue;
            };
            live.armed = Time::MAX;
            if live.endpoint.poll_timeout().is_some_and(|due| due <= now) {
                live.endpoint.handle_timeout(now);
                due.push(id);
            } else {
                live.arm(id, &mut self.deadlines);
            }
        }
        // The entries are set only now, so that a timer that is still due does not expire twice in
        // one wake.
        for id in due.drain(..) {
            self.touch(id);
        }
        self.due = due;
    }

    /// Returns the time at which [`wake`](Self::wake) is next needed, although nothing may be due
    /// then.
    pub fn wakes_at(&self) -> Time {
        self.deadlines
            .peek()
            .map_or(Time::MAX, |Reverse((at, _))| *at)
    }

    /// Records that a connection may have something to send, and its new deadline.
    fn touch(&mut self, id: u32) {
        if let Some(live) = self.live.get_mut(id) {
            live.touch(id, &mut self.ready, &mut self.deadlines);
        }
    }

    /// Checks if both ends of a connection have closed. If so the connection ends, at once or after
    /// TIME-WAIT, when it has sent the ACK that it still owes.
    pub fn settle(&mut self, id: u32) {
        let Some(live) = self.live.get_mut(id) else {
            return;
        };
        if !live.is_done && live.endpoint.is_finished() && live.endpoint.is_peer_finished() {
            live.is_done = true;
            live.touch(id, &mut self.ready, &mut self.deadlines);
        }
    }

    /// Ends a connection that is done. The end that closed first stays in TIME-WAIT.
    fn leave(&mut self, now: Time, id: u32) {
        let Some(live) = self.live.get_mut(id) else {
            return;
        };
        // If the FINs crossed, the connection may have no TIME-WAIT state to leave behind.
        if live.closed_first && live.endpoint.is_established() {
            let Some(left) = live.endpoint.time_wait() else {
                return;
            };
            let is_ready = false;
            self.resting.insert(id, Resting { left, is_ready });
            self.leaving.push_back((now + TIME_WAIT, id));
        }
        self.gone.add(live.endpoint.stats());
        let times = live.endpoint.time_limited(now);
        add_times(&mut self.gone_limited, &times);
        self.live.remove(id);
    }

    /// Removes connections whose TIME-WAIT is over.
    fn forget(&mut self, now: Time) {
        while self.leaving.front().is_some_and(|(until, _)| *until < now) {
            if let Some((_, id)) = self.leaving.pop_front() {
                self.resting.remove(id);
            }
        }
    }

    /// Returns false if there is certainly nothing to send.
    pub fn may_transmit(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Writes the next segment to send, of any connection. Returns false if there is none.
    pub fn transmit_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        if !matches!(packet.body, Body::Tcp(_)) {
            packet.body = Body::Tcp(Segment::default());
        }
        let Body::Tcp(segment) = &mut packet.body else {
            unreachable!("set just now")
        };
        while let Some(id) = self.ready.front().copied() {
            if let Some(live) = self.live.get_mut(id) {
                let endpoint = &mut live.endpoint;
                let sends = endpoint.poll_transmit_into(now, segment);
                if sends {
                    packet.size = segment.ip_bytes();
                    packet.ecn = endpoint.transmit_ecn();
                    packet.connection = id;
                    live.arm(id, &mut self.deadlines);
                    return true;
                }
                live.is_ready = false;
                if live.is_done {
                    self.leave(now, id);
                }
                if let Some(live) = self.live.get_mut(id) {
                    live.arm(id, &mut self.deadlines);
                }
            } else if let Some(resting) = self.resting.get_mut(id) {
                *segment = resting.left.answer(now, &self.config);
                resting.is_ready = false;
                packet.size = segment.ip_bytes();
                packet.ecn = Ecn::NotCapable;
                packet.connection = id;
                self.ready.pop_front();
                return true;
            }
            self.ready.pop_front();
        }
        false
    }

    /// Returns the bytes of memory for all connections, open or in TIME-WAIT.
    pub fn bytes(&self) -> usize {
        let lists = self.leaving.capacity() + self.deadlines.capacity();
        self.live.values().count() * footprint::connection(&self.config)
            + self.live.bytes()
            + self.resting.bytes()
            + lists * size_of::<(Time, u32)>()
            + self.ready.capacity() * size_of::<u32>()
    }

    /// Returns the times for which each cause limited all connections up to `now`, summed.
    pub fn time_limited(&self, now: Time) -> TimeLimited {
        let mut times = self.gone_limited;
        for live in self.live.values() {
            add_times(&mut times, &live.endpoint.time_limited(now));
        }
        times
    }

    /// Returns the counters of all connections, summed.
    pub fn stats(&self) -> TcpStats {
        let mut stats = self.gone;
        for live in self.live.values() {
            stats.add(live.endpoint.stats());
        }
        stats
    }
}

impl Live {
    /// Records that the connection with this number may have something to send, and its new
    /// deadline.
    fn touch(&mut self, id: u32, ready: &mut VecDeque<u32>, deadlines: &mut Deadlines) {
        if !std::mem::replace(&mut self.is_ready, true) {
            ready.push_back(id);
        }
        self.arm(id, deadlines);
    }

    /// Ensures that the connection's timers are checked in time.
    fn arm(&mut self, id: u32, deadlines: &mut Deadlines) {
        if let Some(deadline) = self.endpoint.poll_timeout()
            && deadline < self.armed
        {
            self.armed = deadline;
            deadlines.push(Reverse((deadline, id)));
        }
    }
}

fn add_times(sum: &mut TimeLimited, times: &TimeLimited) {
    for (sum, time) in sum.iter_mut().zip(times) {
        *sum += *time;
    }
}
