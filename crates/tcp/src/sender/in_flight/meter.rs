//! Measurements of single segments for a congestion control that needs them, while recovery goes by
//! sequence numbers. The meter observes what is sent and acknowledged. It decides nothing: with and
//! without it the same segments leave at the same times (`tests/endpoint/networks/one_recovery.rs`).

use goodqueue_types::{Segment, Span, Time};

use crate::cc::{AckSample, CongestionControl, Needs, SegmentSample};
use crate::config::{Recovery, TcpConfig};
use crate::sender::Sender;
use crate::sender::detection::rtt::MinRtt;
use crate::sender::in_flight::rate::DeliveryRate;
use crate::sender::in_flight::record::Record;
use crate::sender::in_flight::records::Records;
use crate::sender::pacing::{Pacer, burst};

/// Counts before an ACK, from which its [`SegmentSample`] is computed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before {
    in_flight: u32,
    delivered: u64,
    lost: u64,
}

impl Before {
    pub fn new(records: &Records, rate: &DeliveryRate) -> Self {
        Self {
            in_flight: records.in_flight(),
            delivered: rate.delivered(),
            lost: records.lost(),
        }
    }

    /// Returns the bytes that the ACK shows to be delivered and those that it shows to be lost.
    #[inline]
    pub fn news(&self, records: &Records, rate: &DeliveryRate, mss: u64) -> (u64, u64) {
        let delivered = (rate.delivered() - self.delivered) * mss;
        (delivered, (records.lost() - self.lost) * mss)
    }

    /// Returns the sample of the ACK, without its round-trip time and its one-way delay.
    pub fn sample(
        &self,
        now: Time,
        records: &Records,
        rate: &mut DeliveryRate,
        min_rtt: &MinRtt,
        mss: u64,
    ) -> SegmentSample {
        let least = min_rtt.get().unwrap_or(Span::ZERO);
        let (delivered, lost) = self.news(records, rate, mss);
        SegmentSample {
            delivered,
            lost,
            prior_in_flight: u64::from(self.in_flight) * mss,
            in_flight: u64::from(records.in_flight()) * mss,
            rate: rate.sample(now, least, records.lost(), mss),
            ..SegmentSample::default()
        }
    }
}

/// Effects of the present ACK on the segments.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    before: Before,
    /// Latest time of sending among the segments that were sent once and are delivered.
    newest: Option<Time>,
    una_advanced: bool,
    /// True if a retransmitted segment was cumulatively acknowledged.
    resent_acked: bool,
    /// Sample of the sender, without the segments, and true if the window may grow.
    sample: Option<(AckSample, bool)>,
    /// Count of lost segments when the control got the sample of this ACK.
    reported: Option<u64>,
}

/// Records of the outstanding segments, and the pace of a control that sets one.
#[derive(Debug)]
pub(crate) struct Meter {
    records: Records,
    rate: DeliveryRate,
    pub min_rtt: MinRtt,
    pacer: Pacer,
    seen: Seen,
    /// Segments that an ACK showed to be lost after the control got its sample. The next sample has
    /// them.
    unreported: u64,
    mss: u64,
    sack: bool,
    control_sets_window: bool,
}

impl Meter {
    /// Creates a meter if the control needs one and recovery keeps no records.
    pub fn if_needed(config: &TcpConfig, control: &impl CongestionControl) -> Option<Box<Self>> {
        let needs = control.needs();
        let asks = needs > Needs::Acks || control.sets_window_in_recovery();
        if !asks || config.records_segments() {
            return None;
        }
        Some(Box::new(Self {
            records: Records::new(needs == Needs::Rates),
            rate: DeliveryRate::new(needs == Needs::Rates),
            min_rtt: MinRtt::default(),
            pacer: Pacer::default(),
            seen: Seen::default(),
            unreported: 0,
            mss: u64::from(config.mss),
            sack: config.recovery == Recovery::Sack,
            control_sets_window: control.sets_window_in_recovery(),
        }))
    }

    /// Returns the bytes in flight.
    fn in_flight(&self) -> u64 {
        u64::from(self.records.in_flight()) * self.mss
    }

    /// Records the segments that an ACK shows to be delivered, before the sender handles it.
    fn take(&mut self, segment: &Segment, sender: &Sender) {
        self.seen = Seen {
            before: Before::new(&self.records, &self.rate),
            una_advanced: segment.ack > sender.stream.una(),
            ..Seen::default()
        };
        self.seen.before.lost -= self.unreported;
        self.unreported = 0;
        if self.sack {
            self.take_sack(segment, sender);
        } else if segment.ack == sender.stream.una()
            && segment.payload == 0
            && u64::from(segment.window) == sender.peer.bytes()
        {
            let before = self.records.sacked_out();
            self.records.count_duplicates(1);
            self.rate
                .count(self.records.sacked_out().saturating_sub(before));
        }
        if self.seen.una_advanced {
            self.take_cumulative(segment.ack, sender);
        }
    }

