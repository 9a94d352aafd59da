//! Applications over TCP connections that open and close.

use super::{Around, read_interval};
use crate::flow::law::Laws;
use crate::language::error::{Checked, Problem, shorten};
use crate::language::reader::{Field, Reader};
use crate::language::units::{LONGEST, format_span};
use crate::network::path::Path;
use crate::network::topology::LinkDirection;
use goodqueue_sim::{ExchangesConfig, Law, SessionConfig, TransfersConfig, VideoConfig, WebConfig};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::{LinkId, Rate, Span};

/// Bytes of the request for a download.
const REQUEST: u64 = 200;
/// Smallest mean time in seconds between requests that do not wait for a reply.
const LEAST_PERIOD: f64 = 1e-6;
/// Largest number of replies to one request, because each is stored until it is due.
const MOST_REPLIES: f64 = 10_000.0;

/// Reads a session of this kind.
pub(super) fn read(
    kind: &str,
    table: &Reader<'_>,
    tcp: &TcpConfig,
    around: &Around<'_>,
    path: &Path,
) -> Checked<SessionConfig> {
    let laws = Laws(around.files);
    match kind {
        "transfers" => read_transfers(table, tcp, around, path).map(SessionConfig::Transfers),
        "exchanges" => read_exchanges(table, laws).map(SessionConfig::Exchanges),
        "video" => read_video(table).map(SessionConfig::Video),
        _ => read_web(table, laws).map(SessionConfig::Web),
    }
}

