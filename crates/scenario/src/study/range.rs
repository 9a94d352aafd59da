//! `{ from, to, step | factor | points }`: the values of an axis as a range.

use super::measure::{Measured, measure};
use super::toml::inline_value;
use crate::language::document::Node;
use crate::language::error::{Checked, Problem};
use crate::language::reader::Reader;
use crate::language::spec::{MAX_VARIANTS, RANGE};

/// Progression from one value of a range to the next.
#[derive(Clone, Copy)]
enum Steps {
    Add(f64),
    Multiply(f64),
    /// A number of intervals of equal length or of equal ratio.
    Divide {
        intervals: u64,
        log: bool,
    },
}

/// A table of keys and both ends of the range.
struct Range<'a> {
    table: Reader<'a>,
    from: Measured,
    to: Measured,
}

/// Returns the values of a range.
pub(crate) fn range(node: &Node, path: &str) -> Checked<Vec<Node>> {
    let table = Reader::open(node, &RANGE, path.to_owned())?;
    let (from, to) = (end(&table, "from")?, end(&table, "to")?);
    let range = Range { table, from, to };
    let steps = range.steps()?;
    let count = range.intervals(steps);
    if count >= MAX_VARIANTS as f64 {
        let message = format!("this range has {count} values");
        return Err(range.table.problem("from", message, "take longer steps"));
    }
    let mut like = from;
    like.count = range.counts();
    let mut values: Vec<Node> = Vec::new();
    for index in 0..=count as u64 {
        let made = Node {
            value: like.write(range.at(steps, index)),
            at: node.at,
            raw: None,
        };
        // Small counts on a logarithmic scale may round to the same one.
        if values
            .last()
            .is_none_or(|last| inline_value(last) != inline_value(&made))
        {
            values.push(made);
        }
    }
    Ok(values)
}

fn end(table: &Reader<'_>, name: &str) -> Checked<Measured> {
    let field = table.require(name)?;
    measure(field.node).ok_or_else(|| {
        let message = format!("{} cannot bound a range", field.node.value.describe());
        field.problem(message, "write a number, with its unit if it has one")
    })
}

impl Range<'_> {
    fn refuse(&self, name: &str, message: &str, help: &str) -> Problem {
        self.table.problem(name, message, help)
    }

    /// Reads the progression, if it is possible between these ends.
    fn steps(&self) -> Checked<Steps> {
        let (table, from, to) = (&self.table, &self.from, &self.to);
        if from.dimension != to.dimension {
            let message = "the ends of the range count in different units";
            return Err(self.refuse("to", message, "write both in one"));
        }
        let log = table.choice("scale")? == Some("log");
        let factor = table
            .get("factor")
            .map(|field| field.number())
            .transpose()?;
        if (log || factor.is_some()) && from.value <= 0.0 {
            let message = "a range by factors cannot begin at zero or below";
            let help = "write a first value above zero, or a linear range";
            return Err(self.refuse("from", message, help));
        }
        if to.value <= from.value {
            let message = "the range ends where it begins or before";
            return Err(self.refuse("to", message, "write the smaller end first"));
        }
        match (table.get("step"), factor, table.integer("points")?) {
            (Some(field), None, None) => {
                let step = end(table, "step")?;
                if step.dimension == from.dimension && step.value > 0.0 {
                    return Ok(Steps::Add(step.value));
                }
                let help = "write a number above zero in the unit of its ends";
                Err(field.problem("the range does not allow this step", help))
            }
            (None, Some(factor), None) => Ok(Steps::Multiply(factor)),
            (None, None, Some(points)) => Ok(Steps::Divide {
                intervals: points - 1,
                log,
            }),
            _ => {
                let message = "a range needs one of \"step\", \"factor\" and \"points\"";
                let help = "write { from = …, to = …, points = 10, scale = \"log\" }, say";
                Err(self.refuse("from", message, help))
            }
        }
    }

    /// Returns the number of steps between the ends.
    fn intervals(&self, steps: Steps) -> f64 {
        let (from, to) = (self.from.value, self.to.value);
        // An end that is met except for rounding counts as met.
        let fit = |exact: f64| libm::floor(exact + 1e-9);
        match steps {
            Steps::Add(step) => fit((to - from) / step),
            Steps::Multiply(factor) => fit(libm::log(to / from) / libm::log(factor)),
            Steps::Divide { intervals, .. } => intervals as f64,
        }
    }

    fn at(&self, steps: Steps, index: u64) -> f64 {
        let (from, to, i) = (self.from.value, self.to.value, index as f64);
        match steps {
            Steps::Add(step) => from + i * step,
            Steps::Multiply(factor) => from * libm::pow(factor, i),
            Steps::Divide { intervals, .. } if index == intervals => to,
            Steps::Divide { intervals, log } if log => {
                from * libm::pow(to / from, i / intervals as f64)
            }
            Steps::Divide { intervals, .. } => from + (to - from) * i / intervals as f64,
        }
    }

    /// Returns true if all its values are whole numbers without a unit.
    fn counts(&self) -> bool {
        let step = self.table.get("step").map(|field| measure(field.node));
        let step = step.is_none_or(|step| step.is_some_and(|step| step.count));
        self.from.count && self.to.count && step
    }
}
