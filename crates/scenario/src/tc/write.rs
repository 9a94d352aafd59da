//! Our parameters as `tc` commands.

use super::units::{write_rate, write_size, write_time};
use super::{ETHERNET_HEADER, refuse};
use crate::queue::CakeCells;
use crate::setting::Words;
use crate::units::UnitError;
use goodqueue_queue::{
    CakeConfig, CakeFirstInterval, CodelArithmetic, CodelParams, ComparedBacklog, CountReuse,
    DrrConfig, DualPi2Config, DualScheduler, FqCodelConfig, FqPieConfig, Limit, LinuxRedConfig,
    NextMark, PieConfig, PieFlavour, PieParams, PrioConfig, PrioMap, QueueConfig, SfqConfig,
    StepThreshold, TbfConfig,
};
use goodqueue_types::Rate;

type Written = Result<String, UnitError>;

/// How many bytes `tc` must be told for a queue that counts other framing.
#[derive(Clone, Copy)]
struct Scale {
    /// Largest frame here and, of the same packet, there.
    ours: u64,
    theirs: u64,
}

impl Scale {
    fn bytes(self, bytes: u64) -> u64 {
        let scaled = u128::from(bytes) * u128::from(self.theirs) + u128::from(self.ours / 2);
        u64::try_from(scaled / u128::from(self.ours)).unwrap_or(u64::MAX)
    }

    /// The rate at which as many of the largest packets pass.
    fn rate(self, rate: Rate) -> Rate {
        Rate(self.bytes(rate.0))
    }
}

/// The commands that give a device this queue: one, and one for each child of a shaper or a
/// priority. `frame_bytes` is the largest frame of the link, and `packet_bytes` the IP packet in it.
///
/// # Errors
/// What has no equivalent in Linux, and why.
pub fn qdisc_commands(
    queue: &QueueConfig,
    frame_bytes: u64,
    packet_bytes: u64,
) -> Result<Vec<String>, UnitError> {
    let scale = Scale {
        ours: frame_bytes.max(1),
        theirs: packet_bytes + u64::from(ETHERNET_HEADER),
    };
    let parent = children(queue);
    let handle = if parent.is_empty() { "" } else { "handle 1: " };
    let root = format!(
        "tc qdisc replace dev DEV root {handle}{}",
        options(queue, scale)?
    );
    let mut commands = vec![root];
    for (index, child) in parent.iter().enumerate() {
        if !children(child).is_empty() {
            return refuse(
                "a shaper or a priority within another makes a tree of handles",
                "export the inner queue for itself, and give it its place by hand",
            );
        }
        let options = options(child, scale)?;
        commands.push(format!(
            "tc qdisc replace dev DEV parent 1:{:x} {options}",
            index + 1
        ));
    }
    Ok(commands)
}

/// The queues that need a command of their own.
fn children(queue: &QueueConfig) -> Vec<&QueueConfig> {
    match queue {
        QueueConfig::Tbf(TbfConfig { inner, .. }) if tbf_limit(inner).is_none() => vec![inner],
        QueueConfig::Prio(PrioConfig { bands, .. }) => bands.iter().collect(),
        _ => Vec::new(),
    }
}

/// The limit, if the queue is a shaper's own.
fn tbf_limit(inner: &QueueConfig) -> Option<u64> {
    match inner {
        QueueConfig::DropTail(config) => match config.limit {
            Limit::Bytes(bytes) => Some(bytes),
            _ => None,
        },
        _ => None,
    }
}

fn options(queue: &QueueConfig, scale: Scale) -> Written {
    match queue {
        QueueConfig::DropTail(config) => match config.limit {
            Limit::Packets(packets) => Ok(format!("pfifo limit {packets}")),
            Limit::Bytes(bytes) => {
                let limit = write_size("limit", scale.bytes(bytes))?;
                Ok(format!("bfifo limit {limit}"))
            }
            Limit::Unlimited => refuse(
                "no fifo of Linux is without a limit",
                "write a limit, as in limit = \"1000p\"",
            ),
        },
        QueueConfig::HeadDrop(config) => {
            let limit = packets("pfifo_head_drop", config.limit)?;
            Ok(format!("pfifo_head_drop limit {limit}"))
        }
        QueueConfig::LinuxRed(config) => red(config, scale),
        QueueConfig::Codel(config) => {
            let limit = packets("codel", config.limit)?;
            Ok(format!(
                "codel limit {limit} {}",
                codel(&config.codel, false)?
            ))
        }
        QueueConfig::FqCodel(config) => fq_codel(config),
        QueueConfig::Pie(config) => pie(config),
        QueueConfig::FqPie(config) => fq_pie(config),
        QueueConfig::Cake(config) => cake(config),
        QueueConfig::DualPi2(config) => dualpi2(config),
        QueueConfig::Sfq(config) => sfq(config),
        QueueConfig::Tbf(config) => tbf(config, scale),
        QueueConfig::Prio(config) => prio(config),
        other => no_equivalent(other),
    }
}

