//! `jitter`, `reorder` and `duplicate` of a link.

use crate::error::Checked;
use crate::law::{Laws, items_of_times};
use crate::reader::Reader;
use crate::setting::{ReadFrom, Setting, Visitor, Words, WriteTo, words};
use crate::spec::{DUPLICATION, Kind, REORDERING};
use crate::write::inline;
use goodqueue_sim::{Impairments, Jitter, Reorder};
use goodqueue_types::Span;

/// Order of packets with different delays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    #[default]
    Keep,
    Free,
}

words! {
    Order { "keep" = Keep, "free" = Free }
}

/// Reads the impairments from a link's table.
pub(crate) fn read(link: &Reader<'_>, laws: Laws<'_>) -> Checked<Impairments> {
    Ok(Impairments {
        jitter: read_jitter(link, laws)?,
        reorder: read_reorder(link)?,
        duplicate: read_duplicate(link)?,
    })
}

fn read_jitter(link: &Reader<'_>, laws: Laws<'_>) -> Checked<Option<Jitter>> {
    let Some(field) = link.get("jitter") else {
        return Ok(None);
    };
    let (_, table) = Reader::tagged(&field)?;
    let mut order = Order::default();
    ReadFrom(&table).visit("order", &mut order)?;
    Ok(Some(Jitter {
        law: laws.times(&field)?,
        keeps_order: order == Order::Keep,
    }))
}

fn read_reorder(link: &Reader<'_>) -> Checked<Option<Reorder>> {
    let Some(table) = link.table("reorder")? else {
        return Ok(None);
    };
    table.check_required()?;
    let (probability, delay) = (0.0, Span::ZERO);
    let mut reorder = Reorder { probability, delay };
    visit_reorder(&mut ReadFrom(&table), &mut reorder)?;
    Ok(Some(reorder))
}

fn visit_reorder(v: &mut impl Visitor, reorder: &mut Reorder) -> Checked<()> {
    let Reorder { probability, delay } = reorder;
    v.visit("probability", probability)?;
    v.visit("delay", delay)
}

fn read_duplicate(link: &Reader<'_>) -> Checked<Option<f64>> {
    let Some(table) = link.table("duplicate")? else {
        return Ok(None);
    };
    table.require("probability")?.fraction().map(Some)
}

/// Returns the keys of a link that read back the same.
pub(crate) fn items(config: &Impairments) -> Vec<(&'static str, String)> {
    let Impairments {
        jitter,
        reorder,
        duplicate,
    } = config;
    let mut items = Vec::new();
    if let Some(Jitter { law, keeps_order }) = jitter {
        let order = if *keeps_order {
            Order::Keep
        } else {
            Order::Free
        };
        let mut keys = items_of_times(law);
        keys.push(("order", order.write(Kind::Choice(Order::WORDS))));
        items.push(("jitter", inline(&keys)));
    }
    if let Some(mut reorder) = *reorder {
        let mut table = WriteTo::new(&REORDERING);
        let visited = visit_reorder(&mut table, &mut reorder);
        debug_assert!(visited.is_ok(), "writing does not fail");
        items.push(("reorder", table.inline()));
    }
    if let Some(mut probability) = *duplicate {
        let mut table = WriteTo::new(&DUPLICATION);
        let visited = table.visit("probability", &mut probability);
        debug_assert!(visited.is_ok(), "writing does not fail");
        items.push(("duplicate", table.inline()));
    }
    items
}
