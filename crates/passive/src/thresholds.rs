//! Every number that a judgement hangs on, with where it comes from.

macro_rules! thresholds {
    ($($(#[doc = $doc:literal])+ $name:ident: $default:literal;)+) => {
        /// What judgements hang on. T-RAT: Zhang, Breslau, Paxson and Shenker, SIGCOMM 2002; BSCL:
        /// Dhamdhere, Jiang and Dovrolis, INFOCOM 2005, which gives no numbers; "own": ours, set on
        /// simulated captures other than those that the analysis is judged by.
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
            /// Name, default and description of each.
            pub const ALL: &[(&str, f64, &str)] =
                &[$((stringify!($name), $default, concat!($($doc),+)),)+];

            /// Changes one by its name.
            ///
            /// # Errors
            ///
            /// In words, if there is none, or if the value is no number from 0.
            pub fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
                let threshold = match name {
                    $(stringify!($name) => &mut self.$name,)+
                    _ => return Err(format!("there is no threshold {name:?}")),
                };
                if !value.is_finite() || value < 0.0 {
                    return Err(format!("{name} is a number from 0, not {value}"));
                }
                *threshold = value;
                Ok(())
            }
        }
    };
}

thresholds! {
    /// A flow of fewer segments is limited by its size (T-RAT).
    size_segments: 13.0;
    /// A factor that holds a flow back for this share of its time limits it (own).
    limited_share: 0.5;
    /// A flight that leaves fewer segments of the receiver's window free fills it (own; T-RAT: 3).
    window_slack_segments: 1.0;
    /// A sender that has nothing in flight for this share of a round trip has nothing to send (own).
    idle_rtts: 0.25;
    /// Of segments below the maximum size, the share that shows an application that writes little
    /// at a time (own).
    small_share: 0.3;
    /// A fall of the window by this share is a reduction: CUBIC's 30 % counts (own).
    reduction: 0.25;
    /// A loss so many round trips before a reduction explains it: one until it is noticed, one or two
    /// until the recovery is over ... (own)
    recent_rtts: 3.0;
    /// ... and so many seconds more (own).
    recent_s: 0.05;
    /// Reductions or losses that tell local from remote (BSCL: "several").
    least_reductions: 3.0;
    /// Bottlenecked locally if at least this share of the reductions that follow any loss follows one
    /// at the target link (BSCL: "most").
    local_share: 0.7;
    /// Bottlenecked remotely if less than this share does (own).
    remote_share: 0.5;
    /// What fills a hole sooner, in seconds, was reordered, not sent again (own; RFC 8985's window is
    /// a quarter of a round trip, which is taken if it is less).
    reordering_s: 0.003;
    /// Silence in seconds before a retransmission that tells a timeout (Linux: 0.2 s at the least).
    timeout_s: 0.15;
    /// The segments that the slow-start method needs (Jiang and Dovrolis, CCR 32(3), 2002).
    slow_start_segments: 5.0;
    /// The share of flights that follow the one before as windows do (own; of T-RAT's search, where
    /// acknowledgements were not seen).
    following_share: 0.7;
    /// Flows of so many segments count as persistent among those bottlenecked locally (own; the short
    /// ones of BSCL's own simulations have 14 on average).
    persistent_segments: 100.0;
    /// BBR reduces its window after less than this share of its recoveries (own).
    bbr_reductions: 0.5;
    /// Decrease factors up to this are those of Reno, 0.5 ... (own)
    reno_below: 0.6;
    /// ... from this on 'none at all', as BBR's; between, CUBIC's 0.7 (own).
    bbr_above: 0.85;
    /// Decreases, or twice as many recoveries, that tell a congestion control (own).
    least_decreases: 3.0;
    /// Only windows of so many segments tell it (own).
    least_window_segments: 8.0;
    /// A FIFO drops when the queue is at least this share of its longest (own).
    fifo_share: 0.8;
    /// An active queue drops when it is below this share (own).
    aqm_share: 0.6;
    /// A flow without packets for so many seconds is over (own).
    idle_s: 120.0;
    /// A closed flow is forgotten after so many seconds (own).
    closed_s: 5.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_can_be_set_by_its_name() {
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
