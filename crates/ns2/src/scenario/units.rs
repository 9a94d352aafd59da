//! Values with their units, as scenarios have them.

use crate::network::picoseconds;

/// Returns a rate in quotes, in whole units.
pub fn rate(bps: u64) -> String {
    let units = [
        (1_000_000_000, "Gbps"),
        (1_000_000, "Mbps"),
        (1000, "kbps"),
        (1, "bps"),
    ];
    whole(bps, &units)
}

/// Returns a time in quotes, in whole units.
pub fn span(seconds: f64) -> String {
    delay(picoseconds(seconds))
}

/// Returns a time of so many picoseconds in quotes, in whole units.
pub fn delay(ps: u64) -> String {
    let units = [
        (1_000_000_000_000, "s"),
        (1_000_000_000, "ms"),
        (1_000_000, "us"),
        (1000, "ns"),
        (1, "ps"),
    ];
    whole(ps, &units)
}

fn whole(value: u64, units: &[(u64, &str)]) -> String {
    let fits = |unit: &&(u64, &str)| value.is_multiple_of(unit.0) && (value > 0 || unit.0 > 1);
    let (unit, name) = units.iter().find(fits).unwrap_or(&(1, ""));
    format!("\"{}{name}\"", value / unit)
}

/// Returns a text in quotes.
pub fn text(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

/// Returns texts as a list of TOML.
pub fn list(texts: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", texts.into_iter().collect::<Vec<_>>().join(", "))
}

/// Returns pairs as a table of TOML in one line.
pub fn table(pairs: &[(&str, String)]) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    format!("{{ {} }}", pairs.join(", "))
}
