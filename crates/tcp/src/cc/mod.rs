//! Congestion control. It only decides windows and rates. The sender detects losses and repairs
//! them.

pub mod conformance;
mod delay;
mod loss;
mod marks;
mod python;
mod rate;
mod slow_start;
#[cfg(test)]
mod testbed;
mod window;

use goodqueue_types::parameters::{Key, Kind, REQUIRED, integer, key, number};
use goodqueue_types::{Rate, Span, Time, variants};
use std::fmt;
use std::sync::Arc;

pub use delay::ledbat::{Ledbat, LedbatConfig};
pub use delay::vegas::{Vegas, VegasConfig, VegasVariant};
pub use loss::cubic::{Cubic, CubicConfig};
pub use loss::gaimd::{Gaimd, GaimdConfig};
pub use loss::illinois::{Illinois, IllinoisConfig};
pub use loss::reno::Reno;
pub use loss::scalable::{Scalable, ScalableConfig};
pub use loss::westwood::{Westwood, WestwoodConfig};
pub use marks::dctcp::{Dctcp, DctcpConfig};
pub use marks::prague::{Prague, PragueConfig};
pub use python::PythonConfig;
pub use rate::bbr::{Bbr, BbrConfig};
pub use rate::bbr3::{Bbr3, Bbr3Config};
pub use window::Window;

use crate::config::{SlowStart, TcpConfig};

/// Measurements that a congestion control needs. They change what an [`AckSample`] contains, and
/// never which segments the sender sends or considers lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// The acknowledged bytes, and a round-trip time when the retransmission timer takes one.
    #[default]
    Acks,
    /// The fate of each segment in addition: [`SegmentSample`].
    Segments,
    /// Delivery rates in addition: [`SegmentSample::rate`].
    Rates,
}

/// Information of an ACK for a congestion control. Byte counts are of payload. Every sender fills
/// each field as described here, whatever its recovery is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AckSample {
    /// Time at which the ACK arrived.
    pub now: Time,
    /// Bytes by which the window may grow. Without records of segments these are the bytes newly
    /// acknowledged in order (RFC 3465), with records the segments newly delivered (Linux). 0 if
    /// the window may not grow, for example because it was not used.
    pub acked: u64,
    /// Round-trip time, if this ACK completed a measurement. The profile's rule of timing selects
    /// the segments that are measured. With records of segments or with timestamps all are.
    pub rtt: Option<Span>,
    /// True if the sender repairs losses by go-back-N (byte counting then takes L = 1).
    pub after_timeout: bool,
    /// True if the sender is in fast recovery. Only controls that [set the window in
    /// recovery](CongestionControl::sets_window_in_recovery) see such ACKs in
    /// [`on_ack`](CongestionControl::on_ack), the others in
    /// [`observe`](CongestionControl::observe).
    pub in_recovery: bool,
    /// Time until the pace allows the next segment.
    pub pace_ahead: Span,
    /// Acknowledgement number. A round trip has passed when it reaches an earlier value of
    /// `sent_to`.
    pub acked_to: u64,
    /// Highest sequence number sent.
    pub sent_to: u64,
    /// True if the window limited sending, false if the application did. The profile's rule of
    /// window validation decides (RFC 5681 and RFC 7661, or Linux's rule with records of segments).
    pub is_window_limited: bool,
    /// Measurements of single segments. A control of the caller gets them if it
    /// [needs](CongestionControl::needs) them or if recovery keeps records of segments. A built-in
    /// one gets them only if it needs them.
    pub segments: Option<SegmentSample>,
}

/// Fate of the segments of which an ACK brings information. Bytes are those of as many full
/// segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SegmentSample {
    /// Round-trip time of the newest segment that this ACK shows to be delivered. None if only
    /// retransmitted segments were delivered and there are no timestamps (Karn).
    pub rtt: Option<Span>,
    /// Bytes that this ACK shows to be delivered, in order or selectively.
    pub delivered: u64,
    /// Bytes that the sender considers lost since the ACK before.
    pub lost: u64,
    /// Bytes in flight before this ACK.
    pub prior_in_flight: u64,
    /// Bytes in flight after this ACK.
    pub in_flight: u64,
    /// Delivery rate, if the control needs it and the interval is long enough.
    pub rate: Option<RateSample>,
    /// Change of the one-way delay, in seconds, with an unknown offset. None without timestamps.
    pub one_way_delay_s: Option<f64>,
}

