//! Applications over TCP: the data that they send arrive in time and as often as configured.

use goodqueue_queue::Limit;
use goodqueue_sim::{
    ExchangesConfig, FlowOutcome, Intervals, Law, Metric, NoProbe, SessionConfig, Simulation,
    TransferWay, TransfersConfig, WebConfig, WorkloadConfig, run,
};
use goodqueue_tcp::{Profile, TcpConfig};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::parameters::Words;
use goodqueue_types::{Rate, Span, Time};
use std::sync::Arc;

const RTT_S: f64 = 0.1;

fn dumbbell(seconds: u64, rate: u64, seed: u64) -> Dumbbell {
    Dumbbell {
        seed,
        rate: Rate(rate),
        access_rate: Rate(1_000_000_000),
        limit: Limit::Packets(1_000),
        round_trip: Span::from_millis(100),
        warmup: Time::ZERO,
        end: Time::ZERO + Span::from_secs(seconds),
    }
}

fn workload(session: SessionConfig) -> WorkloadConfig {
    let tcp = TcpConfig {
        // Browsers and web servers disable Nagle's algorithm.
        nagle: false,
        ..TcpConfig::profile(Profile::Linux)
    };
    WorkloadConfig::Session {
        tcp: Arc::new(tcp),
        session: Arc::new(session),
    }
}

fn outcome(dumbbell: &Dumbbell, session: SessionConfig) -> FlowOutcome {
    let network = dumbbell.network(vec![(Time::ZERO, workload(session))]);
    run(&network).flows.remove(0)
}

fn count(flow: &FlowOutcome, name: &str) -> u64 {
    flow.app
        .metrics
        .iter()
        .find_map(|(metric, value)| match value {
            Metric::Count(count) if *metric == name => Some(*count),
            _ => None,
        })
        .expect("such a count")
}

/// Returns the mean and the maximum of a metric, in seconds.
fn seconds(flow: &FlowOutcome, name: &str) -> (f64, f64) {
    flow.app
        .metrics
        .iter()
        .find_map(|(metric, value)| match value {
            Metric::Seconds(times) if *metric == name => Some((times.mean?, times.max?)),
            _ => None,
        })
        .expect("such times")
}

/// Returns transfers at equal intervals.
fn transfers(interval: Span, size: Law, direction: TransferWay, most: u64) -> TransfersConfig {
    TransfersConfig {
        size,
        interval,
        intervals: Intervals::Fixed,
        direction,
        most: Some(most),
        ..TransfersConfig::default()
    }
}

/// Slow start begins with a window of ten segments, which doubles each round: 10, 20, 40 segments.
#[test]
fn transfers_that_fit_in_slow_start_take_whole_round_trips() {
    let mss = f64::from(TcpConfig::profile(Profile::Linux).mss);
    for (segments, rounds) in [(10.0, 1.0), (30.0, 2.0), (70.0, 3.0)] {
        for way in TransferWay::ALL {
            let size = Law::Fixed(segments * mss);
            let session = transfers(Span::from_secs(5), size, *way, 5);
            let flow = outcome(
                &dumbbell(60, 1_000_000_000, 1),
                SessionConfig::Transfers(session),
            );
            assert_eq!(count(&flow, "transfers"), 5);
            let (mean, max) = seconds(&flow, "transfer_time_s");
            // The handshake takes a round trip, and each window another one. In uploads, the
            // acknowledgement arrives a round trip after the last window. In downloads, the request
            // and the data take half a round trip each. A delayed ACK costs up to 40 ms. 70
            // segments take 1 ms at 1 Gb/s.
            let expected = RTT_S * (1.0 + rounds);
            assert!(
                mean >= expected && max < expected + 0.045,
                "{segments} segments, {way:?}: {mean} {max}, expected {expected}"
            );
        }
    }
}

