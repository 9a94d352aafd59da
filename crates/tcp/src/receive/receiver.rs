//! The receiving half: reassembly, acknowledgements, the advertised window.

mod early;

use std::num::NonZeroU64;

use goodqueue_types::{SackBlocks, Segment, SegmentFlags, Time};

use crate::config::{AckRule, Handshake, ReceiveWindowRule, Recovery, TcpConfig};
use crate::connection::stats::TcpStats;
use crate::receive::delayed_ack::{LinuxAcks, Verdict};
use crate::receive::reassembly::Reassembly;
use crate::receive::receive_window::{Intake, RightSizing, WindowPace};
use crate::sender::detection::rtt::RttEstimator;

/// State of the acknowledgement that is owed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AckDue {
    /// No acknowledgement is due.
    #[default]
    No,
    /// The acknowledgement leaves when the delayed-ACK timer expires, unless more data come first.
    Delayed,
    /// The acknowledgement reports a hole again, and leaves when the timer of compressed ACKs
    /// expires.
    Compressed,
    /// The acknowledgement leaves at once, and a data segment may carry it.
    Now,
    /// The acknowledgement leaves at once without payload, as duplicate and selective ACKs and the
    /// last segment of the handshake do.
    NowPure,
}

/// State of the receiving half.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "orthogonal states, each named"
)]
pub(crate) struct Receiver {
    /// Next sequence number expected.
    pub next: u64,
    /// Data above `next`, from the first hole on. Most connections never have any.
    out_of_order: Option<Box<Reassembly>>,
    /// Number of in-order bytes that the application has not read.
    unread: u64,
    /// Right edge of the window last advertised.
    advertised: u64,
    /// Sequence number of the peer's FIN, once seen. It is never 0, the number of the peer's SYN.
    fin: Option<NonZeroU64>,
    /// Size of the buffer in bytes, and the window of an empty buffer as it can be advertised.
    buffer: u64,
    full_window: u32,
    /// State of Linux's rule for ACKs, if it is in force, from the first data on.
    pub linux_acks: Option<Box<LinuxAcks>>,
    /// State of the window's moderation, if it is in force, from the first data on.
    right_sizing: Option<Box<RightSizing>>,
    /// Limit on the rate at which the window opens, or none.
    pace: Option<Box<WindowPace>>,
    /// Number of segments since the last ACK.
    unacked: u32,
    shift: u8,
    pub ack_due: AckDue,
    /// Time at which a delayed or compressed ACK must leave, or `Time::MAX` if none waits.
    pub ack_deadline: Time,
    reading: bool,
    fin_reached: bool,
    /// True if there are data above `next`.
    has_holes: bool,
    /// True if the next ACK has SACK blocks.
    has_blocks: bool,
    /// True if the profile keeps records of transmissions, as Linux does: it answers Linux's window
    /// probes.
    pub answers_probes: bool,
}

impl Receiver {
    pub fn new(config: &TcpConfig) -> Self {
        let mut receiver = Self {
            next: 0,
            out_of_order: None,
            unread: 0,
            advertised: 0,
            fin: None,
            buffer: 0,
            full_window: 0,
            linux_acks: None,
            right_sizing: None,
            pace: WindowPace::new(config),
            unacked: 0,
            shift: config.window_scale().unwrap_or(0),
            ack_due: AckDue::No,
            ack_deadline: Time::MAX,
            reading: true,
            fin_reached: false,
            has_holes: false,
            has_blocks: false,
            answers_probes: config.records_segments(),
        };
        receiver.set_buffer(config.initial_receive_window(), config);
        receiver
    }

    /// Sets the size of the buffer. The window can offer all of it, as far as the scale allows.
    fn set_buffer(&mut self, bytes: u64, config: &TcpConfig) {
        let limit = if config.handshake == Handshake::OneWay {
            u64::from(u32::MAX)
        } else {
            0xFFFF << self.shift
        };
        self.buffer = bytes;
        self.full_window = (bytes.min(limit) >> self.shift << self.shift) as u32;
    }

    /// Starts the sequence numbers of data at 1, because the peer's SYN has arrived.
    pub fn open(&mut self) {
        self.next = 1;
        let all = 1 + u64::from(self.full_window);
        self.advertised = self
            .pace
            .as_deref()
            .map_or(all, |pace| pace.edge().min(all));
    }

