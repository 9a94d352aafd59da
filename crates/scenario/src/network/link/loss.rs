//! `loss` of a link.

use crate::language::error::Checked;
use crate::language::reader::Reader;
use crate::language::spec::LOSS;
use crate::language::value;
use goodqueue_sim::LossConfig;
use goodqueue_types::parameters::Parameter;

/// Reads the losses from a link's table.
pub(crate) fn read(link: &Reader<'_>) -> Checked<Option<LossConfig>> {
    let Some(field) = link.get("loss") else {
        return Ok(None);
    };
    Reader::tagged(&field)?.1.check_required()?;
    value::read(&field).map(LossConfig::from_value).map(Some)
}

/// Writes an inline TOML table that reads back the same.
pub(crate) fn write(config: &LossConfig) -> String {
    value::write(&config.value(), LOSS)
}
