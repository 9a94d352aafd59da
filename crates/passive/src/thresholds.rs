//! Thresholds of all judgements, with their sources.

macro_rules! thresholds {
    ($($(#[doc = $doc:literal])+ $name:ident: $default:literal;)+) => {
        /// Thresholds of the judgements. T-RAT: Zhang, Breslau, Paxson and Shenker, SIGCOMM 2002.
        /// BSCL: Dhamdhere, Jiang and Dovrolis, INFOCOM 2005, which gives no numbers. "own": set by
        /// us on simulated captures other than those on which the analysis is evaluated.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Thresholds {
            $($(#[doc = $doc])+ pub $name: f64,)+
        }

        impl Default for Thresholds {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Thresholds {
            /// Name, default and description of each threshold.
            pub const ALL: &[(&str, f64, &str)] =
                &[$((stringify!($name), $default, concat!($($doc),+)),)+];

            /// Sets a threshold by its name.
            ///
            /// # Errors
            ///
            /// Returns a message if the name is unknown, or if the value is negative or not a
            /// number.
            pub fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
                let threshold = match name {
                    $(stringify!($name) => &mut self.$name,)+
                    _ => return Err(format!("unknown threshold {name:?}")),
                };
                if !value.is_finite() || value < 0.0 {
                    return Err(format!("{name} must be a number of at least 0, not {value}"));
                }
                *threshold = value;
                Ok(())
            }
        }
    };
}

thresholds! {
    /// Number of segments below which a flow is limited by its size (T-RAT).
    size_segments: 13.0;
    /// Share of a flow's time from which on a limiting factor decides its class (own).
    limited_share: 0.5;
    /// Free segments of the receiver's window below which a flight fills it (own; T-RAT: 3).
    window_slack_segments: 1.0;
    /// Idle time, in round trips, after which a sender has nothing to send (own).
    idle_rtts: 0.25;
    /// Share of segments below the maximum size from which on the application limits the flow with
    /// small writes (own).
    small_share: 0.3;
    /// Relative fall of the window that counts as a reduction; includes CUBIC's 30 % (own).
    reduction: 0.25;
    /// Longest time from a loss to the reduction that it explains, in round trips: one until the
    /// loss is noticed, one or two until the recovery ends (own).
    recent_rtts: 3.0;
    /// Seconds added to `recent_rtts` (own).
    recent_s: 0.05;
    /// Number of reductions or losses needed to distinguish local from remote bottlenecks (BSCL:
    /// "several").
    least_reductions: 3.0;
    /// Share of the reductions after a loss that must follow one at the target link for a local
    /// bottleneck (BSCL: "most").
    local_share: 0.7;
    /// Share of these reductions below which the bottleneck is remote (own).
    remote_share: 0.5;
    /// Seconds within which a filled hole is reordering and not a retransmission (own). A quarter
    /// of the round-trip time, the window of RFC 8985, is used if it is less.
    reordering_s: 0.003;
    /// Seconds of silence before a retransmission that indicate a timeout (Linux: at least 0.2 s).
    timeout_s: 0.15;
    /// Number of segments that the slow-start method needs (Jiang and Dovrolis, CCR 32(3), 2002).
    slow_start_segments: 5.0;
    /// Probability that a flight has a size that follows from the previous flight, in T-RAT's
    /// search without ACKs (own).
    following_share: 0.7;
    /// Number of segments from which on a locally bottlenecked flow counts as persistent (own; the
    /// short flows of BSCL's simulations have 14 on average).
    persistent_segments: 100.0;
    /// Share of recoveries that reduce the window below which the control is BBR (own).
    bbr_reductions: 0.5;
    /// Decrease factor up to which the control is Reno, whose factor is 0.5 (own).
    reno_below: 0.6;
    /// Decrease factor from which on the control is BBR, which does not react; between the two it
    /// is CUBIC, whose factor is 0.7 (own).
    bbr_above: 0.85;
    /// Number of decreases needed to identify a congestion control, or half the number of
    /// recoveries (own).
    least_decreases: 3.0;
    /// Smallest window in segments that is used to identify it (own).
    least_window_segments: 8.0;
    /// Share of the longest queue above which drops are those of a FIFO (own).
    fifo_share: 0.8;
    /// Share of the longest queue below which drops are those of an AQM (own).
    aqm_share: 0.6;
    /// Seconds without packets after which a flow is over (own).
    idle_s: 120.0;
    /// Seconds after which a closed flow is forgotten (own).
    closed_s: 5.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_threshold_can_be_set_by_its_name() {
        let mut thresholds = Thresholds::default();
        for (name, default, text) in Thresholds::ALL {
            assert_eq!(thresholds.set(name, default + 1.0), Ok(()));
            for wrong in [f64::NAN, f64::INFINITY, -1.0] {
                assert!(thresholds.set(name, wrong).is_err(), "{name}");
            }
            assert!(text.contains('('), "{name} names no source");
        }
        assert!(thresholds.set("reductions", 1.0).is_err());
        assert!((thresholds.size_segments - 14.0).abs() < 1e-12);
    }
}
