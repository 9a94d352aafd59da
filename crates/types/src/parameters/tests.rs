use super::*;
use crate::{RandomStream, Rate, Span, parameters, variants, words};

words! {
    /// Whose rule is followed.
    pub enum Whose {
        /// The standard's.
        Standard = "standard",
        /// Linux's.
        Linux = "linux",
    }
}

parameters! {
    /// Parameters within those of another table.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Inner("inner") {
        /// Longest time.
        ///
        /// More about it.
        target: Span = Span::from_millis(5) => span(Span(1_000), Span::from_secs(1)).example("5ms");
        /// Gain
        /// per second.
        gain: f64 = 0.5 => number(0.0, 10.0).example("1").named("the_gain");
    }

    /// Parameters with those of another struct among them.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Outer("outer") {
        /// Most packets.
        count: u32 = 3 => integer(1, 100).example("7").tc("count");
        inner: Inner = Inner { gain: 2.0, ..Inner::default() };
        /// Rate, if there is one.
        rate: Option<Rate> = None => one_of(&[Kind::Rate, Kind::Choice(&["none"])]).example("1Mbps");
        /// Whose rule holds.
        whose: Whose = Whose::Linux => words::<Whose>().example("standard");
    }
}

#[test]
fn a_declaration_yields_keys_in_order_with_those_of_inner_structs() {
    let names: Vec<&str> = Outer::KEYS.iter().map(|key| key.name).collect();
    let expected = ["count", "target", "the_gain", "rate", "whose"];
    assert_eq!(names, expected);
    assert_eq!(Outer::KEYS[1].meaning(), "Longest time.");
    assert_eq!(Outer::KEYS[2].meaning(), "Gain per second.");
    assert_eq!(Outer::KEYS[1].toml_example(), "\"5ms\"");
    assert_eq!(Outer::KEYS[0].toml_example(), "7");
    assert_eq!(Outer::KEYS[0].tc, Tc::Option("count"));
    assert_eq!(Outer::KEYS[3].kind.absent(), Some("none"));
    assert_eq!((Outer::SPEC.name, Inner::SPEC.name), ("outer", "inner"));
}

variants! {
    /// A choice among tables.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Choice(key("kind", Kind::Choice(Choice::WORDS), "none", "inner", "Which.")) {
        /// Nothing.
        Nothing = "none"("no choice"),
        /// Parameters of its own.
        Own = "own"("own choice") {
            /// Gain.
            gain: f64 = 1.0 => number(0.0, 2.0).example("1");
        },
        /// A struct of parameters.
        Inner(inner: Inner) = "inner"("inner choice"),
    }
}

#[test]
fn variants_have_their_words_and_tables() {
    let names: Vec<Vec<&str>> = Choice::VARIANTS
        .iter()
        .map(|(_, spec)| spec.keys.iter().map(|key| key.name).collect())
        .collect();
    let inner = vec!["kind", "target", "the_gain"];
    assert_eq!(names, [vec!["kind"], vec!["kind", "gain"], inner]);
    let mut choice = Choice::defaults("own");
    choice.set("gain", Value::Number(2.0));
    assert_eq!(choice, Choice::Own { gain: 2.0 });
    assert_eq!(Choice::from_value(choice.value()), choice);
    let mut choice = Choice::defaults("inner");
    choice.set("the_gain", Value::Number(2.0));
    assert_eq!(choice.get("the_gain"), Some(Value::Number(2.0)));
    assert_eq!(Choice::from_value(choice.value()), choice);
    assert_eq!(Choice::from_value(Value::Word("none")), Choice::Nothing);
}

#[test]
fn values_are_set_and_got_by_their_keys() {
    let mut config = Outer::default();
    assert_eq!(config.get("the_gain"), Some(Value::Number(2.0)));
    assert_eq!(config.get("rate"), Some(Value::Absent));
    assert_eq!(config.get("gain"), None);
    config.set("the_gain", Value::Number(1.0));
    config.set("rate", Value::Rate(Rate(9)));
    config.set("whose", Value::Word("standard"));
    let inner = Inner {
        gain: 1.0,
        ..Inner::default()
    };
    let expected = Outer {
        count: 3,
        inner,
        rate: Some(Rate(9)),
        whose: Whose::Standard,
    };
    assert_eq!(config, expected);
    let mut copy = Outer::default();
    copy.apply(&config.all());
    assert_eq!(copy, config);
    config.set("rate", Value::Word("none"));
    assert_eq!(config.rate, None);
}

#[test]
fn random_values_lie_within_their_bounds_and_vary() {
    assert_eq!(Whose::from_word("linux"), Some(Whose::Linux));
    let mut random = RandomStream::new(1, "test", 0);
    let mut counts = Vec::new();
    for _ in 0..200 {
        let mut config = Outer::default();
        vary(&mut config, &mut random, |config| config.count != 50);
        assert!((1..=100).contains(&config.count) && config.count != 50);
        assert!((0.0..=10.0).contains(&config.inner.gain));
        assert!(config.inner.target <= Span::from_secs(1));
        counts.push(config.count);
    }
    counts.sort_unstable();
    counts.dedup();
    assert!(counts.len() > 20);
}

/// Parameters with a gain.
pub trait Gaining {
    fn factor(&self) -> f64;
}

impl Gaining for Inner {
    fn factor(&self) -> f64 {
        self.gain
    }
}

variants! {
    /// A choice among tables that have something in common.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Alike(key("kind", Kind::Choice(Alike::WORDS), "one", "one", Alike::MEANINGS)) as dyn Gaining {
        /// The first.
        One(inner: Inner) = "one"("first", "the usual one"),
        /// The second.
        Two(inner: Inner) = "two"("second", "the other"),
    }
}

#[test]
fn alternatives_share_a_trait_and_document_their_words() {
    assert_eq!(Alike::MEANINGS, "`one`: the usual one; `two`: the other.");
    let mut choice = Alike::defaults("two");
    choice.set("the_gain", Value::Number(2.0));
    assert!((choice.law().factor() - 2.0).abs() < 1e-12);
}
