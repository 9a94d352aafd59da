//! The goals of speed on s1 to s4, and the measured speed.

use crate::rounds::Row;
use std::fmt::Write;

/// Cases that the goals are for.
const CASES: [&str; 4] = ["s1", "s2", "s3", "s4"];

/// A bound of a ratio.
struct Goal {
    text: &'static str,
    ratio: fn(&Row) -> Option<f64>,
    is_kept: fn(f64) -> bool,
}

const GOALS: [Goal; 3] = [
    Goal {
        text: "ns-2 ÷ ours, at least 10",
        ratio: Row::over_ns2,
        is_kept: |ratio| ratio >= 10.0,
    },
    Goal {
        text: "htsim ÷ ours, at least 5",
        ratio: Row::over_htsim,
        is_kept: |ratio| ratio >= 5.0,
    },
    Goal {
        text: "ours ÷ bare loop, at most 2",
        ratio: Row::over_bare,
        is_kept: |ratio| ratio <= 2.0,
    },
];

/// Returns a table in Markdown with the medians of the ratios, those that miss their goal in bold.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = format!("| goal | build | {} |\n", CASES.join(" | "));
    text.push_str("| --- | --- | --- | --- | --- | --- |\n");
    for goal in GOALS {
        for (build, suffix) in [("plain", ""), ("profile-guided", ", profile-guided")] {
            let cell = |case: &str| {
                let name = format!("{case}{suffix}");
                let row = rows.iter().find(|row| row.name == name)?;
                let ratio = (goal.ratio)(row)?;
                Some(if (goal.is_kept)(ratio) {
                    format!("{ratio:.2}")
                } else {
                    format!("**{ratio:.2}**")
                })
            };
            let cells = CASES.map(cell);
            if cells.iter().any(Option::is_some) {
                let cells = cells.map(|cell| cell.unwrap_or("–".to_owned()));
                let _ = writeln!(text, "| {} | {build} | {} |", goal.text, cells.join(" | "));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::tests::rounds;

    #[test]
    fn goals_that_are_missed_are_bold() {
        let rows: Vec<Row> = ["s1", "s4"]
            .into_iter()
            .flat_map(|name| rounds(name).rows(&[]))
            .collect();
        let text = markdown(&rows);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| ns-2 ÷ ours, at least 10 | plain | 10.00 | – | – | 10.00 |",
                "| ns-2 ÷ ours, at least 10 | profile-guided | 20.00 | – | – | 20.00 |",
                "| htsim ÷ ours, at least 5 | plain | 6.00 | – | – | 6.00 |",
                "| htsim ÷ ours, at least 5 | profile-guided | 12.00 | – | – | 12.00 |",
                "| ours ÷ bare loop, at most 2 | plain | **4.00** | – | – | **4.00** |",
                "| ours ÷ bare loop, at most 2 | profile-guided | 2.00 | – | – | 2.00 |",
            ]
        );
    }
}
