//! What `TCP_INFO` would report.

use goodqueue_tcp::ConnectionState;
use goodqueue_types::{Span, Time};

use super::connection::Connection;

/// The value of a `tcpi_` field, if the model has it.
pub fn look_up(connection: &Connection, now: Time, name: &str) -> Option<f64> {
    let info = connection.endpoint.info();
    let mss = u64::from(connection.config.mss);
    let micros = |span: Option<Span>| span.map(|s| (s.0 / 1_000_000) as f64);
    let count = |n: u64| Some(n as f64);
    match name.strip_prefix("tcpi_")? {
        "state" => count(match info.state {
            ConnectionState::Established => 1,
            ConnectionState::SynSent => 2,
            ConnectionState::SynReceived => 3,
            ConnectionState::Closed => 7,
            ConnectionState::Listen => 10,
        }),
        "ca_state" => count(info.ca_state as u64),
        "snd_cwnd" => count(info.cwnd / mss),
        "snd_ssthresh" => count(info.ssthresh.map_or(i32::MAX as u64, |bytes| bytes / mss)),
        "unacked" => count(info.unacked.into()),
        "sacked" => count(info.sacked.into()),
        "lost" => count(info.lost.into()),
        "retrans" => count(info.retrans.into()),
        "reordering" => count(info.reordering.into()),
        "reord_seen" => count(info.reordering_seen.into()),
        "backoff" => count(info.backoff.into()),
        "last_data_recv" => {
            let silence = now.saturating_since(connection.last_data);
            count(silence.0 / Span::from_millis(1).0)
        }
        "rcv_mss" => count(info.receive_mss.into()),
        "min_rtt" => micros(info.min_rtt),
        "snd_mss" => count(mss),
        "advmss" => count(connection.offer.mss),
        "snd_wnd" => count(info.send_window),
        "rto" => micros(Some(info.rto)),
        "rtt" => micros(info.srtt),
        "rttvar" => micros(info.rttvar),
        _ => None,
    }
}

/// Fields that the kernel reports and the model does not keep.
const NOT_MODELLED: [&str; 7] = [
    "tcpi_busy_time",
    "tcpi_delivery_rate",
    "tcpi_options",
    "tcpi_pmtu",
    "tcpi_probes",
    "tcpi_rwnd_limited",
    "tcpi_sndbuf_limited",
];

/// A field in `code` that the model does not keep.
pub fn not_modelled(code: &str) -> Option<&'static str> {
    let mut words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.find_map(|word| NOT_MODELLED.into_iter().find(|field| *field == word))
}
