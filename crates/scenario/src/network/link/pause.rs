//! `pause` of a link: flow control by the node behind it.

use crate::language::error::Checked;
use crate::language::reader::Reader;
use crate::language::spec::Kind;
use crate::language::value;
use goodqueue_sim::PauseConfig;
use goodqueue_types::parameters::Parameter;

/// Reads the flow control from a link's table.
pub(crate) fn read(link: &Reader<'_>) -> Checked<Option<PauseConfig>> {
    let Some(pause): Option<PauseConfig> = value::at(link, "pause")? else {
        return Ok(None);
    };
    if pause.xon >= pause.xoff {
        let message =
            "\"xon\" is not below \"xoff\", so the link would never resume or pause at once";
        let help = "write fewer bytes for xon";
        return Err(link.problem("pause", message, help));
    }
    Ok(Some(pause))
}

/// Returns the key of a link that reads back the same.
pub(crate) fn item(pause: &PauseConfig) -> (&'static str, String) {
    ("pause", value::write(&pause.value(), Kind::Free))
}
