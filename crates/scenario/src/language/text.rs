//! Values as TOML text.

use std::fmt::Write;

/// Returns an inline table, such as `{ a = 1, b = 2 }`.
pub(crate) fn inline(items: &[(&str, String)]) -> String {
    let items: Vec<String> = items
        .iter()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    format!("{{ {} }}", items.join(", "))
}

/// Returns a TOML basic string.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Writes `text` as a quoted value, for texts of this crate that need no escapes.
pub(crate) fn plain(text: impl std::fmt::Display) -> String {
    format!("\"{text}\"")
}
