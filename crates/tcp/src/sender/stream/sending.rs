//! The segments that may leave, by sequence numbers and windows: first the segment to repeat, then
//! the data that follow. `transmit` does the same with transmission records, and `sack` with SACK's
//! pipe.

use goodqueue_types::Time;

use crate::cc::CongestionControl;
use crate::config::{Recovery, SackVariant, TcpConfig, TimingRule};
use crate::connection::stats::TcpStats;
use crate::sender::limits::Limited;
use crate::sender::{Chunk, Sender};

impl Sender {
    /// Returns the next piece of data to send, or none for now.
    #[inline]
    pub fn poll(&mut self, now: Time, config: &TcpConfig, stats: &mut TcpStats) -> Option<Chunk> {
        if self.allowance.is_blocked() {
            return None;
        }
        let chunk = if self.ledger.is_some() {
            self.poll_by_records(now, config, stats)
        } else {
            self.poll_unblocked(now, config, stats)
        };
        if chunk.is_none() {
            self.allowance.block(true);
            if self.meter.is_some() {
                self.measure_silence();
            }
            let cwnd_has_room = self.cwnd_has_room(u64::from(config.mss));
            self.limits
                .note(now, self.find_limit(u64::from(config.mss), cwnd_has_room));
        }
        chunk
    }

    #[inline]
    fn poll_unblocked(
        &mut self,
        now: Time,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) -> Option<Chunk> {
        if self.allowance.take_first() {
            return Some(self.retransmit_first(now, config, stats));
        }
        if self.allowance.is_spent() || (self.meter.is_some() && self.is_held_back(now)) {
            return None;
        }
        if self.course.is_in_fast_recovery() && config.recovery == Recovery::Sack {
            return self.poll_by_pipe(now, config, stats);
        }
        self.poll_by_window(now, config, stats)
    }

    /// Sends from `next` as far as the windows allow.
    #[inline]
    fn poll_by_window(
        &mut self,
        now: Time,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) -> Option<Chunk> {
        let mss = u64::from(config.mss);
        let mut limit = mss;
        // ns-2's Sack1 sends everything again, even data that were SACKed in the meantime.
        let skips = config.details.sack_variant == SackVariant::Rfc6675;
        if self.course.goes_back() && skips && !self.scoreboard.is_empty() {
            limit = self.skip_sacked().map_or(mss, |room| room.min(mss));
        }
        if self.stream.next() >= self.stream.data_end() {
            return self.poll_fin(now, stats);
        }
        let available = self.stream.data_end() - self.stream.next();
        self.restart_after_idle(now, config);
        let window = self.send_window(mss);
        let used = self.stream.next() - self.stream.una();
        let len = available.min(limit);
        if len == mss && used + len <= window {
            let chunk = self.send(now, self.stream.next(), len, config, stats);
            // `poll_small` would find nothing to send: there is enough data, but room for neither a
            // segment nor half of the peer's window.
            let room = window - (self.stream.next() - self.stream.una()).min(window);
            let is_full = room < mss
                && 2 * room < self.peer.largest()
                && self.stream.next() + mss <= self.stream.data_end()
                && self.scoreboard.is_empty();
            self.allowance.block(is_full);
            if is_full {
                let limited = if window == self.peer.bytes() {
                    Limited::ReceiverWindow
                } else {
                    Limited::Congestion
                };
                self.limits.note(now, limited);
            }
            return Some(chunk);
        }
        self.poll_small(now, len, window.saturating_sub(used), config, stats)
    }

    /// Sends less than a full segment if sender silly-window avoidance (RFC 1122 section 4.2.3.4)
    /// and Nagle's algorithm allow it.
    #[cold]
    fn poll_small(
        &mut self,
        now: Time,
        len: u64,
        room: u64,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) -> Option<Chunk> {
        let idle = self.stream.is_idle() || self.timers.is_persisting();
        if self.timers.take_probe() {
            // The persist timer sends as much as fits, at least one byte (RFC 9293 section
            // 3.8.6.1).
            let bytes = len.min(self.peer.bytes().max(1));
            if self.peer.bytes() > 0 {
                return Some(self.send(now, self.stream.next(), bytes, config, stats));
            }
            return Some(self.send_probe(now, bytes, stats));
        }
        let bytes = len.min(room);
        let is_tail = self.stream.next() + bytes >= self.stream.data_end();
        let cut_by_sack = self.stream.next() < self.stream.max_sent() && bytes == len;
        let sendable = bytes > 0
            && (bytes == u64::from(config.mss)
                || cut_by_sack
                || (is_tail && (idle || !self.stream.has_nagle() || self.stream.is_closing()))
                || 2 * bytes >= self.peer.largest());
        if sendable {
            return Some(self.send(now, self.stream.next(), bytes, config, stats));
        }
        // If no timer runs, only a probe can be outstanding, and only the persist timer repeats it.
        if !self.timers.runs() {
            self.start_persisting(now, config);
        }
        None
    }

