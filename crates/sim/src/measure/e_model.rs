//! The E-model (ITU-T G.107), which rates the quality of a call by its delay and loss. Inputs that
//! are not parameters here have their default values (section 7.7).

/// Noise referred to the 0 dBr point, in dBm0p: No of section 7.2 with the defaults.
const NOISE: f64 = -61.179;
/// Basic signal-to-noise ratio: Ro of section 7.2, 15 − 1.5 (SLR + No) with SLR = 8.
const RO: f64 = 15.0 - 1.5 * (8.0 + NOISE);
/// Simultaneous impairment of speech: Is of section 7.3 with the defaults. Its parts are 0.440 for
/// loudness, −0.001 for sidetone and 0.974 for quantisation.
const SIMULTANEOUS: f64 = 0.440 - 0.001 + 0.974;
/// Talker echo loudness rating, in dB.
const TELR: f64 = 65.0;
/// Weighted echo path loss, in dB.
const WEPL: f64 = 110.0;

/// Parameters of a codec (ITU-T G.113 appendix I).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Codec {
    /// Equipment impairment factor without loss, Ie.
    pub impairment: f64,
    /// Robustness to random packet loss, Bpl.
    pub robustness: f64,
}

impl Codec {
    /// G.711, with silence in place of lost packets.
    pub const G711: Self = Self {
        impairment: 0.0,
        robustness: 4.3,
    };
    /// G.711 with packet loss concealment (its appendix I).
    pub const G711_CONCEALED: Self = Self {
        impairment: 0.0,
        robustness: 25.1,
    };
    /// G.729 annex A with voice activity detection.
    pub const G729A: Self = Self {
        impairment: 11.0,
        robustness: 19.0,
    };
    /// G.723.1 at 6.3 kb/s with voice activity detection.
    pub const G723: Self = Self {
        impairment: 15.0,
        robustness: 16.1,
    };
    /// The enhanced full-rate codec of GSM.
    pub const GSM_EFR: Self = Self {
        impairment: 5.0,
        robustness: 10.0,
    };
}

/// Returns the transmission rating factor R for a mouth-to-ear delay in seconds, the same delay in
/// the other direction, and a share of packets lost independently of one another (`BurstR` = 1).
pub fn rating(mouth_to_ear_s: f64, loss: f64, codec: Codec) -> f64 {
    RO - SIMULTANEOUS - delay_impairment(1e3 * mouth_to_ear_s) - loss_impairment(loss, codec)
}

/// Returns the mean opinion score, 1 to 4.5, of a rating (G.107 annex B).
pub fn mos(rating: f64) -> f64 {
    if rating >= 100.0 {
        return 4.5;
    }
    // The cubic is below 1 for ratings between 0 and 6.5.
    let r = rating.max(0.0);
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
}

/// Returns Ie,eff of section 7.5.
fn loss_impairment(loss: f64, codec: Codec) -> f64 {
    let percent = 100.0 * loss;
    codec.impairment + (95.0 - codec.impairment) * percent / (percent + codec.robustness)
}

/// Returns Id of section 7.4 for a delay in milliseconds, with Ta = T and Tr = 2T.
fn delay_impairment(ms: f64) -> f64 {
    talker_echo(ms) + listener_echo(2.0 * ms) + loss_of_interaction(ms)
}

/// Returns Idte of section 7.4, the impairment by talker echo.
fn talker_echo(ms: f64) -> f64 {
    // An echo within a millisecond is sidetone.
    if ms < 1.0 {
        return 0.0;
    }
    let quieter = libm::log10((1.0 + ms / 10.0) / (1.0 + ms / 150.0));
    let terv = TELR - 40.0 * quieter + 6.0 * libm::exp(-0.3 * ms * ms);
    let re = 80.0 + 2.5 * (terv - 14.0);
    // RLR is 2.
    let roe = -1.5 * (NOISE - 2.0);
    let half = (roe - re) / 2.0;
    (half + (half * half + 100.0).sqrt() - 1.0) * (1.0 - libm::exp(-ms))
}

