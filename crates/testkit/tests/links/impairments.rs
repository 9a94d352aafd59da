//! Effects of jitter, reordering and duplicates on the packets that hosts receive, on TCP and on
//! calls.

use goodqueue_queue::Limit;
use goodqueue_sim::{
    Impairments, Interrupts, Jitter, Law, LinkConfig, Metric, Network, Outcome, Reorder,
    SourceConfig, VoiceConfig, WorkloadConfig, run,
};
use goodqueue_tcp::{Profile, TcpConfig};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::{FlowId, Packet, PacketEvent, PacketEventKind, Rate, Span, Time};
use std::sync::Arc;

/// Returns a network of one flow that lasts a minute, over a link of 10 Mb/s with these impairments
/// and an unlimited queue.
fn network(workload: WorkloadConfig, impairments: Impairments) -> Network {
    let dumbbell = Dumbbell {
        seed: 5,
        rate: Rate(10_000_000),
        access_rate: Rate(100_000_000),
        limit: Limit::Unlimited,
        round_trip: Span::from_millis(40),
        warmup: Time::ZERO,
        end: Time::ZERO + Span::from_secs(60),
    };
    let mut network = dumbbell.network(vec![(Time::ZERO, workload)]);
    network.links[0].impairments = impairments;
    network
}

fn datagrams(interval: Span) -> WorkloadConfig {
    let packet = 1_000;
    WorkloadConfig::Source(SourceConfig::ConstantBitRate {
        interval,
        packet,
        spread: 0.0,
    })
}

fn bulk(profile: Profile) -> WorkloadConfig {
    let mut tcp = TcpConfig::profile(profile);
    // 64 kB fit into the path and its queue, so nothing is lost.
    tcp.receive_window = 64_000;
    WorkloadConfig::bulk(Arc::new(tcp), None)
}

fn reorder(probability: f64, delay: Span) -> Impairments {
    Impairments {
        reorder: Some(Reorder { probability, delay }),
        ..Impairments::default()
    }
}

fn duplicate(probability: f64) -> Impairments {
    Impairments {
        duplicate: Some(probability),
        ..Impairments::default()
    }
}

fn jitter(law: Law, keeps_order: bool) -> Impairments {
    Impairments {
        jitter: Some(Jitter {
            law,
            keeps_order,
            every: None,
        }),
        ..Impairments::default()
    }
}

/// Returns the numbers of the client's packets in order of delivery, and the delay of each.
fn deliveries(network: &mut Network) -> (Vec<u64>, Vec<Span>, Outcome) {
    network.record.packets = true;
    let outcome = run(network);
    let delivered = outcome
        .packets
        .iter()
        .filter(|event| event.kind == PacketEventKind::Delivered);
    let (numbers, delays) = delivered
        .map(|event| (event.packet.number, event.time - event.packet.sent))
        .unzip();
    (numbers, delays, outcome)
}

/// Returns time and packet of each delivery, in order of time.
fn handed_over(outcome: &Outcome) -> Vec<(Time, Packet)> {
    let delivered = |event: &&PacketEvent| event.kind == PacketEventKind::Delivered;
    let events = outcome.packets.iter().filter(delivered);
    let mut found: Vec<_> = events.map(|event| (event.time, event.packet)).collect();
    found.sort_by_key(|(time, _)| *time);
    found
}

fn interrupts(interval: Span) -> Impairments {
    Impairments {
        interrupts: Some(Interrupts { interval }),
        ..Impairments::default()
    }
}

fn reordered(numbers: &[u64]) -> u64 {
    let mut next = 0;
    let late = numbers.iter().filter(|number| {
        let late = **number < next;
        next = next.max(**number + 1);
        late
    });
    late.count() as u64
}

/// Checks that a binomial count lies within four standard deviations of its mean.
#[track_caller]
fn assert_binomial(count: u64, n: u64, probability: f64) {
    let n = n as f64;
    let error = (count as f64 - n * probability).abs();
    let deviation = (n * probability * (1.0 - probability)).sqrt();
    assert!(
        error <= 4.0 * deviation,
        "{count} of {n} with {probability}"
    );
}

/// A packet that is held back for 5 ms is overtaken by the next four or five packets that are not
/// held back.
#[test]
fn as_many_packets_are_overtaken_as_are_held_back() {
    let mut network = network(
        datagrams(Span::from_millis(1)),
        reorder(0.02, Span::from_micros(5_500)),
    );
    network.links[0].observed = true;
    let (numbers, _, outcome) = deliveries(&mut network);
    let link = &outcome.links[0];
    assert_eq!((link.drops, link.duplicates), (0, 0));
    assert_eq!(link.reordered, reordered(&numbers));
    // The exception is that all five are held back, too.
    assert_binomial(link.reordered, link.departures, 0.02);
}

