//! TCP traffic in one direction, with pings beside it and the RTT within it.

use super::control::{Messages, is_wait};
use super::{GoOn, NetError};
use crate::estimate::quantile;
use crate::{Path, Ping};
use nix::libc::{self, IPPROTO_TCP, TCP_INFO, linger};
use nix::sys::socket::{getsockopt, setsockopt, sockopt};
use nix::{getsockopt_impl, sockopt_impl};
use serde::Serialize;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Time of one count of received bytes.
pub const COUNTED: Duration = Duration::from_millis(100);
/// Time between pings beside TCP traffic, in microseconds.
pub const PING_US: u32 = 50_000;
/// Longest duration in milliseconds.
pub const LONGEST_MS: u32 = 20_000;
/// Shortest queueing delay within the flow that is compared with that of the pings, in seconds.
const MIN_WAIT_S: f64 = 0.001;

sockopt_impl!(
    /// The first 104 bytes of the kernel's `struct tcp_info`, which every kernel has, as words.
    TcpInfo,
    GetOnly,
    IPPROTO_TCP,
    TCP_INFO,
    [u32; 26]
);
/// Word of the smoothed RTT in microseconds, `tcpi_rtt`.
const RTT_WORD: usize = 17;

/// RTT within a TCP flow: milliseconds since its start, and the sender's smoothed RTT in microseconds.
pub type FlowRtt = [u32; 2];

/// A flow as its sender's kernel saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Congestion control, as the kernel names it.
    pub control: Option<String>,
    /// RTTs, in order of time.
    pub rtts: Vec<FlowRtt>,
}

/// Path under the load of a TCP flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loaded {
    /// Direction of the flow.
    pub path: Path,
    /// Congestion control of the sender, as its kernel names it, if the sender is the client.
    pub control: Option<String>,
    /// Bytes per second that arrived from the second quarter of the load on, in bits.
    pub goodput_bps: f64,
    /// Median RTT of pings beside the flow, in seconds.
    pub rtt_p50_s: f64,
    /// RTT that 95 % of these pings stayed below, in seconds.
    pub rtt_p95_s: f64,
    /// Longest RTT of these pings, in seconds.
    pub rtt_max_s: f64,
    /// Median of the sender's smoothed RTT within the flow, in seconds, if it is known.
    pub flow_rtt_p50_s: Option<f64>,
    /// RTT that 95 % of these stayed below, in seconds.
    pub flow_rtt_p95_s: Option<f64>,
    /// Median queueing delay of the pings as a share of that within the flow, if packets of the flow
    /// waited.
    pub sparse_share: Option<f64>,
    /// Round trips per minute: 60 s over the mean of two means, that of the pings' RTTs and that of the
    /// RTTs within the flow, each of the 95 % shortest. None without RTTs of the flow.
    pub responsiveness_rpm: Option<f64>,
    /// Share of pings without an answer.
    pub ping_loss: f64,
    /// Time since the start in seconds, and RTT in seconds, of each ping that was answered.
    #[serde(skip)]
    pub rtts: Vec<(f64, f64)>,
    /// The same of the sender's smoothed RTTs within the flow.
    #[serde(skip)]
    pub flow_rtts: Vec<(f64, f64)>,
    /// Bytes that the receiver read in each 100 ms.
    #[serde(skip)]
    pub counts: Vec<u64>,
}

impl Loaded {
    /// Returns the figures of a load, or none if nothing arrived. `base_s` is the RTT of the idle path.
    pub fn new(
        path: Path,
        counts: Vec<u64>,
        written: Written,
        (pings, sent): (&[Ping], u32),
        base_s: f64,
    ) -> Option<Self> {
        let begun = pings.first()?.sent;
        let s = |ns: i64| ns as f64 * 1e-9;
        let rtts = pings
            .iter()
            .map(|ping| (s(ping.sent - begun), s(ping.received - ping.sent)));
        let rtts: Vec<_> = rtts.collect();
        // The last count may cover less than its time.
        let counted = counts.get(counts.len() / 4..counts.len().saturating_sub(1));
        let counted = counted.filter(|counted| !counted.is_empty())?;
        let bytes: u64 = counted.iter().sum();
        // A ping is late only if it was sent after the start of the load, so the first ones are idle.
        let beside = || rtts.iter().map(|(_, rtt)| *rtt);
        let flow_rtts = written.rtts.iter();
        let flow_rtts = flow_rtts.map(|[ms, us]| (f64::from(*ms) * 1e-3, f64::from(*us) * 1e-6));
        let flow_rtts: Vec<_> = flow_rtts.collect();
        let within = || flow_rtts.iter().map(|(_, rtt)| *rtt);
        let waits = |rtt: f64| (rtt - base_s).max(0.0);
        let flow_rtt_p50_s = quantile(within(), 0.5);
        let flow_wait_s = flow_rtt_p50_s.map(waits).filter(|wait| *wait > MIN_WAIT_S);
        let rtt_p50_s = quantile(beside(), 0.5)?;
        let mean = trimmed_mean(within()).zip(trimmed_mean(beside()));
        Some(Self {
            path,
            control: written.control,
            goodput_bps: bytes as f64 * 8.0 / (counted.len() as f64 * COUNTED.as_secs_f64()),
            rtt_p50_s,
            rtt_p95_s: quantile(beside(), 0.95)?,
            rtt_max_s: quantile(beside(), 1.0)?,
            flow_rtt_p50_s,
            flow_rtt_p95_s: quantile(within(), 0.95),
            sparse_share: flow_wait_s.map(|wait| waits(rtt_p50_s) / wait),
            responsiveness_rpm: mean.map(|(within, beside)| 60.0 / within.midpoint(beside)),
            ping_loss: 1.0 - pings.len() as f64 / f64::from(sent.max(1)),
            rtts,
            flow_rtts,
            counts,
        })
    }
}

