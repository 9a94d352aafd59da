//! `loss` of a link.

use crate::language::spec::LOSS;
use crate::language::value;
use goodqueue_sim::LossConfig;
use goodqueue_types::parameters::Parameter;

/// Writes an inline TOML table that reads back the same.
pub(crate) fn write(config: &LossConfig) -> String {
    value::write(&config.value(), LOSS)
}