    /// Records the segments that SACK blocks newly report. Only whole segments count.
    fn take_sack(&mut self, segment: &Segment, sender: &Sender) {
        let floor = sender.stream.una().max(segment.ack);
        for (start, end) in segment.sack.ranges(segment.ack) {
            if start <= floor || end > sender.stream.max_sent() {
                continue;
            }
            for gap in sender.scoreboard.unsacked(start, end) {
                self.mark_sacked(gap, (start, end));
            }
        }
    }

    fn mark_sacked(&mut self, gap: (u64, u64), block: (u64, u64)) {
        let mut index = self.records.index_above(gap.0);
        while index < self.records.out() as usize && self.records.get(index).seq < gap.1 {
            let record = *self.records.get(index);
            if record.seq >= block.0 && record.end() <= block.1 && !record.is_sacked() {
                let snapshot = self.records.snapshot(index);
                self.rate.on_delivered(&record, snapshot);
                if !record.was_resent() {
                    self.seen.newest = self.seen.newest.max(Some(record.sent));
                }
                self.records.mark_sacked(index);
            }
            index += 1;
        }
    }

    fn take_cumulative(&mut self, ack: u64, sender: &Sender) {
        let sacked_before = self.records.sacked_out();
        let mut newest = None;
        let popped = self.records.remove_below(ack, |record, snapshot| {
            if record.was_resent() {
                self.seen.resent_acked = true;
            } else if !record.is_sacked() {
                newest = newest.max(Some(record.sent));
            }
            if !record.is_sacked() {
                self.rate.on_delivered(record, snapshot);
            }
        });
        if !self.seen.resent_acked {
            self.seen.newest = self.seen.newest.max(newest);
        }
        if self.records.is_empty() {
            self.records.forget_repetitions();
        }
        if !self.sack && popped > 0 {
            let eaten = self.records.remove_counted(popped, sacked_before);
            self.rate.uncount(eaten);
            if !sender.course.is_in_fast_recovery() {
                self.records.forget_counted();
            }
        }
    }

    /// Marks the segments lost that recovery considers lost.
    fn mark_lost(&mut self, sender: &Sender, config: &TcpConfig) {
        if !sender.course.is_in_fast_recovery() || self.records.is_empty() {
            return;
        }
        if self.sack {
            let below = sender.scoreboard.lost_below(
                config.details.sack_variant,
                config.duplicate_ack_threshold,
                config.mss,
            );
            self.records.mark_lost_below(below);
        }
        // Recovery has sent the first segment again, or will do so now.
        let first = *self.records.get(0);
        if !self.sack || sender.scoreboard.high_rxt() > first.seq {
            let is_due = !first.is_lost() && !first.was_resent();
            if is_due {
                self.records.mark_lost(0);
            }
        }
    }

    /// Marks every outstanding segment lost that is not SACKed, because everything is sent again.
    /// SACKed segments stay delivered, even if recovery forgets their reports.
    fn mark_all_lost(&mut self) {
        for index in 0..self.records.out() as usize {
            self.records.mark_lost(index);
        }
    }

    /// Completes the sample of an ACK that the sender has handled. Returns it and true if the control
    /// may set the window, or none if nothing was outstanding.
    fn finish(
        &mut self,
        now: Time,
        segment: &Segment,
        sender: &Sender,
        config: &TcpConfig,
    ) -> Option<(AckSample, bool)> {
        self.mark_lost(sender, config);
        if let Some(reported) = self.seen.reported {
            self.unreported = self.records.lost() - reported;
        }
        let (mut sample, grows) = self.seen.sample.take()?;
        self.seen.reported = Some(self.records.lost());
        let rtt = match self.seen.newest {
            Some(sent) => Some(now - sent),
            None => sender
                .timing
                .echoed_round_trip(now, config)
                .filter(|_| self.seen.una_advanced),
        };
        if let Some(rtt) = rtt {
            self.min_rtt.update(now, rtt);
        }
        let before = self.seen.before;
        let mut segments =
            before.sample(now, &self.records, &mut self.rate, &self.min_rtt, self.mss);
        segments.rtt = rtt;
        segments.one_way_delay_s = sender.timing.one_way_delay(segment, config);
        sample.segments = Some(segments);
        sample.pace_ahead = self.pacer.ahead(now);
        if self.control_sets_window {
            sample.acked = segments.delivered;
            sample.after_timeout = sender.course.goes_back();
            sample.in_recovery = sender.course.is_in_fast_recovery();
            sample.is_window_limited = sender.is_window_used(config);
        }
        Some((sample, grows || self.control_sets_window))
    }

