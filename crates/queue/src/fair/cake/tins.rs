//! The tin of each code point, and the share of each tin.

use crate::fair::cake::CakeDiffserv;
use goodqueue_types::Rate;

/// Share of one tin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Rate up to which the tin has priority over tins of lower index. `None` without a bandwidth.
    pub threshold: Option<Rate>,
    /// Bytes of the tin in a round, if there is no bandwidth and tins take turns.
    pub quantum: i64,
}

/// Lowest threshold of a tin, in bytes per second.
const SLOWEST: u64 = 64;

/// Returns the shares of all tins. Each threshold is a fraction of the bandwidth, computed in whole
/// bytes per second, and each quantum a fraction of the largest.
pub fn shares(diffserv: CakeDiffserv, bandwidth: Option<Rate>) -> Vec<Share> {
    let bytes = bandwidth.map(|rate| rate.0 / 8);
    let share = |part: fn(u64) -> u64, quantum| Share {
        threshold: bytes.map(|bytes| Rate(8 * part(bytes).max(SLOWEST))),
        quantum,
    };
    match diffserv {
        CakeDiffserv::BestEffort => vec![share(|all| all, 65_535)],
        CakeDiffserv::Diffserv3 => vec![
            share(|all| all, 1024),
            share(|all| all >> 4, 64),
            share(|all| all >> 2, 256),
        ],
        CakeDiffserv::Diffserv4 => vec![
            share(|all| all, 1024),
            share(|all| all >> 4, 64),
            share(|all| all >> 1, 512),
            share(|all| all >> 2, 256),
        ],
        CakeDiffserv::Precedence | CakeDiffserv::Diffserv8 => {
            let eighth_less = |value: &u64| Some(value * 7 / 8);
            let rates = std::iter::successors(Some(bytes.unwrap_or(0)), eighth_less);
            let quanta = std::iter::successors(Some(256), eighth_less);
            let pairs = rates.zip(quanta).take(8);
            pairs
                .map(|(rate, quantum)| Share {
                    threshold: bytes.map(|_| Rate(8 * rate.max(SLOWEST))),
                    quantum: quantum as i64,
                })
                .collect()
        }
    }
}

/// Returns the tin of a code point. In `precedence` and `diffserv8` a higher tin always has a
/// higher priority. In the others best effort is tin 0, and bulk is tin 1 of `diffserv3` and
/// `diffserv4`.
pub fn tin_of(diffserv: CakeDiffserv, dscp: u8) -> usize {
    let (class, low) = (dscp >> 3, dscp & 7);
    // In assured forwarding (RFC 2597) the drop precedence in the low bits is even and not zero.
    let is_assured = low != 0 && low % 2 == 0;
    match diffserv {
        CakeDiffserv::BestEffort => 0,
        CakeDiffserv::Precedence => usize::from(class & 7),
        CakeDiffserv::Diffserv3 => match dscp {
            LOWER_EFFORT | CS1 => 1,
            TOS4 | VOICE_ADMIT | EF | CS6 | CS7 => 2,
            _ => 0,
        },
        CakeDiffserv::Diffserv4 => match (class, dscp) {
            (_, LOWER_EFFORT | CS1) => 1,
            (_, CS4 | CS5 | VOICE_ADMIT | EF | CS6 | CS7) => 3,
            (_, TOS4 | CS2 | CS3) => 2,
            (2..=4, _) if is_assured => 2,
            _ => 0,
        },
        CakeDiffserv::Diffserv8 => match (class, dscp) {
            (_, LOWER_EFFORT) => 0,
            (_, TOS2 | CS1) => 1,
            (_, CS6 | CS7) => 7,
            (_, CS4 | CS5 | VOICE_ADMIT | EF) => 6,
            (_, CS2) => 5,
            (_, TOS4) => 4,
            (_, CS3) => 3,
            (1, _) if is_assured => 1,
            (2, _) if is_assured => 4,
            (3 | 4, _) if is_assured => 3,
            _ => 2,
        },
    }
}

