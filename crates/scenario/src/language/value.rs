//! Values of declared parameters: from the fields of a file, and as TOML.

use crate::language::error::Checked;
use crate::language::field::{Field, search};
use crate::language::reader::Reader;
use crate::language::spec::{Key, Kind, Spec, variants};
use crate::language::text::quote;
use crate::language::units::resolve_limit;
use crate::language::units::{format_rate, format_seconds, format_size, format_span};
use goodqueue_queue::{Limit, QueueConfig};
use goodqueue_types::parameters::{BY_VALUE, Given, Parameter, TableValue, Value};

/// Reads the parameter at a key of a table, if it is given.
pub(crate) fn at<P: Parameter>(table: &Reader<'_>, key: &str) -> Checked<Option<P>> {
    let value = table.get(key).map(|field| read(&field)).transpose()?;
    Ok(value.map(P::from_value))
}

/// Reads a value of the kind of its key.
pub(crate) fn read(field: &Field<'_>) -> Checked<Value> {
    if let Some(text) = field.as_text()
        && let Some(word) = word_among(field.key.kind, text)
    {
        return Ok(Value::Word(word));
    }
    read_as(alternative(field), field)
}

/// Reads a value of this kind.
fn read_as(kind: Kind, field: &Field<'_>) -> Checked<Value> {
    Ok(match kind {
        Kind::Text => Value::Text(field.text()?),
        Kind::Name => Value::Text(field.name()?),
        Kind::Flag => Value::Flag(field.flag()?),
        Kind::Integer { .. } => Value::Integer(field.integer()?),
        Kind::Number { .. } => Value::Number(field.number()?),
        Kind::Fraction | Kind::Percent => Value::Number(field.fraction()?),
        Kind::Rate => Value::Rate(field.rate()?),
        Kind::RateOrZero => Value::Rate(field.rate_or_zero()?),
        Kind::Span { .. } => Value::Span(field.span()?),
        Kind::Size { .. } => Value::Bytes(field.size()?),
        Kind::Packets { .. } => Value::Packets(field.packets()?),
        Kind::Limit => read_limit(field)?.value(),
        Kind::Choice(_) => Value::Word(field.choice()?),
        Kind::Numbers { .. } => Value::Numbers(field.numbers()?),
        Kind::Queue => read_inner_queue(field)?.value(),
        Kind::ListOf(kind) => {
            let items = field.items()?;
            let items = items.iter().map(|item| read_as(*kind, item));
            Value::List(items.collect::<Checked<_>>()?)
        }
        Kind::List(_) => {
            let tables = field.tables()?.into_iter();
            let tables = tables.map(|table| read_table(None, &placed(table, field)?, ""));
            Value::List(tables.collect::<Checked<_>>()?)
        }
        Kind::Tagged { .. } | Kind::Law(_) => {
            let (tag, _) = variants(kind).unwrap_or_default();
            let (word, table) = Reader::tagged(field)?;
            read_table(Some(word), &table, tag)?
        }
        Kind::Table(_) => read_table(None, &field.table()?, "")?,
        _ => unreachable!("no parameter is of another kind"),
    })
}

/// Places a table of a list before the link of the queue that has the list. Packets of a class wait for
/// its tokens: times and BDPs are those of its highest rate.
fn placed<'a>(table: Reader<'a>, list: &Field<'a>) -> Checked<Reader<'a>> {
    let Some(place) = list.place else {
        return Ok(table);
    };
    let table = table.before(place);
    let rate = table.get("ceil").or_else(|| table.get("rate"));
    match rate {
        Some(rate) => Ok(table.at_rate(rate.rate()?)),
        None => Ok(table),
    }
}

/// Reads a queue within a queue, which cannot be one in Python.
fn read_inner_queue(field: &Field<'_>) -> Checked<QueueConfig> {
    let queue = crate::language::queue::read(field)?;
    if let QueueConfig::Python(_) = queue {
        let help = "name a built-in kind, or make the whole queue of the link a class in Python";
        return Err(field.problem("a queue in Python cannot be inside of another queue", help));
    }
    Ok(queue)
}

/// Reads the values of a table without the key `tag` that chose it.
pub(crate) fn read_table(
    word: Option<&'static str>,
    table: &Reader<'_>,
    tag: &str,
) -> Checked<Value> {
    table.check_required()?;
    let given = table.given(tag)?;
    Ok(Value::Table(TableValue { word, given }))
}

/// The limit of a queue, resolved for the link that the queue stands before.
fn read_limit(field: &Field<'_>) -> Checked<Limit> {
    let stated = field.limit()?;
    let Some(place) = field.place else {
        unreachable!("{} is in no queue's table", field.path)
    };
    resolve_limit(stated, place.rate, place.base_rtt)
        .map_err(|error| field.problem(error.message, error.help))
}