    /// Returns true if a sequence number lies in the window offered.
    pub fn has_in_window(&self, seq: u64) -> bool {
        (self.next..self.advertised.max(self.next + 1)).contains(&seq)
    }

    /// Returns true if the peer has sent everything and its FIN.
    pub fn is_finished(&self) -> bool {
        self.fin_reached
    }

    pub fn set_reading(&mut self, reading: bool) {
        self.reading = reading;
    }

    /// Returns the in-order bytes that wait for the application.
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// Lets the application take up to `bytes` bytes. A window update leaves when the window can
    /// open by as much as the silly-window rule requires.
    pub fn read(&mut self, bytes: u64, config: &TcpConfig, stats: &mut TcpStats) -> u64 {
        let taken = bytes.min(self.unread);
        self.unread -= taken;
        stats.delivered_bytes += taken;
        let offered = self.advertised.saturating_sub(self.next);
        let window = u64::from(self.window_to_offer(config));
        let news = if config.ack_rule == AckRule::Linux {
            // In Linux the window must have twice the size that the peer knows.
            window > 0 && window >= 2 * offered
        } else {
            window >= offered + self.opening(config)
        };
        if taken > 0 && news {
            self.ack_due = self.ack_due.max_urgency(AckDue::Now);
        }
        taken
    }

    /// Receives a segment with payload or FIN.
    #[inline]
    pub fn on_data(
        &mut self,
        now: Time,
        segment: &Segment,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        stats.received_payload_bytes += u64::from(segment.payload);
        let end = segment.seq + u64::from(segment.payload);
        let plain = !segment.flags.contains(SegmentFlags::FIN);
        if segment.seq == self.next && plain && self.is_in_order_only() && end <= self.advertised {
            self.accept(end, stats);
            if self.linux_acks.is_some() {
                self.schedule_linux_ack(now, segment, config);
                return;
            }
            self.unacked += segment.segments();
            if self.unacked >= config.ack_every {
                self.ack_due = self.ack_due.max_urgency(AckDue::Now);
            } else if self.ack_due == AckDue::No {
                self.ack_due = AckDue::Delayed;
                self.ack_deadline = now + config.delayed_ack_timeout;
            }
        } else {
            self.on_disordered(now, segment, config, stats);
        }
    }

    /// Applies Linux's rule to a segment in order.
    #[cold]
    fn schedule_linux_ack(&mut self, now: Time, segment: &Segment, config: &TcpConfig) {
        let Some(acks) = self.linux_acks.as_deref_mut() else {
            return;
        };
        acks.on_data(now, segment, u64::from(self.full_window), config);
        self.hold_linux_ack(now, config);
    }

    /// Sends an ACK at once or delays it, by Linux's rule.
    fn hold_linux_ack(&mut self, now: Time, config: &TcpConfig) {
        let Some(acks) = self.linux_acks.as_deref() else {
            return;
        };
        // If the application does not read in time, ACKs are not sent early.
        let free = self.buffer.saturating_sub(self.unread);
        let keeps_up = self.unread == 0
            || free.min(u64::from(self.full_window)) + acks.acked() >= self.advertised;
        let drained = self.reading && self.unread == 0;
        match acks.verdict(now, self.next, keeps_up, drained, self.ack_deadline, config) {
            Verdict::Now => self.owe_ack(),
            Verdict::At(deadline) => {
                self.ack_due = self.ack_due.max_urgency(AckDue::Delayed);
                self.ack_deadline = deadline;
            }
        }
    }

    /// Passes a segment to the moderation of the window.
    #[cold]
    pub fn moderate_window(
        &mut self,
        now: Time,
        segment: &Segment,
        config: &TcpConfig,
        stats: &TcpStats,
    ) {
        if self.pace.is_some() {
            self.open_at_pace(now, config);
        }
        let reach = self.out_of_order.as_deref().and_then(Reassembly::end);
        let beyond = reach.map_or(0, |end| end - self.next);
        let Some(initial) = config.receive_window_moderation else {
            return;
        };
        let right_sizing = self
            .right_sizing
            .get_or_insert_with(|| Box::new(RightSizing::new(initial, config.mss)));
        if let Some(tick) = config.timestamps
            && segment.payload >= config.mss
        {
            let ticks = config.timestamp(now).wrapping_sub(segment.timestamps.echo);
            right_sizing.on_timestamp(segment.timestamps.echo, tick * u64::from(ticks.max(1)));
        }
        let wanted = right_sizing.on_data(Intake {
            now,
            next: self.next,
            window: self.advertised.saturating_sub(self.next),
            taken: stats.delivered_bytes,
            beyond,
        });
        let grown = right_sizing.slow_start(self.buffer, segment.payload);
        let wanted = wanted.unwrap_or(0).max(grown);
        if wanted > self.buffer {
            self.set_buffer(wanted.min(config.receive_window), config);
        }
    }

