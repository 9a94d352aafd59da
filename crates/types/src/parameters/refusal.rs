//! Refusal of parameters that cannot work.

use super::{Declared, Key};

/// Refusal of parameters, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Parameter by its name in scenario files.
    pub key: String,
    /// Description of the fault.
    pub message: String,
    /// Advice on what to write instead.
    pub help: String,
}

impl Refusal {
    /// Creates a refusal of the parameter `key`.
    pub fn new(
        key: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            key: key.into(),
            message: message.into(),
            help: help.into(),
        }
    }

    /// Creates the refusal of a table without the key `key`, which must be given.
    pub fn missing<D: Declared>(key: &'static str) -> Self {
        let found = D::KEYS.iter().find(|known| known.name == key);
        let (message, help) = found.map_or_else(Default::default, Key::missing);
        Self::new(key, message, help)
    }
}