impl AckSample {
    /// Returns the measurements of segments. A control that needs them gets them with every ACK.
    pub fn measured(&self) -> &SegmentSample {
        static NONE: SegmentSample = SegmentSample {
            rtt: None,
            delivered: 0,
            lost: 0,
            prior_in_flight: 0,
            in_flight: 0,
            rate: None,
            one_way_delay_s: None,
        };
        self.segments.as_ref().unwrap_or(&NONE)
    }
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr section 4.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Bytes delivered over the interval.
    pub delivered: u64,
    /// The longer of the sending interval and the ACK interval.
    pub interval: Span,
    /// Total of delivered bytes when the packet just acknowledged was sent.
    pub prior_delivered: u64,
    /// Total of delivered bytes now.
    pub total_delivered: u64,
    /// Bytes in flight when that packet was sent, with the packet.
    pub in_flight_at_send: u64,
    /// Bytes lost between that packet's sending and now.
    pub lost: u64,
    /// True if the application limited sending over the interval, false if the window did.
    pub is_app_limited: bool,
}

impl RateSample {
    /// Returns the bytes per second, or 0 if the interval is zero.
    pub fn bandwidth(&self) -> f64 {
        if self.interval == Span::ZERO {
            return 0.0;
        }
        self.delivered as f64 / self.interval.as_secs_f64()
    }
}

/// A segment whose last transmission is thought to be lost (draft-ietf-ccwg-bbr section 5.5.10.2).
/// Byte counts are of as many full segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSegment {
    /// Time at which the sender noticed the loss.
    pub now: Time,
    /// First sequence number of the segment.
    pub seq: u64,
    /// Sequence number after the segment.
    pub end: u64,
    /// Size of the segment.
    pub bytes: u64,
    /// Bytes in flight when it was sent, with the segment.
    pub in_flight_at_send: u64,
    /// Bytes lost since it was sent, with the segment.
    pub lost: u64,
    /// Total of delivered bytes now.
    pub total_delivered: u64,
    /// True if the application limited sending when it was sent.
    pub is_app_limited: bool,
}

/// Information of an ACK about marks, on a connection with ECN (RFC 8257 section 3.3). Byte counts
/// are of payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkSample {
    /// Bytes newly acknowledged in order.
    pub acked: u64,
    /// Bytes that the receiver reports as marked with congestion experienced (DCTCP, `AccECN`).
    pub marked: u64,
    /// Acknowledgement number.
    pub acked_to: u64,
    /// Highest sequence number sent.
    pub sent_to: u64,
}

/// Signal that requires a smaller window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CongestionSignal {
    /// A lost segment.
    #[default]
    Loss,
    /// An ECN echo (RFC 3168).
    EcnEcho,
}

/// A loss or mark that requires a smaller window.
#[derive(Clone, Copy, Debug, Default)]
pub struct CongestionEvent {
    /// Time at which the sender noticed it.
    pub now: Time,
    /// Bytes from which the decrease is computed (see `DecreaseBasis`).
    pub basis: f64,
    /// Signal of the event.
    pub signal: CongestionSignal,
    /// Share of `basis` that remains, if the signal decides and not the control (RFC 8511).
    pub kept: Option<f64>,
}

impl CongestionEvent {
    /// Returns the basis less the decrease, for a control whose loss events leave `share` of it.
    pub fn decreased(&self, share: f64) -> f64 {
        self.basis * self.kept.unwrap_or(share)
    }
}

/// The state is not printed: otherwise the code that prints all of them would be a part of every
/// program.
impl fmt::Debug for dyn CongestionControl + Send {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a congestion control")
    }
}

