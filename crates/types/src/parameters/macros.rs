//! The macros with which parameters and words are declared.

/// Declares a struct of parameters with the key of each field.
///
/// A field is `name: Type = default => key;`. Its doc comment documents both the field and the key;
/// a [`Key`](crate::parameters::Key) that several structs share has its own. A field without a key
/// is a struct of parameters whose keys lie in the same table. The literal in parentheses names the
/// table in the schema. A second one describes the default of each key that describes none, for
/// tables whose defaults depend on other keys.
///
/// ```
/// use goodqueue_types::{Span, parameters};
/// use goodqueue_types::parameters::{Parameters, Value, integer, span};
///
/// parameters! {
///     /// Parameters of a discipline.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub struct ExampleConfig("example") {
///         /// Number of queues into which flows are hashed.
///         flows: u32 = 1024 => integer(1, 65_536).example("16").tc("flows");
///         /// Longest sojourn time.
///         target: Span = Span::from_millis(5) => span(Span(1), Span::from_secs(1)).example("5ms");
///     }
/// }
///
/// let mut config = ExampleConfig::default();
/// config.set("flows", Value::Integer(16));
/// assert_eq!(config.flows, 16);
/// assert_eq!(config.get("target"), Some(Value::Span(Span::from_millis(5))));
/// assert_eq!(config.keys()[0].meaning(), "Number of queues into which flows are hashed.");
/// ```
#[macro_export]
macro_rules! parameters {
    ($(
        $(#[$meta:meta])*
        pub struct $config:ident($name:literal $(, $default_text:literal)?) {
            $(
                $(#[doc = $doc:literal])*
                $field:ident: $kind:ty = $default:expr $(=> $key:expr)?;
            )*
        }
    )+) => {$(
        $(#[$meta])*
        pub struct $config {
            $(
                $(#[doc = $doc])*
                #[doc = concat!("\n\nDefault: `", stringify!($default), "`.")]
                $(#[doc = concat!("Key: `", stringify!($key), "`.")])?
                pub $field: $kind,
            )*
        }

        impl Default for $config {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }

        impl $crate::parameters::Declared for $config {
            const KEYS: &'static [$crate::parameters::Key] = {
                const __PARTS: &[&[$crate::parameters::Key]] = &[
                    $($crate::__parameter!(keys $field, $kind, concat!($($doc, "\n"),*); $($key)?),)*
                ];
                const __COUNT: usize = $crate::parameters::count_keys(__PARTS);
                const __KEYS: [$crate::parameters::Key; __COUNT] = $crate::parameters::with_default(
                    $crate::parameters::concat_keys(__PARTS),
                    concat!($($default_text)?),
                );
                &__KEYS
            };
        }

        impl $config {
            /// Table of the parameters in scenario files.
            pub const SPEC: &'static $crate::parameters::Spec = &$crate::parameters::Spec {
                name: $name,
                keys: <Self as $crate::parameters::Declared>::KEYS,
                defaults: Some(|| Box::new(Self::default())),
            };
        }

        impl $crate::parameters::Parameters for $config {
            fn keys(&self) -> &'static [$crate::parameters::Key] {
                <Self as $crate::parameters::Declared>::KEYS
            }

            #[allow(unused_variables, reason = "a table may have no keys")]
            fn get(&self, key: &str) -> Option<$crate::parameters::Value> {
                $($crate::__parameter!(get self.$field, $field, key; $($key)?);)*
                None
            }

            #[allow(unused_variables, reason = "a table may have no keys")]
            fn set(&mut self, key: &str, value: $crate::parameters::Value) {
                $($crate::__parameter!(set self.$field, $field, key, value; $($key)?);)*
            }
        }

        impl $crate::parameters::Parameter for $config {
            fn from_value(value: $crate::parameters::Value) -> Self {
                let mut config = Self::default();
                $crate::parameters::Parameter::assign(&mut config, value);
                config
            }

            fn value(&self) -> $crate::parameters::Value {
                $crate::parameters::Value::Table($crate::parameters::TableValue {
                    word: None,
                    given: $crate::parameters::Parameters::all(self),
                })
            }

            fn assign(&mut self, value: $crate::parameters::Value) {
                if let $crate::parameters::Value::Table(table) = value {
                    $crate::parameters::Parameters::apply(self, &table.given);
                }
            }
        }
    )+};
}

/// Parts of [`parameters!`] that differ between a field with a key and one that is a struct of
/// parameters.
#[doc(hidden)]
#[macro_export]
macro_rules! __parameter {
    (keys $field:ident, $kind:ty, $doc:expr; $key:expr) => {
        &[($key).of_field(stringify!($field), $doc)]
    };
    (keys $field:ident, $kind:ty, $doc:expr;) => {
        <$kind as $crate::parameters::Declared>::KEYS
    };
    (get $place:expr, $field:ident, $name:expr; $key:expr) => {
        if $name == const { ($key).of_field(stringify!($field), "").name } {
            return Some($crate::parameters::Parameter::value(&$place));
        }
    };
    (get $place:expr, $field:ident, $name:expr;) => {
        if let Some(value) = $crate::parameters::Parameters::get(&$place, $name) {
            return Some(value);
        }
    };
    (set $place:expr, $field:ident, $name:expr, $value:expr; $key:expr) => {
        if $name == const { ($key).of_field(stringify!($field), "").name } {
            return $crate::parameters::Parameter::assign(&mut $place, $value);
        }
    };
    (set $place:expr, $field:ident, $name:expr, $value:expr;) => {
        $crate::parameters::Parameters::set(&mut $place, $name, $value.clone());
    };
}

/// Declares an enum whose variants are tables of parameters, each with its word at the key `kind`.
///
/// A variant has no parameters, or fields as in [`parameters!`], or a struct of parameters, which
/// the binding in parentheses names. The second literal names the table in the schema. A third one
/// is the meaning of the word; `MEANINGS` joins them for the documentation of the key. The key in
/// parentheses after the enum's name is the key of the words. After `as dyn`, a trait is named that
/// the structs of all variants have; the method `law` returns them as such. Brackets after a
/// variant's literals hold keys that are no fields, because a reader turns them into the value of
/// another key. A last variant after a semicolon is one that no file can name. It has no parameters,
/// and its own method `name` returns its word.
#[macro_export]
macro_rules! variants {
    (
        $(#[$meta:meta])*
        pub enum $choice:ident($kind_key:expr) $(as dyn $law:ident)? {
            $(
                $(#[$doc:meta])*
                $variant:ident $(($bind:ident: $inner:ty))?
                    = $word:literal($name:literal $(, $meaning:literal)?) $([$($more:expr),*])? $({
                    $(
                        $(#[doc = $field_doc:literal])*
                        $field:ident: $kind:ty = $default:expr $(=> $key:expr)?;
                    )*
                })?
            ),+ $(,)?
            $(; $(#[$own_doc:meta])* $own:ident($own_type:ty))?
        }
    ) => {
        $(#[$meta])*
        pub enum $choice {
            $(
                $(#[$doc])*
                $variant $(($inner))? $({$(
                    $(#[doc = $field_doc])*
                    $(#[doc = concat!("\n\nKey: `", stringify!($key), "`.")])?
                    $field: $kind
                ),*})?,
            )+
            $($(#[$own_doc])* $own($own_type),)?
        }

        impl $choice {
            /// Words of all variants.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
            /// Words of all variants, each with its table.
            pub const VARIANTS: $crate::parameters::Variants = &[$(
                ($word, {
                    const __PARTS: &[&[$crate::parameters::Key]] = &[
                        &[$kind_key],
                        $(<$inner as $crate::parameters::Declared>::KEYS,)?
                        $(&[$($more),*],)?
                        $($($crate::__parameter!(
                            keys $field, $kind, concat!($($field_doc, "\n"),*); $($key)?
                        ),)*)?
                    ];
                    const __COUNT: usize = $crate::parameters::count_keys(__PARTS);
                    const __KEYS: [$crate::parameters::Key; __COUNT] =
                        $crate::parameters::concat_keys(__PARTS);
                    &$crate::parameters::Spec {
                        name: $name,
                        keys: &__KEYS,
                        defaults: Some(|| Box::new($choice::defaults($word))),
                    }
                }),
            )+];

            /// Returns the variant of a word with its defaults.
            pub fn defaults(word: &str) -> Self {
                match word {
                    $($word => Self::$variant {
                        $(0: <$inner>::default(),)?
                        $($($field: $default),*)?
                    },)+
                    other => unreachable!("{other} is none of {:?}", Self::WORDS),
                }
            }

            /// Returns the word of the variant.
            pub fn word(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $word,)+
                    $(Self::$own(own) => <$own_type>::name(own),)?
                }
            }
        }

        $crate::__law! { $choice $($law)?: $($variant)+ }
        $crate::__meanings! { $choice: $($word $($meaning)?,)+ }

        impl $crate::parameters::Parameters for $choice {
            fn keys(&self) -> &'static [$crate::parameters::Key] {
                let word = self.word();
                let found = Self::VARIANTS.iter().find(|variant| variant.0 == word);
                found.map_or(&[], |variant| variant.1.keys)
            }

            fn get(&self, key: &str) -> Option<$crate::parameters::Value> {
                match self {
                    $(Self::$variant { $(0: $bind)? $($($field),*)? } => {
                        $(return $crate::parameters::Parameters::get($bind, key);)?
                        $($($crate::__parameter!(get *$field, $field, key; $($key)?);)*)?
                    })+
                    $(Self::$own(_) => {})?
                }
                #[allow(unreachable_code, reason = "every variant may be a struct")]
                None
            }

            fn set(&mut self, key: &str, value: $crate::parameters::Value) {
                match self {
                    $(Self::$variant { $(0: $bind)? $($($field),*)? } => {
                        $($crate::parameters::Parameters::set($bind, key, value);)?
                        $($($crate::__parameter!(set *$field, $field, key, value; $($key)?);)*)?
                    })+
                    $(Self::$own(_) => {})?
                }
            }
        }

        impl $crate::parameters::Parameter for $choice {
            fn from_value(value: $crate::parameters::Value) -> Self {
                let (word, given) = match value {
                    $crate::parameters::Value::Table(table) => (table.word, table.given),
                    $crate::parameters::Value::Word(word) => (Some(word), Default::default()),
                    _ => unreachable!("a choice with parameters is a table"),
                };
                let mut choice = Self::defaults(word.unwrap_or(Self::WORDS[0]));
                $crate::parameters::Parameters::apply(&mut choice, &given);
                choice
            }

            fn value(&self) -> $crate::parameters::Value {
                $crate::parameters::Value::Table($crate::parameters::TableValue {
                    word: Some(self.word()),
                    given: $crate::parameters::Parameters::all(self),
                })
            }
        }
    };
}

/// The method `law` of [`variants!`].
#[doc(hidden)]
#[macro_export]
macro_rules! __law {
    ($choice:ident: $($variant:ident)+) => {};
    ($choice:ident $law:ident: $($variant:ident)+) => {
        impl $choice {
            /// Returns the parameters of the variant as what they have in common.
            pub fn law(&self) -> &dyn $law {
                match self {
                    $(Self::$variant(inner) => inner,)+
                }
            }
        }
    };
}

/// The documentation of the words of [`variants!`], if each has a meaning.
#[doc(hidden)]
#[macro_export]
macro_rules! __meanings {
    ($choice:ident: $($word:literal $meaning:literal,)+) => {
        impl $choice {
            /// Meanings of the words, as documentation of their key.
            pub const MEANINGS: &'static str =
                concat!($("; `", $word, "`: ", $meaning,)+ ".").split_at(2).1;
        }
    };
    ($($without:tt)*) => {};
}

/// Declares enums whose values are words in scenario files.
///
/// ```
/// use goodqueue_types::parameters::Words;
/// use goodqueue_types::words;
///
/// words! {
///     /// Unit of the average.
///     pub enum Unit {
///         /// Packets.
///         Packets = "packets",
///         /// Frame bytes.
///         Bytes = "bytes",
///     }
/// }
///
/// assert_eq!(Unit::from_word("bytes"), Some(Unit::Bytes));
/// assert_eq!(Unit::Packets.word(), "packets");
/// ```
#[macro_export]
macro_rules! words {
    ($(
        $(#[$meta:meta])*
        pub enum $kind:ident {
            $($(#[$doc:meta])* $value:ident = $word:literal),+ $(,)?
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $kind {
            $($(#[$doc])* $value,)+
        }

        impl $crate::parameters::Words for $kind {
            const WORDS: &'static [&'static str] = &[$($word),+];
            const ALL: &'static [Self] = &[$(Self::$value),+];
        }

        impl $crate::parameters::Parameter for $kind {
            fn from_value(value: $crate::parameters::Value) -> Self {
                $crate::parameters::word_of(&value)
            }

            fn value(&self) -> $crate::parameters::Value {
                $crate::parameters::Value::Word($crate::parameters::Words::word(*self))
            }
        }
    )+};
}
