//! When Linux acknowledges data in order: at once at the start of a connection and after trouble,
//! then every second full segment, or after a delay that follows the gaps between segments
//! (`tcp_event_data_recv`, `__tcp_ack_snd_check` and `tcp_send_delayed_ack` of Linux 6.18, read).

use goodqueue_types::{Span, Time};

use crate::config::TcpConfig;

/// `TCP_ATO_MIN` and `TCP_DELACK_MIN`.
const SHORTEST: Span = Span::from_millis(40);
/// Half a second, which bounds the delay while the round-trip time is unknown.
const LONGEST: Span = Span::from_millis(500);
/// `TCP_MAX_QUICKACKS`.
const MOST_QUICK: u64 = 16;
/// `TCP_MSS_DEFAULT`: what a full segment is taken to be until one comes.
const DEFAULT_MSS: u32 = 536;

/// What Linux keeps about the ACKs of a connection.
#[derive(Debug)]
pub(crate) struct LinuxAcks {
    /// ACKs that still leave at once.
    quick: u64,
    /// Segments by which the receive window still grows; each is acknowledged at once.
    opening: u32,
    /// Data go both ways (`pingpong`): ACKs wait for data to ride on.
    interactive: bool,
    /// How long an ACK is held back (`ato`); zero before the first data.
    delay: Span,
    last_data: Time,
    /// What the last ACK acknowledged (`rcv_wup`).
    acked: u64,
    /// What counts as a full segment (`rcv_mss`).
    full_segment: u32,
    last_size: u32,
    /// Retransmission timeout and smoothed round-trip time of the sending half.
    rto: Span,
    srtt: Option<Span>,
}

/// What to do about an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Now,
    At(Time),
}

impl LinuxAcks {
    pub fn new(config: &TcpConfig) -> Self {
        Self {
            quick: 0,
            opening: config.opening_acks,
            interactive: false,
            delay: Span::ZERO,
            last_data: Time::ZERO,
            acked: 1,
            full_segment: config.mss.min(DEFAULT_MSS),
            last_size: 0,
            rto: config.rto.initial,
            srtt: None,
        }
    }

    /// What counts as a full segment, in bytes.
    pub fn full_segment(&self) -> u32 {
        self.full_segment
    }

    /// What the sending half knows about the path.
    pub fn set_path(&mut self, rto: Span, srtt: Option<Span>) {
        (self.rto, self.srtt) = (rto, srtt);
    }

    /// A segment with `payload` came, in order or not; `window` is what was offered.
    pub fn on_data(&mut self, now: Time, payload: u32, window: u64, config: &TcpConfig) {
        self.measure_segment(payload, config.mss);
        let gap = now.saturating_since(self.last_data);
        if self.delay == Span::ZERO {
            self.go_quick(window);
            self.delay = SHORTEST;
        } else if gap <= SHORTEST / 2 {
            self.delay = self.delay / 2 + SHORTEST / 2;
        } else if gap < self.delay {
            self.delay = (self.delay / 2 + gap).min(self.rto);
        } else if gap > self.rto {
            // The peer seems to start its window anew.
            self.go_quick(window);
        }
        self.last_data = now;
        if self.opening > 0 {
            // `tcp_grow_window` asks for an ACK of every segment that opens the window further.
            self.opening -= 1;
            self.quick = self.quick.max(1);
        }
    }

    /// A full segment is the largest seen, or a smaller size that repeats.
    fn measure_segment(&mut self, payload: u32, mss: u32) {
        let repeats = payload == self.last_size && payload >= DEFAULT_MSS;
        if payload >= self.full_segment || repeats {
            self.full_segment = payload.min(mss);
        }
        self.last_size = payload;
    }

    fn go_quick(&mut self, window: u64) {
        let half_window = window / (2 * u64::from(self.full_segment.max(1)));
        let segments = if half_window == 0 { 2 } else { half_window };
        self.quick = self.quick.max(segments.min(MOST_QUICK));
    }

    /// Old data: our ACKs were lost or came late.
    pub fn on_old_data(&mut self, window: u64) {
        self.go_quick(window);
        self.interactive = false;
        self.delay = SHORTEST;
    }

    /// The ACK of what came in order up to `next`, with another perhaps waiting for `deadline`; whether
    /// the application keeps up.
    pub fn verdict(
        &self,
        now: Time,
        next: u64,
        keeps_up: bool,
        deadline: Time,
        config: &TcpConfig,
    ) -> Verdict {
        let quick = self.quick > 0 && !self.interactive;
        if quick || (keeps_up && next - self.acked > u64::from(self.full_segment)) {
            return Verdict::Now;
        }
        let mut delay = self.delay;
        if delay > SHORTEST {
            let longest = if self.interactive {
                config.delayed_ack_timeout
            } else {
                LONGEST
            };
            let by_path = self.srtt.map_or(longest, |srtt| srtt.max(SHORTEST));
            delay = delay.min(longest).min(by_path);
        }
        let delay = delay.min(config.delayed_ack_timeout);
        if deadline <= now.saturating_add(delay / 4) {
            return Verdict::Now;
        }
        Verdict::At(deadline.min(now.saturating_add(delay)))
    }

    /// The peer has closed: our own data or FIN are expected, for the ACK to ride on.
    pub fn on_fin(&mut self) {
        self.interactive = true;
    }

    /// What the last ACK acknowledged.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// An ACK of everything up to `next` leaves, alone or with data.
    pub fn sent(&mut self, next: u64, was_due: bool) {
        self.acked = next;
        if was_due && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = SHORTEST;
            }
        }
    }

    /// Data leave: soon after some came, both ends talk.
    pub fn data_sent(&mut self, now: Time) {
        self.interactive |= now.saturating_since(self.last_data) < self.delay;
    }

    /// The delay has passed in vain.
    pub fn expired(&mut self) {
        if self.interactive {
            self.interactive = false;
            self.delay = SHORTEST;
        } else {
            self.delay = self.delay.saturating_mul(2).min(self.rto);
        }
    }
}
