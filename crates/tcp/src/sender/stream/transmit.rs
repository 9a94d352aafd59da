//! Choice of the next segment by transmission records: forced segments come first, then lost ones,
//! then new data.

use goodqueue_types::Time;

use crate::cc::CongestionControl;
use crate::config::IdleRestart;
use crate::connection::stats::CaState;
use crate::sender::detection::expiry::Timer;
use crate::sender::in_flight::rate::Snapshot;
use crate::sender::in_flight::record::Record;
use crate::sender::ledger::{Ledger, Turn};
use crate::sender::pacing::burst;
use crate::sender::response::due::Resend;
use crate::sender::{Chunk, Sender};

impl Ledger {
    /// Returns the next piece of data to send, or none for now.
    pub fn poll(&mut self, turn: &mut Turn<'_>) -> Option<Chunk> {
        if turn.sender.timers.take_probe() {
            return Some(self.window_probe(turn));
        }
        if self.due.take_first() && !self.records.is_empty() {
            return Some(self.send_again(turn, 0));
        }
        if self.due.take_probe() {
            return self.poll_tail_probe(turn);
        }
        let held_until = self.pacer.held_until(turn.now);
        turn.sender.timers.hold_until(held_until);
        if held_until != Time::MAX {
            return None;
        }
        let window = self.window_segments(turn.sender);
        let repeats = self.due.resend() == Resend::Lost
            && (self.due.take_fast_retransmit() || window > self.records.in_flight());
        if repeats && let Some(index) = self.records.next_waiting() {
            return Some(self.send_again(turn, index));
        }
        let chunk = self.poll_new(turn, window);
        if chunk.is_none() && self.due.resend() == Resend::NewData {
            return self.poll_without_new_data(turn);
        }
        chunk
    }

    /// Ends F-RTO, which cannot decide without new data to send, and sends data marked lost.
    #[cold]
    fn poll_without_new_data(&mut self, turn: &mut Turn<'_>) -> Option<Chunk> {
        if turn.sender.stream.max_sent() > self.episode.high_seq() {
            return None;
        }
        self.undo.end_frto();
        self.due.set_resend(Resend::Lost);
        self.poll(turn)
    }

    /// Returns the next new data or FIN, or none for now. `window` is the present window in
    /// segments.
    fn poll_new(&mut self, turn: &mut Turn<'_>, mut window: u32) -> Option<Chunk> {
        let mut in_flight = self.records.in_flight();
        if !turn.config.limited_transmit && self.episode.state() < CaState::Recovery {
            // Segments that left the network make room only by limited transmit (RFC 3042).
            in_flight += self.records.sacked_out();
        }
        let was_room = window > in_flight;
        if self.records.is_empty() {
            self.restart_after_idle(turn);
            window = self.window_segments(turn.sender);
        }
        let sender = &mut *turn.sender;
        let fin_due = sender.stream.fin_is_next();
        if sender.stream.next() >= sender.stream.data_end() && !fin_due {
            self.note_idle(turn, was_room);
            return None;
        }
        // A FIN needs no room (RFC 9293 section 3.10.4; Linux).
        if window <= in_flight && !fin_due {
            self.validate(turn, true);
            return None;
        }
        let chunk = if fin_due {
            let seq = turn.sender.stream.next();
            Chunk {
                seq,
                len: 0,
                fin: true,
            }
        } else {
            let record_end = self.writes.end_of(turn.sender.stream.next());
            let small_is_out = self.writes.has_small_out(turn.sender.stream.una());
            let chunk =
                turn.sender
                    .next_new_data(turn.now, turn.config, record_end, small_is_out)?;
            if turn.config.details.segmentation_offload && !self.take_from_unit(turn, window) {
                self.validate(turn, true);
                return None;
            }
            chunk
        };
        let limited = self.book_new(turn, chunk, window);
        if limited {
            self.block_if_full(turn);
        }
        Some(chunk)
    }

    /// Blocks a sender whose window has just become full, if the next call of [`poll`](Self::poll)
    /// would only find that out. This leaves out a third of its calls in `s1-linux`.
    fn block_if_full(&mut self, turn: &mut Turn<'_>) {
        let sender = &mut *turn.sender;
        let fin_due = sender.stream.fin_is_next();
        let held = self.pacer.held_until(turn.now) != Time::MAX;
        if fin_due || held || self.due.resend() == Resend::NewData {
            return;
        }
        sender.allowance.block(true);
        let limited = sender.find_limit(self.rules.mss, false);
        sender.limits.note(turn.now, limited);
    }

