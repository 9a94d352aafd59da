//! Conversion of a scenario to the link and flows of the hybrid engine.
//!
//! The engine simulates long TCP flows that all cross one queue in one direction, with no other
//! queue or loss on their paths. Everything else is refused with a reason.

use crate::flow::FlowGroup;
use crate::network::path::Path;
use crate::network::topology::{LinkDirection, link_of};
use crate::scenario::Scenario;
use goodqueue_fluid::{
    Acks, Background, FlowGroup as FluidGroup, FluidControl, FluidLink, FluidQueue, FluidSender,
};
use goodqueue_queue::{Limit, QueueConfig};
use goodqueue_sim::Impairments;
use goodqueue_tcp::cc::GaimdConfig;
use goodqueue_tcp::{
    AckRule, CongestionControlConfig, CubicVariant, EcnMode, Recovery, RecoveryWindow, TcpConfig,
    WindowArithmetic,
};
use goodqueue_types::{LinkId, Span};

/// Least ratio of the rate of links before the queue to its rate. Packets would wait at slower
/// links.
const FASTER: u64 = 2;

/// Largest size of an ACK in bytes, with options and framing, for which the reverse path needs
/// capacity.
const ACK_BYTES: u64 = 100;

/// Returns the direction of the link with the queue, and the input of the engine.
pub(super) fn convert(scenario: &Scenario) -> Result<(LinkId, FluidLink), String> {
    for group in scenario.flows.iter() {
        check_kind(group)?;
    }
    let at = bottleneck(scenario)?;
    let direction = scenario.topology.direction(at);
    let frame = scenario.layout.traffic.largest_frame(at, direction.framing);
    for group in scenario.flows.iter() {
        for path in group.paths.each() {
            check_path(scenario, group, path, at, frame)?;
        }
    }
    let groups = (0..).zip(scenario.flows.iter());
    let groups = groups
        .map(|(place, group)| flow_group(scenario, place, group, direction, frame))
        .collect::<Result<_, _>>()?;
    let mut link = FluidLink {
        rate: direction.rate,
        frame_bytes: frame as u32,
        queue: queue(direction, frame)?,
        groups,
        background: Background::default(),
    };
    free_windows(&mut link);
    Ok((at, link))
}

/// Returns the TCP configuration of a flow without end.
fn tcp_of(group: &FlowGroup) -> Option<&TcpConfig> {
    match group.workload.as_bulk()? {
        (tcp, None) => Some(tcp),
        _ => None,
    }
}

fn check_kind(group: &FlowGroup) -> Result<(), String> {
    if tcp_of(group).is_some() {
        return Ok(());
    }
    let what = if group.is_tcp() {
        "finite transfers"
    } else {
        "traffic but TCP"
    };
    Err(format!(
        "the hybrid engine has no {what}: flow \"{}\"",
        group.name
    ))
}

/// Returns the slowest link on the path of the first flow; the first of them if there are several.
fn bottleneck(scenario: &Scenario) -> Result<LinkId, String> {
    let rate = |link: &LinkId| scenario.topology.direction(*link).rate;
    let path = scenario.flows[0].paths.at(0);
    let limited = path.forward.iter().copied();
    limited
        .filter(|link| !scenario.topology.direction(*link).only_delays())
        .min_by_key(rate)
        .ok_or_else(|| "the hybrid engine needs a link with a rate between the hosts".to_owned())
}