/// The word of a kind with alternatives, if the text is one.
fn word_among(kind: Kind, text: &str) -> Option<&'static str> {
    let Kind::Either(kinds) = kind else {
        return None;
    };
    kinds.iter().find_map(|kind| match kind {
        Kind::Choice(words) => words.iter().find(|word| **word == text).copied(),
        _ => None,
    })
}

/// The alternative of the key's kind that the field is: a table, packets or a percentage if the text
/// has their unit, a size if it is another text, otherwise the first.
fn alternative(field: &Field<'_>) -> Kind {
    let kind = field.key.kind;
    let table = search(kind, &|kind| match kind {
        Kind::Tagged { .. } | Kind::Law(_) | Kind::Table(_) => Some(kind),
        _ => None,
    });
    if let (true, Some(table)) = (field.is_table(), table) {
        return table;
    }
    let unit = search(kind, &|kind| match kind {
        Kind::Packets { .. } => Some((kind, 'p')),
        Kind::Percent => Some((kind, '%')),
        _ => None,
    });
    let text = field.as_text().unwrap_or_default();
    let has_unit = unit.filter(|(_, unit)| text.ends_with(*unit));
    // A number has no quotes, a size has them.
    let size = search(kind, &|kind| match kind {
        Kind::Size { .. } => Some(kind),
        _ => None,
    });
    let has_quotes = field.as_text().is_some() && matches!(kind.first(), Kind::Number { .. });
    let otherwise = size.filter(|_| has_quotes).unwrap_or(kind.first());
    has_unit.map_or(otherwise, |(kind, _)| kind)
}

/// Writes a value as TOML.
pub(crate) fn write(value: &Value, kind: Kind) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Number(share) if is_percentage(kind) => format!("\"{}%\"", share * 100.0),
        Value::Number(number) => match kind.first() {
            Kind::Size { .. } => format!("\"{}\"", format_size(*number as u64)),
            Kind::Span { .. } => format!("\"{}\"", format_seconds(*number)),
            _ => number.to_string(),
        },
        Value::Integer(number) => match kind.first() {
            Kind::Size { .. } => format!("\"{}\"", format_size(*number)),
            Kind::Packets { .. } => format!("\"{number}p\""),
            _ => number.to_string(),
        },
        Value::Span(span) => format!("\"{}\"", format_span(*span)),
        Value::Rate(rate) => format!("\"{}\"", format_rate(*rate)),
        Value::Packets(packets) => format!("\"{packets}p\""),
        Value::Bytes(bytes) => format!("\"{}\"", format_size(*bytes)),
        Value::Word(word) => format!("\"{word}\""),
        Value::Text(text) => quote(text),
        Value::Points(_) => unreachable!("points are in a file"),
        Value::Absent => format!("\"{}\"", kind.absent().unwrap_or("unlimited")),
        Value::Numbers(numbers) => format!("{numbers:?}"),
        Value::List(items) => {
            let kind = match kind {
                Kind::ListOf(kind) => *kind,
                kind => kind,
            };
            let items: Vec<String> = items.iter().map(|item| write(item, kind)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) => {
            let (tag, tables) = search(kind, &variants).unwrap_or(("kind", &[]));
            let spec = tables.iter().find(|(word, _)| Some(*word) == table.word);
            let own = |key: &'static Key| {
                let mut keys = spec.iter().flat_map(|(_, spec)| spec.keys);
                keys.find(|own| own.name == key.name).unwrap_or(key)
            };
            let given = table
                .given
                .0
                .iter()
                .map(|(key, value)| (own(key), value.clone()));
            let word = table.word.map(|word| format!("{tag} = \"{word}\""));
            let items: Vec<String> = (word.into_iter())
                .chain(assignments(&Given(given.collect())))
                .collect();
            format!("{{ {} }}", items.join(", "))
        }
    }
}

/// Returns true if numbers of the kind are percentages, beside values with another unit.
fn is_percentage(kind: Kind) -> bool {
    search(kind, &|kind| matches!(kind, Kind::Percent).then_some(())).is_some()
}

/// Writes each value as `key = value`, without those that are absent and have no word for it.
pub(crate) fn assignments(given: &Given) -> impl Iterator<Item = String> {
    let items = given.0.iter().filter(|(key, value)| {
        let has_word = matches!(key.kind, Kind::Limit) || key.kind.absent().is_some();
        *value != Value::Absent || has_word
    });
    items.map(|(key, value)| format!("{} = {}", key.name, write(value, key.kind)))
}

/// The default of a key in words or as in TOML.
pub(crate) fn default_text(spec: &Spec, key: &Key) -> String {
    if key.default != BY_VALUE {
        return key.default.to_owned();
    }
    let value = spec.defaults.and_then(|defaults| defaults().get(key.name));
    value.map_or_else(String::new, |value| write(&value, key.kind))
}