/// Returns the mean of the shortest 95 % of RTTs, or none without any.
fn trimmed_mean(rtts: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<_> = rtts.collect();
    sorted.sort_by(f64::total_cmp);
    let most = (sorted.len() * 95).div_ceil(100);
    (most > 0).then(|| sorted[..most].iter().sum::<f64>() / most as f64)
}

/// Writes to a connection for a time, and gives up what was not sent by then. Returns the flow as the
/// kernel saw it meanwhile.
///
/// # Errors
/// Returns an error if the session is to end.
pub fn write_for(
    connection: Messages,
    span: Duration,
    go_on: &GoOn<'_>,
) -> Result<Written, NetError> {
    let mut stream = connection.into_stream();
    let begun = Instant::now();
    let mut rtts: Vec<FlowRtt> = Vec::new();
    let block = [0x5a; 16_384];
    // Without these two lines the kernel would send megabytes after the end.
    let none = linger {
        l_onoff: 1,
        l_linger: 0,
    };
    setsockopt(&stream, sockopt::Linger, &none)?;
    stream.set_nodelay(false)?;
    let control = getsockopt(&stream, sockopt::TcpCongestion);
    while begun.elapsed() < span {
        match stream.write(&block) {
            Ok(_) => {}
            Err(error) if is_wait(&error) => {}
            Err(_) => break,
        }
        if !go_on() {
            return Err(NetError::Stopped);
        }
        let ms = begun.elapsed().as_millis() as u32;
        if rtts
            .last()
            .is_none_or(|[last, _]| ms - last >= PING_US / 1000)
        {
            let info = getsockopt(&stream, TcpInfo);
            rtts.extend(info.ok().map(|info| [ms, info[RTT_WORD]]));
        }
    }
    let control = control.ok().map(|name| {
        let name = name.to_string_lossy();
        name.trim_end_matches('\0').to_owned()
    });
    Ok(Written { control, rtts })
}

/// Reads from a connection until it ends, or for a time. Returns the bytes of each 100 ms.
///
/// # Errors
/// Returns an error if the session is to end.
pub fn read_for(
    connection: Messages,
    span: Duration,
    go_on: &GoOn<'_>,
) -> Result<Vec<u64>, NetError> {
    let mut stream = connection.into_stream();
    let mut block = vec![0; 65_536];
    let begun = Instant::now();
    let mut counts = Vec::new();
    while begun.elapsed() < span {
        match stream.read(&mut block) {
            Ok(0) => break,
            Ok(count) => {
                let place = (begun.elapsed().as_millis() / COUNTED.as_millis()) as usize;
                counts.resize(counts.len().max(place + 1), 0);
                counts[place] += count as u64;
            }
            Err(error) if is_wait(&error) => {}
            Err(_) => break,
        }
        if !go_on() {
            return Err(NetError::Stopped);
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the load of 100 pings of 30 ms beside a flow with an RTT of 70 ms, on a path of 20 ms.
    fn loaded(flow_rtt_us: u32) -> Loaded {
        let pings = (0..100).map(|number| Ping {
            sent: number * 50_000_000,
            turned: 0,
            received: number * 50_000_000 + 30_000_000,
        });
        let pings: Vec<_> = pings.collect();
        let written = Written {
            control: Some("cubic".to_owned()),
            rtts: (0..100).map(|number| [number * 50, flow_rtt_us]).collect(),
        };
        Loaded::new(Path::Up, vec![10_000; 50], written, (&pings, 100), 0.02).unwrap()
    }

    #[test]
    fn the_flow_and_the_pings_have_the_same_weight_in_round_trips_per_minute() {
        let found = loaded(70_000);
        // The mean of 70 ms and 30 ms.
        let rpm = found.responsiveness_rpm.unwrap();
        assert!((rpm - 60.0 / 0.05).abs() < 1e-6, "{rpm}");
        assert!((found.flow_rtt_p50_s.unwrap() - 0.07).abs() < 1e-9);
        // Pings waited for 10 ms, packets of the flow for 50 ms.
        assert!((found.sparse_share.unwrap() - 0.2).abs() < 1e-9);
    }

    #[test]
    fn the_slowest_twentieth_does_not_count_in_round_trips_per_minute() {
        let values = (0..100).map(|number| if number < 95 { 1.0 } else { 1000.0 });
        assert_eq!(trimmed_mean(values), Some(1.0));
        assert_eq!(trimmed_mean(std::iter::empty()), None);
    }

    #[test]
    fn a_flow_that_does_not_wait_shows_no_share() {
        assert_eq!(loaded(20_500).sparse_share, None);
    }
}
