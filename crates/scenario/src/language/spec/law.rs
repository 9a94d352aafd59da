//! Laws of chance: the tables of a size or a time that varies. The keys come from the declarations of
//! the laws, and their bounds from the quantity.

use super::{AMOUNT, ANY_TIME, INTERVAL, Key, Kind, Spec, Variants};
use goodqueue_sim::Drawn;
use goodqueue_types::parameters::{Quantity, Role};
use std::sync::OnceLock;

/// Random delay that a link adds to each packet.
pub(crate) const JITTER: Kind = Kind::Law(Quantity::Jitter);

/// Name, bounds and examples of a quantity.
struct Values {
    name: &'static str,
    /// Kind of a middle value.
    positive: Kind,
    /// Kind of any value.
    any: Kind,
    /// Examples of a middle, a least and a greatest value.
    examples: [&'static str; 3],
    /// Keys that the tables of all laws have, besides those of the law.
    more: &'static [Key],
}

fn values(quantity: Quantity) -> Values {
    match quantity {
        Quantity::Size => Values {
            name: "size",
            positive: AMOUNT,
            any: AMOUNT,
            examples: ["50kB", "10kB", "100kB"],
            more: &[],
        },
        Quantity::Time => Values {
            name: "time",
            positive: INTERVAL,
            any: ANY_TIME,
            examples: ["1s", "0s", "2s"],
            more: &[],
        },
        Quantity::Jitter => Values {
            name: "jitter",
            positive: INTERVAL,
            any: ANY_TIME,
            examples: ["2ms", "0s", "5ms"],
            more: &[super::impairment::ORDER, super::impairment::EVERY],
        },
    }
}

impl Values {
    /// Returns the key of a law with the bounds and the example of this quantity.
    fn key(&self, key: &Key) -> Key {
        let Kind::Quantity(role) = key.kind else {
            return *key;
        };
        let (kind, example) = match role {
            Role::Middle => (self.positive, self.examples[0]),
            Role::Least => (self.any, self.examples[1]),
            Role::Greatest => (self.any, self.examples[2]),
        };
        Key { kind, ..*key }.example(example)
    }
}

/// Returns the laws of a quantity, each with its table. The tables are made once, at the first use.
pub(super) fn laws(quantity: Quantity) -> Variants {
    static TABLES: [OnceLock<Variants>; 3] = [const { OnceLock::new() }; 3];
    TABLES[quantity as usize].get_or_init(|| {
        let values = values(quantity);
        let table = |(word, spec): &(&'static str, &'static Spec)| {
            let keys = spec.keys.iter().map(|key| values.key(key));
            let keys: Vec<Key> = keys.chain(values.more.iter().copied()).collect();
            let table: &'static Spec = Box::leak(Box::new(Spec {
                name: Box::leak(format!("{} {}", spec.name, values.name).into_boxed_str()),
                keys: Box::leak(keys.into_boxed_slice()),
                defaults: spec.defaults,
            }));
            (*word, table)
        };
        Box::leak(Drawn::VARIANTS.iter().map(table).collect())
    })
}
