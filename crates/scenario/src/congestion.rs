//! Congestion controls by name, or as a table with their parameters.

use crate::error::Checked;
use crate::reader::Reader;
use crate::setting::{ReadFrom, Visitor, WriteTo};
use crate::spec::{CONTROLS, Spec};
use goodqueue_tcp::cc::{
    Bbr3Config, BbrConfig, CubicConfig, DctcpConfig, LedbatConfig, ScalableConfig, VegasConfig,
    WestwoodConfig,
};
use goodqueue_tcp::{CongestionControlConfig, EcnMode, Recovery, TcpConfig};

/// The control of that name with its defaults.
fn named(word: &str) -> CongestionControlConfig {
    match word {
        "reno" => CongestionControlConfig::Reno,
        "gaimd" => CongestionControlConfig::Gaimd {
            alpha: 1.0,
            beta: 0.5,
        },
        "cubic" => CongestionControlConfig::Cubic(CubicConfig::default()),
        "bbr" => CongestionControlConfig::Bbr(BbrConfig::default()),
        "vegas" => CongestionControlConfig::Vegas(VegasConfig::default()),
        "westwood" => CongestionControlConfig::Westwood(WestwoodConfig::default()),
        "dctcp" => CongestionControlConfig::Dctcp(DctcpConfig::default()),
        "scalable" => CongestionControlConfig::Scalable(ScalableConfig::default()),
        "ledbat" => CongestionControlConfig::Ledbat(LedbatConfig::default()),
        "bbr3" => CongestionControlConfig::Bbr3(Bbr3Config::default()),
        other => unreachable!("{other} is not a choice"),
    }
}

pub(crate) fn name(control: &CongestionControlConfig) -> &'static str {
    match control {
        CongestionControlConfig::Reno => "reno",
        CongestionControlConfig::Gaimd { .. } => "gaimd",
        CongestionControlConfig::Cubic(_) => "cubic",
        CongestionControlConfig::Bbr3(_) => "bbr3",
        CongestionControlConfig::Ledbat(_) => "ledbat",
        CongestionControlConfig::Scalable(_) => "scalable",
        CongestionControlConfig::Dctcp(_) => "dctcp",
        CongestionControlConfig::Westwood(_) => "westwood",
        CongestionControlConfig::Vegas(_) => "vegas",
        CongestionControlConfig::Bbr(_) => "bbr",
        CongestionControlConfig::Custom(custom) => custom.name,
    }
}

// Taken apart field by field, so that the compiler names a parameter that has no key.

fn visit(v: &mut impl Visitor, control: &mut CongestionControlConfig) -> Checked<()> {
    match control {
        CongestionControlConfig::Reno | CongestionControlConfig::Custom(_) => Ok(()),
        CongestionControlConfig::Gaimd { alpha, beta } => {
            v.visit("alpha", alpha)?;
            v.visit("beta", beta)
        }
        CongestionControlConfig::Bbr(config) => {
            let BbrConfig {
                cwnd_gain,
                probe_rtt_interval,
                probe_rtt_duration,
                seed,
            } = config;
            v.visit("cwnd_gain", cwnd_gain)?;
            v.visit("probe_rtt_interval", probe_rtt_interval)?;
            v.visit("probe_rtt_duration", probe_rtt_duration)?;
            v.visit("seed", seed)
        }
        CongestionControlConfig::Vegas(config) => {
            let VegasConfig { alpha, beta, gamma } = config;
            v.visit("alpha", alpha)?;
            v.visit("beta", beta)?;
            v.visit("gamma", gamma)
        }
        CongestionControlConfig::Westwood(config) => {
            let WestwoodConfig { filter, interval } = config;
            v.visit("filter", filter)?;
            v.visit("interval", interval)
        }
        CongestionControlConfig::Dctcp(config) => {
            let DctcpConfig { g, initial_alpha } = config;
            v.visit("g", g)?;
            v.visit("initial_alpha", initial_alpha)
        }
        CongestionControlConfig::Scalable(config) => {
            let ScalableConfig { a, keep } = config;
            v.visit("a", a)?;
            v.visit("keep", keep)
        }
        CongestionControlConfig::Ledbat(config) => {
            let LedbatConfig { target, gain } = config;
            v.visit("target", target)?;
            v.visit("gain", gain)
        }
        CongestionControlConfig::Bbr3(config) => {
            let Bbr3Config {
                loss_threshold,
                beta,
                headroom,
                probe_rtt_interval,
                probe_rtt_duration,
                seed,
            } = config;
            v.visit("loss_threshold", loss_threshold)?;
            v.visit("beta", beta)?;
            v.visit("headroom", headroom)?;
            v.visit("probe_rtt_interval", probe_rtt_interval)?;
            v.visit("probe_rtt_duration", probe_rtt_duration)?;
            v.visit("seed", seed)
        }
        CongestionControlConfig::Cubic(config) => {
            let CubicConfig {
                c,
                beta,
                fast_convergence,
                reno_friendly,
            } = config;
            v.visit("c", c)?;
            v.visit("beta", beta)?;
            v.visit("fast_convergence", fast_convergence)?;
            v.visit("reno_friendly", reno_friendly)
        }
    }
}