/// Disciplines that Linux does not have.
fn no_equivalent(queue: &QueueConfig) -> Written {
    let (message, help) = match queue {
        QueueConfig::Red(config) if config.gentle => (
            "gentle RED has no equivalent: Linux drops everything from max on",
            "write kind = \"red\", which is RED as Linux has it",
        ),
        QueueConfig::Red(_) => (
            "ns-2's RED has no equivalent: Linux averages and drops in its own way",
            "write kind = \"red\", which is RED as Linux has it",
        ),
        QueueConfig::Blue(_) => (
            "BLUE has no equivalent: Linux has it only inside sfb and cake",
            "write kind = \"pie\", which is the nearest",
        ),
        QueueConfig::Fpq(_) => (
            "flow-proportional queueing has no equivalent in Linux",
            "set the limit by hand, or write kind = \"fq_codel\"",
        ),
        QueueConfig::Pi2(_) => (
            "PI2 on one queue has no equivalent: Linux has it only with two, as dualpi2",
            "write kind = \"dualpi2\"",
        ),
        QueueConfig::Step(_) => (
            "a threshold on the queue's length has no equivalent: Linux marks by delay",
            "write kind = \"codel\" with ce_threshold",
        ),
        QueueConfig::Drr(DrrConfig { .. }) => (
            "drr of Linux has classes with filters, not flows",
            "write kind = \"sfq\" or \"fq_codel\"",
        ),
        _ => (
            "this discipline has no equivalent in Linux",
            "choose another kind to export",
        ),
    };
    refuse(message, help)
}

/// Refuses what `tc` cannot be told, unless it is as Linux has it anyway.
fn linux(is: bool, key: &str, reason: &str) -> Result<(), UnitError> {
    if is {
        return Ok(());
    }
    refuse(
        format!("tc cannot be told \"{key}\": {reason}"),
        format!("leave {key} at its default"),
    )
}

fn packets(kind: &str, limit: Limit) -> Result<u64, UnitError> {
    match limit {
        Limit::Packets(packets) => Ok(packets),
        Limit::Bytes(_) => refuse(
            format!("a limit in bytes has no equivalent: {kind} counts packets"),
            "write the limit in packets, as in limit = \"1000p\"",
        ),
        Limit::Unlimited => refuse(
            format!("{kind} is never without a limit"),
            "write a limit in packets, as in limit = \"1000p\"",
        ),
    }
}

fn flag(on: bool, word: &str) -> String {
    if on {
        format!(" {word}")
    } else {
        String::new()
    }
}

fn codel(params: &CodelParams, ecn_default: bool) -> Written {
    let CodelParams {
        target,
        interval,
        ecn,
        ce_threshold,
        mtu,
        arithmetic,
        reuse,
        next_mark,
    } = params;
    linux(*mtu == 1514, "mtu", "it is the device's, 1514 for Ethernet")?;
    linux(
        *arithmetic == CodelArithmetic::Linux,
        "arithmetic",
        "it is Linux's own",
    )?;
    linux(
        *reuse == CountReuse::Delta,
        "count_reuse",
        "it is as in RFC 8289",
    )?;
    linux(
        *next_mark == NextMark::FromDue,
        "next_mark",
        "it is as in RFC 8289",
    )?;
    let mut line = format!(
        "target {} interval {}",
        write_time("target", *target)?,
        write_time("interval", *interval)?
    );
    if let Some(threshold) = ce_threshold {
        line += " ce_threshold ";
        line += &write_time("ce_threshold", *threshold)?;
    }
    match (*ecn, ecn_default) {
        (true, _) => line += " ecn",
        (false, true) => line += " noecn",
        (false, false) => {}
    }
    Ok(line)
}

fn fq_codel(config: &FqCodelConfig) -> Written {
    let FqCodelConfig {
        limit,
        flows,
        quantum,
        drop_batch,
        memory_limit,
        codel: params,
        compared_backlog,
        set_ways,
    } = config;
    let whole = *compared_backlog == ComparedBacklog::Whole;
    linux(whole, "compared_backlog", "it is that of all queues")?;
    linux(
        *set_ways == 1,
        "set_ways",
        "flows that collide share a queue",
    )?;
    let limit = packets("fq_codel", *limit)?;
    let memory = write_size("memory_limit", *memory_limit)?;
    Ok(format!(
        "fq_codel limit {limit} flows {flows} quantum {quantum} memory_limit {memory} drop_batch \
         {drop_batch} {}",
        codel(params, true)?
    ))
}