    /// Records new data that leave. `window` is the present window in segments. Returns true if the
    /// window then holds back further data, or would.
    fn book_new(&mut self, turn: &mut Turn<'_>, chunk: Chunk, window: u32) -> bool {
        let now = turn.now;
        let idle = self.records.is_empty();
        let in_flight = self.records.in_flight();
        let sender = &mut *turn.sender;
        sender.controller.on_send(now, idle);
        let snapshot = self
            .rate
            .snapshot(now, in_flight, self.records.lost(), idle);
        sender.sent(now, chunk.seq, u64::from(chunk.len), chunk.fin, turn.stats);
        sender.activity.send(now);
        let end = chunk.seq + u64::from(chunk.len) + u64::from(chunk.fin);
        if u64::from(chunk.len) < self.rules.mss {
            self.writes.send_small(end);
        }
        let len = chunk.len + u32::from(chunk.fin);
        let record = Record::new(chunk.seq, len, now, self.rate.delivered());
        self.records.push(record, snapshot);
        self.window.send();
        self.pace(turn, chunk.len);
        if idle || self.expiry.timer() == Timer::Probe {
            if idle {
                self.expiry.wait_for(Timer::Retransmit);
            }
            self.rearm(turn);
        }
        self.schedule_probe(turn, false);
        // A control may change its window when it hears of data after an idle time.
        let window = if idle {
            self.window_segments(turn.sender)
        } else {
            window
        };
        debug_assert_eq!(window, self.window_segments(turn.sender));
        let limited = self.records.in_flight() >= window;
        self.validate(turn, limited);
        limited
    }

    /// Sends a segment again.
    fn send_again(&mut self, turn: &mut Turn<'_>, index: usize) -> Chunk {
        let snapshot = self.snapshot(turn);
        self.records
            .resend(index, turn.now, self.rate.delivered(), snapshot);
        self.undo.on_resend(turn.config.timestamp(turn.now));
        self.window.send();
        if index == 0 && self.expiry.timer() != Timer::Reorder {
            let deadline = turn.now.saturating_add(turn.sender.rtt.rto());
            turn.sender.timers.set(deadline);
            self.expiry.wait_for(Timer::Retransmit);
        }
        self.book_again(turn, index)
    }

    fn snapshot(&mut self, turn: &Turn<'_>) -> Option<Snapshot> {
        let (in_flight, lost) = (self.records.in_flight(), self.records.lost());
        self.rate
            .snapshot(turn.now, in_flight, lost, self.records.is_empty())
    }

    /// Returns the segment of a record and records that it leaves again.
    fn book_again(&mut self, turn: &mut Turn<'_>, index: usize) -> Chunk {
        let record = *self.records.get(index);
        let sender = &mut *turn.sender;
        let data_end = record.end().min(sender.stream.data_end());
        let chunk = Chunk {
            seq: record.seq,
            len: data_end.saturating_sub(record.seq) as u32,
            fin: record.end() > sender.stream.data_end(),
        };
        let bytes = u64::from(chunk.len);
        sender.sent(turn.now, chunk.seq, bytes, chunk.fin, turn.stats);
        sender.activity.send(turn.now);
        self.pace(turn, chunk.len);
        chunk
    }

    /// Sends a tail loss probe: new data if there are any and the peer has room, otherwise the last
    /// segment.
    #[cold]
    fn poll_tail_probe(&mut self, turn: &mut Turn<'_>) -> Option<Chunk> {
        let Some(last) = self.records.last_index() else {
            self.rearm(turn);
            return None;
        };
        let record_end = self.writes.end_of(turn.sender.stream.next());
        let small_is_out = self.writes.has_small_out(turn.sender.stream.una());
        let chunk = turn
            .sender
            .next_new_data(turn.now, turn.config, record_end, small_is_out);
        if let Some(chunk) = chunk {
            let window = self.window_segments(turn.sender);
            self.book_new(turn, chunk, window);
        }
        let chunk = chunk.unwrap_or_else(|| {
            let snapshot = self.snapshot(turn);
            self.records
                .repeat(last, turn.now, self.rate.delivered(), snapshot);
            self.undo.on_probe();
            self.book_again(turn, last)
        });
        let resent =
            chunk.seq + u64::from(chunk.len) + u64::from(chunk.fin) <= self.records.get(last).end();
        self.probe_sent(turn, resent);
        Some(chunk)
    }

    /// Probes a small or closed window. A closed window is probed with an old sequence number,
    /// which requires an ACK (Linux). A window smaller than a segment is probed with as much as
    /// fits.
    #[cold]
    fn window_probe(&mut self, turn: &mut Turn<'_>) -> Chunk {
        let sender = &mut *turn.sender;
        let len = (sender.stream.data_end() - sender.stream.next())
            .min(self.rules.mss)
            .min(sender.peer.bytes());
        if len > 0 {
            let fin = sender.stream.is_closing()
                && sender.stream.next() + len == sender.stream.data_end();
            let chunk = Chunk {
                seq: sender.stream.next(),
                len: len as u32,
                fin,
            };
            let window = self.window_segments(turn.sender);
            self.book_new(turn, chunk, window);
            return chunk;
        }
        Chunk {
            seq: sender.stream.una() - 1,
            len: 0,
            fin: false,
        }
    }

    /// Records that the application has no more data, so that it limits the deliveries from now on.
    fn note_idle(&mut self, turn: &Turn<'_>, room: bool) {
        if room && turn.sender.stream.data_end() < turn.sender.stream.next() + self.rules.mss {
            self.rate.limit_by_application(self.records.in_flight());
        }
    }