    /// Sends the FIN if it is next.
    fn poll_fin(&mut self, now: Time, stats: &mut TcpStats) -> Option<Chunk> {
        self.stream.fin_is_next().then(|| {
            let seq = self.stream.next();
            self.sent(now, seq, 0, true, stats);
            Chunk {
                seq,
                len: 0,
                fin: true,
            }
        })
    }

    /// Returns the smaller of both windows, in bytes from `una`.
    #[inline]
    fn send_window(&self, mss: u64) -> u64 {
        let mut window = self.controller.cwnd();
        if self.accounting.extra() != 0 {
            window = window.saturating_add_signed(self.accounting.extra());
        }
        if self.stream.next() == self.stream.una() {
            // A window below a segment must not stop all sending.
            window = window.max(mss);
        }
        window.min(self.peer.bytes())
    }

    /// Skips SACKed data in go-back-N. Returns the room before the next SACKed range.
    fn skip_sacked(&mut self) -> Option<u64> {
        let to = self.scoreboard.skip_sacked(self.stream.next());
        self.stream.skip_to(to);
        let sacked = self.scoreboard.sacked_below(self.stream.next());
        self.accounting.set_extra(sacked as i64);
        self.scoreboard
            .next_sacked(self.stream.next())
            .map(|start| start - self.stream.next())
    }

    /// Sends `len` bytes of data at `seq` within the window, with the FIN if they are the last.
    #[inline]
    pub fn send(
        &mut self,
        now: Time,
        seq: u64,
        len: u64,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) -> Chunk {
        let timable = match config.details.timing {
            TimingRule::OutsideRecovery => {
                seq >= self.stream.max_sent() && !self.course.is_in_fast_recovery()
            }
            TimingRule::NewData => seq >= self.stream.max_sent(),
            TimingRule::Anything => true,
        };
        if timable {
            self.timing.begin(seq, now);
        }
        if self.accounting.extra() > 0 && self.course.is_open() {
            self.accounting.send_limited(len);
        }
        self.allowance.spend();
        if seq >= self.stream.max_sent() {
            self.controller.on_send(now, self.stream.is_idle());
        }
        self.activity.send(now);
        let fin = self.stream.is_closing() && seq + len == self.stream.data_end();
        self.sent(now, seq, len, fin, stats);
        Chunk {
            seq,
            len: len as u32,
            fin,
        }
    }

    /// Records a segment that has left, new or not.
    #[inline]
    pub fn sent(&mut self, now: Time, seq: u64, len: u64, fin: bool, stats: &mut TcpStats) {
        let data_end = seq + len;
        let end = data_end + u64::from(fin);
        if len > 0 {
            stats.segments_sent += 1;
            if seq < self.stream.max_sent() {
                stats.retransmitted_segments += 1;
                stats.retransmitted_bytes += data_end.min(self.stream.max_sent()) - seq;
            }
        }
        // The first segment of a flight starts the timer (RFC 6298 (5.1); ns-2 and BSD agree).
        // Probes of a closed window do not count as a flight.
        if !self.timers.runs() || self.stream.is_idle() || self.timers.is_persisting() {
            self.timers.start(now.saturating_add(self.rtt.rto()));
        }
        if self.meter.is_some() {
            self.measure_sending(now, seq, end);
        }
        self.stream.send(end);
    }

    /// Sends the segment at `una` again, for a fast retransmit, a partial ACK or a timeout.
    fn retransmit_first(&mut self, now: Time, config: &TcpConfig, stats: &mut TcpStats) -> Chunk {
        let mut end = self
            .stream
            .data_end()
            .min(self.stream.max_sent())
            .min(self.stream.una() + u64::from(config.mss));
        if let Some(sacked) = self.scoreboard.next_sacked(self.stream.una()) {
            end = end.min(sacked);
        }
        let seq = self.stream.una();
        let len = end.saturating_sub(seq);
        let fin = self.stream.is_closing()
            && seq + len == self.stream.data_end()
            && self.stream.max_sent() > self.stream.data_end();
        self.sent(now, seq, len, fin, stats);
        Chunk {
            seq,
            len: len as u32,
            fin,
        }
    }
}