/// The handshake takes one round trip. A transfer of one round that is alone on the path has no other
/// delay beyond the minimum.
#[test]
fn a_transfer_alone_is_slowed_down_by_its_handshake() {
    let mss = TcpConfig::profile(Profile::Linux).mss;
    let size = Law::Fixed(10.0 * f64::from(mss));
    let transfer = transfers(Span::from_secs(5), size, TransferWay::Up, 5);
    let flow = outcome(
        &dumbbell(60, 10_000_000, 1),
        SessionConfig::Transfers(transfer),
    );
    let found = flow
        .app
        .metrics
        .iter()
        .find(|(name, _)| *name == "slowdown");
    let Some((_, Metric::Ratio(slowdown))) = found else {
        panic!("{found:?}")
    };
    // Ten full packets are sent at 10 Mb/s.
    let packet = TcpConfig::profile(Profile::Linux).header_bytes() + mss;
    let sending = f64::from(10 * packet * 8) / 1e7;
    let expected = (2.0 * RTT_S + sending) / (RTT_S + sending);
    let mean = slowdown.mean.expect("five transfers");
    // The transmission of SYN and ACKs and that over the access links of 1 Gb/s add up to the time
    // of a packet.
    assert!(
        mean > expected && mean < expected + 0.02,
        "{mean}, expected {expected}"
    );
    assert!(slowdown.max.is_some_and(|max| max < expected + 0.02));
}

/// A download of one window takes two round trips. The next begins 1.6 round trips after it, and takes
/// its connection over 0.4 round trips later, before its own is open, so that it takes 1.4. The third
/// finds no connection.
#[test]
fn a_transfer_that_waits_for_its_handshake_takes_the_connection_of_another() {
    let size = Law::Fixed(10.0 * f64::from(TcpConfig::profile(Profile::Linux).mss));
    let apart = Span::from_secs_f64(1.6 * RTT_S);
    let session = |reuse| TransfersConfig {
        reuse,
        ..transfers(apart, size.clone(), TransferWay::Down, 40)
    };
    let run = |reuse| {
        let session = SessionConfig::Transfers(session(reuse));
        outcome(&dumbbell(60, 10_000_000_000, 1), session)
    };
    let own = seconds(&run(false), "transfer_time_s").0;
    assert!((own / RTT_S - 2.0).abs() < 0.01, "{own}");
    let flow = run(true);
    assert_eq!(
        (count(&flow, "transfers"), count(&flow, "connections")),
        (40, 40)
    );
    let mean = seconds(&flow, "transfer_time_s").0;
    assert!((mean / RTT_S - 1.7).abs() < 0.01, "{mean}");
    let metrics = flow.app.metrics.iter();
    let geometric = metrics.filter_map(|(name, value)| match value {
        Metric::Number(value) if *name == "geometric_mean_transfer_time_s" => *value,
        _ => None,
    });
    let geometric: f64 = geometric.sum();
    assert!(
        (geometric / RTT_S - 2.8_f64.sqrt()).abs() < 0.01,
        "{geometric}"
    );
}

#[test]
fn every_byte_of_every_transfer_arrives() {
    let sizes = Law::uniform(1.0, 40_000.0);
    let cases = [
        (TransferWay::Up, false),
        (TransferWay::Down, false),
        (TransferWay::Down, true),
    ];
    for (way, reuse) in cases {
        let session = SessionConfig::Transfers(TransfersConfig {
            intervals: Intervals::Exponential,
            reuse,
            ..transfers(Span::from_millis(50), sizes.clone(), way, 200)
        });
        // The link is overloaded, so that connections are lost, retried and late.
        let mut hard = dumbbell(400, 2_000_000, 3);
        hard.limit = Limit::Packets(10);
        let flow = outcome(&hard, session);
        assert_eq!(count(&flow, "transfers"), 200, "{way:?}");
        let down = way == TransferWay::Down;
        assert!(flow.retransmissions > 0 || down);
        // The requests have 200 bytes each.
        let requested = if down { 200 * 200 } else { 0 };
        let bytes = flow.goodput_bps * 400.0 / 8.0 - f64::from(requested);
        // The sum has 200 draws with mean 20,000 and standard deviation 11,547.
        assert!((bytes / 200.0 - 20_000.0).abs() < 4.0 * 11_547.0 / 200.0_f64.sqrt());
    }
}