/// A congestion control. Windows are in bytes.
pub trait CongestionControl {
    /// Handles an ACK after which the control sets the window. Each ACK while data are outstanding
    /// is passed either to this method or to [`observe`](Self::observe).
    fn on_ack(&mut self, sample: &AckSample);
    /// Lowers ssthresh, and the window to it, after duplicate or selective ACKs showed a loss.
    fn on_congestion_event(&mut self, event: &CongestionEvent);
    /// Sets the window to one segment after a retransmission timeout. An event
    /// lowers ssthresh; it stays if there is none, because the same data timed out again.
    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>);
    /// Returns the congestion window without recovery's inflation. It is a real number in some
    /// profiles.
    fn window(&self) -> f64;
    /// Sets the window at the end of recovery, after an idle time, or to the initial window.
    fn set_window(&mut self, bytes: f64);
    /// Returns the slow-start threshold, `u64::MAX` while unlimited.
    fn ssthresh(&self) -> u64;
    /// Sets the slow-start threshold.
    fn set_ssthresh(&mut self, bytes: u64);
    /// Makes the flow begin between two losses, before its first data. The last loss is assumed at a
    /// window of `peak` bytes, and `phase` is the share of the time until the return to that window
    /// that has passed. A control that does not keep a share of its window at a loss ignores the
    /// call.
    fn begin_between_losses(&mut self, _peak: f64, _phase: f64) {}
    /// Returns the window in whole bytes.
    fn cwnd(&self) -> u64 {
        self.window() as u64
    }
    /// Returns the pacing rate, if the control paces.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// Returns the smallest number of segments that leave back to back if sending is paced (Linux:
    /// `min_tso_segs`).
    fn least_burst(&self) -> u32 {
        2
    }
    /// Returns the segments that leave back to back, if sending is paced and the control limits the
    /// duration of a burst. Otherwise a burst lasts about a millisecond, as in Linux.
    fn burst(&self) -> Option<u32> {
        None
    }
    /// Handles the result of the negotiation of ECN: `counts_marks` is true if the peer counts marks
    /// (RFC 9768).
    fn on_feedback(&mut self, _counts_marks: bool) {}
    /// Handles an ACK that cannot change the window, because recovery or a reduction sets it or it
    /// was not used. A control may still take measurements from it.
    fn observe(&mut self, _sample: &AckSample) {}
    /// Handles the marks of an ACK on a connection with ECN. It is called in every state of the
    /// sender and before anything else handles the ACK, so that a reduction caused by the marks
    /// uses them.
    fn on_marks(&mut self, _sample: &MarkSample) {}
    /// Handles a lost segment, before the sample of the ACK or before the timeout that shows the
    /// loss. Only a control that needs [`Needs::Rates`] gets them.
    fn on_lost(&mut self, _segment: &LostSegment) {}
    /// Handles the end of recovery: all bytes that were outstanding at its start are acknowledged.
    fn on_recovery_exit(&mut self, _now: Time) {}
    /// Restores the values before the last congestion event or timeout, which was spurious.
    fn on_undo(&mut self, _now: Time) {}
    /// Handles the sending of new data. `_idle` is true if nothing was outstanding.
    fn on_send(&mut self, _now: Time, _idle: bool) {}
    /// Returns true if the control sets the window in fast recovery too and sees every ACK there
    /// (BBR). Otherwise recovery decides how much may be sent until it ends.
    fn sets_window_in_recovery(&self) -> bool {
        false
    }
    /// Returns the measurements that the control needs.
    fn needs(&self) -> Needs {
        Needs::Acks
    }
    /// Returns true if a loss takes a share of the window (Floyd, Handley and Padhye 2000 of
    /// `gaimd`, Kelly 2003 of `scalable`), false if of the bytes in flight, as in RFC 5681 and RFC
    /// 9438.
    fn lowers_window(&self) -> bool {
        false
    }
}

/// A congestion control that is defined outside this crate. Two are equal if they are copies of one.
#[derive(Clone)]
pub struct CustomControl {
    /// Name in results.
    pub name: &'static str,
    /// Returns the control of a new connection.
    pub make: MakeControl,
}

