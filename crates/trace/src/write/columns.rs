//! Files of two columns, time and a number, for gnuplot and xgraph.

use crate::write::TraceWriter;
use goodqueue_types::{Body, Direction, FlowId, LinkId, PacketEvent, PacketEventKind, Span, Time};
use std::io::{self, Write};

/// Bytes of the IP and UDP headers of a datagram.
const UDP_HEADERS: u32 = 28;

/// Quantity that is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Congestion window of a flow in segments of `mss` bytes, at regular times.
    Window {
        /// The flow.
        flow: FlowId,
        /// Payload of a full segment.
        mss: u64,
        /// Time between lines.
        every: Span,
    },
    /// Number of packets that wait at a link, at each change.
    Queue(LinkId),
    /// TCP payload or datagrams that reach one end of a flow, in bit/s over intervals, at their
    /// ends.
    Throughput {
        /// The flow.
        flow: FlowId,
        /// Direction of the data: to its server, or to its client.
        direction: Direction,
        /// Time between lines.
        every: Span,
    },
    /// Round-trip time of each ping of a flow in seconds, at the arrival of its reply.
    Ping(FlowId),
}

/// Writer of one quantity of a run.
#[derive(Debug)]
pub struct Columns<W> {
    out: W,
    quantity: Quantity,
    last: u64,
    due: Time,
    end: Time,
}

impl<W: Write> Columns<W> {
    /// Creates a writer for a run that ends at `end`.
    pub fn new(out: W, quantity: Quantity, end: Time) -> Self {
        let due = match quantity {
            Quantity::Window { every, .. } | Quantity::Throughput { every, .. } => {
                Time::ZERO + every
            }
            Quantity::Queue(_) | Quantity::Ping(_) => Time::ZERO,
        };
        Self {
            out,
            quantity,
            last: 0,
            due,
            end,
        }
    }

    /// Writes the values at the regular times before `now`.
    fn catch_up(&mut self, now: Time) -> io::Result<()> {
        match self.quantity {
            Quantity::Window { mss, every, .. } => {
                while self.due < now {
                    if self.last > 0 {
                        self.put(self.due, self.last as f64 / mss.max(1) as f64)?;
                    }
                    self.due += every;
                }
            }
            Quantity::Throughput { every, .. } => {
                while self.due <= now {
                    let bytes = std::mem::take(&mut self.last);
                    self.put(self.due, bytes as f64 * 8.0 / every.as_secs_f64())?;
                    self.due += every;
                }
            }
            Quantity::Queue(_) | Quantity::Ping(_) => {}
        }
        Ok(())
    }

    fn put(&mut self, time: Time, value: f64) -> io::Result<()> {
        writeln!(self.out, "{} {value}", time.as_secs_f64())
    }
}

impl<W: Write> TraceWriter for Columns<W> {
    fn wants(&self, event: &PacketEvent) -> bool {
        let (packet, delivered) = (&event.packet, event.kind == PacketEventKind::Delivered);
        match self.quantity {
            Quantity::Throughput {
                flow, direction, ..
            } => delivered && packet.flow == flow && packet.direction == direction,
            Quantity::Ping(flow) => {
                delivered && packet.flow == flow && packet.direction == Direction::Reverse
            }
            Quantity::Window { .. } | Quantity::Queue(_) => false,
        }
    }

    fn packet(&mut self, event: &PacketEvent) -> io::Result<()> {
        if !self.wants(event) {
            return Ok(());
        }
        if let (Quantity::Ping(_), Body::EchoReply { requested }) =
            (self.quantity, event.packet.body)
        {
            self.put(event.time, (event.time - requested).as_secs_f64())?;
        } else {
            self.catch_up(event.time)?;
            self.last += match &event.packet.body {
                Body::Tcp(segment) => u64::from(segment.payload),
                _ => u64::from(event.packet.size.saturating_sub(UDP_HEADERS)),
            };
        }
        Ok(())
    }

    fn wants_series(&self) -> bool {
        matches!(self.quantity, Quantity::Window { .. } | Quantity::Queue(_))
    }

    fn end_at(&mut self, end: Time) {
        self.end = end;
    }

    fn backlog(&mut self, link: LinkId, time: Time, packets: u64) -> io::Result<()> {
        if self.quantity == Quantity::Queue(link) {
            self.put(time, packets as f64)?;
        }
        Ok(())
    }

    fn window(&mut self, flow: FlowId, time: Time, cwnd: u64) -> io::Result<()> {
        if matches!(self.quantity, Quantity::Window { flow: own, .. } if own == flow) {
            self.catch_up(time)?;
            self.last = cwnd;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.catch_up(self.end)?;
        self.out.flush()
    }
}
