//! Random values of parameters, for property tests.

use super::{Given, Kind, Parameters, TableValue, Value};
use crate::{RandomStream, Rate, Span};

impl Kind {
    /// Draws a value within the bounds. Numbers are spread evenly over their orders of magnitude.
    /// Returns none for a kind whose values are not plain: a text, a list, or a table of its own.
    pub fn random(self, random: &mut RandomStream) -> Option<Value> {
        Some(match self {
            Self::Flag => Value::Flag(pick(random, 2) == 1),
            Self::Integer { min, max } => Value::Integer(spread(random, min, max)),
            Self::Number { min, max } => {
                let low = min.max(max * 1e-6);
                let drawn = libm::exp(libm::log(low) + random.unit() * libm::log(max / low));
                Value::Number(drawn.clamp(min, max))
            }
            Self::Fraction => Value::Number(f64::from(pick(random, 1001) as u32) / 1000.0),
            Self::Rate => Value::Rate(Rate(spread(random, 1_000, 10_000_000_000))),
            Self::RateOrZero => match pick(random, 4) {
                0 => Value::Rate(Rate(0)),
                _ => return Self::Rate.random(random),
            },
            Self::Span { min, max } => Value::Span(Span(spread(random, min.0, max.0))),
            Self::Size { min, max } => Value::Bytes(spread(random, min, max)),
            Self::Packets { min, max } => Value::Packets(spread(random, min, max)),
            Self::Limit => match pick(random, 4) {
                0 => Value::Bytes(spread(random, 1_514, 10_000_000)),
                1 => Value::Absent,
                _ => Value::Packets(spread(random, 1, 10_000)),
            },
            Self::Choice(words) => Value::Word(words[pick(random, words.len())]),
            Self::Numbers { count, max } => {
                let draw = |_| pick(random, max as usize + 1) as u8;
                Value::Numbers((0..count).map(draw).collect())
            }
            Self::Tagged { variants, .. } => {
                let (word, spec) = variants[pick(random, variants.len())];
                let keys = spec.keys.iter().filter(|key| key.name != "kind");
                let given = keys.filter_map(|key| Some((key, key.kind.random(random)?)));
                Value::Table(TableValue {
                    word: Some(word),
                    given: Given(given.collect()),
                })
            }
            Self::Either(kinds) => return kinds[pick(random, kinds.len())].random(random),
            _ => return None,
        })
    }
}

/// Draws a number below `count`.
fn pick(random: &mut RandomStream, count: usize) -> usize {
    random.span_below(Span(count as u64)).0 as usize
}

/// Draws a whole number whose logarithm is spread evenly.
fn spread(random: &mut RandomStream, min: u64, max: u64) -> u64 {
    let (low, high) = ((min + 1) as f64, (max as f64 + 1.0));
    let drawn = libm::exp(libm::log(low) + random.unit() * libm::log(high / low));
    (drawn as u64).saturating_sub(1).clamp(min, max)
}

/// Changes about half of the parameters at random, each to a value with which `accept` holds.
pub fn vary<P: Parameters + Clone>(
    config: &mut P,
    random: &mut RandomStream,
    accept: impl Fn(&P) -> bool,
) {
    vary_within(config, random, |kind| kind, accept);
}

/// Varies parameters as [`vary`], within the bounds to which `narrow` changes those of a kind. A kind
/// with alternatives is narrowed after the choice of one.
pub fn vary_within<P: Parameters + Clone>(
    config: &mut P,
    random: &mut RandomStream,
    narrow: impl Fn(Kind) -> Kind,
    accept: impl Fn(&P) -> bool,
) {
    for key in config.keys() {
        if pick(random, 2) == 0 {
            continue;
        }
        let kind = match key.kind {
            Kind::Either(kinds) => kinds[pick(random, kinds.len())],
            kind => kind,
        };
        let Some(value) = narrow(kind).random(random) else {
            continue;
        };
        let mut changed = config.clone();
        changed.set(key.name, value);
        if accept(&changed) {
            *config = changed;
        }
    }
}
