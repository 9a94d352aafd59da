//! A transport stack from outside sends its datagrams through any network.

use goodqueue_queue::{CodelConfig, DualPi2Config, FqCodelConfig, Limit, QueueConfig};
use goodqueue_sim::{
    Batch, Endpoint, Impairments, InterfaceConfig, Jitter, Law, Network, Placement, Progress,
    Reorder, Stack, WorkloadConfig, run,
};
use goodqueue_tcp::{Profile, TcpConfig};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_testkit::{compare, run_reference};
use goodqueue_types::{Ecn, Rate, Span, Time, mix};
use std::sync::Arc;

/// Sends batches of datagrams with numbered, random content, one batch every 10 ms and another one
/// for each answer. The server answers each datagram with its number.
#[derive(Debug)]
struct Toy;

#[derive(Debug)]
struct ToyEnd {
    is_client: bool,
    seed: u64,
    next: Option<Time>,
    due: u64,
    sent: u64,
    answers: Vec<(u64, Ecn)>,
    delivered: u64,
    sent_at: Vec<Time>,
}

impl Stack for Toy {
    fn pair(&self, placement: &Placement) -> [Box<dyn Endpoint>; 2] {
        [true, false].map(|is_client| -> Box<dyn Endpoint> {
            Box::new(ToyEnd {
                is_client,
                seed: placement.seed,
                next: is_client.then_some(placement.start),
                due: 0,
                sent: 0,
                answers: Vec::new(),
                delivered: 0,
                sent_at: Vec::new(),
            })
        })
    }
}

impl ToyEnd {
    /// Returns the content of the datagram of this number, between 100 and 1,000 bytes.
    fn content(&self, number: u64) -> Vec<u8> {
        let random = mix(self.seed ^ number);
        let mut bytes = number.to_be_bytes().to_vec();
        bytes.resize(100 + (random % 900) as usize, random as u8);
        bytes
    }
}

impl Endpoint for ToyEnd {
    fn receive(&mut self, now: Time, ecn: Ecn, datagram: &[u8]) -> Option<Span> {
        let number = u64::from_be_bytes(datagram[..8].try_into().expect("eight bytes"));
        if self.is_client {
            assert_eq!(datagram.len(), 9);
            self.due += 1;
            return Some(now - self.sent_at[number as usize]);
        }
        assert_eq!(datagram, self.content(number), "the bytes that were sent");
        self.delivered += datagram.len() as u64;
        self.answers.push((number, ecn));
        None
    }

    fn wake(&mut self, now: Time) {
        if self.next.is_some_and(|next| next <= now) {
            self.due += 3;
            self.next = Some(now + Span::from_millis(10));
        }
    }

    fn wakes_at(&self) -> Option<Time> {
        self.next
    }

    fn transmit(&mut self, now: Time, datagrams: &mut Vec<u8>) -> Option<Batch> {
        if self.is_client {
            let size = self.content(self.sent).len();
            // The last datagram of a batch may be shorter than the others.
            for _ in 0..self.due.min(4) {
                let content = self.content(self.sent);
                if content.len() > size {
                    break;
                }
                let is_last = content.len() < size;
                datagrams.extend(content);
                self.sent += 1;
                self.due -= 1;
                self.sent_at.push(now);
                if is_last {
                    break;
                }
            }
            let ecn = Ecn::Capable0;
            return (!datagrams.is_empty()).then_some(Batch { size, ecn });
        }
        let (number, ecn) = self.answers.pop()?;
        datagrams.extend(number.to_be_bytes());
        datagrams.push(ecn as u8);
        Some(Batch {
            size: 9,
            ecn: Ecn::NotCapable,
        })
    }

    fn progress(&self) -> Progress {
        Progress {
            delivered_bytes: self.delivered,
            ..Progress::default()
        }
    }
}

/// Two flows of the toy and one of TCP behind 4 Mbit/s.
fn network(seed: u64, change: impl Fn(&mut Network)) -> Network {
    let dumbbell = Dumbbell {
        seed,
        rate: Rate(4_000_000),
        access_rate: Rate(100_000_000),
        limit: Limit::Packets(30),
        round_trip: Span::from_millis(20),
        warmup: Time::ZERO + Span::from_secs(1),
        end: Time::ZERO + Span::from_secs(6),
    };
    let stack: Arc<dyn Stack> = Arc::new(Toy);
    let mut tcp = TcpConfig::profile(Profile::Linux);
    tcp.receive_window = 1 << 20;
    let start = |ms| Time::ZERO + Span::from_millis(ms);
    let mut network = dumbbell.network(vec![
        (start(0), WorkloadConfig::Foreign(Arc::clone(&stack))),
        (start(3), WorkloadConfig::bulk(Arc::new(tcp), None)),
        (start(7), WorkloadConfig::Foreign(stack)),
    ]);
    change(&mut network);
    network
}