    /// Records that `seq..end` leaves. Data below `max_sent` were sent before.
    fn on_sent(&mut self, now: Time, seq: u64, end: u64, max_sent: u64) {
        let idle = self.records.is_empty();
        let (in_flight, lost) = (self.records.in_flight(), self.records.lost());
        let snapshot = self.rate.snapshot(now, in_flight, lost, idle);
        let mut index = self.records.index_above(seq);
        while index < self.records.out() as usize && self.records.get(index).seq < end {
            if !self.records.get(index).is_sacked() {
                self.records
                    .resend(index, now, self.rate.delivered(), snapshot);
            }
            index += 1;
        }
        let seq = seq.max(max_sent);
        if end > seq {
            let record = Record::new(seq, (end - seq) as u32, now, self.rate.delivered());
            self.records.push(record, snapshot);
        }
    }
}

impl Sender {
    /// Handles an ACK as [`apply_ack`](Self::apply_ack), and measures the segments that it delivers.
    #[cold]
    pub fn on_measured_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        config: &TcpConfig,
        stats: &mut crate::connection::stats::TcpStats,
    ) {
        self.with_meter(|meter, sender| meter.take(segment, sender));
        self.apply_ack(now, segment, config, stats);
        self.deliver_sample(now, segment, config);
    }

    /// Gives a control whose window recovery sets the sample of an ACK that also shows a loss. The
    /// control gets the sample before the loss, as one without measurements does.
    pub fn deliver_before_loss(&mut self, now: Time, segment: &Segment, config: &TcpConfig) {
        if self
            .meter
            .as_ref()
            .is_some_and(|meter| !meter.control_sets_window)
        {
            self.deliver_sample(now, segment, config);
        }
    }

    /// Completes the sample of an ACK and gives it to the control, at most once an ACK.
    #[cold]
    fn deliver_sample(&mut self, now: Time, segment: &Segment, config: &TcpConfig) {
        let sample = self.with_meter(|meter, sender| meter.finish(now, segment, sender, config));
        self.report_measured_losses(now);
        let Some((sample, grows)) = sample.flatten() else {
            return;
        };
        if grows {
            self.controller.on_ack(&sample);
        } else {
            self.controller.observe(&sample);
        }
    }

    /// Gives the control the segments marked lost since the last call.
    fn report_measured_losses(&mut self, now: Time) {
        let Some(meter) = &mut self.meter else {
            return;
        };
        for loss in meter.records.take_losses() {
            let segment = meter.rate.lost_segment(now, &loss, meter.mss);
            self.controller.on_lost(&segment);
        }
    }

    /// Calls `call` with the meter, if there is one.
    fn with_meter<T>(&mut self, call: impl FnOnce(&mut Meter, &mut Self) -> T) -> Option<T> {
        let mut meter = self.meter.take()?;
        let answer = call(&mut meter, self);
        self.meter = Some(meter);
        Some(answer)
    }

    /// Keeps a sample of the present ACK until the measurements of its segments are complete.
    #[cold]
    pub fn complete_later(&mut self, sample: AckSample, grows: bool) {
        if let Some(meter) = &mut self.meter {
            meter.seen.sample = Some((sample, grows));
        }
    }

    /// Records that everything outstanding is lost, because go-back-N sends it again.
    pub fn measure_go_back(&mut self, now: Time) {
        if let Some(meter) = &mut self.meter {
            meter.mark_all_lost();
            self.report_measured_losses(now);
        }
    }

    /// Records that `seq..end` leaves, and passes it to the pacer.
    #[cold]
    pub fn measure_sending(&mut self, now: Time, seq: u64, end: u64) {
        let (max_sent, control) = (self.stream.max_sent(), &self.controller);
        let payload = (end - seq) as u32;
        if let Some(meter) = &mut self.meter {
            meter.on_sent(now, seq, end, max_sent);
            if let Some(rate) = control.pacing_rate() {
                let burst = burst(control, rate, payload);
                meter.pacer.on_sent(now, rate, burst, payload);
            }
        }
    }

    /// Returns true if the pace of the control holds the next segment back, and sets the time until
    /// which it does.
    #[cold]
    pub fn is_held_back(&mut self, now: Time) -> bool {
        let held_until = self
            .meter
            .as_ref()
            .map_or(Time::MAX, |meter| meter.pacer.held_until(now));
        self.timers.hold_until(held_until);
        held_until != Time::MAX
    }

    /// Records that the application has no more data, so that it limits the deliveries from now on.
    #[cold]
    pub fn measure_silence(&mut self) {
        let has_data = self.stream.next() < self.stream.data_end();
        let window = self.controller.cwnd();
        if let Some(meter) = &mut self.meter
            && !has_data
            && meter.in_flight() + meter.mss <= window
        {
            let in_flight = meter.records.in_flight();
            meter.rate.limit_by_application(in_flight);
        }
    }
}