/// Factory of a control for each new connection.
pub type MakeControl = Arc<dyn Fn(&TcpConfig) -> Box<dyn CongestionControl + Send> + Send + Sync>;

impl fmt::Debug for CustomControl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("CustomControl");
        shown.field("name", &self.name).finish_non_exhaustive()
    }
}

impl CustomControl {
    /// Creates a control by its name in results and its factory.
    pub fn new(
        name: &'static str,
        make: impl Fn(&TcpConfig) -> Box<dyn CongestionControl + Send> + Send + Sync + 'static,
    ) -> Self {
        let make = Arc::new(make);
        Self { name, make }
    }

    /// Returns the name in results.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl PartialEq for CustomControl {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.make, &other.make)
    }
}

/// Returns the configured control, for a control of the caller's that contains it.
pub fn built_in(config: &TcpConfig) -> Box<dyn CongestionControl + Send> {
    Box::new(Controller::new(config))
}

/// Key of the controls in scenario files.
const KIND: Key = key(
    "kind",
    Kind::Choice(CongestionControlConfig::WORDS),
    REQUIRED,
    "cubic",
    "The congestion control.",
);

/// Key for a share that is neither nothing nor all.
pub(crate) const SHARE: Key = number(0.001, 0.999);

/// Key for the seed of a control's own draws.
pub(crate) const SEED: Key = integer(0, u64::MAX >> 1).example("1");

