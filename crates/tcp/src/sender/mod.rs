//! The sending half, composed of parts: `stream` (what to send), `in_flight` (what was sent),
//! `detection` (of losses), `response` (to losses and marks), `validation` and `cc` (the window), and
//! `pacing`. Recovery goes by records of segments (`ledger`) or, faster, by sequence numbers alone. The
//! profile's switch `records` selects one of them, never the congestion control.

#![expect(
    clippy::inline_always,
    reason = "the per-ACK path, with one caller that matters"
)]

pub(crate) mod detection;
pub(crate) mod in_flight;
pub(crate) mod ledger;
pub(crate) mod limits;
pub(crate) mod pacing;
pub(crate) mod response;
pub(crate) mod stream;
pub(crate) mod validation;

use goodqueue_types::{Segment, Span, Time};

use crate::cc::{AckSample, CongestionControl, Controller};
use crate::config::{IdleRestart, Recovery, TcpConfig};
use crate::connection::stats::TcpStats;
use crate::sender::detection::duplicates::Duplicates;
use crate::sender::detection::rtt::RttEstimator;
use crate::sender::detection::timers::Timers;
use crate::sender::detection::timing::{Clock, Timing};
use crate::sender::in_flight::meter::Meter;
use crate::sender::in_flight::scoreboard::Scoreboard;
use crate::sender::ledger::{Ledger, Turn};
use crate::sender::limits::Limits;
use crate::sender::response::accounting::Accounting;
use crate::sender::response::phase::Course;
use crate::sender::stream::activity::Activity;
use crate::sender::stream::allowance::Allowance;
use crate::sender::stream::peer_window::PeerWindow;
use crate::sender::stream::{FIRST, Stream};
use crate::sender::validation::WindowUse;

/// Data (or a FIN) to send in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub seq: u64,
    pub len: u32,
    pub fin: bool,
}

/// State of the sending half. Its parts are packed where padding would cost, because millions of
/// flows have a sender at each end.
#[derive(Debug)]
pub(crate) struct Sender {
    pub stream: Stream,
    pub controller: Controller,
    pub course: Course,
    pub accounting: Accounting,
    pub duplicates: Duplicates,
    pub allowance: Allowance,
    pub activity: Activity,
    pub limits: Limits,
    pub scoreboard: Scoreboard,
    pub window_use: WindowUse,

    pub rtt: RttEstimator,
    pub timing: Timing,

    pub peer: PeerWindow,

    pub timers: Timers,

    /// Recovery by records of the segments sent, if the configuration asks for it.
    pub ledger: Option<Box<Ledger>>,
    /// Measurements of segments, if the control needs them and there is no ledger.
    pub meter: Option<Box<Meter>>,
}

impl Sender {
    pub fn new(config: &TcpConfig, controller: Controller) -> Self {
        let ledger = Ledger::if_needed(config, &controller);
        let meter = Meter::if_needed(config, &controller);
        Self {
            ledger,
            meter,
            ..Self::without_records(config, controller)
        }
    }

    /// Creates a sender that never has data to send, without records and with the smallest control.
    pub fn of_nothing(config: &TcpConfig) -> Self {
        Self::without_records(config, Controller::smallest(config))
    }

    fn without_records(config: &TcpConfig, controller: Controller) -> Self {
        Self {
            stream: Stream::new(config.nagle),
            controller,
            course: Course::default(),
            accounting: Accounting::default(),
            duplicates: Duplicates::default(),
            allowance: Allowance::default(),
            activity: Activity::default(),
            limits: Limits::default(),
            scoreboard: Scoreboard::default(),
            window_use: WindowUse::default(),
            rtt: RttEstimator::new(&config.rto),
            timing: Timing::default(),
            peer: PeerWindow::default(),
            timers: Timers::default(),
            ledger: None,
            meter: None,
        }
    }

    /// Opens the sender for data, because the SYN is acknowledged.
    pub fn open(&mut self, window: u32) {
        self.allowance.unblock();
        self.stream.begin(FIRST);
        self.peer.set(window);
        self.timers.stop();
    }

    /// Returns the bytes that duplicate ACKs add to the window in fast recovery.
    pub fn inflation(&self) -> i64 {
        if self.course.is_in_fast_recovery() {
            self.accounting.extra()
        } else {
            0
        }
    }