/// Checks that packets wait only in the queue at `at`.
fn check_path(
    scenario: &Scenario,
    group: &FlowGroup,
    path: &Path,
    at: LinkId,
    frame: u64,
) -> Result<(), String> {
    let topology = &scenario.topology;
    let name = |link: LinkId| &topology.trunk[link_of(link).0].name;
    let rate = topology.direction(at).rate.0;
    let Some(place) = path.forward.iter().position(|link| *link == at) else {
        return Err(format!(
            "the hybrid engine has one queue, and the flow \"{}\" does not cross that of \"{}\"",
            group.name,
            name(at)
        ));
    };
    let slower = |link: &LinkDirection, least: u64| !link.only_delays() && link.rate.0 < least;
    for (index, link) in path.forward.iter().enumerate() {
        let direction = topology.direction(*link);
        check_direction(name(*link), direction)?;
        let least = if index < place { FASTER * rate } else { rate };
        if *link != at && slower(direction, least) {
            return Err(format!(
                "the hybrid engine has one queue, and packets wait for \"{}\" besides \"{}\"",
                name(*link),
                name(at)
            ));
        }
    }
    let for_acks = (u128::from(rate) * u128::from(ACK_BYTES) / u128::from(frame)) as u64;
    for link in &path.reverse {
        let direction = topology.direction(*link);
        check_direction(name(*link), direction)?;
        if slower(direction, for_acks) {
            let name = name(*link);
            return Err(format!(
                "the hybrid engine has no queue of ACKs: \"{name}\""
            ));
        }
    }
    let hosts = topology.access.iter();
    for access in hosts.flat_map(|access| [&access.near, &access.far]) {
        for direction in [&access.forward, &access.reverse] {
            check_direction(&access.name, direction)?;
            if slower(direction, FASTER * rate) {
                return Err(format!(
                    "the hybrid engine has no hosts' links below {FASTER} times the rate of \
                     \"{}\": \"{}\"",
                    name(at),
                    access.name
                ));
            }
        }
    }
    Ok(())
}

/// Checks that a link only queues and sends, at one rate.
fn check_direction(name: &str, link: &LinkDirection) -> Result<(), String> {
    let reasons = [
        (link.service.is_some(), "links whose rate changes"),
        (link.pool.is_some(), "buffers that links share"),
        (!link.drop_list.is_empty(), "lists of drops"),
        (link.loss.is_some(), "random losses"),
        (
            link.impairments != Impairments::default(),
            "jitter, reordering or copies",
        ),
        (link.pause.is_some(), "flow control"),
        (link.autorate.is_some(), "programs that set a shaper's rate"),
    ];
    match reasons.iter().find(|(has, _)| *has) {
        Some((_, what)) => Err(format!("the hybrid engine has no {what}: \"{name}\"")),
        None => Ok(()),
    }
}

fn queue(link: &LinkDirection, frame: u64) -> Result<FluidQueue, String> {
    let packets = |limit: Limit| match limit {
        Limit::Packets(packets) => packets as f64,
        Limit::Bytes(bytes) => (bytes / frame) as f64,
        Limit::Unlimited => f64::INFINITY,
    };
    let kind = link.queue.word().unwrap_or("custom");
    let without = |what: &str| Err(format!("the hybrid engine has no {kind} {what}"));
    match &link.queue {
        QueueConfig::DropTail(config) => Ok(FluidQueue::DropTail {
            packets: packets(config.limit),
        }),
        QueueConfig::Red(red) => {
            if !red.gentle {
                return without("without its gentle part");
            }
            if red.adaptation.is_some() {
                return without("that adapts itself");
            }
            if red.ecn {
                return without("that marks");
            }
            let unit = match red.unit {
                goodqueue_queue::RedUnit::Packets => 1.0,
                goodqueue_queue::RedUnit::Bytes => frame as f64,
            };
            Ok(FluidQueue::Red {
                packets: packets(red.limit),
                min_threshold: red.min / unit,
                max_threshold: red.max / unit,
                max_probability: red.max_probability,
                weight: red.weight,
            })
        }
        QueueConfig::Codel(config) => {
            let codel = &config.codel;
            if codel.ecn || codel.ce_threshold.is_some() {
                return without("that marks");
            }
            Ok(FluidQueue::CoDel {
                packets: packets(config.limit),
                target: codel.target,
                interval: codel.interval,
            })
        }
        _ => Err(format!("the hybrid engine has no queue of kind {kind}")),
    }
}

