//! Tables of queues, read and written by the declarations of the disciplines.

use crate::language::error::Checked;
use crate::language::field::Field;
use crate::language::reader::Reader;
use crate::language::spec::Kind;
use goodqueue_queue::{Configuration, QueueConfig};
use goodqueue_types::parameters::Parameter;

/// Reads the table of a queue.
pub(crate) fn read(field: &Field<'_>) -> Checked<QueueConfig> {
    let (word, table) = Reader::tagged(field)?;
    table.check_required()?;
    let place = table.place();
    let exclusive = QueueConfig::exclusive(word);
    table.accept(exclusive.check(|key| table.get(key).is_some()))?;
    let given = match QueueConfig::rate_key(word) {
        // Packets wait for tokens: times and BDPs are those of the shaper's rate.
        Some(key) => table.at_rate(table.require(key)?.rate()?).given("kind")?,
        None => table.given("kind")?,
    };
    let config = QueueConfig::read(word, &given, &place);
    let checked = config.and_then(|config| config.check(place.frame_bytes).map(|()| config));
    table.accept(checked)
}

/// Writes a queue with all its parameters as an inline TOML table that reads back the same; none
/// for a queue that no file can name.
pub fn queue_toml(config: &QueueConfig) -> Option<String> {
    config.word()?;
    Some(write(config))
}

/// The same of a queue that came from a file.
pub(crate) fn write(config: &QueueConfig) -> String {
    crate::language::value::write(&config.value(), Kind::Queue)
}
