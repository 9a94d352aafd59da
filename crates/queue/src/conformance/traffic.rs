//! The load that a trial offers to a discipline: packets of all kinds, and the times at which the
//! link asks for one.

use goodqueue_types::{
    Body, Cells, Direction, Ecn, FlowId, Framing, Hosts, Packet, RandomStream, Segment, Span, Time,
};

/// Pattern of arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Single packets now and then, so that the queue is often empty.
    Light,
    /// About as many packets as the link can send.
    Even,
    /// Twice as many packets as the link can send.
    Over,
    /// Bursts of a hundred packets and pauses, some of them of seconds.
    Bursts,
    /// Twice as many packets as the link can send, from a single flow, over a link that cuts frames
    /// into cells.
    OneFlow,
    /// Twice as many packets as the link can send, all of them ECN-capable.
    Capable,
}

impl Load {
    pub const ALL: [Self; 6] = [
        Self::Light,
        Self::Even,
        Self::Over,
        Self::Bursts,
        Self::OneFlow,
        Self::Capable,
    ];

    pub fn framing(self) -> Framing {
        match self {
            Self::OneFlow => Framing {
                overhead: 14,
                minimum: 64,
                cells: Cells::Atm,
            },
            Self::Over => Framing::bytes(38),
            _ => Framing::default(),
        }
    }
}

/// Mean time that the link takes for a packet.
const SERVICE: Span = Span::from_micros(1_000);

/// One call of the driver to the discipline.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// A packet arrives.
    Enqueue(Packet),
    /// The link asks for a packet.
    Dequeue,
}

/// Endless stream of calls.
#[derive(Clone, Debug)]
pub struct Traffic {
    load: Load,
    largest_packet: u32,
    random: RandomStream,
    now: Time,
    next_arrival: Time,
    next_service: Time,
    sent: Vec<u64>,
    left_of_burst: u32,
}

const FLOWS: u64 = 40;

impl Traffic {
    pub fn new(load: Load, largest_packet: u32, seed: u64) -> Self {
        Self {
            load,
            largest_packet,
            random: RandomStream::new(seed, "traffic", load as u64),
            now: Time::ZERO,
            next_arrival: Time::ZERO,
            next_service: Time::ZERO + SERVICE,
            sent: vec![0; 2 * FLOWS as usize],
            left_of_burst: 0,
        }
    }

    /// Returns the next call and its time. Arrivals and requests at one instant come in any order.
    pub fn next_call(&mut self) -> (Time, Call) {
        if self.next_arrival < self.next_service {
            self.now = self.next_arrival;
            self.next_arrival = self.now + self.gap();
            (self.now, Call::Enqueue(self.packet()))
        } else {
            self.now = self.next_service;
            self.next_service = self.now + Span(SERVICE.0 / 2) + self.random.span_below(SERVICE);
            (self.now, Call::Dequeue)
        }
    }

    fn gap(&mut self) -> Span {
        let mean = match self.load {
            Load::Light => 5.0,
            Load::Even => 1.0,
            Load::Over | Load::OneFlow | Load::Capable => 0.5,
            Load::Bursts => return self.gap_of_burst(),
        };
        // One in ten arrivals comes at the same instant as the one before.
        if self.random.unit() < 0.1 {
            return Span::ZERO;
        }
        Span((self.random.exponential(mean) * SERVICE.0 as f64) as u64)
    }

    fn gap_of_burst(&mut self) -> Span {
        if self.left_of_burst == 0 {
            self.left_of_burst = 100;
            let pause = [50, 500, 5_000][(self.random.bits() % 3) as usize];
            return SERVICE * pause;
        }
        self.left_of_burst -= 1;
        Span(SERVICE.0 / 20)
    }

    fn packet(&mut self) -> Packet {
        let flow = match self.load {
            Load::OneFlow => 0,
            // Four flows send most of the packets.
            _ if self.random.unit() < 0.7 => self.random.bits() % 4,
            _ => self.random.bits() % FLOWS,
        };
        let backward = self.load != Load::OneFlow && self.random.bits().is_multiple_of(8);
        let way = 2 * flow as usize + usize::from(backward);
        let number = self.sent[way];
        self.sent[way] += 1;
        let size = match self.random.bits() % 4 {
            0 => 40,
            1 => 40 + (self.random.bits() % u64::from(self.largest_packet - 39)) as u32,
            _ => self.largest_packet,
        };
        Packet {
            flow: FlowId(flow as u32),
            direction: [Direction::Forward, Direction::Reverse][usize::from(backward)],
            ecn: self.ecn(flow),
            // A flow keeps its class, so that all its packets have one order.
            dscp: [0, 0, 8, 46, 10, 34, 40, 1][(flow % 8) as usize],
            more_segments: 0,
            hosts: Hosts {
                client: (flow % 5) as u16,
                server: 100 + (flow % 3) as u16,
            },
            connection: 0,
            size,
            number,
            sent: self.now,
            arrived: self.now,
            body: Self::body(flow, size),
        }
    }

    fn ecn(&self, flow: u64) -> Ecn {
        match (self.load, flow % 4) {
            (Load::Capable, 0 | 2) | (_, 1) => Ecn::Capable0,
            (Load::Capable, _) | (_, 2) => Ecn::Capable1,
            (_, 3) => Ecn::Experienced,
            _ => Ecn::NotCapable,
        }
    }

    fn body(flow: u64, size: u32) -> Body {
        if flow.is_multiple_of(5) {
            return Body::Datagram;
        }
        Body::Tcp(Segment {
            payload: size - 40,
            header: 40,
            ..Segment::default()
        })
    }
}