/// Reads a distribution, or returns this one if the key is omitted.
fn read_or(
    table: &Reader<'_>,
    key: &str,
    fallback: Law,
    read: impl Fn(&Field<'_>) -> Checked<Law>,
) -> Checked<Law> {
    table.get(key).map_or(Ok(fallback), |field| read(&field))
}

fn server_time(table: &Reader<'_>, laws: Laws<'_>) -> Checked<Law> {
    let at_once = Law::Fixed(0.0);
    read_or(table, "server_time", at_once, |field| laws.times(field))
}

fn mean_bytes(size: &Law) -> u64 {
    libm::round(size.mean()).max(1.0) as u64
}

/// Reads a load that is a share of a link's rate, with the link. It is the link named `of`, or the
/// slowest link between routers that the data of the first flow cross.
fn share_of_a_link<'a>(
    table: &Reader<'_>,
    down: bool,
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
    let way = if down { &path.reverse } else { &path.forward };
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

/// Returns the mean interval at which the frames of transfers' data have this share of a link.
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
        _ => mean / mss + 0.5,
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

fn read_transfers(
    table: &Reader<'_>,
    tcp: &TcpConfig,
    around: &Around<'_>,
    path: &Path,
) -> Checked<TransfersConfig> {
    let size = Laws(around.files).sizes(&table.require("size")?)?;
    let down = table.choice("direction")? == Some("down");
    let interval = match share_of_a_link(table, down, around, path)? {
        Some((share, link)) => link_interval(table, share, link, &size, tcp)?,
        None => read_interval(table, "load", mean_bytes(&size))?,
    };
    let interval = interval.as_secs_f64();
    Ok(TransfersConfig {
        gap: match table.choice("intervals")? {
            Some("fixed") => Law::Fixed(interval),
            _ => Law::exponential(interval),
        },
        size,
        request: down.then_some(REQUEST),
        most: read_most(table)?,
    })
}

fn read_exchanges(table: &Reader<'_>, laws: Laws<'_>) -> Checked<ExchangesConfig> {
    let bytes = |key| read_or(table, key, Law::Fixed(200.0), |field| laws.sizes(field));
    let pause = laws.times(&table.require("pause")?)?;
    let periodic = table.flag("periodic")?.unwrap_or(false);
    // After replies any pause is possible, because they take a round trip.
    if periodic && pause.mean() < LEAST_PERIOD {
        let message = "requests this close to each other would fill the connection for ever";
        let help = "write at least \"1us\", or leave periodic out";
        return Err(table.problem("pause", message, help));
    }
    let request = bytes("request")?;
    let reply_per = match table.get("reply_per") {
        Some(field) if field.as_text() != Some("request") => Some(field.size()?),
        _ => None,
    };
    if reply_per.is_some_and(|per| request.mean() > MOST_REPLIES * per as f64) {
        let message = "a request would have more than 10,000 answers";
        return Err(table.problem("reply_per", message, "write more bytes at a time"));
    }
    Ok(ExchangesConfig {
        request,
        reply: bytes("reply")?,
        reply_per,
        server_time: server_time(table, laws)?,
        pause,
        periodic,
        most: read_most(table)?,
    })
}

fn read_web(table: &Reader<'_>, laws: Laws<'_>) -> Checked<WebConfig> {
    let sizes = |key, fallback| read_or(table, key, fallback, |field| laws.sizes(field));
    let pareto = Law::pareto(20_000.0, 1.5);
    Ok(WebConfig {
        objects: Law::Fixed(table.integer("objects")?.unwrap_or(10) as f64),
        main_size: sizes("main_size", Law::Fixed(30_000.0))?,
        object_size: sizes("object_size", pareto)?,
        request: table.size("request")?.unwrap_or(350),
        server_time: server_time(table, laws)?,
        parallel: table.integer("parallel")?.unwrap_or(6) as u32,
        persistent: table.flag("persistent")?.unwrap_or(true),
        think: {
            let usual = Law::exponential(5.0);
            read_or(table, "think", usual, |field| laws.times(field))?
        },
        most: read_most(table)?,
    })
}

fn read_video(table: &Reader<'_>) -> Checked<VideoConfig> {
    let span = |key: &str, usual: Span| Ok(table.span(key)?.unwrap_or(usual));
    let segment = span("segment", Span::from_secs(4))?;
    let max_buffer = span("max_buffer", Span::from_secs(60))?;
    let startup = span("startup", segment)?;
    let reservoir = span("reservoir", Span(max_buffer.0 / 4))?;
    // The lower and the upper reservoir are those of Huang et al. (2014): the rest up to 90 % of
    // the buffer.
    let usual = Span(max_buffer.0 / 10 * 9).saturating_sub(reservoir);
    let cushion = span("cushion", usual)?;
    // Only whole segments are in the buffer before playback begins.
    if startup.0.div_ceil(segment.0) > max_buffer.0 / segment.0 {
        let message = "the buffer never holds so many segments as it takes to begin";
        let help = "write a longer max_buffer, or a shorter startup or segment";
        return Err(table.problem("max_buffer", message, help));
    }
    if reservoir + cushion > max_buffer {
        let message = "reservoir and cushion are more than the buffer";
        let help = format!("together at most \"{}\"", format_span(max_buffer));
        return Err(table.problem("cushion", message, help));
    }
    Ok(VideoConfig {
        segment,
        ladder: read_ladder(table)?,
        variation: table
            .get("variation")
            .map_or(Ok(0.0), |share| share.fraction())?,
        request: table.size("request")?.unwrap_or(350),
        startup,
        max_buffer,
        reservoir,
        cushion,
        most: read_most(table)?,
    })
}

/// Reads bit rates in ascending order.
fn read_ladder(table: &Reader<'_>) -> Checked<Vec<Rate>> {
    let Some(field) = table.get("ladder") else {
        let usual = [350_000, 750_000, 1_500_000, 3_000_000, 6_000_000];
        return Ok(usual.map(Rate).to_vec());
    };
    let rates: Checked<Vec<Rate>> = field.items()?.iter().map(Field::rate).collect();
    let rates = rates?;
    if rates.is_empty() || !rates.is_sorted_by(|a, b| a < b) {
        let message = "a ladder is one bit rate or more, each above the one before";
        return Err(field.problem(message, "write as in [\"750kbps\", \"1500kbps\"]"));
    }
    Ok(rates)
}

fn read_most(table: &Reader<'_>) -> Checked<Option<u64>> {
    match table.get("most") {
        Some(field) if field.as_text() != Some("unlimited") => field.integer().map(Some),
        _ => Ok(None),
    }
}