/// Generates the parameters, the state and the dispatch of all controls from one list. Three are
/// added to it: `Reno`, which has no parameters, `Python`, which has no state here, and `Custom`,
/// which no file can name.
macro_rules! controls {
    ($d:tt $($(#[$doc:meta])* $kind:ident = $word:literal($state:ty, $config:ty),)+) => {
        variants! {
            /// Congestion controls by their usual names.
            #[derive(Clone, Debug, PartialEq)]
            pub enum CongestionControlConfig(KIND) {
                /// Additive increase by one segment per round trip, decrease by half.
                Reno = "reno"("reno"),
                $($(#[$doc])* $kind(parameters: $config) = $word($word),)+
                /// A control in Python, which the program that runs the scenario replaces by a
                /// `Custom` one.
                Python(parameters: PythonConfig) = "python"("python control"),
                ;
                /// A control that is defined outside this crate.
                Custom(CustomControl)
            }
        }

        /// The built-in controls and any other. The built-in ones are dispatched by a match so that
        /// the path per ACK is inlined.
        #[derive(Debug)]
        pub(crate) enum Controller {
            Reno(Reno),
            $($kind(Box<$state>),)+
            Custom(Box<dyn CongestionControl + Send>),
        }

        impl Controller {
            pub fn new(config: &TcpConfig) -> Self {
                match &config.congestion_control {
                    CongestionControlConfig::Reno => Self::smallest(config),
                    $(CongestionControlConfig::$kind(parameters) => {
                        Self::$kind(Box::new(<$state>::new(config, *parameters)))
                    })+
                    CongestionControlConfig::Custom(custom) => Self::Custom((custom.make)(config)),
                    CongestionControlConfig::Python(PythonConfig { class, .. }) => {
                        unreachable!("nothing provides the control {class}")
                    }
                }
            }
        }

        macro_rules! dispatch {
            ($d self:ident, $d control:ident => $d call:expr) => {
                match $d self {
                    Controller::Reno($d control) => $d call,
                    $(Controller::$kind($d control) => $d call,)+
                    Controller::Custom($d control) => $d call,
                }
            };
        }
    };
}

controls! { $
    /// Additive increase by α segments per round trip, decrease to (1 − β) of the window.
    Gaimd = "gaimd"(Gaimd, GaimdConfig),
    /// CUBIC of RFC 9438.
    Cubic = "cubic"(Cubic, CubicConfig),
    /// BBR, version 1.
    Bbr = "bbr"(Bbr, BbrConfig),
    /// Vegas, which keeps a few segments in the queue.
    Vegas = "vegas"(Vegas, VegasConfig),
    /// Westwood+: a loss leaves the bandwidth times the shortest round-trip time.
    Westwood = "westwood"(Westwood, WestwoodConfig),
    /// DCTCP of RFC 8257.
    Dctcp = "dctcp"(Dctcp, DctcpConfig),
    /// Prague, DCTCP's successor for L4S.
    Prague = "prague"(Prague, PragueConfig),
    /// Kelly's Scalable TCP.
    Scalable = "scalable"(Scalable, ScalableConfig),
    /// LEDBAT of RFC 6817, a background transport.
    Ledbat = "ledbat"(Ledbat, LedbatConfig),
    /// Illinois, whose steps follow the queueing delay.
    Illinois = "illinois"(Illinois, IllinoisConfig),
    /// BBR, version 3.
    Bbr3 = "bbr3"(Bbr3, Bbr3Config),
}

impl Controller {
    /// Returns Reno, the smallest control, which also serves an end that never has data to send.
    pub fn smallest(config: &TcpConfig) -> Self {
        Self::Reno(Reno::new(Window::new(config, SlowStart::Classic)))
    }

    /// Returns true if the control may have a [pacing rate](CongestionControl::pacing_rate), now or
    /// later.
    pub fn may_pace(&self) -> bool {
        let paces = matches!(self, Self::Bbr(_) | Self::Bbr3(_) | Self::Prague(_));
        paces || matches!(self, Self::Custom(_))
    }

    /// Returns true if the control may read [measurements of segments](AckSample::measured).
    pub fn reads_segments(&self) -> bool {
        let needs = self.needs() > Needs::Acks || self.sets_window_in_recovery();
        needs || matches!(self, Self::Custom(_))
    }
}

impl CongestionControl for Controller {
    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        dispatch!(self, control => control.on_ack(sample));
    }

    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        dispatch!(self, control => control.on_congestion_event(event));
    }

    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        dispatch!(self, control => control.on_retransmission_timeout(event));
    }

    #[inline]
    fn window(&self) -> f64 {
        dispatch!(self, control => control.window())
    }

    fn set_window(&mut self, bytes: f64) {
        dispatch!(self, control => control.set_window(bytes));
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        dispatch!(self, control => control.ssthresh())
    }

    fn set_ssthresh(&mut self, bytes: u64) {
        dispatch!(self, control => control.set_ssthresh(bytes));
    }

    fn begin_between_losses(&mut self, peak: f64, phase: f64) {
        dispatch!(self, control => control.begin_between_losses(peak, phase));
    }

    fn pacing_rate(&self) -> Option<Rate> {
        dispatch!(self, control => control.pacing_rate())
    }

    fn least_burst(&self) -> u32 {
        dispatch!(self, control => control.least_burst())
    }

    fn burst(&self) -> Option<u32> {
        dispatch!(self, control => control.burst())
    }

    fn on_feedback(&mut self, counts_marks: bool) {
        dispatch!(self, control => control.on_feedback(counts_marks));
    }

    fn observe(&mut self, sample: &AckSample) {
        dispatch!(self, control => control.observe(sample));
    }

    fn on_marks(&mut self, sample: &MarkSample) {
        dispatch!(self, control => control.on_marks(sample));
    }

    fn on_lost(&mut self, segment: &LostSegment) {
        dispatch!(self, control => control.on_lost(segment));
    }

    fn on_recovery_exit(&mut self, now: Time) {
        dispatch!(self, control => control.on_recovery_exit(now));
    }

    fn on_undo(&mut self, now: Time) {
        dispatch!(self, control => control.on_undo(now));
    }

    #[inline]
    fn on_send(&mut self, now: Time, idle: bool) {
        dispatch!(self, control => control.on_send(now, idle));
    }

    #[inline]
    fn sets_window_in_recovery(&self) -> bool {
        dispatch!(self, control => control.sets_window_in_recovery())
    }

    fn needs(&self) -> Needs {
        dispatch!(self, control => control.needs())
    }

    fn lowers_window(&self) -> bool {
        dispatch!(self, control => control.lowers_window())
    }
}

#[cfg(test)]
mod tests;
