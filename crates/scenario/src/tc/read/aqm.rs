//! Options of disciplines that drop early or keep flows apart.

use super::{Options, Read};
use crate::queue::CakeCells;
use crate::setting::Words;
use crate::tc::refuse;
use crate::tc::units::{integer, number, packets, rate, size, size_32, time};
use goodqueue_queue::{
    CakeConfig, CakeDiffserv, CakeIsolation, CodelConfig, CodelParams, DualPi2Config,
    DualScheduler, FqCodelConfig, FqPieConfig, Limit, LinuxRedConfig, PieConfig, PieParams,
    SfqConfig, StepThreshold, red_wlog,
};
use goodqueue_types::Span;

/// The options of the control law; false if the word is none of them.
fn codel_option(params: &mut CodelParams, word: &str, options: &mut Options<'_>) -> Read<bool> {
    match word {
        "target" => params.target = time(options.value(word)?)?,
        "interval" => params.interval = time(options.value(word)?)?,
        "ce_threshold" => params.ce_threshold = Some(time(options.value(word)?)?),
        "ecn" => params.ecn = true,
        "noecn" => params.ecn = false,
        _ => return Ok(false),
    }
    Ok(true)
}

pub(super) fn codel(options: &mut Options<'_>) -> Read<CodelConfig> {
    let mut config = CodelConfig::linux(Limit::Packets(1_000));
    while let Some(word) = options.next() {
        if codel_option(&mut config.codel, word, options)? {
            continue;
        }
        if word != "limit" {
            return options.unknown(
                word,
                &[
                    "limit",
                    "target",
                    "interval",
                    "ce_threshold",
                    "ecn",
                    "noecn",
                ],
            );
        }
        config.limit = Limit::Packets(packets(options.value(word)?)?);
    }
    Ok(config)
}

pub(super) fn fq_codel(options: &mut Options<'_>) -> Read<FqCodelConfig> {
    let mut config = FqCodelConfig::linux(Limit::Packets(10_240));
    while let Some(word) = options.next() {
        if codel_option(&mut config.codel, word, options)? {
            continue;
        }
        match word {
            "limit" => config.limit = Limit::Packets(packets(options.value(word)?)?),
            "flows" => config.flows = integer(options.value(word)?)?,
            "quantum" => config.quantum = size_32(options.value(word)?)?,
            "memory_limit" => config.memory_limit = size(options.value(word)?)?,
            "drop_batch" => config.drop_batch = integer(options.value(word)?)?,
            _ => {
                let known = [
                    "limit",
                    "flows",
                    "quantum",
                    "memory_limit",
                    "drop_batch",
                    "target",
                    "interval",
                    "ce_threshold",
                    "ecn",
                    "noecn",
                ];
                return options.unknown(word, &known);
            }
        }
    }
    Ok(config)
}

/// The options of PIE's controller; false if the word is none of them.
fn pie_option(params: &mut PieParams, word: &str, options: &mut Options<'_>) -> Read<bool> {
    match word {
        "target" => params.target = time(options.value(word)?)?,
        "tupdate" => params.tupdate = time(options.value(word)?)?,
        // Sixteenths.
        "alpha" => params.alpha = f64::from(integer(options.value(word)?)?) / 16.0,
        "beta" => params.beta = f64::from(integer(options.value(word)?)?) / 16.0,
        "ecn" => params.ecn = true,
        "noecn" => params.ecn = false,
        "bytemode" => params.bytemode = true,
        "nobytemode" => params.bytemode = false,
        "dq_rate_estimator" => params.dq_rate_estimator = true,
        "no_dq_rate_estimator" => params.dq_rate_estimator = false,
        _ => return Ok(false),
    }
    Ok(true)
}

const PIE_OPTIONS: [&str; 9] = [
    "limit",
    "target",
    "tupdate",
    "alpha",
    "beta",
    "ecn",
    "noecn",
    "bytemode",
    "dq_rate_estimator",
];

pub(super) fn pie(options: &mut Options<'_>) -> Read<PieConfig> {
    let mut config = PieConfig::linux(Limit::Packets(1_000));
    while let Some(word) = options.next() {
        if pie_option(&mut config.pie, word, options)? {
            continue;
        }
        if word != "limit" {
            return options.unknown(word, &PIE_OPTIONS);
        }
        config.limit = Limit::Packets(packets(options.value(word)?)?);
    }
    Ok(config)
}

pub(super) fn fq_pie(options: &mut Options<'_>, notes: &mut Vec<String>) -> Read<FqPieConfig> {
    let mut config = FqPieConfig::linux(Limit::Packets(10_240));
    while let Some(word) = options.next() {
        if pie_option(&mut config.pie, word, options)? {
            continue;
        }
        match word {
            "limit" => config.limit = Limit::Packets(packets(options.value(word)?)?),
            "flows" => config.flows = integer(options.value(word)?)?,
            "quantum" => config.quantum = size_32(options.value(word)?)?,
            "ecn_prob" => {
                config.pie.ecn_threshold = f64::from(integer(options.value(word)?)?) / 100.0;
            }
            "memory_limit" => {
                options.value(word)?;
                notes.push("memory_limit is left out: only the limit in packets holds".to_owned());
            }
            _ => {
                let known = [&PIE_OPTIONS[..], &["flows", "quantum", "ecn_prob"]].concat();
                return options.unknown(word, &known);
            }
        }
    }
    Ok(config)
}

