//! `jitter`, `reorder`, `duplicate` and `interrupts` of a link.

use crate::flow::law::Laws;
use crate::language::error::Checked;
use crate::language::reader::Reader;
use crate::language::spec::{EVERY, JITTER, Kind, ORDER};
use crate::language::value;
use goodqueue_sim::{Duplicate, Impairments, Jitter, Law};
use goodqueue_types::parameters::{Parameter, Value};

/// Reads the impairments from a link's table.
pub(crate) fn read(link: &Reader<'_>, laws: Laws<'_>) -> Checked<Impairments> {
    let config = Impairments {
        jitter: read_jitter(link, laws)?,
        reorder: value::at(link, "reorder")?,
        duplicate: value::at(link, "duplicate")?.map(|Duplicate { probability }| probability),
        interrupts: value::at(link, "interrupts")?,
    };
    check_order(link, &config)?;
    Ok(config)
}

/// Refuses packets that overtake one another in front of a network card.
fn check_order(link: &Reader<'_>, config: &Impairments) -> Checked<()> {
    let Some(field) = link
        .get("interrupts")
        .filter(|_| config.interrupts.is_some())
    else {
        return Ok(());
    };
    let free = config
        .jitter
        .as_ref()
        .is_some_and(|jitter| !jitter.keeps_order);
    if !free && config.reorder.is_none() {
        return Ok(());
    }
    let message = "packets with \"interrupts\" cannot overtake one another on the same link";
    let help = "leave out \"reorder\" and order = \"free\" here, or move them to another link";
    Err(field.problem(message, help))
}

fn read_jitter(link: &Reader<'_>, laws: Laws<'_>) -> Checked<Option<Jitter>> {
    let Some(field) = link.get("jitter") else {
        return Ok(None);
    };
    let (_, table) = Reader::tagged(&field)?;
    let keeps_order = table.choice("order")? != Some("free");
    let law = laws.read(&field)?;
    let every = table.span("every")?;
    Ok(Some(Jitter {
        law,
        keeps_order,
        every,
    }))
}

/// Returns the keys of a link that read back the same.
pub(crate) fn items(config: &Impairments) -> Vec<(&'static str, String)> {
    let Impairments {
        jitter,
        reorder,
        duplicate,
        interrupts,
    } = config;
    let mut items = Vec::new();
    if let Some(Jitter {
        law,
        keeps_order,
        every,
    }) = jitter
    {
        let order = if *keeps_order { "keep" } else { "free" };
        let mut table = match law {
            Law::Fixed(value) => Law::uniform(*value, *value).value(),
            Law::Drawn(drawn) => drawn.value(),
        };
        if let Value::Table(table) = &mut table {
            table.given.0.push((&ORDER, Value::Word(order)));
            let every = every.map(|every| (&EVERY, Value::Span(every)));
            table.given.0.extend(every);
        }
        items.push(("jitter", value::write(&table, JITTER)));
    }
    if let Some(reorder) = reorder {
        items.push(("reorder", value::write(&reorder.value(), Kind::Free)));
    }
    if let Some(probability) = *duplicate {
        let duplicate = Duplicate { probability };
        items.push(("duplicate", value::write(&duplicate.value(), Kind::Free)));
    }
    if let Some(interrupts) = interrupts {
        items.push(("interrupts", value::write(&interrupts.value(), Kind::Free)));
    }
    items
}