    /// Returns true if the window is not simply the free buffer: it is moderated, or opens at a
    /// limited rate.
    #[inline]
    pub fn is_moderated(&self, config: &TcpConfig) -> bool {
        config.receive_window_moderation.is_some() || self.pace.is_some()
    }

    /// Passes the sending half's estimates to Linux's rule for ACKs, if that is in force, before
    /// data come.
    #[inline]
    pub fn set_path(&mut self, rtt: &RttEstimator, config: &TcpConfig) {
        if config.ack_rule == AckRule::Linux {
            self.linux_acks
                .get_or_insert_with(|| Box::new(LinuxAcks::new(config)))
                .set_path(rtt.rto(), rtt.srtt(&config.rto));
        }
    }

    /// Returns the payload of a full segment of the peer, in bytes.
    pub fn full_segment(&self, config: &TcpConfig) -> u32 {
        match self.linux_acks.as_deref() {
            Some(acks) => acks.full_segment(),
            None if config.ack_rule == AckRule::Linux => LinuxAcks::new(config).full_segment(),
            None => config.mss,
        }
    }

    /// Moves the right edge at its rate, and schedules a call for when the change is worth an ACK.
    pub fn open_at_pace(&mut self, now: Time, config: &TcpConfig) {
        let goal = self.next + self.room().min(u64::from(self.full_window));
        if let Some(pace) = self.pace.as_deref_mut() {
            pace.advance(now, goal);
            match self.more_to_tell(config) {
                Some(at) if at <= now => self.owe_ack(),
                Some(at) => self.ack_deadline = self.ack_deadline.min(at),
                None => {}
            }
        }
    }

    /// Returns the time at which the edge will have moved far enough for an ACK, if the buffer has
    /// room for it.
    fn more_to_tell(&self, config: &TcpConfig) -> Option<Time> {
        let pace = self.pace.as_deref()?;
        let goal = self.next + self.room().min(u64::from(self.full_window));
        // A FIN needs no window. A change of less than a unit of the scale cannot be advertised.
        let told = self.advertised.max(self.next);
        let wanted = told + self.opening(config).max(1 << self.shift);
        (wanted <= goal).then(|| pace.reaches(wanted))
    }

    /// Returns the free bytes of the buffer.
    fn room(&self) -> u64 {
        let held = self.out_of_order.as_deref().map_or(0, Reassembly::total);
        self.buffer.saturating_sub(self.unread + held)
    }

    #[inline]
    fn is_in_order_only(&self) -> bool {
        !self.has_holes && self.fin.is_none()
    }

