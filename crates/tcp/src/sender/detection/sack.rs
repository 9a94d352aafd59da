//! Recovery by selective acknowledgements (RFC 6675, and ns-2's Sack1 as a variant).

use goodqueue_types::{Segment, Time};

use crate::cc::CongestionControl;
use crate::config::{SackVariant, TcpConfig};
use crate::connection::stats::{Phase, TcpStats};
use crate::sender::{Chunk, Sender};

impl Sender {
    /// Handles an ACK that acknowledges nothing new, with SACK. It counts as a duplicate if its
    /// blocks report something new (RFC 6675 section 2), however old it is.
    pub fn on_old_ack_with_sack(
        &mut self,
        now: Time,
        segment: &Segment,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        if self.duplicates.are_ignored() {
            return;
        }
        let news = self
            .scoreboard
            .update(segment, self.stream.una(), self.stream.max_sent())
            > 0;
        let ns2 = config.details.sack_variant == SackVariant::Ns2Sack1;
        if self.course.is_in_fast_recovery() {
            self.allowance.allow_all();
            self.duplicates.add(u32::from(news));
            if ns2 {
                self.accounting.add_pipe(-i64::from(config.mss));
            } else {
                self.set_pipe(config);
            }
            return;
        }
        if news && segment.ack == self.stream.una() {
            self.count_duplicate_ack(now, config, stats);
        }
    }

    /// Counts an ACK that SACKs new data outside recovery, and starts recovery if it shows a loss.
    pub fn count_duplicate_ack(&mut self, now: Time, config: &TcpConfig, stats: &mut TcpStats) {
        let ns2 = config.details.sack_variant == SackVariant::Ns2Sack1;
        self.duplicates.add(1);
        self.allowance.allow_all();
        let threshold = config.duplicate_ack_threshold;
        let lost = if ns2 {
            self.allowance.allow(0);
            self.duplicates.count() == threshold
        } else {
            // RFC 6675 section 5 steps (1) and (2).
            self.duplicates.count() >= threshold || self.lost_below(config) > self.stream.una()
        };
        if lost {
            if self.may_retransmit_fast(config) {
                self.enter_fast_recovery(now, config, stats);
                return;
            }
        } else if ns2 && self.duplicates.count() < threshold {
            self.limited_transmit(config);
        }
        self.count_sacked_data(config);
    }

    /// Counts SACKed data as having left the network: outside recovery the window counts pipe (RFC
    /// 6675 section 5 step (3)). In go-back-N only data that `next` has passed again can count.
    pub fn count_sacked_data(&mut self, config: &TcpConfig) {
        if config.details.sack_variant == SackVariant::Ns2Sack1 || self.scoreboard.is_empty() {
            return;
        }
        let extra = match self.course.phase() {
            Phase::GoBackN => self.scoreboard.sacked_below(self.stream.next()) as i64,
            _ if config.limited_transmit => self.scoreboard.sacked_bytes() as i64,
            _ => 0,
        };
        self.accounting.set_extra(extra);
    }

    pub fn start_sack_recovery(&mut self, config: &TcpConfig) {
        let mss = u64::from(config.mss);
        let hole = self
            .scoreboard
            .next_sacked(self.stream.una())
            .unwrap_or(self.stream.max_sent());
        // Step (4.3): the first hole is retransmitted whatever pipe is.
        let high_rxt = hole
            .min(self.stream.una() + mss)
            .min(self.stream.max_sent());
        self.scoreboard.retransmit(high_rxt);
        self.scoreboard.allow_rescue_above(high_rxt);
        self.accounting.set_extra(0);
        if config.details.sack_variant == SackVariant::Ns2Sack1 {
            let counted = i64::from(config.duplicate_ack_threshold) * i64::from(config.mss);
            self.accounting.set_pipe(self.in_flight() as i64 - counted);
            // No other data are sent for this ACK.
            self.allowance.allow(0);
        } else {
            self.set_pipe(config);
        }
    }

    fn lost_below(&self, config: &TcpConfig) -> u64 {
        self.scoreboard.lost_below(
            config.details.sack_variant,
            config.duplicate_ack_threshold,
            config.mss,
        )
    }

