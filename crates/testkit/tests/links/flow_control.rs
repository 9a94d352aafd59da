//! Flow control by PAUSE frames: the headroom of IEEE 802.1Qbb, the threshold for resuming, and
//! pauses in a circle.

use goodqueue_queue::Limit;
use goodqueue_sim::{
    FlowConfig, LinkConfig, Network, Outcome, PauseConfig, PauseOutcome, Record, SourceConfig,
    WorkloadConfig, run,
};
use goodqueue_testkit::dumbbell::link;
use goodqueue_testkit::{compare, run_reference};
use goodqueue_types::{Framing, Hosts, LinkId, Rate, Span, Time};

/// Preamble, gap, Ethernet header and check sequence of a frame.
const OVERHEAD: u32 = 38;

/// A port and its cable, and the delays of IEEE 802.1Qbb Annex O.
#[derive(Clone, Copy)]
struct Port {
    gbps: u64,
    metres: u64,
    mtu: u32,
    quanta: u64,
}

impl Port {
    fn frame(self) -> u64 {
        u64::from(self.mtu + OVERHEAD)
    }

    /// Picoseconds of so many bits.
    fn bits(self, bits: u64) -> u64 {
        bits * 1_000 / self.gbps
    }

    /// Five nanoseconds per metre.
    fn delay(self) -> Span {
        Span(self.metres * 5_000)
    }

    /// Time of a frame on the line.
    fn frame_time(self) -> Span {
        Span(self.bits(8 * self.frame()))
    }

    /// The PAUSE itself, 500 ns of MAC and PHY, and the reaction.
    fn reaction(self) -> Span {
        Span(self.bits(8 * 84 + 512 * self.quanta) + 500_000)
    }

    /// Bytes during the delays, with a frame ahead of the PAUSE, and a frame that the sender has
    /// begun.
    fn headroom(self) -> u64 {
        let picos = 2 * self.delay().0 + self.frame_time().0 + self.reaction().0;
        picos * self.gbps / 8_000 + self.frame()
    }
}

/// A source of full frames at this rate in Gb/s.
fn source(index: u32, start: Span, route: &[u32], back: u32, gbps: u64, packet: u32) -> FlowConfig {
    FlowConfig {
        name: format!("source {index}"),
        group: index,
        start: Time::ZERO + start,
        forward: route.iter().copied().map(LinkId).collect(),
        reverse: vec![LinkId(back)],
        hosts: Hosts::default(),
        dscp: 0,
        between_losses: None,
        interface: None,
        stop: None,
        workload: WorkloadConfig::Source(SourceConfig::ConstantBitRate {
            interval: Span(u64::from(packet + OVERHEAD) * 8_000 / gbps),
            packet,
            spread: 0.0,
        }),
    }
}

/// Runs a network for a millisecond with both engines.
fn run_both(links: Vec<LinkConfig>, flows: Vec<FlowConfig>) -> Outcome {
    let mut network = Network {
        seed: 1,
        warmup: Time::ZERO,
        end: Time(1_000_000_000),
        links,
        pools: Vec::new(),
        flows,
        record: Record {
            series: true,
            packets: true,
            tcp_delays: false,
        },
    };
    network.keep_in_step();
    let outcome = run(&network);
    assert_eq!(compare(&outcome, &run_reference(&network)), Ok(()));
    outcome
}

fn wire(name: &str, rate: Rate, delay: Span, limit: Limit) -> LinkConfig {
    let mut wire = link(name, rate, delay, limit);
    wire.framing = Framing::bytes(OVERHEAD);
    wire.observed = true;
    wire
}

fn gbps(rate: u64) -> Rate {
    Rate(rate * 1_000_000_000)
}

fn pause(outcome: &Outcome, link: usize) -> PauseOutcome {
    outcome.links[link].pause.expect("it has flow control")
}

/// Frames before the threshold for pausing.
const FRAMES: u64 = 100;

/// Runs a sender at the rate of a port, whose data wait behind the cable for a slower link. With
/// `meets`, the switch has begun to send a full frame over the cable just before its PAUSE.
fn switch(port: Port, egress: Rate, xon: u64, headroom: u64, meets: bool) -> Outcome {
    let xoff = FRAMES * port.frame();
    let mut cable = wire("cable", gbps(port.gbps), port.delay(), Limit::Unlimited);
    cable.pause = Some(PauseConfig {
        xoff,
        xon,
        reaction: port.reaction(),
    });
    cable.opposite = Some(LinkId(2));
    let egress = wire("egress", egress, Span::ZERO, Limit::Bytes(xoff + headroom));
    let back = wire("back", gbps(port.gbps), port.delay(), Limit::Unlimited);
    let mut flows = vec![source(0, Span::ZERO, &[0, 1], 2, port.gbps, port.mtu)];
    if meets {
        // The first frame does not wait, so one more arrives until the threshold is reached.
        let decided = (FRAMES + 1) * port.frame_time().0 + port.delay().0;
        let start = Span((decided - 1_000) % port.frame_time().0);
        flows.push(source(1, start, &[2], 0, port.gbps, port.mtu));
    }
    run_both(vec![cable, egress, back], flows)
}

