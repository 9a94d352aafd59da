//! Names of controls in Python in scenario files. The program that runs the scenario provides them.

use goodqueue_types::parameters;
use goodqueue_types::parameters::{Key, Kind};

use super::CongestionControlConfig;

parameters! {
    /// Name of a control in Python.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PythonConfig("python control") {
        /// Module and class, as in `controls:Aimd`.
        class: String = String::new() => Key::new(Kind::Text).required().example("controls:Aimd");
        /// Checksum of the class's source.
        ///
        /// If it is given, the scenario is refused when the source has changed.
        checksum: String = String::new()
            => Key::new(Kind::Text).default("the source's").example("1f3a")
            .doc("Checksum of the class's source. If it is given, a changed source is refused.");
    }
}

impl CongestionControlConfig {
    /// Controls that a word names. The last one, `python`, needs the name of a class.
    pub const NAMES: &'static [&'static str] = match Self::WORDS.split_last() {
        Some((_, names)) => names,
        None => Self::WORDS,
    };
}