/// Change of a network.
type Change = Box<dyn Fn(&mut Network)>;

/// Links of any kind: queue disciplines, and impairments that lose, copy and reorder packets.
fn links() -> Vec<(&'static str, Change)> {
    let queue = |queue: QueueConfig| -> Change {
        Box::new(move |network| {
            for link in network.links.iter_mut().filter(|link| link.observed) {
                link.queue = queue.clone();
            }
        })
    };
    let impaired = |impairments: Impairments| -> Change {
        Box::new(move |network| {
            for link in network.links.iter_mut().filter(|link| link.observed) {
                link.impairments = impairments.clone();
            }
        })
    };
    vec![
        ("drop tail", Box::new(|_| {})),
        ("codel", queue(QueueConfig::Codel(CodelConfig::default()))),
        (
            "fq_codel",
            queue(QueueConfig::FqCodel(FqCodelConfig::default())),
        ),
        (
            "dualpi2",
            queue(QueueConfig::DualPi2(DualPi2Config::default())),
        ),
        (
            "copies",
            impaired(Impairments {
                duplicate: Some(0.1),
                ..Impairments::default()
            }),
        ),
        (
            "overtaking",
            impaired(Impairments {
                jitter: Some(Jitter {
                    law: Law::exponential(0.005),
                    keeps_order: false,
                    every: None,
                }),
                reorder: Some(Reorder {
                    probability: 0.05,
                    delay: Span::from_millis(30),
                }),
                ..Impairments::default()
            }),
        ),
        ("interfaces", Box::new(interfaces)),
    ]
}

/// Gives each flow an interface with jitter and coalescing.
fn interfaces(network: &mut Network) {
    for flow in &mut network.flows {
        flow.interface = Some(Arc::new(InterfaceConfig {
            super_segments: true,
            receive_coalescing: Span::from_micros(200),
            send_jitter: Law::exponential(20e-6),
        }));
    }
}

#[test]
fn both_engines_agree_on_foreign_stacks_behind_any_link() {
    for (name, change) in links() {
        for seed in 1..=3 {
            let network = network(seed, &change);
            let fast = run(&network);
            assert_eq!(compare(&fast, &run_reference(&network)), Ok(()), "{name}");
            assert_eq!(
                format!("{fast:?}"),
                format!("{:?}", run(&network)),
                "{name}"
            );
            assert!(fast.flows[0].packets_received > 1_000, "{name}");
            assert!(fast.totals.dropped > 0, "{name}");
        }
    }
}

/// Asks for a call at once, for ever, and never sends anything.
#[derive(Debug)]
struct Restless;

impl Stack for Restless {
    fn pair(&self, _placement: &Placement) -> [Box<dyn Endpoint>; 2] {
        [(); 2].map(|()| -> Box<dyn Endpoint> { Box::new(Self) })
    }
}

impl Endpoint for Restless {
    fn receive(&mut self, _now: Time, _ecn: Ecn, _datagram: &[u8]) -> Option<Span> {
        None
    }

    fn wake(&mut self, _now: Time) {}

    fn wakes_at(&self) -> Option<Time> {
        Some(Time::ZERO)
    }

    fn transmit(&mut self, _now: Time, _datagrams: &mut Vec<u8>) -> Option<Batch> {
        None
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

/// Returns the message with which a run of a restless stack ends.
fn end_of_restless(engine: impl Fn(&Network)) -> String {
    let stack: Arc<dyn Stack> = Arc::new(Restless);
    let network = network(1, |network| {
        network.flows[0].workload = WorkloadConfig::Foreign(Arc::clone(&stack));
    });
    let run = std::panic::AssertUnwindSafe(|| engine(&network));
    let message = std::panic::catch_unwind(run).expect_err("the clock stands still");
    message
        .downcast::<String>()
        .map_or_else(|_| String::new(), |text| *text)
}

#[test]
fn a_stack_that_asks_for_one_instant_without_end_ends_the_run() {
    let fast = end_of_restless(|network| drop(run(network)));
    assert!(fast.contains("asked 100000 times for a call"), "{fast}");
    let reference = end_of_restless(|network| drop(run_reference(network)));
    assert_eq!(reference, fast);
}
