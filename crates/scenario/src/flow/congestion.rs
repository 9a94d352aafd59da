//! Congestion controls by name, or as a table with their parameters.

use crate::language::error::Checked;
use crate::language::reader::Reader;
use crate::language::spec::Kind;
use goodqueue_tcp::cc::{self, GaimdConfig, Needs};
use goodqueue_tcp::{CongestionControlConfig, EcnMode, Recovery, TcpConfig};
use goodqueue_types::parameters::{Parameter, Parameters};

/// Returns the measurements that the control needs. Controls in Python never need delivery rates.
fn needs(config: &TcpConfig) -> Needs {
    match config.congestion_control {
        CongestionControlConfig::Python(_) => Needs::Segments,
        _ => cc::built_in(config).needs(),
    }
}

/// Reads `congestion_control`, and gaimd's `alpha` and `beta` beside it.
pub(crate) fn read(table: &Reader<'_>, control: &mut CongestionControlConfig) -> Checked<()> {
    if let Some(field) = table.get("congestion_control") {
        *control = CongestionControlConfig::from_value(crate::language::value::read(&field)?);
    }
    for field in GaimdConfig::SHORT
        .iter()
        .filter_map(|key| table.get(key.name))
    {
        let key = field.key.name;
        if !matches!(control, CongestionControlConfig::Gaimd(_)) {
            let help = format!("add congestion_control = \"gaimd\", or leave {key} out");
            return Err(field.problem(format!("\"{key}\" belongs to gaimd"), help));
        }
        control.set(key, crate::language::value::read(&field)?);
    }
    match control {
        CongestionControlConfig::Gaimd(gaimd) => table.accept(gaimd.check()),
        _ => Ok(()),
    }
}

/// A control that lives on marks brings the ECN it needs, as in Linux (`TCP_CONG_NEEDS_ECN` and
/// `TCP_CONG_NEEDS_ACCECN`).
pub(crate) fn imply_ecn(table: &Reader<'_>, config: &mut TcpConfig) {
    if table.get("congestion_control").is_none() || table.get("ecn").is_some() {
        return;
    }
    if matches!(
        config.congestion_control,
        CongestionControlConfig::Prague(_)
    ) {
        config.ecn = EcnMode::AccEcn;
        config.l4s |= table.get("l4s").is_none();
    } else if is_blind(config) {
        config.ecn = EcnMode::Dctcp;
    }
}

/// Returns true for a control that counts marks, without an echo of each mark.
fn is_blind(config: &TcpConfig) -> bool {
    let counts_marks = match config.congestion_control {
        CongestionControlConfig::Dctcp(_) => true,
        CongestionControlConfig::Bbr3(bbr) => bbr.ecn_response,
        _ => false,
    };
    counts_marks && matches!(config.ecn, EcnMode::Off | EcnMode::Rfc3168)
}

/// Checks that the other switches fit the control.
pub(crate) fn check(table: &Reader<'_>, config: &TcpConfig) -> Checked<()> {
    let needs_rates = needs(config) == Needs::Rates;
    if needs_rates && config.recovery != Recovery::Sack {
        let name = config.congestion_control.word();
        let message = format!("{name} needs to know what was delivered during recovery");
        return Err(table.problem("congestion_control", message, "write recovery = \"sack\""));
    }
    if is_blind(config) {
        let help = "write ecn = \"dctcp\" or \"accecn\", or leave it out";
        let name = config.congestion_control.word();
        let message = format!("{name} needs to know of each mark");
        return Err(table.problem("ecn", message, help));
    }
    if config.l4s && config.ecn == EcnMode::Off {
        let help = "write ecn = \"dctcp\" or \"accecn\"";
        return Err(table.problem("l4s", "packets without ECN carry no ECT(1)", help));
    }
    Ok(())
}

/// Writes the control with its parameters, as keys of the table of TCP.
pub(crate) fn write(control: &CongestionControlConfig) -> Vec<String> {
    let written = match control {
        CongestionControlConfig::Reno => "\"reno\"".to_owned(),
        CongestionControlConfig::Gaimd(GaimdConfig { alpha, beta }) => {
            format!("\"gaimd\", alpha = {alpha}, beta = {beta}")
        }
        _ => crate::language::value::write(&control.value(), Kind::Free),
    };
    vec![format!("congestion_control = {written}")]
}