    /// Returns the congestion window in bytes, with the changes that recovery makes to it.
    pub fn window_now(&self) -> u64 {
        if let Some(ledger) = &self.ledger
            && let Some(segments) = ledger.window.reduced()
        {
            return u64::from(segments) * ledger.rules.mss;
        }
        self.controller
            .cwnd()
            .saturating_add_signed(self.inflation())
    }

    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.stream.outstanding()
    }

    /// Handles an acknowledgement on an open connection.
    #[inline(always)]
    pub fn on_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        if segment.ack > self.stream.max_sent() {
            return;
        }
        self.timing.note_echo(segment.timestamps.echo);
        if self.ledger.is_some() {
            self.on_ack_by_records(now, segment, config, stats);
        } else if self.meter.is_some() {
            self.on_measured_ack(now, segment, config, stats);
        } else {
            self.apply_ack(now, segment, config, stats);
        }
    }

    /// Handles an acknowledgement by sequence numbers.
    #[inline(always)]
    pub fn apply_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        let same_window = !self.update_window(segment);
        if !same_window || segment.ack > self.stream.una() || !self.stream.is_idle() {
            self.allowance.unblock();
        }
        if segment.ack > self.stream.una() {
            let plain =
                self.course.is_open() && self.scoreboard.is_empty() && segment.sack.is_empty();
            if plain {
                self.on_ack_in_order(now, segment.ack, config, stats);
            } else {
                self.on_new_ack(now, segment, config, stats);
            }
        } else if !self.stream.is_idle() {
            self.on_old_ack(now, segment, same_window, config, stats);
        }
    }

    /// Calls `call` with the ledger, if there is one.
    #[inline(always)]
    fn with_ledger(
        &mut self,
        now: Time,
        config: &TcpConfig,
        stats: &mut TcpStats,
        call: impl FnOnce(&mut Ledger, &mut Turn<'_>),
    ) {
        let Some(mut ledger) = self.ledger.take() else {
            return;
        };
        let mut turn = Turn {
            sender: self,
            now,
            config,
            stats,
        };
        call(&mut ledger, &mut turn);
        // The place is empty, so nothing is dropped.
        let place = self.ledger.replace(ledger);
        debug_assert!(place.is_none());
        std::mem::forget(place);
    }

    /// Sends data of the SYN again, which left at `sent` and which the SYN-ACK does not acknowledge.
    pub fn resend_refused(
        &mut self,
        now: Time,
        sent: Time,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        self.with_ledger(now, config, stats, |ledger, turn| {
            ledger.take_refused(turn, sent);
        });
    }

    #[inline(never)]
    fn on_ack_by_records(
        &mut self,
        now: Time,
        segment: &Segment,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        if self.allowance.is_blocked()
            && self.has_nothing_to_do(config)
            && self.has_no_news(segment)
        {
            self.update_window(segment);
            return;
        }
        self.allowance.unblock();
        self.with_ledger(now, config, stats, |ledger, turn| {
            ledger.on_ack(turn, segment);
        });
    }

    /// Returns true if this end has nothing outstanding, nothing to send and no recovery to undo.
    /// Together with [`has_no_news`](Self::has_no_news) it saves the end of a connection that
    /// receives data a search for something to send: 3 % of the instructions of `many-flows`.
    fn has_nothing_to_do(&self, config: &TcpConfig) -> bool {
        // Other rules may lower the window at any call.
        let restarts_at_writes = config.details.idle_restart == IdleRestart::Halved;
        let rests = self.ledger.as_ref().is_some_and(|ledger| ledger.rests());
        restarts_at_writes
            && rests
            && self.stream.is_idle()
            && self.stream.next() >= self.stream.data_end()
    }

    /// Returns true if a segment neither acknowledges new data nor changes the window.
    fn has_no_news(&self, segment: &Segment) -> bool {
        segment.ack == self.stream.una()
            && segment.sack.is_empty()
            && u64::from(segment.window) == self.peer.bytes()
    }

    /// Returns the next piece of data to send by the records, or none for now.
    #[inline(never)]
    pub fn poll_by_records(
        &mut self,
        now: Time,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) -> Option<Chunk> {
        let mut chunk = None;
        self.with_ledger(now, config, stats, |ledger, turn| chunk = ledger.poll(turn));
        chunk
    }

    /// Returns true if the segment of new data that leaves now carries PSH.
    #[inline]
    pub fn pushes(&self, now: Time) -> bool {
        let ledger = self.ledger.as_ref();
        ledger.is_some_and(|ledger| ledger.unit.is_pushed(now))
    }

    /// Handles an expired timer of the ledger.
    #[cold]
    pub fn handle_timeout_by_records(
        &mut self,
        now: Time,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        if self.timers.end_hold(now) {
            self.allowance.unblock();
        }
        if self.timers.deadline() > now || self.timers.is_persisting() {
            return;
        }
        self.allowance.unblock();
        self.timers.stop();
        self.with_ledger(now, config, stats, Ledger::on_timeout);
    }

    /// Handles the common case of an ACK while nothing is lost and nothing SACKed.
    #[inline(always)]
    pub fn on_ack_in_order(
        &mut self,
        now: Time,
        ack: u64,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        let flight = self.stream.next() - self.stream.una();
        let rtt = self.advance(now, ack, Clock::Sample, config, stats);
        self.forget_duplicates(config);
        self.restart_timer(now);
        self.grow(now, flight, rtt.0, rtt.1, config);
    }

    /// Resets the count of duplicate ACKs and its effects.
    #[inline]
    pub fn forget_duplicates(&mut self, config: &TcpConfig) {
        self.duplicates.forget();
        self.accounting.forget();
        self.allowance.allow_all();
        self.activity.ask(true);
        // INET lifts the guard. It has no SACK, and its Tahoe does not go back. Both need their
        // guard (RFC 6675 section 5.1).
        let lifts = config.details.new_ack_lifts_guard;
        if lifts && matches!(config.recovery, Recovery::Reno | Recovery::NewReno) {
            self.course.forget_point();
        }
    }

    /// Moves `una` to `ack`. Returns the bytes acknowledged and the sample taken, if any.
    #[inline(always)]
    pub fn advance(
        &mut self,
        now: Time,
        ack: u64,
        clock: Clock,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) -> (u64, Option<Span>) {
        let acked = ack - self.stream.una();
        stats.acked_bytes += self.stream.acknowledge(ack);
        self.activity.acknowledge(now);
        if ack == self.stream.max_sent() {
            self.allowance.forget_first();
        }
        let mut sample = None;
        if let Some(sent) = self.timing.end(ack, clock)
            && config.timestamps.is_none()
        {
            self.rtt.sample(&config.rto, sent, now);
            self.timing.note(now - sent);
            sample = Some(now - sent);
        }
        if config.timestamps.is_some() {
            sample = self.sample_echo(now, config);
        }
        (acked, sample)
    }

    /// Restarts the timer after a new ACK, or stops it when nothing is outstanding (RFC 6298 (5.2),
    /// (5.3)).
    #[inline]
    pub fn restart_timer(&mut self, now: Time) {
        self.timers.start(if self.stream.is_idle() {
            Time::MAX
        } else {
            now.saturating_add(self.rtt.rto())
        });
    }

    /// Lets the congestion control grow the window, if the window was used. `flight` is the number
    /// of bytes outstanding before the ACK.
    #[inline(always)]
    pub fn grow(
        &mut self,
        now: Time,
        flight: u64,
        acked: u64,
        rtt: Option<Span>,
        config: &TcpConfig,
    ) {
        self.window_use
            .note(flight, self.stream.una(), self.stream.next());
        let unused = config.details.grow_only_when_limited && !self.is_window_used(config);
        if unused || self.window_use.is_held() {
            self.observe(now, rtt, config);
            return;
        }
        let sample = AckSample {
            now,
            acked,
            rtt,
            after_timeout: self.course.goes_back(),
            acked_to: self.stream.una(),
            sent_to: self.stream.max_sent(),
            is_window_limited: true,
            ..AckSample::default()
        };
        if self.meter.is_some() {
            self.complete_later(sample, true);
        } else {
            self.controller.on_ack(&sample);
        }
    }

    /// Returns true if the window limited sending in the last round trip.
    #[inline]
    pub fn is_window_used(&self, config: &TcpConfig) -> bool {
        let cwnd = self.controller.cwnd();
        let control = &self.controller;
        // A control that sets the window in recovery has a slow start of its own.
        if cwnd < control.ssthresh() && !control.sets_window_in_recovery() {
            cwnd < 2 * self.window_use.peak()
        } else {
            cwnd < self.window_use.peak() + u64::from(config.mss)
        }
    }

    /// Passes an ACK to the congestion control that cannot change the window.
    #[cold]
    pub fn observe(&mut self, now: Time, rtt: Option<Span>, config: &TcpConfig) {
        let sample = AckSample {
            now,
            rtt,
            after_timeout: self.course.goes_back(),
            in_recovery: self.course.is_in_fast_recovery(),
            acked_to: self.stream.una(),
            sent_to: self.stream.max_sent(),
            is_window_limited: self.is_window_used(config),
            ..AckSample::default()
        };
        if self.meter.is_some() {
            self.complete_later(sample, false);
        } else {
            self.controller.observe(&sample);
        }
    }

    /// Takes the window of a segment, which ends the probes of a closed window. Returns true if the
    /// window changed.
    #[inline]
    pub fn update_window(&mut self, segment: &Segment) -> bool {
        let changed = self.peer.update(self.stream.una(), segment);
        if changed {
            self.timers.end_persisting();
        }
        changed
    }
}