/// Returns Idle of section 7.4, the impairment by listener echo.
fn listener_echo(round_trip_ms: f64) -> f64 {
    let rle = 10.5 * (WEPL + 7.0) * libm::pow(round_trip_ms + 1.0, -0.25);
    let half = (RO - rle) / 2.0;
    half + (half * half + 169.0).sqrt()
}

/// Returns Idd of section 7.4, the impairment by delay itself, as people talk at the same time.
fn loss_of_interaction(ms: f64) -> f64 {
    if ms <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(ms / 100.0);
    let root = |x: f64| libm::pow(1.0 + libm::pow(x, 6.0), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G.107 has "R = 93.2" and MOS 4.41 with all parameters at their defaults.
    #[test]
    fn the_defaults_rate_93_2() {
        let best = rating(0.0, 0.0, Codec::G711);
        assert!((best - 93.2).abs() < 0.05, "{best}");
        assert!((mos(best) - 4.41).abs() < 0.005, "{}", mos(best));
    }

    /// G.107 table B.1, to a unit of its last digit: it has 4.03 although its own equation gives
    /// 4.024.
    #[test]
    fn scores_are_those_of_the_table() {
        for (rating, score) in [
            (90.0, 4.34),
            (80.0, 4.03),
            (70.0, 3.60),
            (60.0, 3.10),
            (50.0, 2.58),
        ] {
            assert!((mos(rating) - score).abs() < 0.01, "{rating}");
        }
        for (rating, score) in [
            (-10.0, 1.0),
            (0.0, 1.0),
            (3.0, 1.0),
            (100.0, 4.5),
            (120.0, 4.5),
        ] {
            assert!((mos(rating) - score).abs() < 1e-12, "{rating}");
        }
    }

    /// R. Cole and J. Rosenbluth, Voice over IP performance monitoring (2001), fit two straight
    /// lines to the curves of G.107: Id = 0.024 d + 0.11 max(0, d − 177.3), d in milliseconds.
    #[test]
    fn delay_impairs_as_the_fit_to_the_curves_says() {
        for ms in [50.0_f64, 100.0, 150.0, 200.0, 250.0, 300.0] {
            let fit = 0.024 * ms + 0.11 * (ms - 177.3).max(0.0);
            let impairment = delay_impairment(ms);
            assert!((impairment - fit).abs() < 0.5, "{ms} ms: {impairment}");
        }
    }

    /// Delays up to which calls are rated 70, from the article on voice quality in Telektronikk
    /// 2/3.2001, table 3: by G.107 with perfect echo control, of a codec's Ie and a rating of 94
    /// without impairments. Only Idd is left, so that Idd(delay) = 94 − 70 − Ie.
    #[test]
    fn interaction_suffers_as_the_published_bounds_say() {
        for (codec, impairment, ms) in [
            ("G.711", 0.0, 400.0),
            ("G.726 at 40 kb/s", 2.0, 375.0),
            ("GSM-EFR", 5.0, 342.0),
            ("G.728 at 16 kb/s", 7.0, 322.0),
            ("G.729", 10.0, 294.0),
            ("G.723.1 at 6.3 kb/s", 15.0, 251.0),
            ("G.723.1 at 5.3 kb/s", 19.0, 219.0),
            ("GSM-HR", 23.0, 177.0),
        ] {
            let left = 24.0 - impairment;
            let lost = loss_of_interaction(ms);
            assert!((lost - left).abs() < 0.3, "{codec}: {lost}");
        }
    }

    /// If Ie = 0 and the loss in percent equals Bpl, the impairment is half of 95.
    #[test]
    fn loss_impairs_by_the_codecs_robustness() {
        for codec in [Codec::G711, Codec::G711_CONCEALED] {
            let none = rating(0.0, 0.0, codec);
            let some = rating(0.0, codec.robustness / 100.0, codec);
            assert!((none - some - 47.5).abs() < 1e-9);
        }
        // The expected values are 95 · 1 / 26.1 and 95 · 1 / 5.3.
        assert!((loss_impairment(0.01, Codec::G711_CONCEALED) - 3.640).abs() < 5e-4);
        assert!((loss_impairment(0.01, Codec::G711) - 17.925).abs() < 5e-4);
    }
}
