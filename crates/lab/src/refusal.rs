//! Reasons for which a page gets no answer.

use goodqueue_scenario::{ScenarioError, UnitError};
use serde_json::{Value, json};
use std::fmt;

/// Reason for which a question of a page is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabError {
    /// The scenario has a mistake.
    Scenario(ScenarioError),
    /// A value has a mistake that is in no scenario.
    Value(UnitError),
    /// The run would cost more than a bound, which the text names with its remedy.
    TooLarge(String),
    /// The question itself is damaged.
    Damaged(String),
}

impl LabError {
    /// Status of HTTP for this refusal.
    pub fn status(&self) -> u16 {
        match self {
            Self::Damaged(_) => 400,
            _ => 422,
        }
    }

    /// Returns the refusal for the page.
    pub fn json(&self) -> Value {
        match self {
            Self::Scenario(error) => json!({
                "message": error.message,
                "help": error.help,
                "key": error.key,
                "line": error.line,
            }),
            Self::Value(error) => json!({"message": error.message, "help": error.help}),
            Self::TooLarge(text) | Self::Damaged(text) => json!({ "message": text }),
        }
    }
}

impl From<ScenarioError> for LabError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

impl From<UnitError> for LabError {
    fn from(error: UnitError) -> Self {
        Self::Value(error)
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(f),
            Self::Value(error) => error.fmt(f),
            Self::TooLarge(text) | Self::Damaged(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for LabError {}