/// Names of usual round-trip times.
const RTTS: [(&str, Span); 8] = [
    ("datacentre", Span::from_micros(100)),
    ("lan", Span::from_millis(1)),
    ("metro", Span::from_millis(10)),
    ("regional", Span::from_millis(30)),
    ("internet", Span::from_millis(100)),
    ("oceanic", Span::from_millis(300)),
    ("satellite", Span::from_secs(1)),
    ("interplanetary", Span::from_secs(1_000)),
];

pub(super) fn cake(options: &mut Options<'_>) -> Read<CakeConfig> {
    let mut config = CakeConfig::linux(None);
    let mut raw = false;
    while let Some(word) = options.next() {
        if let Some(diffserv) = CakeDiffserv::of(word) {
            config.diffserv = diffserv;
        } else if let Some(isolation) = CakeIsolation::of(word) {
            config.isolation = isolation;
        } else if let Some((_, rtt)) = RTTS.iter().find(|rtt| rtt.0 == word) {
            config.rtt = *rtt;
        } else if let Some(atm) = CakeCells::of(word) {
            config.framing.get_or_insert_default().cells = atm.into();
        } else if word == "raw" {
            raw = true;
        } else {
            cake_option(&mut config, word, options)?;
        }
    }
    if raw {
        config.framing = None;
    }
    Ok(config)
}

fn cake_option(config: &mut CakeConfig, word: &str, options: &mut Options<'_>) -> Read<()> {
    match word {
        "bandwidth" => {
            let text = options.value(word)?;
            config.bandwidth = (text != "unlimited").then(|| rate(text)).transpose()?;
        }
        "unlimited" => config.bandwidth = None,
        "rtt" => config.rtt = time(options.value(word)?)?,
        "memlimit" => config.memory_limit = Some(size(options.value(word)?)?),
        "ingress" => config.ingress = true,
        "egress" => config.ingress = false,
        // No addresses are translated, nothing is aggregated, and no code point is looked at later.
        "nat" | "nonat" | "wash" | "nowash" | "split-gso" | "no-split-gso" | "no-ack-filter" => {}
        "overhead" => {
            config.framing.get_or_insert_default().overhead = integer(options.value(word)?)?;
        }
        "mpu" => config.framing.get_or_insert_default().minimum = integer(options.value(word)?)?,
        _ => {
            let known = [
                "bandwidth",
                "rtt",
                "memlimit",
                "ingress",
                "egress",
                "besteffort",
                "diffserv3",
                "flows",
                "triple-isolate",
                "raw",
            ];
            return options.unknown(word, &known);
        }
    }
    Ok(())
}

pub(super) fn red(options: &mut Options<'_>, notes: &mut Vec<String>) -> Read<LinuxRedConfig> {
    let (mut limit, mut min, mut max) = (None, None, None);
    let (mut avpkt, mut burst, mut bandwidth, mut ewma) = (None, None, None, None);
    let mut config = LinuxRedConfig::tc(0, 1_000);
    while let Some(word) = options.next() {
        match word {
            "limit" => limit = Some(size_32(options.value(word)?)?),
            "min" => min = Some(size_32(options.value(word)?)?),
            "max" => max = Some(size_32(options.value(word)?)?),
            "avpkt" => avpkt = Some(size_32(options.value(word)?)?),
            "burst" => burst = Some(integer(options.value(word)?)?),
            "bandwidth" => bandwidth = Some(rate(options.value(word)?)?),
            "probability" => config.probability = number(options.value(word)?)?,
            "ewma" => ewma = Some(integer(options.value(word)?)?),
            // How the idle table is cut follows from the rest.
            "Scell_log" | "Plog" => drop(options.value(word)?),
            "adaptive" => config.adaptive = true,
            "ecn" => config.ecn = true,
            "harddrop" => config.harddrop = true,
            "nodrop" => config.nodrop = true,
            _ => {
                let known = [
                    "limit",
                    "min",
                    "max",
                    "avpkt",
                    "burst",
                    "bandwidth",
                    "probability",
                    "adaptive",
                    "ecn",
                    "harddrop",
                    "nodrop",
                ];
                return options.unknown(word, &known);
            }
        }
    }
    let Some(limit) = limit else {
        return refuse("red needs a limit", "add limit and its value");
    };
    config.limit = Limit::Bytes(u64::from(limit));
    config.max = max.unwrap_or(limit / 4);
    config.min = min.unwrap_or(config.max / 3);
    config.avpkt = avpkt.unwrap_or(1_000);
    config.bandwidth = bandwidth.unwrap_or(config.bandwidth);
    config.burst = match (burst, ewma) {
        (Some(burst), _) => burst,
        (None, Some(ewma)) => burst_of(&config, ewma)?,
        (None, None) => LinuxRedConfig::default_burst(config.min, config.max, config.avpkt),
    };
    for (missing, note) in [
        (
            avpkt.is_none(),
            format!("avpkt is not shown: {} B assumed", config.avpkt),
        ),
        (
            burst.is_none(),
            format!("burst is not shown: {} packets assumed", config.burst),
        ),
        (
            bandwidth.is_none(),
            "bandwidth is not shown: 10 Mbit/s assumed, as tc does".to_owned(),
        ),
    ] {
        if missing {
            notes.push(note);
        }
    }
    Ok(config)
}

