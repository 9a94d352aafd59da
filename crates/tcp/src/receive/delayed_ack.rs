//! Linux's rule for ACKs. Of data in order, ACKs leave at once at the start of a connection and
//! after irregular segments, then for every second full segment or after a delay that follows the
//! gaps between segments (`tcp_event_data_recv`, `__tcp_ack_snd_check` and `tcp_send_delayed_ack`
//! of Linux 6.18, read).

use goodqueue_types::{Segment, SegmentFlags, Span, Time};

use crate::config::TcpConfig;
use crate::maybe::MaybeSpan;
use crate::receive::sack_compression::SackCompression;

/// Shortest delay (`TCP_ATO_MIN` and `TCP_DELACK_MIN`).
const SHORTEST: Span = Span::from_millis(40);
/// Bound on the delay while the round-trip time is unknown: half a second.
const LONGEST: Span = Span::from_millis(500);
/// Largest number of ACKs that leave at once (`TCP_MAX_QUICKACKS`).
const MAX_QUICK: u8 = 16;
/// Assumed size of a full segment before one arrives (`TCP_MSS_DEFAULT`).
const DEFAULT_MSS: u32 = 536;

/// Linux's state for the ACKs of a connection.
#[derive(Debug)]
pub(crate) struct LinuxAcks {
    /// Number of ACKs that still leave at once.
    quick: u8,
    /// Number of segments that still open the receive window. Each is acknowledged at once.
    opening: u32,
    /// True if data go in both directions (`pingpong`), so that ACKs wait for data to carry them.
    interactive: bool,
    /// Delay of an ACK (`ato`), or zero before the first data.
    delay: Span,
    last_data: Time,
    /// Sequence number that the last ACK acknowledged (`rcv_wup`).
    acked: u64,
    /// Payload of a full segment (`rcv_mss`).
    full_segment: u32,
    last_size: u32,
    /// True if a full segment with PSH has not been acknowledged (`ICSK_ACK_PUSHED`).
    pushed: bool,
    /// Retransmission timeout and smoothed round-trip time of the sending half.
    rto: Span,
    srtt: MaybeSpan,
    compression: SackCompression,
}

/// Decision on an ACK.
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
            pushed: false,
            rto: config.rto.initial,
            srtt: MaybeSpan::UNKNOWN,
            compression: SackCompression::default(),
        }
    }

    /// Returns the payload of a full segment, in bytes.
    pub fn full_segment(&self) -> u32 {
        self.full_segment
    }

    /// Sets the sending half's estimates of the path.
    pub fn set_path(&mut self, rto: Span, srtt: Option<Span>) {
        (self.rto, self.srtt) = (rto, srtt.into());
    }

    /// Records a segment with data, in order or not. `window` is the window offered.
    pub fn on_data(&mut self, now: Time, segment: &Segment, window: u64, config: &TcpConfig) {
        self.measure_segment(segment.full(), config.mss);
        let is_full = segment.full() >= self.full_segment;
        self.pushed |= is_full && segment.flags.contains(SegmentFlags::PSH);
        let gap = now.saturating_since(self.last_data);
        if self.delay == Span::ZERO {
            self.go_quick(window);
            self.delay = SHORTEST;
        } else if gap <= SHORTEST / 2 {
            self.delay = self.delay / 2 + SHORTEST / 2;
        } else if gap < self.delay {
            self.delay = (self.delay / 2 + gap).min(self.rto);
        } else if gap > self.rto {
            // The peer seems to have restarted its window.
            self.go_quick(window);
        }
        self.last_data = now;
        if self.opening > 0 {
            // `tcp_grow_window` requests an ACK of every segment that opens the window further.
            self.opening = self.opening.saturating_sub(segment.segments());
            self.quick = self.quick.max(1);
        }
    }

    /// Updates the size of a full segment: the largest seen, or a smaller size that repeats.
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
        self.quick = self.quick.max(segments.min(u64::from(MAX_QUICK)) as u8);
    }

    /// Records old data, which show that ACKs were lost or late.
    pub fn on_old_data(&mut self, window: u64) {
        self.go_quick(window);
        self.interactive = false;
        self.delay = SHORTEST;
    }

    /// Records that the connection opens while the application waits to send more data.
    pub fn on_opening(&mut self, now: Time, window: u64) {
        self.on_old_data(window);
        self.last_data = now;
    }

    /// Decides on the ACK of data in order up to `next`. Another ACK may wait for `deadline`.
    /// `keeps_up` is true if the application keeps up with the data, `drained` if it has read all of
    /// them.
    pub fn verdict(
        &self,
        now: Time,
        next: u64,
        keeps_up: bool,
        drained: bool,
        deadline: Time,
        config: &TcpConfig,
    ) -> Verdict {
        // A read that empties the buffer acknowledges pushed data (`__tcp_cleanup_rbuf`).
        let quick = (self.quick > 0 || self.pushed && drained) && !self.interactive;
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
            let by_path = self.srtt.get().map_or(longest, |srtt| srtt.max(SHORTEST));
            delay = delay.min(longest).min(by_path);
        }
        let delay = delay.min(config.delayed_ack_timeout);
        if deadline <= now.saturating_add(delay / 4) {
            return Verdict::Now;
        }
        Verdict::At(deadline.min(now.saturating_add(delay)))
    }

    /// Decides on the ACK of a segment that leaves a hole at `next`, whose range was reported as the
    /// `age`-th last. `rtt` is the receiver's own estimate of the round-trip time. Another ACK may
    /// wait for `deadline`.
    pub fn verdict_behind_hole(
        &mut self,
        now: Time,
        next: u64,
        age: usize,
        rtt: Option<Span>,
        deadline: Time,
    ) -> Verdict {
        let quick = self.quick > 0 && !self.interactive;
        if quick || next - self.acked > u64::from(self.full_segment) {
            return Verdict::Now;
        }
        let rtt = rtt.into_iter().chain(self.srtt.get()).min();
        let delay = self.compression.delay(next, age, rtt.unwrap_or(Span::ZERO));
        delay.map_or(Verdict::Now, |delay| {
            Verdict::At(deadline.min(now.saturating_add(delay)))
        })
    }

    /// Records the peer's FIN. The endpoint's own data or FIN are now expected, and can carry the
    /// ACK.
    pub fn on_fin(&mut self) {
        self.interactive = true;
    }

    /// Returns the sequence number that the last ACK acknowledged.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Records that an ACK of everything up to `next` leaves, alone or with data.
    pub fn sent(&mut self, next: u64, was_due: bool) {
        self.acked = next;
        self.pushed = false;
        self.compression.sent();
        if was_due && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = SHORTEST;
            }
        }
    }

    /// Records that data leave. If some arrived shortly before, both ends send data.
    pub fn data_sent(&mut self, now: Time) {
        self.interactive |= now.saturating_since(self.last_data) < self.delay;
    }

    /// Records that the delay has passed without data to carry the ACK.
    pub fn expired(&mut self) {
        if self.interactive {
            self.interactive = false;
            self.delay = SHORTEST;
        } else {
            self.delay = self.delay.saturating_mul(2).min(self.rto);
        }
    }
}
