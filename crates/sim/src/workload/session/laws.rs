//! The draws of sessions, seen in their actions, compared with the laws that they are given.

use super::*;
use crate::Law;
use crate::workload::law::fit::{assert_follows, distance, distance_of_counts};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=4;

fn exponential(mean: f64) -> Law {
    Law::exponential(mean)
}

/// A network in which every answer is complete when the application looks for it: connections that
/// have ended count as having delivered everything.
struct Instant {
    tcp: Arc<TcpConfig>,
    script: Script,
    random: RandomStream,
}

impl Instant {
    fn new(seed: u64) -> Self {
        Self {
            tcp: Arc::new(TcpConfig::default()),
            script: Script::default(),
            random: RandomStream::new(seed, "test", 0),
        }
    }

    /// Lets an application act and returns the request that it makes on its first connection.
    fn act(&mut self, now: Time, call: impl FnOnce(&mut Desk<'_>)) -> Option<Message> {
        call(&mut Desk {
            now,
            connections: &mut Connections::new(self.tcp.clone()),
            opening: &mut Numbered::default(),
            script: &self.script,
            random: &mut self.random,
        });
        self.script.take(0, u64::MAX)
    }
}

#[test]
fn transfers_come_and_are_as_large_as_their_laws_say() {
    let pareto = Law::pareto(30_000.0, 1.5);
    for (millis, size) in [(200, pareto), (50, exponential(50_000.0))] {
        for seed in SEEDS {
            let mut network = Instant::new(seed);
            let config = TransfersConfig {
                size: size.clone(),
                interval: Span::from_millis(millis),
                direction: TransferWay::Down,
                ..TransfersConfig::default()
            };
            let gap = exponential(millis as f64 / 1e3);
            let measure = Measure::new(Time::ZERO);
            let alone = (IdealPath::nowhere(), network.tcp.clone());
            let mut last = Time::ZERO;
            let mut app = Transfers::new(config, last, measure, alone, &mut network.random);
            let (mut gaps, mut sizes) = (Vec::new(), Vec::new());
            for _ in 0..20_000 {
                let now = app.wakes_at();
                gaps.push((now - last).as_secs_f64());
                let answer = network.act(now, |desk| app.wake(desk));
                sizes.push(answer.expect("each transfer is asked for").reply as f64);
                last = now;
            }
            assert_follows("gaps", distance(&gap, gaps));
            assert_follows("sizes", distance(&size, sizes));
        }
    }
}

#[test]
fn pages_are_as_large_and_as_far_apart_as_their_laws_say() {
    let objects = exponential(5.0);
    let main_size = exponential(20_000.0);
    let object_size = Law::pareto(8_000.0, 1.2);
    let think = Law::pareto(10.0, 1.4);
    for seed in SEEDS {
        let mut network = Instant::new(seed);
        let config = WebConfig {
            objects: objects.clone(),
            main_size: main_size.clone(),
            object_size: object_size.clone(),
            request: 300,
            server_time: exponential(0.01),
            parallel: 1,
            persistent: true,
            think: think.clone(),
            most: None,
        };
        let mut app = Web::new(config, Time::ZERO, Measure::new(Time::ZERO));
        let (mut mains, mut sizes) = (Vec::new(), Vec::new());
        let (mut thoughts, mut counts) = (Vec::new(), Vec::new());
        for _ in 0..8_000 {
            let now = app.wakes_at();
            let main = network.act(now, |desk| app.wake(desk));
            mains.push(main.expect("each page is asked for").reply as f64);
            let before = sizes.len();
            while let Some(object) = network.act(now, |desk| app.progress(0, desk)) {
                sizes.push(object.reply as f64);
            }
            counts.push((sizes.len() - before) as u64);
            thoughts.push((app.wakes_at() - now).as_secs_f64());
        }
        assert_follows("main objects", distance(&main_size, mains));
        assert_follows("objects", distance(&object_size, sizes));
        assert_follows("thinking", distance(&think, thoughts));
        assert_follows("counts", distance_of_counts(&objects, counts));
    }
}