/// Converts the `place`-th group of flows of the scenario.
fn flow_group(
    scenario: &Scenario,
    place: usize,
    group: &FlowGroup,
    direction: &LinkDirection,
    frame: u64,
) -> Result<FluidGroup, String> {
    let refuse = |what: &str| {
        let name = &group.name;
        Err(format!("the hybrid engine has no {what}: flow \"{name}\""))
    };
    let Some(tcp) = tcp_of(group) else {
        return refuse("finite transfers");
    };
    let packet = crate::flow::workload::largest_packet(&group.workload, false);
    if direction.framing.frame_bytes(packet as u32) != frame {
        return refuse("flows whose packets differ in size");
    }
    if group.start + group.start_interval * (group.count - 1) > scenario.warmup {
        return refuse("flows that start after the warm-up");
    }
    if group.stop_within(scenario.duration).is_some() {
        return refuse("flows that stop");
    }
    if group.interface.is_some() {
        return refuse("interfaces of hosts");
    }
    if tcp.ecn != EcnMode::Off && !matches!(direction.queue, QueueConfig::DropTail(_)) {
        return refuse("ECN");
    }
    if tcp.recovery != Recovery::Sack {
        return refuse("recovery without SACK");
    }
    let Some(control) = control(tcp) else {
        let name = tcp.congestion_control.word();
        return refuse(&format!("congestion control {name}"));
    };
    let placed = scenario.layout.flows.iter();
    let rtts = placed.filter(|flow| flow.group() == place);
    Ok(FluidGroup {
        name: group.name.clone(),
        count: group.count,
        rtts: in_turn(rtts.map(|flow| flow.base_rtt).collect()),
        control,
        acks: Acks {
            packets: match tcp.ack_rule {
                AckRule::EveryNth => f64::from(tcp.ack_every),
                AckRule::Linux => 2.0,
            },
            bytes_counted: tcp.byte_counting,
        },
        sender: FluidSender {
            proportional: tcp.recovery_window != RecoveryWindow::Ssthresh,
            segmentation_offload: tcp.details.segmentation_offload,
            whole_segments: tcp.details.whole_segment_ssthresh,
            segment_bytes: (tcp.details.window_arithmetic == WindowArithmetic::WholeBytes)
                .then_some(tcp.mss),
        },
        paced: tcp.pacing,
        max_window: tcp.receive_window as f64 / f64::from(tcp.mss),
    })
}

/// Removes the bounds of windows that no flow reaches, because path and buffer hold fewer packets.
fn free_windows(link: &mut FluidLink) {
    let (pace, buffer) = (link.packets_per_second(), link.queue.packets());
    for group in &mut link.groups {
        let longest = group.rtts.iter().max().map_or(0.0, |rtt| rtt.as_secs_f64());
        if group.max_window >= pace * longest + buffer {
            group.max_window = f64::INFINITY;
        }
    }
}

fn control(tcp: &TcpConfig) -> Option<FluidControl> {
    Some(match &tcp.congestion_control {
        CongestionControlConfig::Reno => FluidControl::RENO,
        // The engine takes the share of the window that is kept after a loss.
        &CongestionControlConfig::Gaimd(GaimdConfig { alpha, beta }) => FluidControl::Gaimd {
            alpha,
            beta: 1.0 - beta,
        },
        CongestionControlConfig::Cubic(cubic) => FluidControl::Cubic {
            c: cubic.c,
            beta: cubic.beta,
            fast_convergence: cubic.fast_convergence,
            reno_friendly: cubic.reno_friendly,
            as_linux: tcp.details.cubic_variant == CubicVariant::Linux,
        },
        CongestionControlConfig::Scalable(scalable) => FluidControl::Scalable {
            step: scalable.a,
            beta: scalable.keep,
        },
        _ => return None,
    })
}

/// Returns the shortest list that gives these times if its entries are taken in turn.
fn in_turn(mut rtts: Vec<Span>) -> Vec<Span> {
    let repeats = |period: &usize| {
        rtts[*period..]
            .iter()
            .eq(rtts[..rtts.len() - period].iter())
    };
    let period = (1..rtts.len()).find(repeats);
    rtts.truncate(period.unwrap_or(rtts.len()));
    rtts
}

#[cfg(test)]
mod tests {
    use super::in_turn;
    use goodqueue_types::Span;

    #[test]
    fn times_that_flows_take_in_turn_are_listed_once() {
        let list = |times: &[u64]| in_turn(times.iter().map(|time| Span(*time)).collect());
        assert_eq!(list(&[7, 7, 7]), [Span(7)]);
        assert_eq!(list(&[1, 2, 1, 2, 1]), [Span(1), Span(2)]);
        assert_eq!(list(&[1, 1, 2]), [Span(1), Span(1), Span(2)]);
        assert_eq!(list(&[3]), [Span(3)]);
    }
}