/// Reads `congestion_control`, and gaimd's `alpha` and `beta` beside it.
pub(crate) fn read(table: &Reader<'_>, control: &mut CongestionControlConfig) -> Checked<()> {
    if let Some(field) = table.get("congestion_control") {
        if field.is_table() {
            let (word, parameters) = Reader::tagged(&field)?;
            *control = named(word);
            visit(&mut ReadFrom(&parameters), control)?;
        } else {
            *control = named(field.choice()?);
        }
    }
    for key in ["alpha", "beta"] {
        let Some(field) = table.get(key) else {
            continue;
        };
        let CongestionControlConfig::Gaimd { alpha, beta } = control else {
            let help = format!("add congestion_control = \"gaimd\", or leave {key} out");
            return Err(field.problem(format!("\"{key}\" belongs to gaimd"), help));
        };
        if key == "alpha" {
            *alpha = field.number()?;
        } else {
            *beta = field.fraction()?;
        }
    }
    match *control {
        CongestionControlConfig::Gaimd { alpha: 0.0, .. } => Err(table.problem(
            "alpha",
            "alpha is zero",
            "write how many segments a round adds",
        )),
        CongestionControlConfig::Gaimd { beta, .. } if beta == 0.0 || beta >= 1.0 => {
            let help = "write a number between 0 and 1, as in beta = 0.5";
            Err(table.problem("beta", format!("a window cannot shrink by {beta}"), help))
        }
        _ => Ok(()),
    }
}

/// A control that lives on marks brings the ECN it needs, as in Linux (`TCP_CONG_NEEDS_ECN`).
pub(crate) fn imply_ecn(table: &Reader<'_>, config: &mut TcpConfig) {
    let is_new = table.get("congestion_control").is_some() && table.get("ecn").is_none();
    if is_new && is_blind(config) {
        config.ecn = EcnMode::Dctcp;
    }
}

/// Whether DCTCP is not told of each mark.
fn is_blind(config: &TcpConfig) -> bool {
    matches!(config.congestion_control, CongestionControlConfig::Dctcp(_))
        && matches!(config.ecn, EcnMode::Off | EcnMode::Rfc3168)
}

/// What the control needs of the rest.
pub(crate) fn check(table: &Reader<'_>, config: &TcpConfig) -> Checked<()> {
    let needs_rates = matches!(
        config.congestion_control,
        CongestionControlConfig::Bbr(_) | CongestionControlConfig::Bbr3(_)
    );
    if needs_rates && config.recovery != Recovery::Sack {
        let name = name(&config.congestion_control);
        let message = format!("{name} needs to know what was delivered during recovery");
        return Err(table.problem("congestion_control", message, "write recovery = \"sack\""));
    }
    if is_blind(config) {
        let help = "write ecn = \"dctcp\" or \"accecn\", or leave it out";
        return Err(table.problem("ecn", "dctcp needs to know of each mark", help));
    }
    if config.l4s && config.ecn == EcnMode::Off {
        let help = "write ecn = \"dctcp\" or \"accecn\"";
        return Err(table.problem("l4s", "packets without ECN carry no ECT(1)", help));
    }
    Ok(())
}

/// Writes the control with its parameters into the table of TCP.
pub(crate) fn write(control: &CongestionControlConfig, main: &mut WriteTo) {
    let mut control = *control;
    let name = name(&control);
    let spec: &'static Spec = CONTROLS
        .iter()
        .find(|variant| variant.0 == name)
        .map_or(CONTROLS[0].1, |variant| variant.1);
    let mut parameters = WriteTo::new(spec);
    let visited = visit(&mut parameters, &mut control);
    debug_assert!(visited.is_ok(), "writing does not fail");
    match control {
        CongestionControlConfig::Reno => main.push("congestion_control", "\"reno\""),
        CongestionControlConfig::Gaimd { alpha, beta } => {
            main.push("congestion_control", "\"gaimd\"");
            main.push("alpha", &format!("{alpha}"));
            main.push("beta", &format!("{beta}"));
        }
        _ => {
            parameters.items.insert(0, format!("kind = \"{name}\""));
            main.push("congestion_control", &parameters.inline());
        }
    }
}
