//! TCP traffic in one direction, with pings beside it.

use super::control::{Messages, is_wait};
use super::{GoOn, NetError};
use crate::{Path, Ping};
use nix::libc::linger;
use nix::sys::socket::{setsockopt, sockopt};
use serde::Serialize;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Time of one count of received bytes.
pub const COUNTED: Duration = Duration::from_millis(100);
/// Time between pings beside TCP traffic, in microseconds.
pub const PING_US: u32 = 50_000;
/// Longest duration in milliseconds.
pub const LONGEST_MS: u32 = 20_000;

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
    /// Round trips per minute: 60 s over the mean RTT of the 95 % shortest.
    pub responsiveness_rpm: f64,
    /// Share of pings without an answer.
    pub ping_loss: f64,
    /// Time since the start in seconds, and RTT in seconds, of each ping that was answered.
    #[serde(skip)]
    pub rtts: Vec<(f64, f64)>,
    /// Bytes that the receiver read in each 100 ms.
    #[serde(skip)]
    pub counts: Vec<u64>,
}

impl Loaded {
    /// Returns the figures of a load, or none if nothing arrived.
    pub fn new(path: Path, counts: Vec<u64>, pings: &[Ping], sent: u32) -> Option<Self> {
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
        let mut sorted: Vec<_> = rtts.iter().map(|(_, rtt)| *rtt).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |p: f64| sorted[((sorted.len() - 1) as f64 * p).round() as usize];
        let most = (sorted.len() * 95).div_ceil(100);
        let mean = sorted[..most].iter().sum::<f64>() / most as f64;
        Some(Self {
            path,
            control: None,
            goodput_bps: bytes as f64 * 8.0 / (counted.len() as f64 * COUNTED.as_secs_f64()),
            rtt_p50_s: at(0.5),
            rtt_p95_s: at(0.95),
            rtt_max_s: at(1.0),
            responsiveness_rpm: 60.0 / mean,
            ping_loss: 1.0 - pings.len() as f64 / f64::from(sent.max(1)),
            rtts,
            counts,
        })
    }
}

/// Writes to a connection for a time, and gives up what was not sent by then.
///
/// # Errors
/// Returns an error if the session is to end.
pub fn write_for(
    connection: Messages,
    span: Duration,
    go_on: &GoOn<'_>,
) -> Result<Option<String>, NetError> {
    let mut stream = connection.into_stream();
    let until = Instant::now() + span;
    let block = [0x5a; 16_384];
    // Without these two lines the kernel would send megabytes after the end.
    let none = linger {
        l_onoff: 1,
        l_linger: 0,
    };
    setsockopt(&stream, sockopt::Linger, &none)?;
    stream.set_nodelay(false)?;
    let control = nix::sys::socket::getsockopt(&stream, sockopt::TcpCongestion);
    while Instant::now() < until {
        match stream.write(&block) {
            Ok(_) => {}
            Err(error) if is_wait(&error) => {}
            Err(_) => break,
        }
        if !go_on() {
            return Err(NetError::Stopped);
        }
    }
    Ok(control.ok().map(|name| {
        let name = name.to_string_lossy();
        name.trim_end_matches('\0').to_owned()
    }))
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