    /// Receives any segment other than the plain next one: holes, fills, duplicates, FIN, data
    /// beyond the window.
    fn on_disordered(
        &mut self,
        now: Time,
        segment: &Segment,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        // RFC 5681 section 4.2 requires an ACK at once for segments that leave or fill a hole. A
        // duplicate ACK must not carry data, or the peer would not count it as a duplicate.
        let had_holes = self.has_holes;
        let end = (segment.seq + u64::from(segment.payload)).min(self.advertised);
        let whole = end == segment.seq + u64::from(segment.payload);
        if segment.flags.contains(SegmentFlags::FIN) && whole {
            self.fin = NonZeroU64::new(end);
        }
        let start = segment.seq.max(self.next);
        self.note_duplicate(now, segment, end, config);
        let (mut age, mut new) = (0, 0);
        if start == self.next && start < end {
            new = self.fill(end, stats);
        } else if start < end {
            let next = self.next;
            (new, age) = self.reassembly().insert(start, end, next);
        }
        stats.duplicate_payload_bytes += u64::from(segment.payload) - new;
        if self.fin.is_some_and(|fin| fin.get() == self.next) {
            self.next += 1;
            self.fin_reached = true;
            if !had_holes && self.linux_acks.is_some() {
                return self.schedule_ack_of_fin(now, config);
            }
        }
        let advanced = segment.seq <= self.next && start < end && self.next >= end;
        let held = self.out_of_order.as_deref();
        self.has_holes = held.is_some_and(|held| !held.is_empty());
        self.has_blocks = held.is_some_and(Reassembly::has_blocks);
        let duplicate = held.is_some_and(Reassembly::has_duplicate);
        if !self.has_blocks && self.linux_acks.is_some() {
            // Thousands of flows have no holes most of the time. With Linux's rules the peer keeps
            // records of transmissions, which allocate at each loss anyway.
            self.out_of_order = None;
        }
        let may_wait = config.details.sack_compression && config.recovery == Recovery::Sack;
        if may_wait && start < end && self.has_holes && self.compresses(now, age) {
            return;
        }
        let pure = !advanced || duplicate || (had_holes && self.has_holes);
        let due = if pure && !self.fin_reached {
            AckDue::NowPure
        } else {
            AckDue::Now
        };
        self.ack_due = self.ack_due.max_urgency(due);
    }

    /// Returns true if Linux's rule delays the selective ACK of a segment whose range was reported
    /// as the `age`-th last.
    fn compresses(&mut self, now: Time, age: usize) -> bool {
        let rtt = self.right_sizing.as_deref().and_then(RightSizing::rtt);
        let (next, deadline) = (self.next, self.ack_deadline);
        let Some(acks) = self.linux_acks.as_deref_mut() else {
            return false;
        };
        match acks.verdict_behind_hole(now, next, age, rtt, deadline) {
            Verdict::Now => false,
            Verdict::At(deadline) => {
                self.ack_due = self.ack_due.max_urgency(AckDue::Compressed);
                self.ack_deadline = deadline;
                true
            }
        }
    }

    /// Schedules the ACK of a FIN as Linux does. The end of the peer's data suggests that ours
    /// begin. The duplicates to report are dropped.
    #[cold]
    fn schedule_ack_of_fin(&mut self, now: Time, config: &TcpConfig) {
        self.forget_duplicate();
        if let Some(acks) = self.linux_acks.as_deref_mut() {
            acks.on_fin();
        }
        self.hold_linux_ack(now, config);
    }

    /// Records the duplicate that RFC 2883 section 4 reports of a segment that is valid up to
    /// `end`: the lowest contiguous part that had arrived before. Linux also takes wholly old data
    /// as a sign of lost ACKs.
    fn note_duplicate(&mut self, now: Time, segment: &Segment, end: u64, config: &TcpConfig) {
        let old_end = end.min(self.next);
        let duplicate = if segment.seq < old_end {
            Some((segment.seq, old_end))
        } else {
            let held = self.out_of_order.as_deref();
            held.and_then(|held| held.first_overlap(segment.seq.max(self.next), end))
        };
        if let Some(acks) = self.linux_acks.as_deref_mut() {
            let window = u64::from(self.full_window);
            if segment.payload > 0 {
                acks.on_data(now, segment, window, config);
                if end <= self.next {
                    acks.on_old_data(window);
                }
            }
        }
        if duplicate.is_some() && config.dsack && config.recovery == Recovery::Sack {
            let next = self.next;
            self.reassembly().set_duplicate(duplicate, next);
        }
    }

    fn reassembly(&mut self) -> &mut Reassembly {
        self.out_of_order.get_or_insert_default()
    }

    /// Accepts the data from `next` to `end` and the data that waited behind them. Returns the new
    /// bytes.
    fn fill(&mut self, end: u64, stats: &mut TcpStats) -> u64 {
        let held = self.out_of_order.as_deref_mut();
        let (reach, new) = held.map_or((end, end - self.next), |held| held.fill(self.next, end));
        self.accept(reach, stats);
        new
    }

    /// Moves `next` to `end` and hands the bytes to the application.
    #[inline]
    fn accept(&mut self, end: u64, stats: &mut TcpStats) {
        let bytes = end - self.next;
        self.next = end;
        if self.reading && self.unread == 0 {
            stats.delivered_bytes += bytes;
        } else {
            self.unread += bytes;
        }
    }