#[test]
fn copies_are_delivered_and_counted() {
    let mut network = network(datagrams(Span::from_millis(1)), duplicate(0.05));
    let (numbers, _, outcome) = deliveries(&mut network);
    let (link, totals) = (&outcome.links[0], outcome.totals);
    assert_binomial(totals.duplicated, link.departures, 0.05);
    assert_eq!(link.duplicates, totals.duplicated);
    assert_eq!(link.reordered, 0);
    // The order is kept, so a copy comes directly after its original.
    let pairs = numbers.windows(2).filter(|pair| pair[0] == pair[1]);
    let on_the_way = totals.sent + totals.duplicated - totals.delivered;
    assert!(totals.duplicated - pairs.count() as u64 <= on_the_way);
    assert!(numbers.is_sorted());
}

/// Datagrams are far apart. Their delay minus the delay without jitter has the jitter's
/// distribution.
#[test]
fn delays_follow_the_law_of_the_jitter() {
    let law = Law::exponential(0.004);
    let workload = || datagrams(Span::from_millis(5));
    let (_, still, _) = deliveries(&mut network(workload(), Impairments::default()));
    let base = still[0];
    assert!(still.iter().all(|delay| *delay == base));
    let (numbers, delays, _) = deliveries(&mut network(workload(), jitter(law.clone(), false)));
    assert!(reordered(&numbers) > 100);
    let mut values: Vec<f64> = delays
        .iter()
        .map(|delay| delay.saturating_sub(base).as_secs_f64())
        .collect();
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let distance = values.iter().enumerate().map(|(rank, value)| {
        let share = law.share_up_to(*value);
        (share - rank as f64 / n)
            .abs()
            .max((share - (rank + 1) as f64 / n).abs())
    });
    let distance = distance.fold(0.0, f64::max);
    // The first term is the 0.1 % point of Kolmogorov's distribution. The access link after the
    // bottleneck has ten times its rate, where few packets wait for each other, for 80 us.
    assert!(distance < 1.95 / n.sqrt() + 0.002, "{distance}");
}

/// If the order is kept, a packet arrives at its own time or directly after the packets before it:
/// the arrivals are the running maximum of those with the same draws and a free order.
#[test]
fn kept_order_is_the_running_maximum_of_free_arrivals() {
    let law = Law::exponential(0.01);
    let arrivals = |keeps_order| {
        let workload = datagrams(Span::from_millis(1));
        let mut network = network(workload, jitter(law.clone(), keeps_order));
        // The route ends at the link, so that packets wait in no later link.
        network.flows[0].forward.truncate(2);
        let (numbers, delays, outcome) = deliveries(&mut network);
        let sent = |number: u64| Time::ZERO + Span::from_millis(number);
        let mut times: Vec<(u64, Time)> = (numbers.iter().zip(delays))
            .map(|(number, delay)| (*number, sent(*number) + delay))
            .collect();
        times.sort_unstable();
        (times, outcome.links[0].reordered)
    };
    let ((free, overtaken), (kept, in_order)) = (arrivals(false), arrivals(true));
    assert!(overtaken > 1_000 && in_order == 0);
    let mut latest = Time::ZERO;
    // Some packets have not arrived at the end of the run.
    for (free, kept) in free.iter().zip(&kept).take(50_000) {
        assert_eq!(free.0, kept.0);
        latest = free.1.max(latest + Span(1));
        assert_eq!(kept.1, latest);
    }
}

/// Most packets that are held back for longer than three others take are retransmitted by a sender
/// that responds to three duplicate ACKs (RFC 5681). These retransmissions are spurious: nothing
/// was lost, and all retransmitted data arrive twice. Linux extends its reordering window once it
/// has detected this (RFC 8985).
#[test]
fn overtaken_segments_are_retransmitted_seldom_once_rack_has_learned() {
    let held_back = reorder(0.01, Span::from_millis(8));
    let of = |profile| {
        let outcome = run(&network(bulk(profile), held_back.clone()));
        let (link, flow) = (&outcome.links[0], &outcome.flows[0]);
        assert_eq!(link.drops, 0);
        assert!(link.reordered > 100, "{profile:?}: {}", link.reordered);
        println!(
            "{profile:?}: {} reordered, {} retransmissions, {} timeouts, {} duplicates",
            link.reordered, flow.retransmissions, flow.timeouts, flow.duplicate_share
        );
        let segments = flow.packets_received as f64;
        let repeated = flow.retransmissions as f64;
        let twice = flow.duplicate_share * segments;
        assert!(
            (twice - repeated).abs() < 0.05 * repeated + 3.0,
            "{profile:?}"
        );
        repeated / link.reordered as f64
    };
    let (rfc, linux) = (of(Profile::Rfc), of(Profile::Linux));
    // Some are not retransmitted, because the window is too small for three duplicate ACKs in 8 ms
    // after some of these.
    assert!(rfc > 0.5, "{rfc}");
    assert!(linux < 0.1, "{linux}");
}