/// The smallest burst that gives this weight.
fn burst_of(config: &LinuxRedConfig, ewma: u32) -> Read<u32> {
    let wlog = |burst: &u32| red_wlog(config.min, *burst, config.avpkt).map(u32::from);
    let most = 1 << 20;
    match (1..most).find(|burst| wlog(burst) == Some(ewma)) {
        Some(burst) => Ok(burst),
        None => refuse(
            format!(
                "no burst of packets of {} bytes gives ewma {ewma}",
                config.avpkt
            ),
            "give the command's avpkt and burst in place of ewma",
        ),
    }
}

pub(super) fn sfq(options: &mut Options<'_>) -> Read<SfqConfig> {
    let mut config = SfqConfig::linux(Limit::Packets(127));
    while let Some(word) = options.next() {
        match word {
            "limit" => config.limit = Limit::Packets(packets(options.value(word)?)?),
            "quantum" => config.quantum = size_32(options.value(word)?)?,
            "depth" => config.depth = integer(options.value(word)?)?,
            "divisor" => config.divisor = integer(options.value(word)?)?,
            "flows" => config.flows = sfq_flows(options)?,
            "headdrop" => config.headdrop = true,
            "perturb" => config.perturb = perturb(options.value(word)?)?,
            _ => {
                let known = [
                    "limit", "quantum", "depth", "divisor", "flows", "headdrop", "perturb",
                ];
                return options.unknown(word, &known);
            }
        }
    }
    Ok(config)
}

/// `flows 128`, or with details `flows 128/1024`.
fn sfq_flows(options: &mut Options<'_>) -> Read<u32> {
    let text = options.value("flows")?;
    integer(text.split('/').next().unwrap_or(text))
}

/// Whole seconds; none is never.
fn perturb(text: &str) -> Read<Option<Span>> {
    let seconds = integer(text.trim_end_matches("sec"))?;
    if seconds > 1_000_000 {
        return refuse(
            format!("the hash would change every {seconds} s"),
            "leave perturb out: that is never",
        );
    }
    Ok((seconds > 0).then(|| Span::from_secs(u64::from(seconds))))
}

pub(super) fn dualpi2(options: &mut Options<'_>, notes: &mut Vec<String>) -> Read<DualPi2Config> {
    // Gains count 256ths.
    let gain = |text: &str| number(text).map(|gain| libm::round(gain * 256.0) / 256.0);
    let mut config = DualPi2Config::linux(Limit::Packets(10_000));
    while let Some(word) = options.next() {
        match word {
            "limit" => config.limit = Limit::Packets(packets(options.value(word)?)?),
            "target" => config.pi2.target = time(options.value(word)?)?,
            "tupdate" => config.pi2.tupdate = time(options.value(word)?)?,
            "alpha" => config.pi2.alpha = gain(options.value(word)?)?,
            "beta" => config.pi2.beta = gain(options.value(word)?)?,
            "coupling_factor" => config.coupling = f64::from(integer(options.value(word)?)?),
            "step_thresh" => config.step = step(options.value(word)?)?,
            "drop_on_overload" => config.drop_overload = true,
            "overflow" => config.drop_overload = false,
            "drop_enqueue" => config.drop_early = true,
            "drop_dequeue" => config.drop_early = false,
            "classic_protection" => {
                let percent = libm::round(number(options.value(word)?)? * 100.0);
                let classic_percent = percent as u8;
                config.scheduler = DualScheduler::Weighted { classic_percent };
            }
            "memlimit" | "memory_limit" => {
                options.value(word)?;
                notes.push("memlimit is left out: packets take only their bytes here".to_owned());
            }
            "min_qlen_step" => config.least_backlog = packets(options.value(word)?)?,
            // There are no aggregates to split.
            "l4s_ect" | "split_gso" | "no_split_gso" => {}
            _ => {
                return options.unknown(
                    word,
                    &[
                        "limit",
                        "target",
                        "tupdate",
                        "alpha",
                        "beta",
                        "coupling_factor",
                        "step_thresh",
                        "classic_protection",
                    ],
                );
            }
        }
    }
    Ok(config)
}

fn step(text: &str) -> Read<StepThreshold> {
    if text.ends_with('p') {
        return packets(text).map(StepThreshold::Packets);
    }
    time(text).map(StepThreshold::Delay)
}