#[test]
fn transfers_begin_as_a_poisson_process_of_the_stated_rate() {
    let (mut sum, seeds) = (0.0, 20);
    for seed in 0..seeds {
        let size = Law::Fixed(1_000.0);
        let session = SessionConfig::Transfers(TransfersConfig {
            intervals: Intervals::Exponential,
            ..transfers(Span::from_millis(100), size, TransferWay::Up, 100_000)
        });
        sum += count(
            &outcome(&dumbbell(100, 100_000_000, seed), session),
            "transfers",
        ) as f64;
    }
    // 1000 transfers begin in 100 s, and those of the last 0.2 s do not end. The variance of a
    // Poisson count equals its mean.
    let expected = f64::from(seeds as u32) * 998.0;
    assert!((sum - expected).abs() < 4.0 * expected.sqrt(), "{sum}");
}

#[test]
fn exchanges_take_a_round_trip_and_the_servers_time() {
    let exchanges = |periodic| {
        SessionConfig::Exchanges(ExchangesConfig {
            request: Law::Fixed(200.0),
            reply: Law::Fixed(1_000.0),
            reply_per: None,
            server_time: Law::Fixed(0.02),
            pause: Law::Fixed(1.0),
            periodic,
            most: None,
        })
    };
    for (periodic, expected_count) in [(true, 60), (false, 54)] {
        let flow = outcome(&dumbbell(60, 100_000_000, 1), exchanges(periodic));
        // A periodic exchange begins every second. Without a period one takes 1.12 s with its
        // pause, and the first one also has a handshake.
        let answered = count(&flow, "exchanges");
        assert_eq!(answered, expected_count, "periodic {periodic}");
        let (mean, max) = seconds(&flow, "exchange_time_s");
        let first = 2.0 * RTT_S + 0.02;
        let rest = RTT_S + 0.02;
        assert!((max - first).abs() < 1e-3, "{max}");
        let n = answered as f64;
        assert!(
            (mean - (first + (n - 1.0) * rest) / n).abs() < 1e-3,
            "{mean}"
        );
    }
}

#[test]
fn a_server_may_answer_a_request_piece_by_piece() {
    let flow = |reply_per| {
        let session = SessionConfig::Exchanges(ExchangesConfig {
            request: Law::Fixed(100_000.0),
            reply: Law::Fixed(100.0),
            reply_per,
            server_time: Law::Fixed(0.0),
            pause: Law::Fixed(1.0),
            periodic: true,
            most: Some(10),
        });
        outcome(&dumbbell(60, 100_000_000, 1), session)
    };
    // The server answers the whole request once, or each of its 33 whole pieces and the remainder.
    // The goodput includes the replies as well as the requests.
    for (per, answers) in [(None, 1), (Some(3_000), 34), (Some(200_000), 1)] {
        let flow = flow(per);
        assert_eq!(count(&flow, "exchanges"), 10, "{per:?}");
        let bytes = 10.0 * (100_000.0 + 100.0 * f64::from(answers));
        assert!(
            (flow.goodput_bps * 60.0 / 8.0 - bytes).abs() < 1.0,
            "{per:?}"
        );
    }
}

#[test]
fn a_page_takes_as_many_round_trips_as_its_objects_ask_for() {
    let web = |parallel, persistent| {
        SessionConfig::Web(WebConfig {
            objects: Law::Fixed(8.0),
            main_size: Law::Fixed(5_000.0),
            object_size: Law::Fixed(5_000.0),
            request: 300,
            server_time: Law::Fixed(0.0),
            parallel,
            persistent,
            think: Law::Fixed(1.0),
            most: Some(10),
        })
    };
    // The main object takes a handshake and a round trip. Eight further objects are loaded, four at
    // a time. With persistent connections, the first connection is reused and three are opened.
    // During the handshakes of these three the first connection loads a third object. With new
    // connections, each object takes two round trips.
    for (parallel, persistent, round_trips) in [
        (4, true, 5.0),
        (4, false, 6.0),
        (1, true, 10.0),
        (8, false, 4.0),
    ] {
        let flow = outcome(&dumbbell(60, 1_000_000_000, 1), web(parallel, persistent));
        assert_eq!((count(&flow, "pages"), count(&flow, "objects")), (10, 90));
        let (mean, _) = seconds(&flow, "page_time_s");
        assert!(
            (mean - RTT_S * round_trips).abs() < 0.01,
            "{parallel} {persistent}: {mean}"
        );
    }
}