    fn validate(&mut self, turn: &mut Turn<'_>, limited: bool) {
        let sender = &mut *turn.sender;
        let out = self.records.out();
        self.validation.after_sending(
            turn.now,
            sender.stream.una(),
            sender.stream.max_sent(),
            out,
            limited,
        );
        if !limited && turn.config.details.idle_restart == IdleRestart::Halved {
            self.give_up_unused(turn);
        }
    }

    /// Shrinks a window that was not fully used for a whole timeout: it moves half way to the part
    /// that was used (RFC 2861 section 3.2).
    fn give_up_unused(&mut self, turn: &mut Turn<'_>) {
        if self.rules.control_sets_window || self.episode.state() != CaState::Open {
            return;
        }
        let rto = turn.sender.rtt.rto();
        let Some(used) = self.validation.unused_for(turn.now, rto) else {
            return;
        };
        let mss = self.rules.mss as f64;
        let initial = turn.config.initial_window.bytes(turn.config.mss) as f64;
        let used = (f64::from(used) * mss).max(initial);
        let control = &mut turn.sender.controller;
        let window = control.window();
        if used < window {
            control.set_ssthresh(remembered_ssthresh(control.ssthresh(), window));
            control.set_window(f64::midpoint(window, used));
        }
    }

    fn restart_after_idle(&mut self, turn: &mut Turn<'_>) {
        if self.rules.control_sets_window {
            return;
        }
        if turn.config.details.idle_restart != IdleRestart::Halved {
            turn.sender.restart_after_idle(turn.now, turn.config);
            return;
        }
        // RFC 2861 section 3.1: each retransmission timeout of silence halves the window. Linux
        // checks this when the application writes, not when data leave.
        let sender = &mut *turn.sender;
        if !sender.activity.take_request() {
            return;
        }
        let rto = sender.rtt.rto();
        let mut idle = sender.activity.since_sending(turn.now);
        if idle <= rto || sender.stream.max_sent() <= crate::sender::stream::FIRST {
            return;
        }
        let mut window = sender.controller.window();
        let least = window.min(turn.config.initial_window.bytes(turn.config.mss) as f64);
        let ssthresh = remembered_ssthresh(sender.controller.ssthresh(), window);
        sender.controller.set_ssthresh(ssthresh);
        while idle > rto && window > least {
            idle = idle.saturating_sub(rto);
            window /= 2.0;
        }
        sender.controller.set_window(window.max(least));
        self.validation.restart(turn.now);
    }

    /// Passes a segment to the pacer.
    #[inline]
    fn pace(&mut self, turn: &mut Turn<'_>, payload: u32) {
        debug_assert!(self.rules.paces || turn.sender.controller.pacing_rate().is_none());
        if self.rules.paces {
            self.pace_at_rate(turn, payload);
        }
    }

    fn pace_at_rate(&mut self, turn: &mut Turn<'_>, payload: u32) {
        if !turn.config.pacing && turn.sender.controller.pacing_rate().is_none() {
            return;
        }
        let rate = self.pacing_rate(turn);
        let burst = burst(&turn.sender.controller, rate, payload);
        self.pacer.on_sent(turn.now, rate, burst, payload);
    }
}

/// Returns the threshold with which slow start after a pause ends at three quarters of the old
/// window (RFC 2861 section 3.1).
fn remembered_ssthresh(ssthresh: u64, window: f64) -> u64 {
    ssthresh.max((0.75 * window) as u64)
}

impl Sender {
    /// Returns the next new data within the peer's window and by Nagle's rule, but none beyond the
    /// end of an application's write. `small_is_out` is true if a small segment is outstanding.
    #[inline]
    fn next_new_data(
        &mut self,
        now: goodqueue_types::Time,
        config: &crate::TcpConfig,
        record_end: u64,
        small_is_out: bool,
    ) -> Option<Chunk> {
        let mss = u64::from(config.mss);
        let available = self.stream.data_end().saturating_sub(self.stream.next());
        let used = self.stream.next() - self.stream.una();
        let room = self.peer.bytes().saturating_sub(used);
        let rest_of_record = record_end.saturating_sub(self.stream.next());
        let len = available.min(mss).min(room).min(rest_of_record);
        let is_tail = len == available;
        let idle = self.stream.is_idle();
        // A small segment waits only for another small one (Minshall's variant of Nagle's
        // algorithm).
        let nagle = self.stream.has_nagle() && small_is_out;
        let sendable = len > 0
            && (len == mss
                || (len == rest_of_record && !is_tail)
                || (is_tail && (idle || !nagle || self.stream.is_closing()))
                || (!is_tail && 2 * len >= self.peer.largest()));
        if !sendable {
            if available > 0 && idle && !self.timers.runs() {
                self.start_persisting(now, config);
            }
            return None;
        }
        let fin = self.stream.is_closing() && self.stream.next() + len == self.stream.data_end();
        Some(Chunk {
            seq: self.stream.next(),
            len: len as u32,
            fin,
        })
    }
}
