//! Sources of datagrams: `Application/Traffic` on `Agent/UDP`.

use super::units::{rate, span, table};
use crate::error::{ImportError, refuse};
use crate::network::{Settings, Traffic};

/// Packets of a mean burst from which rounding to whole packets changes less than 1 % of the traffic.
const LONG_BURST: f64 = 6.0;

/// Returns the workload of a source of datagrams.
pub fn workload(
    flow: &Traffic,
    settings: &Settings,
    framing: u64,
    notes: &mut Vec<String>,
) -> Result<String, ImportError> {
    let constant = settings.class == "Application/Traffic/CBR";
    let known: &[&str] = match &*settings.class {
        "Application/Traffic/CBR" => &["packetSize_", "rate_", "interval_", "random_", "maxpkts_"],
        "Application/Traffic/Pareto" => &[
            "packetSize_",
            "rate_",
            "burst_time_",
            "idle_time_",
            "shape_",
        ],
        _ => &["packetSize_", "rate_", "burst_time_", "idle_time_"],
    };
    for variable in settings.check(known)? {
        notes.push(format!(
            "{variable} of {} has no effect in ns-2",
            settings.class
        ));
    }
    flow.agent.check(&["packetSize_"])?;
    let size = settings.count("packetSize_", 1)?;
    if size > flow.agent.count("packetSize_", 1)? {
        notes.push(
            "an Agent/UDP of ns-2 splits packets above its packetSize_; they stay whole here"
                .to_owned(),
        );
    }
    let Some(packet @ 20..=65_535) = size.checked_sub(framing) else {
        let message = format!("packetSize_ of {} is {size}", settings.class);
        return Err(refuse(settings.line, message, "write 20 bytes or more"));
    };
    let interval = settings.packet_interval()?;
    let bps = settings.rate("rate_")?;
    let even = framing == 0 && !settings.set.contains_key("interval_") && bps.fract() == 0.0;
    let pace = if even {
        ("rate", rate(bps as u64))
    } else {
        ("interval", span(interval))
    };
    let packet = ("packet", format!("\"{packet}B\""));
    if constant {
        let mut pairs = vec![kind("cbr"), pace, packet];
        if settings.truth("random_")? {
            // `random_` adds a uniform share from -0.5 to 0.5 of the interval to each (`cbr_traffic.cc`).
            pairs.push(("spread", "0.5".to_owned()));
            if settings.set.contains_key("maxpkts_") && flow.stop.is_some() {
                let note = "maxpkts_ of a CBR source with random_ is the time of so many packets in the mean";
                notes.push(note.to_owned());
            }
        }
        return Ok(table(&pairs));
    }
    on_off(settings, interval, pace, packet, notes)
}

fn kind(kind: &str) -> (&'static str, String) {
    ("kind", format!("\"{kind}\""))
}

/// Returns the workload of bursts and silences. In ns-2 a burst has a whole number of packets, at least
/// one, and each silence is an interval longer.
fn on_off(
    settings: &Settings,
    interval: f64,
    pace: (&'static str, String),
    packet: (&'static str, String),
    notes: &mut Vec<String>,
) -> Result<String, ImportError> {
    let burst = settings.time("burst_time_")?;
    let idle = settings.time("idle_time_")?;
    let pareto = settings.class.ends_with("Pareto");
    let law = |mean: f64| {
        if pareto {
            let shape = settings.text("shape_");
            format!(
                "{{ law = \"pareto\", mean = {}, shape = {shape} }}",
                span(mean)
            )
        } else {
            format!("{{ law = \"exponential\", mean = {} }}", span(mean))
        }
    };
    notes.push(format!(
        "{} of ns-2 begins with a silence; the flow begins with a burst here",
        settings.class
    ));
    let packets = burst / interval;
    let mean = if pareto {
        packets.max(1.0)
    } else {
        whole_packets(packets)
    };
    if packets < LONG_BURST && packets > 0.0 {
        notes.push(format!(
            "bursts of {packets:.2} packets in the mean have whole packets in ns-2, at least one; the \
             mean is {mean:.2} here"
        ));
    }
    let on = if packets == 0.0 {
        span(interval)
    } else {
        law(mean * interval)
    };
    // The reader may round the interval of a rate to more than the mean burst.
    let pace = if mean > 1.0 {
        pace
    } else {
        ("interval", span(interval))
    };
    Ok(table(&[
        kind("on_off"),
        pace,
        packet,
        ("on", on),
        ("off", law(idle)),
    ]))
}

/// Returns the mean of an exponential number that is rounded to a whole number of at least 1. This mean
/// is the sum over k >= 1 of the probability that the number is k or more, which is 1 for k = 1 and
/// exp(-(k - 1/2) / mean) for larger k.
fn whole_packets(mean: f64) -> f64 {
    if mean <= 0.0 {
        return 1.0;
    }
    1.0 + (-1.5 / mean).exp() / (1.0 - (-1.0 / mean).exp())
}

#[cfg(test)]
mod tests {
    use super::whole_packets;

    #[test]
    fn rounded_bursts_have_their_mean() {
        // Sums of the first hundred terms.
        for mean in [0.3_f64, 1.0, 5.0, 20.0] {
            let sum: f64 = (2..2_000)
                .map(|k| (-(f64::from(k) - 0.5) / mean).exp())
                .sum();
            assert!((whole_packets(mean) - 1.0 - sum).abs() < 1e-9);
        }
        assert!((whole_packets(0.0) - 1.0).abs() < 1e-12);
    }
}
