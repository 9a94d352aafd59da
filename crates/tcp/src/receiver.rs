//! The receiving half: reassembly, acknowledgements, the advertised window.

use std::num::NonZeroU64;

use goodqueue_types::{SackBlocks, Segment, SegmentFlags, Time};

use crate::config::{AckRule, Handshake, ReceiveWindowRule, Recovery, TcpConfig};
use crate::delayed_ack::{LinuxAcks, Verdict};
use crate::reassembly::Reassembly;
use crate::receive_window::{Intake, RightSizing, WindowPace};
use crate::rtt::RttEstimator;
use crate::stats::TcpStats;

/// Whether an acknowledgement is owed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AckDue {
    /// None.
    #[default]
    No,
    /// When the delayed-ACK timer expires, unless more data come first.
    Delayed,
    /// At once; a data segment may carry it.
    Now,
    /// At once and without payload: duplicate and selective ACKs, and the handshake's last.
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
    /// Data above `next`, from the first hole on; most connections never have one.
    out_of_order: Option<Box<Reassembly>>,
    /// In-order bytes the application has not read.
    unread: u64,
    /// The right edge of the window as last advertised.
    advertised: u64,
    /// Where the peer's FIN is, once seen; never 0, the number of its SYN.
    fin: Option<NonZeroU64>,
    /// Bytes of buffer, and the window of an empty one as it can be advertised.
    buffer: u64,
    full_window: u32,
    /// Linux's rule for ACKs if that is in force, from the first data on.
    pub linux_acks: Option<Box<LinuxAcks>>,
    /// Moderation of the window if it is in force, from the first data on.
    right_sizing: Option<Box<RightSizing>>,
    /// The pace at which the window opens, if there is one.
    pace: Option<Box<WindowPace>>,
    /// Segments since the last ACK.
    unacked: u32,
    shift: u8,
    pub ack_due: AckDue,
    /// When a delayed ACK must go out; `Time::MAX` if none waits.
    pub ack_deadline: Time,
    reading: bool,
    fin_reached: bool,
    /// There are data above `next`.
    has_holes: bool,
    /// The next ACK has something to report selectively.
    has_blocks: bool,
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
        };
        receiver.set_buffer(config.initial_receive_window(), config);
        receiver
    }

    /// A buffer of so many bytes, all of which the window can offer as far as the scale goes.
    fn set_buffer(&mut self, bytes: u64, config: &TcpConfig) {
        let limit = if config.handshake == Handshake::OneWay {
            u64::from(u32::MAX)
        } else {
            0xFFFF << self.shift
        };
        self.buffer = bytes;
        self.full_window = (bytes.min(limit) >> self.shift << self.shift) as u32;
    }

    /// The peer's SYN has come: data begin at 1.
    pub fn open(&mut self) {
        self.next = 1;
        let all = 1 + u64::from(self.full_window);
        self.advertised = self
            .pace
            .as_deref()
            .map_or(all, |pace| pace.edge().min(all));
    }

    /// Whether a sequence number lies in the window offered.
    pub fn has_in_window(&self, seq: u64) -> bool {
        (self.next..self.advertised.max(self.next + 1)).contains(&seq)
    }

    /// Whether the peer has sent everything and its FIN.
    pub fn is_finished(&self) -> bool {
        self.fin_reached
    }

    pub fn set_reading(&mut self, reading: bool) {
        self.reading = reading;
    }

    /// In-order bytes waiting for the application.
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// The application takes up to `bytes`. A window update goes out when the window can open by
    /// as much as the silly-window rule asks for.
    pub fn read(&mut self, bytes: u64, config: &TcpConfig, stats: &mut TcpStats) -> u64 {
        let taken = bytes.min(self.unread);
        self.unread -= taken;
        stats.delivered_bytes += taken;
        let offered = self.advertised.saturating_sub(self.next);
        let window = u64::from(self.window_to_offer(config));
        let news = if self.linux_acks.is_some() {
            // Linux: twice what the peer knows of.
            window > 0 && window >= 2 * offered
        } else {
            window >= offered + self.opening(config)
        };
        if taken > 0 && news {
            self.ack_due = self.ack_due.max_urgency(AckDue::Now);
        }
        taken
    }

    /// Takes a segment with payload or FIN.
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
                self.schedule_linux_ack(now, segment.payload, config);
                return;
            }
            self.unacked += 1;
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

    /// Linux's rule for a segment in order.
    #[cold]
    fn schedule_linux_ack(&mut self, now: Time, payload: u32, config: &TcpConfig) {
        let Some(acks) = self.linux_acks.as_deref_mut() else {
            return;
        };
        acks.on_data(now, payload, u64::from(self.full_window), config);
        self.hold_linux_ack(now, config);
    }

    /// Whether an ACK leaves at once or waits, by Linux's rule.
    fn hold_linux_ack(&mut self, now: Time, config: &TcpConfig) {
        let Some(acks) = self.linux_acks.as_deref() else {
            return;
        };
        // An application that lags behind shall not be sent more in haste.
        let free = self.buffer.saturating_sub(self.unread);
        let keeps_up = self.unread == 0
            || free.min(u64::from(self.full_window)) + acks.acked() >= self.advertised;
        match acks.verdict(now, self.next, keeps_up, self.ack_deadline, config) {
            Verdict::Now => self.owe_ack(),
            Verdict::At(deadline) => {
                self.ack_due = self.ack_due.max_urgency(AckDue::Delayed);
                self.ack_deadline = deadline;
            }
        }
    }

    /// Lets the moderation of the window see what has come.
    #[cold]
    pub fn moderate_window(
        &mut self,
        now: Time,
        segment: &Segment,
        config: &TcpConfig,
        stats: &TcpStats,
    ) {
        self.open_at_pace(now, config);
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

    /// Whether the window is more than what the buffer leaves: moderated, or opened at a pace.
    #[inline]
    pub fn is_moderated(&self, config: &TcpConfig) -> bool {
        config.receive_window_moderation.is_some() || self.pace.is_some()
    }

    /// What Linux's rule for ACKs, if that is in force, has to know of the sending half before data come.
    #[inline]
    pub fn set_path(&mut self, rtt: &RttEstimator, config: &TcpConfig) {
        if config.ack_rule == AckRule::Linux {
            self.linux_acks
                .get_or_insert_with(|| Box::new(LinuxAcks::new(config)))
                .set_path(rtt.rto(), rtt.srtt(&config.rto));
        }
    }

    /// What counts as a full segment of the peer's, in bytes.
    pub fn full_segment(&self, config: &TcpConfig) -> u32 {
        match self.linux_acks.as_deref() {
            Some(acks) => acks.full_segment(),
            None if config.ack_rule == AckRule::Linux => LinuxAcks::new(config).full_segment(),
            None => config.mss,
        }
    }

    /// Moves the right edge on at its pace, and asks for a call when there is more to tell.
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

    /// When the edge will have moved on by what is worth telling, if the buffer has room for it.
    fn more_to_tell(&self, config: &TcpConfig) -> Option<Time> {
        let pace = self.pace.as_deref()?;
        let goal = self.next + self.room().min(u64::from(self.full_window));
        // A FIN needs no window. Less than a unit of the scale cannot be told.
        let told = self.advertised.max(self.next);
        let wanted = told + self.opening(config).max(1 << self.shift);
        (wanted <= goal).then(|| pace.reaches(wanted))
    }

    /// What is free of the buffer.
    fn room(&self) -> u64 {
        let held = self.out_of_order.as_deref().map_or(0, Reassembly::total);
        self.buffer.saturating_sub(self.unread + held)
    }

    #[inline]
    fn is_in_order_only(&self) -> bool {
        !self.has_holes && self.fin.is_none()
    }

    /// Everything but the plain next segment: holes, fills, duplicates, FIN, data beyond the window.
    fn on_disordered(
        &mut self,
        now: Time,
        segment: &Segment,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        // RFC 5681 section 4.2: ACK at once what leaves or fills a hole. A duplicate ACK must not
        // carry data, or the peer could not tell it from one that does.
        let had_holes = self.has_holes;
        let end = (segment.seq + u64::from(segment.payload)).min(self.advertised);
        let whole = end == segment.seq + u64::from(segment.payload);
        if segment.flags.contains(SegmentFlags::FIN) && whole {
            self.fin = NonZeroU64::new(end);
        }
        let start = segment.seq.max(self.next);
        self.note_duplicate(now, segment, end, config);
        if start < end {
            let new = if start == self.next {
                self.fill(end, stats)
            } else {
                let next = self.next;
                self.reassembly().insert(start, end, next)
            };
            stats.duplicate_payload_bytes += end - segment.seq.min(end) - new;
        } else {
            stats.duplicate_payload_bytes +=
                self.next.min(end).saturating_sub(segment.seq.min(end));
        }
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
        let pure = !advanced || duplicate || (had_holes && self.has_holes);
        let due = if pure && !self.fin_reached {
            AckDue::NowPure
        } else {
            AckDue::Now
        };
        self.ack_due = self.ack_due.max_urgency(due);
    }

    /// Linux treats the end of the peer's data as a sign that ours begin; what it would have reported
    /// selectively is forgotten.
    #[cold]
    fn schedule_ack_of_fin(&mut self, now: Time, config: &TcpConfig) {
        self.forget_duplicate();
        if let Some(acks) = self.linux_acks.as_deref_mut() {
            acks.on_fin();
        }
        self.hold_linux_ack(now, config);
    }

    /// What RFC 2883 section 4 reports of a segment that is valid up to `end`: the lowest contiguous
    /// part that had arrived before. Linux also takes wholly old data as a sign of lost ACKs.
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
                acks.on_data(now, segment.payload, window, config);
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

    /// Data from `next` to `end`, and then whatever was waiting behind them. Returns new bytes.
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

    /// The blocks to report.
    pub fn sack_blocks(&self, config: &TcpConfig) -> SackBlocks {
        // Timestamps leave room for three (RFC 2018 section 3).
        let room = if config.timestamps.is_some() { 3 } else { 4 };
        let limit = room.min(usize::from(config.details.sack_blocks));
        let held = self.out_of_order.as_deref();
        held.map_or_else(SackBlocks::default, |held| {
            held.blocks(self.next, limit, self.fin.map(NonZeroU64::get))
        })
    }

    /// Whether the next ACK carries SACK blocks.
    #[inline]
    pub fn has_sack_blocks(&self) -> bool {
        self.has_blocks
    }

    /// The window to put into a segment that leaves now.
    #[inline]
    pub fn advertise(&mut self, config: &TcpConfig) -> u32 {
        let window = if self.unread == 0 && !self.has_holes && self.pace.is_none() {
            self.full_window
        } else {
            self.window_to_offer(config)
        };
        self.advertised = self.advertised.max(self.next + u64::from(window));
        if let Some(at) = self.more_to_tell(config) {
            self.ack_deadline = self.ack_deadline.min(at);
        }
        window
    }

    /// The window by the rule of the profile, scaled and rounded as on the wire.
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
        // Rounding down must not take back what was offered (RFC 7323 section 2.4).
        let kept = if rounded < offered {
            rounded + (1 << self.shift)
        } else {
            rounded
        };
        kept.min(u64::from(self.full_window)) as u32
    }

    /// An ACK has left.
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

    /// A duplicate is reported once.
    fn forget_duplicate(&mut self) {
        if let Some(held) = self.out_of_order.as_deref_mut() {
            held.set_duplicate(None, 0);
            self.has_blocks = held.has_blocks();
        }
    }

    /// An ACK must leave at once.
    pub fn owe_ack(&mut self) {
        self.ack_due = self.ack_due.max_urgency(AckDue::Now);
    }

    /// The delayed-ACK timer.
    pub fn handle_timeout(&mut self, now: Time, config: &TcpConfig) {
        if self.ack_deadline <= now {
            let delayed = self.ack_due == AckDue::Delayed;
            self.ack_deadline = Time::MAX;
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

    /// How far the window must open before a receiver says so (RFC 1122 section 4.2.3.3).
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
