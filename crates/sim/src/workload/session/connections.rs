//! The TCP connections of one end of a session.

use goodqueue_tcp::{TcpConfig, TcpEndpoint, TcpStats, TimeLimited, TimeWait};
use goodqueue_types::{Body, Ecn, Packet, Segment, SegmentFlags, Span, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

/// How long the end that closed first stays to answer a repeated FIN (Linux `TCP_TIMEWAIT_LEN`).
const TIME_WAIT: Span = Span::from_secs(60);

/// Connections that are open, and what those that are gone counted.
///
/// A flow may have thousands at once, and open a hundred thousand in a run: what happens to one costs
/// no look at the others, and one in TIME-WAIT is a few bytes.
#[derive(Debug)]
pub struct Connections {
    config: Arc<TcpConfig>,
    /// By their numbers.
    live: BTreeMap<u32, Live>,
    /// Those that may have something to send, each once.
    ready: VecDeque<u32>,
    /// When to look at whose timers: not later than any is due. A timer that moves to a later time
    /// leaves its entry; only the entry at `Live::armed` counts.
    deadlines: BinaryHeap<Reverse<(Time, u32)>>,
    /// Those whose timers are due in this wake; kept for its memory.
    due: Vec<u32>,
    /// Connections in TIME-WAIT, by their numbers.
    resting: BTreeMap<u32, Resting>,
    /// When the TIME-WAIT of each ends, in order.
    leaving: VecDeque<(Time, u32)>,
    /// What connections that are gone or in TIME-WAIT counted.
    gone: TcpStats,
    /// And what they waited for.
    gone_limited: TimeLimited,
    next: u32,
    last_rtt: Option<Span>,
}

#[derive(Debug)]
struct Live {
    endpoint: Box<TcpEndpoint>,
    closed_first: bool,
    /// Both ends have closed: it leaves when it has nothing more to send.
    is_done: bool,
    is_ready: bool,
    /// Its entry among the deadlines; [`Time::MAX`] without one.
    armed: Time,
}

#[derive(Debug)]
struct Resting {
    left: TimeWait,
    /// Whether it is among those that are ready, to answer.
    is_ready: bool,
}

impl Connections {
    /// None yet.
    pub fn new(config: Arc<TcpConfig>) -> Self {
        Self {
            config,
            live: BTreeMap::new(),
            ready: VecDeque::new(),
            deadlines: BinaryHeap::new(),
            due: Vec::new(),
            resting: BTreeMap::new(),
            leaving: VecDeque::new(),
            gone: TcpStats::default(),
            gone_limited: TimeLimited::default(),
            next: 0,
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

    /// A connection, if it is still there and not in TIME-WAIT.
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
    /// ignored. What a connection in TIME-WAIT gets is answered and is news to nobody.
    pub fn receive(&mut self, now: Time, packet: &Packet, listens: bool) -> Option<u32> {
        let Body::Tcp(segment) = &packet.body else {
            unreachable!("a session carries segments only")
        };
        let id = packet.connection;
        self.forget(now);
        if self.resting.contains_key(&id) {
            self.receive_late(id, segment, packet.ecn);
            return None;
        }
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

    /// Takes a packet for a connection in TIME-WAIT.
    #[cold]
    fn receive_late(&mut self, id: u32, segment: &Segment, mark: Ecn) {
        let payload = u64::from(segment.payload);
        self.gone.received_payload_bytes += payload;
        self.gone.duplicate_payload_bytes += payload;
        self.gone.marked_packets += u64::from(mark == Ecn::Experienced);
        if let Some(resting) = self.resting.get_mut(&id)
            && resting.left.handle_segment(segment)
            && !std::mem::replace(&mut resting.is_ready, true)
        {
            self.ready.push_back(id);
        }
    }

    /// The round-trip sample of the last packet.
    pub fn take_rtt_sample(&mut self) -> Option<Span> {
        self.last_rtt.take()
    }

    /// Lets timers that are due by `now` expire.
    pub fn wake(&mut self, now: Time) {
        let mut due = std::mem::take(&mut self.due);
        while let Some(Reverse((at, id))) = self.deadlines.peek().copied() {
            if at > now {
                break;
            }
            self.deadlines.pop();
            let Some(live) = self.live.get_mut(&id).filter(|live| live.armed == at) else {
                continue;
            };
            live.armed = Time::MAX;
            if live.endpoint.poll_timeout().is_some_and(|due| due <= now) {
                live.endpoint.handle_timeout(now);
                due.push(id);
            } else {
                self.arm(id);
            }
        }
        // Only now: a timer that is still due must not expire twice in one wake.
        for id in due.drain(..) {
            self.touch(id);
        }
        self.due = due;
    }

    /// When [`wake`](Self::wake) is next needed; perhaps nothing is due then.
    pub fn wakes_at(&self) -> Time {
        self.deadlines
            .peek()
            .map_or(Time::MAX, |Reverse((at, _))| *at)
    }

    /// Notes that a connection may have something to send, and a new deadline.
    fn touch(&mut self, id: u32) {
        if let Some(live) = self.live.get_mut(&id)
            && !std::mem::replace(&mut live.is_ready, true)
        {
            self.ready.push_back(id);
        }
        self.arm(id);
    }

    /// Makes sure that a connection's timers are looked at in time.
    fn arm(&mut self, id: u32) {
        if let Some(live) = self.live.get_mut(&id)
            && let Some(deadline) = live.endpoint.poll_timeout()
            && deadline < live.armed
        {
            live.armed = deadline;
            self.deadlines.push(Reverse((deadline, id)));
        }
    }

    /// Notes whether both ends of a connection have closed: then it is left, at once or by way of
    /// TIME-WAIT, when the ACK that it still owes has been sent.
    pub fn settle(&mut self, id: u32) {
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        if !live.is_done && live.endpoint.is_finished() && live.endpoint.is_peer_finished() {
            live.is_done = true;
            self.touch(id);
        }
    }

    /// Leaves a connection that is done. The end that closed first stays in TIME-WAIT.
    fn leave(&mut self, now: Time, id: u32) {
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        // Where the FINs crossed, the one that was acknowledged last leaves nothing behind.
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
        self.live.remove(&id);
    }

    /// Forgets connections whose TIME-WAIT is over.
    fn forget(&mut self, now: Time) {
        while self.leaving.front().is_some_and(|(until, _)| *until < now) {
            if let Some((_, id)) = self.leaving.pop_front() {
                self.resting.remove(&id);
            }
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
                let sends = endpoint.poll_transmit_into(now, segment);
                if sends {
                    packet.size = segment.ip_bytes();
                    packet.ecn = endpoint.transmit_ecn();
                    packet.connection = id;
                    self.arm(id);
                    return true;
                }
                live.is_ready = false;
                if live.is_done {
                    self.leave(now, id);
                }
                self.arm(id);
            } else if let Some(resting) = self.resting.get_mut(&id) {
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

    /// How long all connections together waited for what up to `now`.
    pub fn time_limited(&self, now: Time) -> TimeLimited {
        let mut times = self.gone_limited;
        for live in self.live.values() {
            add_times(&mut times, &live.endpoint.time_limited(now));
        }
        times
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

fn add_times(sum: &mut TimeLimited, times: &TimeLimited) {
    for (sum, time) in sum.iter_mut().zip(times) {
        *sum += *time;
    }
}