/// A copy makes the receiver send one duplicate ACK that reports the duplicate segment (RFC 2883).
/// No sender takes it for a loss.
#[test]
fn tcp_takes_no_copy_for_a_loss() {
    for profile in [Profile::Rfc, Profile::Linux] {
        let outcome = run(&network(bulk(profile), duplicate(0.05)));
        let flow = &outcome.flows[0];
        assert_eq!((flow.retransmissions, flow.timeouts), (0, 0), "{profile:?}");
        let (received, copies) = (flow.packets_received, outcome.totals.duplicated);
        assert_binomial(copies, received - copies, 0.05);
        let twice = flow.duplicate_share * received as f64;
        assert!((twice - copies as f64).abs() < 3.0, "{twice} {copies}");
        assert!(flow.goodput_bps > 8e6, "{profile:?}");
    }
}

/// Copies do not reduce the loss of a call.
#[test]
fn a_call_plays_a_packet_once() {
    let call = WorkloadConfig::Source(SourceConfig::Voice(VoiceConfig::default()));
    let mut copied = network(call, duplicate(0.5));
    copied.links[0].drop_list = (0..1_000).filter(|number| number % 10 == 5).collect();
    let outcome = run(&copied);
    let metrics = &outcome.flows[0].app.metrics;
    let loss = metrics.iter().find(|(name, _)| *name == "voice_loss");
    let Some((_, Metric::Number(Some(loss)))) = loss else {
        panic!("{metrics:?}")
    };
    assert!(outcome.totals.duplicated > 1_000);
    // A hundred of three thousand packets are lost.
    assert!((loss - 100.0 / 3_000.0).abs() < 1e-4, "{loss}");
}

/// The flows of a machine share the interrupts of its network card: packets of both arrive together,
/// in the order in which they left the link, and an interval lies between these times.
#[test]
fn flows_share_the_interrupts_of_a_card() {
    let interval = Span::from_millis(6);
    let mut shared = network(datagrams(Span::from_millis(2)), interrupts(interval));
    let mut second = shared.flows[0].clone();
    second.start = Time::ZERO + Span::from_micros(900);
    shared.flows.push(second);
    shared.record.packets = true;
    let outcome = run(&shared);
    let delivered = handed_over(&outcome);
    assert_eq!(outcome.totals.dropped, 0);
    assert!(delivered.len() > 59_000, "{}", delivered.len());
    let sent: Vec<_> = delivered.iter().map(|(_, packet)| packet.sent).collect();
    assert!(sent.is_sorted());
    // Behind the card is a link of 100 Mb/s, on which a packet takes 80 us.
    let apart = Span::from_millis(1);
    let mut last = None;
    for packets in delivered.chunk_by(|(one, _), (two, _)| *two - *one < apart) {
        let at = packets[0].0;
        if let Some(last) = last.replace(at) {
            assert!(at - last >= interval, "{:?}", at - last);
            // Two flows send a packet every two milliseconds.
            assert!((5..=7).contains(&packets.len()), "{}", packets.len());
            let of = |flow| {
                packets
                    .iter()
                    .any(|(_, packet)| packet.flow == FlowId(flow))
            };
            assert!(of(0) && of(1));
        }
    }
    assert!(last > Some(Time::ZERO + Span::from_secs(59)));
}

/// A packet that comes alone is not late: the card interrupts at once.
#[test]
fn sparse_packets_are_handed_over_at_once() {
    let [late, usual] = [interrupts(Span::from_millis(3)), Impairments::default()].map(|card| {
        let mut network = network(datagrams(Span::from_millis(4)), card);
        network.record.packets = true;
        handed_over(&run(&network))
    });
    assert_eq!(late, usual);
}

/// A link whose impairments are all zero has the same results as a link without impairments, with
/// more events.
#[test]
fn impairments_of_nothing_change_nothing() {
    let nothing = Impairments {
        jitter: Some(Jitter {
            law: Law::Fixed(0.0),
            keeps_order: true,
            every: None,
        }),
        reorder: Some(Reorder {
            probability: 0.0,
            delay: Span::from_millis(1),
        }),
        duplicate: Some(0.0),
        ..Impairments::default()
    };
    let mut plain = network(bulk(Profile::Linux), Impairments::default());
    plain.links.iter_mut().for_each(|link| {
        *link = LinkConfig {
            observed: true,
            ..link.clone()
        }
    });
    let mut impaired = plain.clone();
    for link in &mut impaired.links {
        link.impairments = nothing.clone();
    }
    let (plain, impaired) = (run(&plain), run(&impaired));
    assert_eq!(goodqueue_testkit::compare(&plain, &impaired), Ok(()));
}
