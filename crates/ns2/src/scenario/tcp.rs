//! Switches of TCP, as differences from the profile `ns2`.

use super::units::{span, table};
use crate::error::{ImportError, refuse, unknown};
use crate::network::{Settings, Traffic};

/// Headers of IP and TCP, in bytes.
pub const HEADER: u64 = 40;

/// Keys of the table `tcp` and their values.
pub type Switches = Vec<(&'static str, String)>;

/// Sender whose control depends on the queueing delay.
const VEGAS: &str = "Agent/TCP/Vegas";

const VEGAS_NOTE: &str = "Agent/TCP/Vegas of ns-2 also sends again at the first duplicate ACK after a \
                          timeout of fine resolution; the window's rules are ns-2's";

/// Congestion controls of Linux 2.6 in ns-2 that a scenario has.
const CONTROLS: &[&str] = &["reno", "cubic", "scalable", "westwood", "vegas", "illinois"];

/// Variables of a sender that [`switches`] reads.
const READ: &[&str] = &[
    "window_",
    "maxcwnd_",
    "packetSize_",
    "windowInit_",
    "windowInitOption_",
    "minrto_",
    "maxrto_",
    "rtxcur_init_",
    "tcpTick_",
    "singledup_",
    "numdupacks_",
    "ecn_",
    "precisionReduce_",
    "newreno_changes1_",
    "partial_window_deflation_",
    "overhead_",
    "useHeaders_",
    "v_alpha_",
    "v_beta_",
    "v_gamma_",
];

/// Returns the payload of a full segment in bytes.
pub fn mss(flow: &Traffic, framing: u64) -> Result<u64, ImportError> {
    let agent = &flow.agent;
    let size = agent.count("packetSize_", 1)?;
    // Vegas adds no headers to its packets.
    let headers = if agent.truth("useHeaders_")? && agent.class != VEGAS {
        0
    } else {
        HEADER
    };
    if let Some(payload @ 1..=65_495) = size.checked_sub(framing + headers) {
        return Ok(payload);
    }
    let message = format!("packetSize_ of {} is {size}", agent.class);
    Err(refuse(
        agent.line,
        message,
        "write the bytes of a full segment, such as 1460",
    ))
}

/// Returns the switches of a flow that differ from those of the profile.
pub fn switches(
    flow: &Traffic,
    framing: u64,
    notes: &mut Vec<String>,
) -> Result<Switches, ImportError> {
    let agent = &flow.agent;
    for variable in agent.check(READ)? {
        notes.push(format!(
            "{} of {} has no effect in ns-2",
            variable, agent.class
        ));
    }
    let mut switches = Switches::new();
    let mut differ = |key, differs: bool, value: String| {
        if differs {
            switches.push((key, value));
        }
    };
    let (recovery, control) = recovery(flow)?;
    differ("congestion_control", !control.is_empty(), control);
    differ("recovery", recovery != "tahoe", format!("\"{recovery}\""));
    let mss = mss(flow, framing)?;
    differ("mss", mss != 1000, format!("\"{mss}B\""));
    let window = initial_window(agent)?;
    differ("initial_window", window != 2, format!("\"{window}p\""));
    let bytes = receive_window(agent)? * mss;
    differ("receive_window", bytes != 20_000, format!("\"{bytes}B\""));
    // Vegas sends nothing for the first duplicate ACKs.
    let limited = agent.truth("singledup_")? && agent.class != VEGAS;
    differ("limited_transmit", !limited, limited.to_string());
    let duplicates = agent.count("numdupacks_", 1)?;
    differ(
        "duplicate_ack_threshold",
        duplicates != 3,
        duplicates.to_string(),
    );
    if agent.truth("ecn_")? {
        differ("ecn", true, "\"rfc3168\"".to_owned());
    }
    for (key, variable, default) in [
        ("rto.minimum", "minrto_", 0.2),
        ("rto.maximum", "maxrto_", 60.0),
        ("rto.initial", "rtxcur_init_", 3.0),
        ("rto.granularity", "tcpTick_", 0.01),
    ] {
        let time = agent.time(variable)?;
        differ(key, time.total_cmp(&default).is_ne(), span(time));
    }
    let whole = !agent.truth("precisionReduce_")?;
    differ(
        "details.window_arithmetic",
        whole,
        "\"real_whole_decrease\"".to_owned(),
    );
    if recovery == "newreno" {
        let every = !agent.truth("newreno_changes1_")?;
        differ("details.partial_ack_timer", every, "\"every\"".to_owned());
        let ends = !agent.truth("partial_window_deflation_")?;
        differ(
            "details.partial_ack_ends_inflation",
            ends,
            "true".to_owned(),
        );
    }
    receiver(flow, &recovery, &mut switches)?;
    if agent.class == "Agent/TCP/Linux" {
        let name = flow.control.as_deref().unwrap_or("reno");
        notes.push(format!(
            "Agent/TCP/Linux has recovery and {name} of Linux 2.6.22 in ns-2; here it has Sack1's \
             recovery and today's {name}"
        ));
    }
    if agent.class == VEGAS {
        notes.push(VEGAS_NOTE.to_owned());
    }
    if agent.number("overhead_")? != 0.0 {
        let note = "overhead_ delays the packets of ns-2's senders at random; this is left out";
        notes.push(note.to_owned());
    }
    Ok(switches)
}

/// Returns the loss recovery, and the congestion control if it is not Reno's.
fn recovery(flow: &Traffic) -> Result<(String, String), ImportError> {
    let agent = &flow.agent;
    let (recovery, control) = match &*agent.class {
        "Agent/TCP" => ("tahoe", String::new()),
        "Agent/TCP/Newreno" => ("newreno", String::new()),
        "Agent/TCP/Sack1" => ("sack", String::new()),
        "Agent/TCP/Linux" => {
            let name = flow.control.as_deref().unwrap_or("reno");
            if !CONTROLS.contains(&name) {
                return Err(unknown(flow.line, "the congestion control", name, CONTROLS));
            }
            (
                "sack",
                if name == "reno" {
                    String::new()
                } else {
                    format!("\"{name}\"")
                },
            )
        }
        VEGAS => {
            let mut pairs = vec![
                ("kind", "\"vegas\"".to_owned()),
                ("variant", "\"ns2\"".to_owned()),
            ];
            for (key, variable) in [
                ("alpha", "v_alpha_"),
                ("beta", "v_beta_"),
                ("gamma", "v_gamma_"),
            ] {
                pairs.push((key, agent.number(variable)?.to_string()));
            }
            ("reno", table(&pairs))
        }
        _ => ("reno", String::new()),
    };
    Ok((recovery.to_owned(), control))
}

fn initial_window(agent: &Settings) -> Result<u64, ImportError> {
    match agent.count("windowInitOption_", 1)? {
        1 => agent.count("windowInit_", 1),
        2 => Ok(match agent.count("packetSize_", 1)? {
            0..=1095 => 4,
            1096..=2189 => 3,
            _ => 2,
        }),
        other => {
            let message = format!("windowInitOption_ is {other}");
            Err(refuse(agent.line, message, "write 1 or 2"))
        }
    }
}

/// Returns the largest window in segments.
fn receive_window(agent: &Settings) -> Result<u64, ImportError> {
    /// Bytes of the largest receive window of a scenario.
    const MAX_WINDOW: u64 = 1 << 30;
    let window = agent.count("window_", 1)?;
    let most = agent.count("maxcwnd_", 0)?;
    let window = if most > 0 { window.min(most) } else { window };
    Ok(window
        .min(MAX_WINDOW / agent.count("packetSize_", 1)?)
        .max(1))
}

/// Adds the switches of the receiver.
fn receiver(flow: &Traffic, recovery: &str, switches: &mut Switches) -> Result<(), ImportError> {
    let sink = &flow.sink;
    let sinks = crate::network::SINKS;
    if !sinks.contains(&&*sink.class) {
        return Err(unknown(
            sink.line,
            "the receiver of TCP data",
            &sink.class,
            sinks,
        ));
    }
    sink.check(&["packetSize_", "interval_", "maxSackBlocks_"])?;
    if recovery == "sack" && !sink.class.contains("Sack1") {
        let message = format!(
            "{} sends to {}, which reports no SACK blocks",
            flow.agent.class, sink.class
        );
        return Err(refuse(flow.line, message, "write Agent/TCPSink/Sack1"));
    }
    if sink.class.ends_with("/DelAck") {
        switches.push(("ack_every", "2".to_owned()));
        switches.push(("delayed_ack_timeout", span(sink.time("interval_")?)));
    }
    let blocks = sink.count("maxSackBlocks_", 1)?;
    if recovery == "sack" && blocks != 3 {
        switches.push(("details.sack_blocks", blocks.to_string()));
    }
    Ok(())
}