const PORTS: [Port; 4] = [
    Port {
        gbps: 100,
        metres: 300,
        mtu: 1_500,
        quanta: 394,
    },
    Port {
        gbps: 100,
        metres: 300,
        mtu: 9_100,
        quanta: 394,
    },
    Port {
        gbps: 400,
        metres: 40,
        mtu: 1_500,
        quanta: 905,
    },
    Port {
        gbps: 25,
        metres: 2_000,
        mtu: 1_500,
        quanta: 80,
    },
];

/// Rate of an egress that sends nothing while the headroom fills.
const BLOCKED: Rate = Rate(1_000_000);

#[test]
fn the_headroom_of_the_standard_loses_nothing_and_nine_tenths_of_it_lose() {
    assert_eq!(PORTS[1].headroom(), 87_326); // 100 Gb/s, 300 m, 9,100 B, by hand.
    for port in PORTS {
        let headroom = port.headroom();
        let whole = switch(port, BLOCKED, 0, headroom, true);
        assert_eq!(whole.totals.dropped, 0);
        assert_eq!(pause(&whole, 0).pauses, 1);
        // Whole frames arrive, and the PAUSE waits for all but a nanosecond of a frame.
        let used = pause(&whole, 0).peak_bytes - FRAMES * port.frame();
        let unused = headroom - used;
        assert!(unused <= port.frame() + port.gbps / 8 + 1, "{unused}");
        let less = switch(port, BLOCKED, 0, headroom * 9 / 10, true);
        assert!(less.totals.dropped > 0);
    }
}

#[test]
fn a_pause_that_waits_for_no_frame_needs_a_frame_less() {
    for port in PORTS {
        let peak = |meets| pause(&switch(port, BLOCKED, 0, port.headroom(), meets), 0).peak_bytes;
        assert_eq!(peak(true) - peak(false), port.frame());
    }
}

/// The egress sends what waits at `xon` while the request travels to the sender and data travel
/// back.
#[test]
fn the_threshold_for_resuming_keeps_the_egress_busy() {
    let port = PORTS[0];
    let (picos, rate) = (2 * port.delay().0 + port.reaction().0, 50);
    let needed = picos * rate / 8_000 + port.frame();
    let busy = |xon| {
        let outcome = switch(port, gbps(rate), xon, port.headroom(), false);
        outcome.links[1].utilization
    };
    // The first frame arrives after the cable's delay, which is 0.2 % of the run.
    assert!(busy(needed) > 0.998, "{}", busy(needed));
    assert!(busy(needed / 3) < 0.98, "{}", busy(needed / 3));
}

/// Data for a free egress wait on the cable behind data for a slow one.
#[test]
fn a_pause_blocks_the_traffic_of_free_ports_too() {
    let port = PORTS[0];
    let run_with = |has_pause: bool| {
        let mut cable = wire("cable", gbps(100), port.delay(), Limit::Unlimited);
        cable.pause = has_pause.then_some(PauseConfig {
            xoff: 20 * port.frame(),
            xon: 10 * port.frame(),
            reaction: port.reaction(),
        });
        let room = Limit::Bytes(20 * port.frame() + port.headroom());
        let slow = wire("slow", gbps(10), Span::ZERO, room);
        let free = wire("free", gbps(100), Span::ZERO, room);
        let back = wire("back", gbps(100), Span::ZERO, Limit::Unlimited);
        let flow = |index, route: &[u32]| source(index, Span::ZERO, route, 3, 40, port.mtu);
        let flows = vec![flow(0, &[0, 1]), flow(1, &[0, 2])];
        run_both(vec![cable, slow, free, back], flows)
    };
    let (lossy, lossless) = (run_with(false), run_with(true));
    assert!(lossy.totals.dropped > 0 && lossy.links[2].utilization > 0.39);
    assert!(lossless.totals.dropped == 0);
    // Both flows have the rate of the slow egress.
    assert!((0.09..0.13).contains(&lossless.links[2].utilization));
    let share = pause(&lossless, 0).paused.as_secs_f64() / lossless.measured_s;
    assert!((0.7..0.85).contains(&share), "{share}");
    assert!(pause(&lossless, 0).pauses > 10);
}

/// Three switches in a ring, whose flows cross two links each, wait for one another for ever.
#[test]
fn pauses_in_a_circle_are_reported() {
    let port = PORTS[0];
    let ring = |routes: &[&[u32]]| {
        let links = (0..3).map(|index| {
            let name = format!("{index}");
            let mut link = wire(&name, gbps(100), port.delay(), Limit::Unlimited);
            link.pause = Some(PauseConfig {
                xoff: 20 * port.frame(),
                xon: 10 * port.frame(),
                reaction: port.reaction(),
            });
            link
        });
        let back = wire("back", gbps(100), Span::ZERO, Limit::Unlimited);
        let flows = (0..)
            .zip(routes)
            .map(|(index, route)| source(index, Span::ZERO, route, 3, 90, port.mtu));
        run_both(links.chain([back]).collect(), flows.collect())
    };
    let stuck = ring(&[&[0, 1], &[1, 2], &[2, 0]]);
    for link in 0..3 {
        assert!(pause(&stuck, link).in_cycle, "{link}");
        assert!(stuck.links[link].utilization < 0.5);
    }
    let free = ring(&[&[0, 1], &[1, 2]]);
    assert!(pause(&free, 0).pauses > 0);
    assert!((0..3).all(|link| !pause(&free, link).in_cycle));
}