/// A gain in parts of `unit`, if it is whole.
fn gain(key: &str, value: f64, unit: f64) -> Result<u32, UnitError> {
    let parts = libm::round(value * unit);
    if (parts / unit - value).abs() > 1e-12 || !(0.0..=4e9).contains(&parts) {
        let help = format!("write a multiple of 1/{unit}");
        return refuse(format!("tc counts {key} in parts of 1/{unit}"), help);
    }
    Ok(parts as u32)
}

fn pie(config: &PieConfig) -> Written {
    let limit = packets("pie", config.limit)?;
    Ok(format!("pie limit {limit} {}", pie_params(&config.pie)?))
}

fn pie_params(params: &PieParams) -> Written {
    let PieParams {
        target,
        tupdate,
        alpha,
        beta,
        ecn,
        ecn_threshold,
        bytemode,
        dq_rate_estimator,
        derandomize,
        cap_adjustment,
        max_burst,
        mtu,
        flavour,
    } = params;
    let own = PieParams::linux();
    linux(
        *flavour == PieFlavour::Linux,
        "flavour",
        "it is Linux's own",
    )?;
    linux(
        (*ecn_threshold - own.ecn_threshold).abs() < 1e-12,
        "ecn_threshold",
        "it is 10 %",
    )?;
    linux(*derandomize, "derandomize", "drops are always spread out")?;
    linux(
        *cap_adjustment,
        "cap_adjustment",
        "the probability always grows slowly",
    )?;
    linux(*max_burst == own.max_burst, "max_burst", "it is 150 ms")?;
    linux(
        *mtu == own.mtu,
        "mtu",
        "it is the device's, 1514 for Ethernet",
    )?;
    Ok(format!(
        "target {} tupdate {} alpha {} beta {}{}{}{}",
        write_time("target", *target)?,
        write_time("tupdate", *tupdate)?,
        gain("alpha", *alpha, 16.0)?,
        gain("beta", *beta, 16.0)?,
        flag(*ecn, "ecn"),
        flag(*bytemode, "bytemode"),
        flag(*dq_rate_estimator, "dq_rate_estimator"),
    ))
}

fn fq_pie(config: &FqPieConfig) -> Written {
    let FqPieConfig {
        limit,
        flows,
        quantum,
        pie,
    } = config;
    let percent = gain("ecn_threshold", pie.ecn_threshold, 100.0)?;
    let params = PieParams {
        ecn_threshold: PieParams::linux().ecn_threshold,
        ..*pie
    };
    let limit = packets("fq_pie", *limit)?;
    Ok(format!(
        "fq_pie limit {limit} flows {flows} quantum {quantum} {} ecn_prob {percent}",
        pie_params(&params)?
    ))
}

fn cake(config: &CakeConfig) -> Written {
    let CakeConfig {
        bandwidth,
        diffserv,
        isolation,
        rtt,
        framing,
        memory_limit,
        limit,
        ingress,
        mtu,
        first_interval,
    } = config;
    linux(*limit == Limit::Unlimited, "limit", "cake limits memory")?;
    linux(*mtu == 1514, "mtu", "it is the device's, 1514 for Ethernet")?;
    let first = *first_interval == CakeFirstInterval::None;
    linux(
        first,
        "first_interval",
        "a new queue may drop at its second packet",
    )?;
    let framing = framing.map_or_else(
        || "raw".to_owned(),
        |framing| {
            let atm = CakeCells::from(framing.cells).word();
            format!(
                "{atm} overhead {} mpu {}",
                framing.overhead, framing.minimum
            )
        },
    );
    let bandwidth = bandwidth.map_or_else(
        || "unlimited".to_owned(),
        |rate| format!("bandwidth {}", write_rate(rate)),
    );
    let memory = match memory_limit {
        Some(bytes) => format!(" memlimit {}", write_size("memory_limit", *bytes)?),
        None => String::new(),
    };
    Ok(format!(
        "cake {bandwidth} {} {} rtt {}{}{memory} {framing}",
        diffserv.word(),
        isolation.word(),
        write_time("rtt", *rtt)?,
        flag(*ingress, "ingress"),
    ))
}

