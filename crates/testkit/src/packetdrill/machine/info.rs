//! The fields that `TCP_INFO` would report.

use goodqueue_tcp::{ConnectionState, Limited, TimeLimited};
use goodqueue_types::{Span, Time};

use super::connection::Connection;

/// Returns the value of a `tcpi_` field, if the model has it.
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
        "backoff" | "retransmits" => count(info.backoff.into()),
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
        "data_segs_out" => count(connection.endpoint.stats().segments_sent),
        "total_retrans" => count(connection.endpoint.stats().retransmitted_segments),
        "bytes_retrans" => count(connection.endpoint.stats().retransmitted_bytes),
        "bytes_acked" => count(connection.endpoint.stats().acked_bytes),
        "busy_time" => micros(Some(busy_time(&connection.endpoint.time_limited(now)))),
        "rwnd_limited" => {
            let spent = connection.endpoint.time_limited(now);
            micros(Some(spent[Limited::ReceiverWindow as usize]))
        }
        "options" => count(options(connection)),
        field => accecn(connection, field),
    }
}

/// Returns a count of accurate ECN, if the connection has it.
fn accecn(connection: &Connection, field: &str) -> Option<f64> {
    let counts = connection.endpoint.accecn_counts()?;
    Some(f64::from(match field {
        "delivered_ce" => counts.ce_packets,
        "delivered_ce_bytes" => counts.ce_bytes,
        "delivered_e0_bytes" => counts.ect0_bytes,
        "delivered_e1_bytes" => counts.ect1_bytes,
        _ => return None,
    }))
}

/// Returns the total time during which data waited or were outstanding, for any reason.
fn busy_time(spent: &TimeLimited) -> Span {
    spent[Limited::Congestion as usize]
        + spent[Limited::ReceiverWindow as usize]
        + spent[Limited::Application as usize]
}

/// Returns the `TCPI_OPT_*` bits of the options that both ends have agreed on.
fn options(connection: &Connection) -> u64 {
    let agreed = &connection.agreed;
    let has_ecn = connection.endpoint.has_ecn();
    [
        agreed.timestamps,
        agreed.sack,
        agreed.window_scale.is_some(),
        has_ecn,
        // `TCPI_OPT_ECN_SEEN` is not modelled.
        false,
        connection.endpoint.has_early_data(),
    ]
    .into_iter()
    .enumerate()
    .map(|(bit, set)| u64::from(set) << bit)
    .sum()
}

/// Fields that the kernel reports and the model does not have.
const NOT_MODELLED: [&str; 27] = [
    "SK_MEMINFO_RCVBUF",
    "TCPI_OPT_ECN_SEEN",
    "tcpi_ato",
    "tcpi_bytes_received",
    "tcpi_bytes_sent",
    "tcpi_data_segs_in",
    "tcpi_delivered",
    "tcpi_delivery_rate",
    "tcpi_dsack_dups",
    "tcpi_fackets",
    "tcpi_last_ack_recv",
    "tcpi_last_ack_sent",
    "tcpi_last_data_sent",
    "tcpi_max_pacing_rate",
    "tcpi_notsent_bytes",
    "tcpi_pacing_rate",
    "tcpi_pmtu",
    "tcpi_probes",
    "tcpi_rcv_ooopack",
    "tcpi_rcv_rtt",
    "tcpi_rcv_space",
    "tcpi_rcv_ssthresh",
    "tcpi_rcv_wnd",
    "tcpi_rehash",
    "tcpi_segs_in",
    "tcpi_segs_out",
    "tcpi_sndbuf_limited",
];

/// Returns a field in `code` that the model does not have. Only accurate ECN counts marked packets.
pub fn not_modelled(code: &str, connection: Option<&Connection>) -> Option<&'static str> {
    let mut words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let counts = connection.and_then(|connection| connection.endpoint.accecn_counts());
    let marks = counts.is_none().then_some("tcpi_delivered_ce");
    let fields = || NOT_MODELLED.into_iter().chain(marks);
    words.find_map(|word| fields().find(|field| *field == word))
}