    /// Returns the SACK blocks to report.
    pub fn sack_blocks(&self, config: &TcpConfig) -> SackBlocks {
        // Timestamps leave room for three blocks (RFC 2018 section 3).
        let room = if config.timestamps.is_some() { 3 } else { 4 };
        let limit = room.min(usize::from(config.details.sack_blocks));
        let held = self.out_of_order.as_deref();
        held.map_or_else(SackBlocks::default, |held| {
            held.blocks(self.next, limit, self.fin.map(NonZeroU64::get))
        })
    }

    /// Returns true if the next ACK carries SACK blocks.
    #[inline]
    pub fn has_sack_blocks(&self) -> bool {
        self.has_blocks
    }

    /// Returns the window for a segment that leaves now.
    #[inline]
    pub fn advertise(&mut self, config: &TcpConfig) -> u32 {
        let paced = self.pace.is_some();
        let window = if self.unread == 0 && !self.has_holes && !paced {
            self.full_window
        } else {
            self.window_to_offer(config)
        };
        self.advertised = self.advertised.max(self.next + u64::from(window));
        if paced && let Some(at) = self.more_to_tell(config) {
            self.ack_deadline = self.ack_deadline.min(at);
        }
        window
    }

    /// Returns the window by the rule of the profile, scaled and rounded as on the wire.
    fn window_to_offer(&self, config: &TcpConfig) -> u32 {
        let offered = self.advertised.saturating_sub(self.next);
        let buffer = self.buffer;
        let edge = self.pace.as_deref().map_or(u64::MAX, WindowPace::edge);
        let opened = edge.saturating_sub(self.next);
        let window = match config.details.receive_window_rule {
            ReceiveWindowRule::Rfc1122 => {
                let free = buffer.saturating_sub(self.unread).min(opened);
                if free >= offered + self.opening(config) {
                    free
                } else {
                    offered
                }
            }
            ReceiveWindowRule::Inet2011 => {
                let free = self.room().min(opened);
                let silly = free < buffer / 4 && free < u64::from(config.mss);
                if silly { offered } else { free.max(offered) }
            }
        };
        let rounded = window >> self.shift << self.shift;
        // Rounding down must not shrink the window offered (RFC 7323 section 2.4).
        let kept = if rounded < offered {
            rounded + (1 << self.shift)
        } else {
            rounded
        };
        kept.min(u64::from(self.full_window)) as u32
    }

    /// Records that an ACK has left.
    #[inline]
    pub fn ack_sent(&mut self) {
        if let Some(acks) = self.linux_acks.as_deref_mut() {
            acks.sent(self.next, self.ack_due != AckDue::No);
        }
        if self.has_blocks {
            self.forget_duplicate();
        }
        self.unacked = 0;
        self.ack_due = AckDue::No;
        self.ack_deadline = Time::MAX;
    }

    /// Removes the duplicate, which is reported only once.
    fn forget_duplicate(&mut self) {
        if let Some(held) = self.out_of_order.as_deref_mut() {
            held.set_duplicate(None, 0);
            self.has_blocks = held.has_blocks();
        }
    }

    /// Requires an ACK to leave at once.
    pub fn owe_ack(&mut self) {
        self.ack_due = self.ack_due.max_urgency(AckDue::Now);
    }

    /// Handles the expiry of the timer of a waiting ACK.
    pub fn handle_timeout(&mut self, now: Time, config: &TcpConfig) {
        if self.ack_deadline <= now {
            let delayed = self.ack_due == AckDue::Delayed;
            self.ack_deadline = Time::MAX;
            if self.ack_due == AckDue::Compressed {
                self.ack_due = AckDue::NowPure;
            }
            self.owe_ack();
            if self.pace.is_some() {
                self.open_at_pace(now, config);
            }
            if !delayed {
                return;
            }
            if let Some(acks) = self.linux_acks.as_deref_mut() {
                acks.expired();
            }
        }
    }

    /// Returns by how much the window must open before the receiver advertises it (RFC 1122 section
    /// 4.2.3.3).
    fn opening(&self, config: &TcpConfig) -> u64 {
        (self.buffer / 2).min(u64::from(config.mss)).max(1)
    }
}

impl AckDue {
    fn max_urgency(self, other: Self) -> Self {
        if (self as u8) < other as u8 {
            other
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests;