fn red(config: &LinuxRedConfig, scale: Scale) -> Written {
    let LinuxRedConfig {
        limit,
        min,
        max,
        avpkt,
        burst,
        probability,
        bandwidth,
        adaptive,
        ecn,
        harddrop,
        nodrop,
    } = config;
    let Limit::Bytes(limit) = limit else {
        return refuse(
            "a limit that is not in bytes has no equivalent: red counts bytes",
            "write the limit in bytes, as in limit = \"400kB\"",
        );
    };
    write_size("limit", scale.bytes(*limit))?;
    Ok(format!(
        "red limit {} min {} max {} avpkt {} burst {burst} probability {probability} bandwidth \
         {}{}{}{}{}",
        scale.bytes(*limit),
        scale.bytes(u64::from(*min)),
        scale.bytes(u64::from(*max)),
        scale.bytes(u64::from(*avpkt)),
        write_rate(*bandwidth),
        flag(*adaptive, "adaptive"),
        flag(*ecn, "ecn"),
        flag(*harddrop, "harddrop"),
        flag(*nodrop, "nodrop"),
    ))
}

fn sfq(config: &SfqConfig) -> Written {
    let SfqConfig {
        limit,
        quantum,
        divisor,
        flows,
        depth,
        headdrop,
        perturb,
    } = config;
    let limit = packets("sfq", *limit)?;
    let perturb = match perturb {
        None => String::new(),
        Some(period) if period.0.is_multiple_of(1_000_000_000_000) => {
            format!(" perturb {}", period.0 / 1_000_000_000_000)
        }
        Some(_) => return refuse("tc counts perturb in seconds", "write whole seconds"),
    };
    Ok(format!(
        "sfq limit {limit} quantum {quantum} depth {depth} divisor {divisor} flows {flows}{}{perturb}",
        flag(*headdrop, "headdrop"),
    ))
}

fn dualpi2(config: &DualPi2Config) -> Written {
    let DualPi2Config {
        limit,
        pi2,
        step,
        least_backlog,
        coupling,
        drop_overload,
        drop_early,
        scheduler,
    } = config;
    let limit = packets("dualpi2", *limit)?;
    linux(
        pi2.mtu == 1514,
        "mtu",
        "it is the device's, 1514 for Ethernet",
    )?;
    let DualScheduler::Weighted { classic_percent } = scheduler else {
        return refuse(
            "a time-shifted FIFO has no equivalent: dualpi2 of Linux has weights",
            "write classic_protection in place of time_shift",
        );
    };
    let step = match step {
        StepThreshold::Packets(packets) => format!("{packets}p"),
        StepThreshold::Delay(delay) => write_time("step_thresh", *delay)?,
    };
    let spared = match least_backlog {
        0 => String::new(),
        packets => format!(" min_qlen_step {packets}"),
    };
    Ok(format!(
        "dualpi2 limit {limit} target {} tupdate {} alpha {} beta {} step_thresh {step}{spared} \
         coupling_factor {} {} {} classic_protection {classic_percent}%",
        write_time("target", pi2.target)?,
        write_time("tupdate", pi2.tupdate)?,
        f64::from(gain("alpha", pi2.alpha, 256.0)?) / 256.0,
        f64::from(gain("beta", pi2.beta, 256.0)?) / 256.0,
        gain("coupling_factor", *coupling, 1.0)?,
        if *drop_overload {
            "drop_on_overload"
        } else {
            "overflow"
        },
        if *drop_early {
            "drop_enqueue"
        } else {
            "drop_dequeue"
        },
    ))
}

fn tbf(config: &TbfConfig, scale: Scale) -> Written {
    let TbfConfig {
        rate,
        burst,
        peak,
        inner,
    } = config;
    let peak = match peak {
        Some(peak) => {
            let rate = write_rate(scale.rate(peak.rate));
            let mtu = write_size("mtu", scale.bytes(peak.mtu))?;
            format!(" peakrate {rate} mtu {mtu}")
        }
        None => String::new(),
    };
    let burst = write_size("burst", scale.bytes(*burst))?;
    // A shaper with a child has no use for a limit, which tc asks for all the same.
    let limit = match tbf_limit(inner) {
        Some(bytes) => write_size("limit", scale.bytes(bytes))?,
        None => burst,
    };
    let rate = write_rate(scale.rate(*rate));
    Ok(format!("tbf rate {rate} burst {burst}{peak} limit {limit}"))
}

fn prio(config: &PrioConfig) -> Written {
    let PrioConfig { bands, map } = config;
    let PrioMap::Tos(map) = map else {
        return refuse(
            "a map of code points needs filters in tc",
            "write priomap in place of dscp_map, or add the filters by hand",
        );
    };
    let map: Vec<String> = map.iter().map(ToString::to_string).collect();
    Ok(format!(
        "prio bands {} priomap {}",
        bands.len(),
        map.join(" ")
    ))
}
