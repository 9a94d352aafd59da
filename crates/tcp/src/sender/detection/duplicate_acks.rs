//! Loss detection and repair, the same for all congestion controls: duplicate ACKs, fast
//! retransmit, Tahoe, Reno, NewReno (RFC 6582), SACK (RFC 6675) and timeouts (RFC 5681, RFC 6298).

use goodqueue_types::{Segment, SegmentFlags, Time};

use crate::cc::{CongestionControl, CongestionEvent, CongestionSignal};
use crate::config::{
    DecreaseBasis, DuplicateAckRule, DuplicateAcksAtTimeout, FastRetransmitGuard, PartialAckTimer,
    Recovery, RecoveryExit, SackVariant, TcpConfig, TimingRule,
};
use crate::connection::stats::{Phase, TcpStats};
use crate::sender::Sender;
use crate::sender::detection::timing::Clock;
use crate::sender::stream::FIRST;

impl Sender {
    /// Handles an ACK of new data while data are lost, SACKed or being repaired.
    pub fn on_new_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        let ack = segment.ack;
        let mut news = false;
        if config.recovery == Recovery::Sack {
            self.scoreboard.remove_below(ack);
            news = self.scoreboard.update(segment, ack, self.stream.max_sent()) > 0;
        }
        match (self.course.phase(), config.recovery) {
            (Phase::FastRecovery, Recovery::NewReno | Recovery::Sack)
                if ack < self.course.point() =>
            {
                self.on_partial_ack(now, ack, config, stats);
            }
            (Phase::FastRecovery, _) => self.leave_fast_recovery(now, ack, config, stats),
            _ => {
                self.on_ack_outside_recovery(now, ack, config, stats);
                if news && config.details.sack_variant == SackVariant::Rfc6675 {
                    // RFC 6675 section 2: an ACK of new data that reports more is a duplicate, too.
                    self.deliver_before_loss(now, segment, config);
                    self.count_duplicate_ack(now, config, stats);
                }
            }
        }
    }

    /// Handles an ACK in the open state with SACKed data above it, or in go-back-N.
    fn on_ack_outside_recovery(
        &mut self,
        now: Time,
        ack: u64,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        self.on_ack_in_order(now, ack, config, stats);
        let rfc6675 = config.details.sack_variant == SackVariant::Rfc6675;
        if !rfc6675 {
            self.scoreboard.clear();
        }
        if self.course.goes_back()
            && ack >= self.course.point()
            && self.stream.next() == self.stream.max_sent()
        {
            self.course.enter(Phase::Open);
            if config.recovery == Recovery::Sack && rfc6675 {
                // RFC 6675 section 5.1: recovery may start again from HighACK = RecoveryPoint on.
                self.course.forget_point();
            }
        }
        self.count_sacked_data(config);
    }

    /// Handles an ACK of a part of the data outstanding at the start of recovery, which shows the
    /// next hole.
    fn on_partial_ack(&mut self, now: Time, ack: u64, config: &TcpConfig, stats: &mut TcpStats) {
        let details = &config.details;
        let was_timing = self.timing.is_running();
        let clock = match details.timing {
            TimingRule::Anything => Clock::Sample,
            _ if config.recovery == Recovery::Sack => Clock::Keep,
            _ => Clock::Stop,
        };
        let (acked, rtt) = self.advance(now, ack, clock, config, stats);
        self.observe(now, rtt, config);
        self.allowance.allow_all();
        if config.recovery == Recovery::Sack {
            self.restart_timer(now);
            if details.sack_variant == SackVariant::Ns2Sack1 {
                self.accounting.add_pipe(-2 * i64::from(config.mss));
                self.rtt.end_backoff(&config.rto);
            } else {
                self.set_pipe(config);
            }
            return;
        }
        let is_first = self.course.note_partial_ack();
        if details.partial_ack_timer == PartialAckTimer::Every || is_first {
            self.restart_timer(now);
        }
        if details.partial_ack_resets_duplicates {
            self.duplicates.reset();
        }
        if was_timing && !self.timing.is_running() {
            self.rtt.end_backoff(&config.rto);
        }
        self.deflate(acked, config);
        self.allowance.repeat_first();
        self.allowance
            .allow(details.recovery_burst.unwrap_or(u32::MAX));
    }

    /// Deflates the window after a partial ACK (RFC 6582 section 3.2 step 3): subtracts the data
    /// that left the network and adds a segment for the one that leaves now.
    fn deflate(&mut self, acked: u64, config: &TcpConfig) {
        let mss = i64::from(config.mss);
        let acked = acked as i64;
        if config.details.partial_ack_ends_inflation {
            self.accounting.set_extra(0);
            return;
        }
        if config.details.recovery_exit == RecoveryExit::Unchanged
            && self.accounting.extra() <= acked
        {
            // ns-2 subtracts from the window itself what the inflation does not cover.
            let window = self.controller.window() - (acked - self.accounting.extra()) as f64;
            self.controller
                .set_window(window.max(f64::from(config.mss)));
            self.accounting.set_extra(mss);
            return;
        }
        self.accounting.add_extra(-acked);
        if acked >= mss {
            self.accounting.add_extra(mss);
        }
    }

    /// Ends fast recovery with this ACK.
    fn leave_fast_recovery(
        &mut self,
        now: Time,
        ack: u64,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        let details = &config.details;
        let flight = self.stream.next() - self.stream.una();
        let (acked, rtt) = self.advance(now, ack, Clock::Sample, config, stats);
        self.controller.on_recovery_exit(now);
        self.restart_timer(now);
        let point = self.course.point();
        self.forget_duplicates(config);
        self.course.set_point(point);
        // Reno stays in go-back-N if a timeout did not end its recovery.
        self.leave_recovery();
        if config.recovery == Recovery::Sack {
            self.course.forget_point();
            if details.sack_variant == SackVariant::Ns2Sack1 {
                self.scoreboard.clear();
            }
            self.count_sacked_data(config);
            self.observe(now, rtt, config);
            return;
        }
        if self.controller.sets_window_in_recovery() {
            self.observe(now, rtt, config);
            return;
        }
        let mss = u64::from(config.mss);
        let ssthresh = self.controller.ssthresh();
        let left = self.in_flight();
        let newreno = config.recovery == Recovery::NewReno;
        let grows = matches!(
            details.recovery_exit,
            RecoveryExit::Unchanged | RecoveryExit::SsthreshAndGrowth
        );
        match details.recovery_exit {
            RecoveryExit::Unchanged => self.grow(now, flight, acked, rtt, config),
            RecoveryExit::FlightPlusOne if newreno => {
                self.controller
                    .set_window(ssthresh.min(left.max(mss) + mss) as f64);
            }
            RecoveryExit::BareFlightPlusOne if newreno => {
                self.controller.set_window(ssthresh.min(left + mss) as f64);
            }
            RecoveryExit::SsthreshAndGrowth => {
                self.controller.set_window(ssthresh as f64);
                self.grow(now, flight, acked, rtt, config);
            }
            _ => self.controller.set_window(ssthresh as f64),
        }
        if !grows {
            self.observe(now, rtt, config);
        }
    }

    /// Leaves fast recovery for go-back-N if that is under way, otherwise for the open phase.
    fn leave_recovery(&mut self) {
        let goes_back = self.stream.next() < self.stream.max_sent();
        self.course.enter(if goes_back {
            Phase::GoBackN
        } else {
            Phase::Open
        });
    }

    /// Handles an ACK that acknowledges nothing new.
    #[cold]
    pub fn on_old_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        same_window: bool,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        if config.recovery == Recovery::Sack {
            self.on_old_ack_with_sack(now, segment, config, stats);
        } else if self.is_duplicate(segment, same_window, config) {
            self.on_duplicate_ack(now, config, stats);
        } else if config.details.duplicate_acks == DuplicateAckRule::NoPayload {
            self.forget_run_of_duplicates(config);
        }
        if segment.ack == self.stream.una() {
            self.observe(now, None, config);
        }
    }

    fn is_duplicate(&self, segment: &Segment, same_window: bool, config: &TcpConfig) -> bool {
        if segment.ack != self.stream.una() || self.stream.is_idle() || self.timers.is_persisting()
        {
            return false;
        }
        let bare = segment.payload == 0
            && segment.flags.0 & (SegmentFlags::SYN.0 | SegmentFlags::FIN.0) == 0;
        match config.details.duplicate_acks {
            DuplicateAckRule::Rfc5681 => bare && same_window,
            DuplicateAckRule::NoPayload => bare,
            DuplicateAckRule::Any => true,
        }
    }

    /// Resets the count of duplicate ACKs (INET). INET's Reno is in recovery while the count is
    /// three or more, and so keeps the inflated window.
    fn forget_run_of_duplicates(&mut self, config: &TcpConfig) {
        self.duplicates.reset();
        if self.course.is_in_fast_recovery() && config.recovery == Recovery::Reno {
            self.controller.set_window(self.inflated_window());
            self.accounting.set_extra(0);
            self.leave_recovery();
        }
    }

    /// Handles a duplicate ACK without SACK information.
    fn on_duplicate_ack(&mut self, now: Time, config: &TcpConfig, stats: &mut TcpStats) {
        self.duplicates.add(1);
        self.allowance.allow_all();
        self.activity
            .ask(self.duplicates.count() >= config.duplicate_ack_threshold);
        if self.course.is_in_fast_recovery() {
            // RFC 5681 section 3.2 step 4: a segment has left the network.
            if self.duplicates.count() > config.duplicate_ack_threshold {
                self.accounting.add_extra(i64::from(config.mss));
            }
            if config.recovery == Recovery::NewReno {
                self.allowance
                    .allow(config.details.recovery_burst.unwrap_or(u32::MAX));
            }
        } else if self.duplicates.count() == config.duplicate_ack_threshold {
            self.accounting.set_extra(0);
            if self.may_retransmit_fast(config) {
                self.enter_fast_recovery(now, config, stats);
            }
        } else if self.duplicates.count() < config.duplicate_ack_threshold {
            self.limited_transmit(config);
        }
    }

    /// Extends the window by the segments that have left the network (RFC 3042).
    pub fn limited_transmit(&mut self, config: &TcpConfig) {
        let old_data = config.details.limited_transmit_old_data;
        if !config.limited_transmit || (self.course.goes_back() && !old_data) {
            return;
        }
        self.accounting
            .set_extra(i64::from(self.duplicates.count()) * i64::from(config.mss));
        self.allowance.allow(1);
    }

    pub fn may_retransmit_fast(&self, config: &TcpConfig) -> bool {
        let guard = config.details.fast_retransmit_guard;
        // ns-2's guard does not apply while only the SYN is acknowledged.
        let first_segment = self.stream.una() == FIRST && guard == FastRetransmitGuard::Always;
        let covers_more = self.stream.una() > self.course.point() || first_segment;
        match config.recovery {
            Recovery::NewReno => covers_more,
            Recovery::Sack => covers_more || self.course.point() == 0,
            // Tahoe goes back N after a fast retransmit too. The segments that it sends again in
            // vain are answered by duplicate ACKs, which must not start another fast retransmit. So
            // Tahoe always has a guard.
            Recovery::Tahoe if guard != FastRetransmitGuard::Always => covers_more,
            Recovery::Tahoe | Recovery::Reno => match guard {
                FastRetransmitGuard::Never => true,
                FastRetransmitGuard::AfterTimeout => self.course.is_open(),
                FastRetransmitGuard::Always => covers_more,
            },
        }
    }

    /// Starts a fast retransmit and, except with Tahoe, fast recovery (RFC 5681 section 3.2, RFC
    /// 6675 section 5 step 4).
    pub fn enter_fast_recovery(&mut self, now: Time, config: &TcpConfig, stats: &mut TcpStats) {
        stats.fast_retransmits += 1;
        let details = &config.details;
        let mut basis = self.decrease_basis(config);
        if self.course.goes_back() && details.decrease_basis == DecreaseBasis::FlightSize {
            // Data that go-back-N has not sent again yet are not in flight.
            basis = basis.min((self.stream.next() - self.stream.una()) as f64);
        }
        let event = CongestionEvent {
            now,
            basis,
            ..CongestionEvent::default()
        };
        self.course.set_point(self.stream.max_sent());
        self.course.forget_partial_acks();
        self.accounting.forget_limited();
        if details.timing != TimingRule::Anything {
            self.timing.stop();
        }
        if details.fast_retransmit_restarts_timer {
            self.restart_timer(now);
        }
        if config.recovery == Recovery::Tahoe {
            self.measure_go_back(now);
            self.controller.on_retransmission_timeout(Some(&event));
            self.go_back(config);
            return;
        }
        self.controller.on_congestion_event(&event);
        self.course.enter(Phase::FastRecovery);
        self.allowance.repeat_first();
        match config.recovery {
            Recovery::Sack => self.start_sack_recovery(config),
            _ => self
                .accounting
                .set_extra(i64::from(config.duplicate_ack_threshold) * i64::from(config.mss)),
        }
        if config.recovery == Recovery::NewReno {
            self.allowance
                .allow(details.recovery_burst.unwrap_or(u32::MAX));
        }
    }

    /// Handles an ECN echo in an ACK of `ack` (RFC 3168 section 6.1.2). The window falls as for a
    /// loss, and nothing is sent again. While losses are repaired the window has fallen already.
    /// Returns true if the window falls.
    pub fn on_ecn_echo(&mut self, now: Time, ack: u64, config: &TcpConfig) -> bool {
        if let Some(ledger) = &mut self.ledger {
            // The ledger handles the ACK next. If the ACK ends a reduction, it begins the next one.
            return ledger.episode.note_echo(ack);
        }
        if !self.course.is_open() {
            return false;
        }
        let event = CongestionEvent {
            now,
            basis: self.decrease_basis(config),
            signal: CongestionSignal::EcnEcho,
            kept: self.kept_at_echo(config),
        };
        self.controller.on_congestion_event(&event);
        true
    }

    /// Returns the share of the window that an ECN echo leaves, if the control does not decide: only
    /// in congestion avoidance (RFC 8511 section 3.1).
    pub fn kept_at_echo(&self, config: &TcpConfig) -> Option<f64> {
        let avoids = self.controller.cwnd() >= self.controller.ssthresh();
        config.beta_ecn.filter(|_| avoids)
    }

    /// Sends everything from `una` on again, by slow start.
    fn go_back(&mut self, config: &TcpConfig) {
        self.course.enter(Phase::GoBackN);
        self.stream.go_back();
        self.accounting.set_extra(0);
        self.allowance.allow_all();
        self.allowance.repeat_first();
        if config.details.timeout_clears_scoreboard {
            self.scoreboard.clear();
        }
    }

    /// Returns the quantity that a loss halves.
    pub fn decrease_basis(&self, config: &TcpConfig) -> f64 {
        let outstanding = self.in_flight();
        let window = self.peer.bytes() as f64;
        match config.details.decrease_basis {
            DecreaseBasis::FlightSize if self.controller.lowers_window() => {
                self.flight_size().min(self.controller.window())
            }
            DecreaseBasis::FlightSize => self.flight_size(),
            DecreaseBasis::Outstanding => outstanding as f64,
            DecreaseBasis::LessDuplicates => {
                let left = u64::from(self.duplicates.count()) * u64::from(config.mss);
                outstanding.saturating_sub(left) as f64
            }
            DecreaseBasis::CongestionWindow => self.controller.window(),
            DecreaseBasis::Window => self.controller.window().min(window),
            DecreaseBasis::InflatedWindow => self.inflated_window().min(window),
        }
    }

    /// Returns the quantity that a timeout halves. SACKed data have left the network and are not
    /// part of the flight. When a retransmission is lost, recovery continues to send new data until
    /// the timer expires. Half of all these data would let the next slow start overshoot again.
    fn timeout_basis(&self, config: &TcpConfig) -> f64 {
        if config.details.decrease_basis == DecreaseBasis::FlightSize {
            let basis = self.flight_size();
            // Each SACKed segment let one leave by limited transmit, which is already subtracted.
            let sacked = self.scoreboard.sacked_bytes();
            let without_sack = self.inflation().max(0) as u64;
            let left = sacked.max(without_sack);
            (basis - left.saturating_sub(self.accounting.limited_transmitted()) as f64).max(0.0)
        } else {
            self.decrease_basis(config)
        }
    }

    /// Returns the outstanding data except those of limited transmit (RFC 5681 section 3.2).
    fn flight_size(&self) -> f64 {
        self.in_flight()
            .saturating_sub(self.accounting.limited_transmitted()) as f64
    }

    pub fn inflated_window(&self) -> f64 {
        (self.controller.window() + self.accounting.extra() as f64).max(0.0)
    }

    /// Handles a retransmission timeout (RFC 6298 (5.4)–(5.6), RFC 5681 section 3.1): ssthresh
    /// falls, the window is one segment, and everything from `una` on is sent again.
    pub fn on_retransmission_timeout(
        &mut self,
        now: Time,
        config: &TcpConfig,
        stats: &mut TcpStats,
    ) {
        stats.timeouts += 1;
        let details = &config.details;
        let repeated = self.course.has_timed_out_at(self.stream.una());
        let lowers = details.every_timeout_lowers_ssthresh || !repeated;
        let event = CongestionEvent {
            now,
            basis: self.timeout_basis(config),
            ..CongestionEvent::default()
        };
        self.measure_go_back(now);
        self.controller
            .on_retransmission_timeout(lowers.then_some(&event));
        self.course.note_timeout(self.stream.una());
        self.course.set_point(self.stream.max_sent());
        let keeps_recovery = details.duplicate_acks_at_timeout == DuplicateAcksAtTimeout::Kept
            && config.recovery == Recovery::Reno
            && self.course.is_in_fast_recovery();
        self.go_back(config);
        if keeps_recovery {
            self.course.enter(Phase::FastRecovery);
        }
        let forgets = match details.duplicate_acks_at_timeout {
            DuplicateAcksAtTimeout::Forgotten => true,
            DuplicateAcksAtTimeout::KeptByTahoe => config.recovery != Recovery::Tahoe,
            DuplicateAcksAtTimeout::Kept => false,
        };
        if forgets {
            self.duplicates.reset();
        }
        self.accounting.forget_limited();
        self.duplicates
            .ignore(details.sack_variant == SackVariant::Ns2Sack1);
        self.timing.stop();
        self.activity.send(now);
        self.rtt.back_off(&config.rto);
        self.timers.set(now.saturating_add(self.rtt.rto()));
    }
}
