//! Fair queues keep the rules of all queues with any parameters that they accept.

use crate::{
    CakeConfig, CakeDiffserv, CakeFirstInterval, CakeFraming, CakeIsolation, ComparedBacklog,
    Configuration, DrrConfig, FqCodelConfig, FqPieConfig, Limit, QueueConfig, SfqConfig,
    conformance,
};
use goodqueue_types::{Cells, Framing, RandomStream, Rate, Span};

/// Draws parameters. Extreme values come more often than a uniform draw would give them.
struct Draw(RandomStream);

impl Draw {
    fn any<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.0.bits() % of.len() as u64) as usize]
    }

    fn flag(&mut self) -> bool {
        self.any(&[false, true])
    }

    fn limit(&mut self) -> Limit {
        let packets = Limit::Packets(self.any(&[0, 1, 2, 17, 1000]));
        self.any(&[
            packets,
            packets,
            Limit::Bytes(1514),
            Limit::Bytes(30_000),
            Limit::Unlimited,
        ])
    }

    fn memory(&mut self) -> u64 {
        self.any(&[0, 2304, 50_000, 32 << 20])
    }

    fn quantum(&mut self) -> u32 {
        self.any(&[0, 40, 300, 1514, 100_000])
    }

    fn drr(&mut self) -> QueueConfig {
        QueueConfig::Drr(DrrConfig {
            limit: self.limit(),
            quantum: self.quantum(),
            flows: self.any(&[None, Some(0), Some(1), Some(7), Some(65_536)]),
            headdrop: self.flag(),
        })
    }

    fn sfq(&mut self) -> QueueConfig {
        QueueConfig::Sfq(SfqConfig {
            limit: self.limit(),
            quantum: self.quantum(),
            divisor: self.any(&[0, 1, 3, 16, 65_536]),
            flows: self.any(&[0, 1, 5, 128]),
            depth: self.any(&[0, 1, 2, 127]),
            headdrop: self.flag(),
            perturb: self.any(&[None, Some(Span::from_millis(30)), Some(Span::from_secs(9))]),
        })
    }

    fn fq_codel(&mut self) -> QueueConfig {
        let mut config = FqCodelConfig {
            limit: self.limit(),
            flows: self.any(&[0, 1, 16, 1024]),
            quantum: self.quantum(),
            drop_batch: self.any(&[0, 1, 64]),
            memory_limit: Some(self.memory()),
            compared_backlog: self.any(&[ComparedBacklog::Whole, ComparedBacklog::Own]),
            ..FqCodelConfig::linux(Limit::Unlimited)
        };
        // Flows may overtake themselves if a set is full, so only large tables have sets.
        if config.flows == 1024 {
            config.set_ways = self.any(&[0, 1, 3, 16]);
        }
        config.codel.ecn = self.flag();
        config.codel.target = self.any(&[Span::ZERO, Span::from_micros(10), Span::from_millis(5)]);
        QueueConfig::FqCodel(config)
    }

    fn fq_pie(&mut self) -> QueueConfig {
        let mut config = FqPieConfig {
            limit: self.limit(),
            flows: self.any(&[0, 1, 16, 1024]),
            quantum: self.quantum(),
            ..FqPieConfig::linux(Limit::Unlimited)
        };
        config.pie.ecn = self.flag();
        config.pie.target = self.any(&[Span::ZERO, Span::from_micros(10), Span::from_millis(15)]);
        QueueConfig::FqPie(config)
    }

    fn cake(&mut self) -> QueueConfig {
        use CakeDiffserv::{BestEffort, Diffserv3, Diffserv4, Diffserv8, Precedence};
        use CakeIsolation::{
            DstHost, DualDstHost, DualSrcHost, FlowBlind, Flows, Hosts, SrcHost, TripleIsolate,
        };
        let atm = Framing {
            overhead: 40,
            minimum: 84,
            cells: Cells::Atm,
        };
        let rates = [64_000, 5_000_000, 10_000_000, 100_000_000].map(|rate| Some(Rate(rate)));
        QueueConfig::Cake(CakeConfig {
            bandwidth: self.any(&[None, rates[0], rates[1], rates[2], rates[3]]),
            diffserv: self.any(&[BestEffort, Precedence, Diffserv3, Diffserv4, Diffserv8]),
            isolation: self.any(&[
                FlowBlind,
                SrcHost,
                DstHost,
                Hosts,
                Flows,
                DualSrcHost,
                DualDstHost,
                TripleIsolate,
            ]),
            rtt: self.any(&[Span::ZERO, Span::from_micros(100), Span::from_millis(100)]),
            framing: CakeFraming(self.any(&[None, Some(atm)])),
            memory_limit: self.any(&[None, Some(0), Some(2304), Some(50_000)]),
            limit: self.limit(),
            ingress: self.flag(),
            mtu: self.any(&[1514, 9000]),
            first_interval: self.any(&[CakeFirstInterval::None, CakeFirstInterval::Whole]),
        })
    }
}

#[test]
fn accepted_configurations_conform() {
    let mut draw = Draw(RandomStream::new(1, "fuzz", 0));
    let kinds = [
        Draw::drr,
        Draw::sfq,
        Draw::fq_codel,
        Draw::fq_pie,
        Draw::cake,
    ];
    for kind in kinds {
        let mut accepted = 0;
        while accepted < 12 {
            let config = kind(&mut draw);
            if config.check(1514).is_ok() {
                accepted += 1;
                if let Err(violation) = conformance::check_config(&config, accepted) {
                    panic!("{config:?}: {violation}");
                }
            }
        }
    }
}