/// An answer of 30 segments takes two round trips after its request. Its first byte takes one.
/// Opening a connection takes another one.
#[test]
fn the_first_byte_takes_one_round_trip_of_an_open_connection() {
    let bytes = 30.0 * f64::from(TcpConfig::profile(Profile::Linux).mss);
    let size = Law::Fixed(bytes);
    let download = transfers(Span::from_secs(5), size.clone(), TransferWay::Down, 5);
    let exchanges = ExchangesConfig {
        reply: size.clone(),
        // An idle window begins anew after this time.
        pause: Law::Fixed(5.0),
        most: Some(5),
        ..ExchangesConfig::default()
    };
    let page = WebConfig {
        objects: Law::Fixed(4.0),
        main_size: size.clone(),
        object_size: size,
        parallel: 1,
        most: Some(1),
        ..WebConfig::default()
    };
    for (session, round_trips) in [
        (SessionConfig::Transfers(download), 2.0),
        (SessionConfig::Exchanges(exchanges), 6.0 / 5.0),
        (SessionConfig::Web(page), 6.0 / 5.0),
    ] {
        let flow = outcome(&dumbbell(60, 1_000_000_000, 1), session.clone());
        let (mean, max) = seconds(&flow, "first_byte_time_s");
        assert!(
            (mean - RTT_S * round_trips).abs() < 1e-3,
            "{session:?}: {mean}"
        );
        assert!((max - 2.0 * RTT_S).abs() < 1e-3, "{session:?}: {max}");
    }
}

/// Transfers of up to 100 kB are short, and those above 10 MB long. The transfers of one class have
/// the figures of all transfers if there are no others.
#[test]
fn transfers_count_by_their_size() {
    let classes = ["short", "medium", "long"];
    for (bytes, class) in [
        (100_000.0, 0),
        (100_001.0, 1),
        (10_000_000.0, 1),
        (10_000_001.0, 2),
    ] {
        let session = transfers(Span::from_secs(5), Law::Fixed(bytes), TransferWay::Up, 3);
        let flow = outcome(
            &dumbbell(60, 1_000_000_000, 1),
            SessionConfig::Transfers(session),
        );
        for (place, name) in classes.iter().enumerate() {
            let expected = if place == class { 3 } else { 0 };
            let found = count(&flow, &format!("{name}_transfers"));
            assert_eq!(found, expected, "{bytes}: {name}");
        }
        let all = seconds(&flow, "transfer_time_s");
        let own = seconds(&flow, &format!("{}_transfer_time_s", classes[class]));
        assert_eq!(own, all, "{bytes}");
    }
}

/// A hundred thousand short flows run, but few of them are active at the same time.
#[test]
fn finished_connections_give_their_memory_back() {
    let cost = |most: u64| {
        let size = Law::Fixed(3_000.0);
        let session = transfers(Span::from_millis(10), size, TransferWay::Up, most);
        let session = SessionConfig::Transfers(session);
        let network = dumbbell(most / 100 + 100, 100_000_000, 1)
            .network(vec![(Time::ZERO, workload(session))]);
        let mut sent = 0;
        let cost = allocation_counter::measure(|| {
            let simulation = Simulation::new(&network, NoProbe);
            sent = simulation.complete().0.totals.sent;
        });
        assert!(sent > 5 * most);
        cost.bytes_max
    };
    // TIME-WAIT lasts a minute, so 6000 connections are in it.
    let (few, some, many) = (cost(100), cost(7_000), cost(28_000));
    println!("at most {few}, {some} and {many} bytes");
    assert!(
        many < some + some / 10,
        "{many} bytes, {some} for a quarter"
    );
    // A connection in TIME-WAIT holds only the state to answer a retransmitted FIN.
    assert!(many - few < 6_000 * 200);
}