    pub fn set_pipe(&mut self, config: &TcpConfig) {
        let lost_below = self.lost_below(config);
        let pipe = self
            .scoreboard
            .pipe(self.stream.una(), self.stream.max_sent(), lost_below);
        self.accounting.set_pipe(pipe as i64);
    }

    /// Returns the next segment while the window has room for a segment beyond pipe (RFC 6675
    /// section 5 step (C)).
    pub fn poll_by_pipe(
        &mut self,
        now: Time,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) -> Option<Chunk> {
        let mss = i64::from(config.mss);
        if (self.controller.cwnd() as i64) < self.accounting.pipe() + mss {
            return None;
        }
        let chunk = self.next_segment(now, config, stats)?;
        // ns-2 counts segments of any size.
        self.accounting.add_pipe(match config.details.sack_variant {
            SackVariant::Rfc6675 => i64::from(chunk.len),
            SackVariant::Ns2Sack1 => mss,
        });
        Some(chunk)
    }

    /// Returns the next segment to send (`NextSeg`, RFC 6675 section 4).
    fn next_segment(
        &mut self,
        now: Time,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) -> Option<Chunk> {
        let mss = u64::from(config.mss);
        let from = self.scoreboard.high_rxt().max(self.stream.una());
        let hole = self.scoreboard.hole_from(from);
        // Rule (1): the first hole that counts as lost.
        if let Some(hole) = hole.filter(|hole| hole.0 < self.lost_below(config)) {
            return Some(self.send_hole(now, hole, config, stats));
        }
        // Rule (2): new data, in whole segments unless they are the last.
        let available = self.stream.data_end().saturating_sub(self.stream.next());
        let room = (self.stream.una() + self.peer.bytes()).saturating_sub(self.stream.next());
        let len = available.min(mss).min(room);
        if len == mss || (len > 0 && len == available) {
            return Some(self.send(now, self.stream.next(), len, config, stats));
        }
        if self.stream.fin_is_next() {
            self.sent(now, self.stream.data_end(), 0, true, stats);
            return Some(Chunk {
                seq: self.stream.data_end(),
                len: 0,
                fin: true,
            });
        }
        if config.details.sack_variant == SackVariant::Ns2Sack1 {
            return None;
        }
        // Rule (3): a hole that does not count as lost yet.
        if let Some(hole) = hole {
            return Some(self.send_hole(now, hole, config, stats));
        }
        self.rescue(now, config, stats)
    }

    fn send_hole(
        &mut self,
        now: Time,
        hole: (u64, u64),
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) -> Chunk {
        let end = hole.1.min(hole.0 + u64::from(config.mss));
        self.scoreboard.retransmit(end);
        self.send_again(now, hole.0, end, stats)
    }

    /// Sends, once per recovery, the highest data that are not SACKed, so that a lost tail or a
    /// lost retransmission is noticed without a timeout (`NextSeg` rule (4)).
    fn rescue(&mut self, now: Time, config: &TcpConfig, stats: &mut TcpStats) -> Option<Chunk> {
        if !config.details.rescue_retransmission
            || self.stream.una() <= self.scoreboard.rescue_rxt()
        {
            return None;
        }
        let end = self.stream.max_sent().min(self.stream.data_end());
        let highest_sacked = self.scoreboard.highest().unwrap_or(self.stream.una());
        if end <= highest_sacked {
            return None;
        }
        self.scoreboard.allow_rescue_above(self.course.point());
        let start = highest_sacked
            .max(end.saturating_sub(u64::from(config.mss)))
            .max(self.stream.una());
        Some(self.send_again(now, start, end, stats))
    }

    fn send_again(&mut self, now: Time, start: u64, end: u64, stats: &mut TcpStats) -> Chunk {
        let (data_end, len) = (
            end.min(self.stream.data_end()),
            end.min(self.stream.data_end()) - start,
        );
        let fin = self.stream.is_closing()
            && data_end == self.stream.data_end()
            && self.stream.max_sent() > self.stream.data_end();
        self.sent(now, start, len, fin, stats);
        Chunk {
            seq: start,
            len: len as u32,
            fin,
        }
    }
}