/// Lower effort (RFC 8622).
const LOWER_EFFORT: u8 = 1;
/// High throughput and low delay (RFC 1349).
const TOS2: u8 = 2;
const TOS4: u8 = 4;
/// Class selectors (RFC 2474 section 4.2.2).
const CS1: u8 = 8;
const CS2: u8 = 16;
const CS3: u8 = 24;
const CS4: u8 = 32;
const CS5: u8 = 40;
const CS6: u8 = 48;
const CS7: u8 = 56;
/// Voice admit (RFC 5865) and expedited forwarding (RFC 3246).
const VOICE_ADMIT: u8 = 44;
const EF: u8 = 46;

#[cfg(test)]
mod tests {
    use super::*;

    fn codes_in(diffserv: CakeDiffserv, tin: usize) -> Vec<u8> {
        (0..64)
            .filter(|dscp| tin_of(diffserv, *dscp) == tin)
            .collect()
    }

    /// Linux `sch_cake` has these tables, tin by tin.
    #[test]
    fn code_points_go_where_linux_puts_them() {
        use CakeDiffserv::{BestEffort, Diffserv3, Diffserv4, Diffserv8, Precedence};
        assert_eq!(codes_in(BestEffort, 0).len(), 64);
        assert_eq!(codes_in(Precedence, 5), (40..48).collect::<Vec<_>>());
        assert_eq!(codes_in(Diffserv3, 1), [1, 8]);
        assert_eq!(codes_in(Diffserv3, 2), [4, 44, 46, 48, 56]);
        assert_eq!(codes_in(Diffserv4, 1), [1, 8]);
        let video = [4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38];
        assert_eq!(codes_in(Diffserv4, 2), video);
        assert_eq!(codes_in(Diffserv4, 3), [32, 40, 44, 46, 48, 56]);
        assert_eq!(codes_in(Diffserv8, 0), [1]);
        assert_eq!(codes_in(Diffserv8, 1), [2, 8, 10, 12, 14]);
        assert_eq!(codes_in(Diffserv8, 3), [24, 26, 28, 30, 34, 36, 38]);
        assert_eq!(codes_in(Diffserv8, 4), [4, 18, 20, 22]);
        assert_eq!(codes_in(Diffserv8, 5), [16]);
        assert_eq!(codes_in(Diffserv8, 6), [32, 40, 44, 46]);
        assert_eq!(codes_in(Diffserv8, 7), [48, 56]);
        assert_eq!(codes_in(Diffserv8, 2).len(), 64 - 1 - 5 - 7 - 4 - 1 - 4 - 2);
    }

    #[test]
    fn thresholds_and_quanta_are_parts_of_the_whole() {
        let all = Rate(16_000_000);
        let parts = |diffserv| -> Vec<(u64, i64)> {
            shares(diffserv, Some(all))
                .iter()
                .map(|share| (share.threshold.unwrap().0, share.quantum))
                .collect()
        };
        assert_eq!(parts(CakeDiffserv::BestEffort), [(16_000_000, 65_535)]);
        assert_eq!(
            parts(CakeDiffserv::Diffserv3),
            [(16_000_000, 1024), (1_000_000, 64), (4_000_000, 256)]
        );
        assert_eq!(
            parts(CakeDiffserv::Diffserv4)[2],
            (8_000_000, 512),
            "video has half"
        );
        let eight = parts(CakeDiffserv::Diffserv8);
        assert_eq!(eight, parts(CakeDiffserv::Precedence));
        assert_eq!(eight[1], (14_000_000, 224));
        assert_eq!(
            (eight.len(), eight[7].1),
            (8, 98),
            "256 · (7/8)⁷, each step cut"
        );
        let unlimited = shares(CakeDiffserv::Diffserv3, None);
        assert!(unlimited.iter().all(|share| share.threshold.is_none()));
    }
}
