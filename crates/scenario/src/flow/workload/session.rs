//! Applications over TCP connections that open and close.

use super::{Around, read_interval};
use crate::flow::law::Laws;
use crate::language::error::{Checked, Problem, shorten};
use crate::language::field::Field;
use crate::language::reader::Reader;
use crate::language::units::{LONGEST, format_span};
use crate::network::path::Path;
use crate::network::topology::LinkDirection;
use goodqueue_sim::{Law, SessionConfig, TransferWay};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::{LinkId, Span};

/// Reads a session of this kind.
pub(super) fn read(
    kind: &str,
    table: &Reader<'_>,
    tcp: &TcpConfig,
    around: &Around<'_>,
    path: &Path,
) -> Checked<SessionConfig> {
    let given = Laws(around.files).given(table, "kind")?;
    let mut session = table.accept(SessionConfig::read(kind, &given))?;
    if let SessionConfig::Transfers(config) = &mut session {
        config.interval = match share_of_a_link(table, config.direction, around, path)? {
            Some((share, link)) => link_interval(table, share, link, &config.size, tcp)?,
            None => read_interval(table, "load", mean_bytes(&config.size))?,
        };
    }
    Ok(session)
}

fn mean_bytes(size: &Law) -> u64 {
    libm::round(size.mean()).max(1.0) as u64
}

/// Reads a load that is a share of a link's rate, with the link. It is the link named `of`, or the
/// slowest link between routers that the data of the first flow cross.
fn share_of_a_link<'a>(
    table: &Reader<'_>,
    direction: TransferWay,
    around: &Around<'a>,
    path: &Path,
) -> Checked<Option<(f64, &'a LinkDirection)>> {
    let load = table.get("load");
    let text = load.as_ref().and_then(Field::as_text);
    let Some(load) = load.filter(|_| text.is_some_and(|text| text.ends_with('%'))) else {
        if table.get("of").is_some() {
            let help = "write load as a percentage, as in \"80%\", or leave \"of\" out";
            return Err(table.problem("of", "only a share is of a link", help));
        }
        return Ok(None);
    };
    let share = load.fraction()?;
    if share <= 0.0 {
        return Err(load.problem("no load at all", "write more than \"0%\""));
    }
    let way = match direction {
        TransferWay::Down => &path.reverse,
        TransferWay::Up => &path.forward,
    };
    let topology = around.topology;
    let Some(of) = table.get("of") else {
        let links = way.iter().map(|link| topology.direction(*link));
        let slowest = links.min_by_key(|link| link.rate.0);
        return match slowest.filter(|link| !link.only_delays()) {
            Some(slowest) => Ok(Some((share, slowest))),
            None => Err(no_rate(&load)),
        };
    };
    let name = of.name()?;
    if let Some(link) = topology.find(&name).filter(|link| way.contains(link)) {
        let direction = topology.direction(link);
        if direction.only_delays() {
            return Err(no_rate(&of));
        }
        return Ok(Some((share, direction)));
    }
    let message = format!("the data do not cross a link \"{}\"", shorten(&name));
    let name_of = |link: &LinkId| topology.names().nth(link.0 as usize);
    let names: Vec<String> = way.iter().filter_map(name_of).take(8).collect();
    Err(of.problem(message, format!("they cross {}", names.join(", "))))
}

fn no_rate(field: &Field<'_>) -> Problem {
    let message = "a share of an unlimited rate";
    let help = "name a link with a rate in \"of\", or write the load as a rate, as in \"8Mbps\"";
    field.problem(message, help)
}

/// Returns the mean interval between transfers at which the frames of their data take this share of
/// a link's rate.
fn link_interval(
    table: &Reader<'_>,
    share: f64,
    link: &LinkDirection,
    size: &Law,
    tcp: &TcpConfig,
) -> Checked<Span> {
    if table.get("interval").is_some() {
        let message = "\"load\" and \"interval\" say the same thing twice";
        return Err(table.problem("interval", message, "keep one of the two"));
    }
    let (mean, mss) = (size.mean().max(1.0), f64::from(tcp.mss));
    // The last segment of a varying size is on average half a segment too long.
    let segments = match size {
        Law::Fixed(bytes) => libm::ceil(bytes / mss),
        Law::Drawn(_) => mean / mss + 0.5,
    };
    let payload = libm::round(mean / segments).max(1.0) as u32;
    let frame = link.framing.frame_bytes(tcp.header_bytes() + payload);
    let bits = segments * frame as f64 * 8.0;
    let seconds = bits / (share * link.rate.0 as f64);
    if seconds > LONGEST.as_secs_f64() {
        let message = format!("less often than once in {}", format_span(LONGEST));
        return Err(table.problem("load", message, "ask for more"));
    }
    Ok(Span::from_secs_f64(seconds))
}
