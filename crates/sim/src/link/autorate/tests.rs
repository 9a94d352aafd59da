//! Steps of the laws, by hand.

use super::*;

const MS: u64 = 1_000_000_000;

/// A law that gets replies of one reflector, or of several.
struct Rig {
    state: Box<dyn AutorateState>,
    now: u64,
    rate: f64,
    load: Load,
}

impl Rig {
    fn new(config: &dyn AutorateLaw) -> Self {
        Self {
            state: config.start(RandomStream::new(1, "test", 0)),
            now: 10_000,
            rate: config.rates()[1].0 as f64,
            load: Load::default(),
        }
    }

    /// Passes a reply `after_ms` after the last one.
    fn reply(&mut self, after_ms: u64, flow: u32, delay_ms: f64) -> f64 {
        self.now += after_ms;
        let reply = Reply {
            flow,
            delay_s: delay_ms / 1e3,
        };
        let now = Time(self.now * MS);
        self.rate = self.state.reply(now, reply, self.rate, &mut self.load);
        self.rate
    }

    fn loaded(&mut self, share: f64) {
        self.load = Load {
            share,
            is_new: true,
        };
    }
}

fn cake() -> CakeAutorate {
    CakeAutorate {
        maximum: Rate(40_000_000),
        ..CakeAutorate::default()
    }
}

fn near(one: f64, other: f64) {
    assert!((one / other - 1.0).abs() < 1e-9, "{one} {other}");
}

#[test]
fn a_high_load_without_delay_grows_the_rate_once_for_each_interval() {
    let mut rig = Rig::new(&cake());
    rig.loaded(0.76);
    near(rig.reply(50, 0, 20.0), 20e6 * 1.04);
    near(rig.reply(50, 1, 20.0), 20e6 * 1.04);
    rig.loaded(0.76);
    near(rig.reply(50, 2, 20.0), 20e6 * 1.04 * 1.04);
    for _ in 0..100 {
        rig.loaded(0.9);
        rig.reply(50, 3, 20.0);
    }
    near(rig.rate, 40e6);
}

/// Both thresholds are longer by the 0.6056 ms that a packet of 1514 bytes takes at 20 Mb/s.
#[test]
fn the_third_delayed_reply_lowers_the_rate_and_the_next_waits() {
    let mut rig = Rig::new(&cake());
    for _ in 0..6 {
        rig.reply(50, 0, 20.0);
    }
    near(rig.reply(50, 0, 70.0), 20e6);
    near(rig.reply(50, 0, 70.0), 20e6);
    // The mean of six is three times 49.95, 49.90 and 49.85 ms over six, which is below 30.6056 ms.
    near(rig.reply(50, 0, 70.0), 20e6 * 0.99);
    near(rig.reply(250, 0, 300.0), 20e6 * 0.99);
    let before = rig.rate;
    rig.reply(51, 0, 300.0);
    near(rig.rate, before * 0.75);
}

#[test]
fn a_low_load_returns_the_rate_to_the_base_in_steps_of_a_second() {
    let mut rig = Rig::new(&cake());
    rig.rate = 20.3e6;
    near(rig.reply(1_001, 0, 20.0), 20.3e6 * 0.99);
    near(rig.reply(999, 0, 20.0), 20.3e6 * 0.99);
    near(rig.reply(2, 0, 20.0), 20e6);
    rig.rate = 15e6;
    near(rig.reply(1_001, 0, 20.0), 15e6 * 1.01);
}

#[test]
fn a_reflector_that_becomes_farther_is_not_a_queue_for_ever() {
    let mut rig = Rig::new(&cake());
    rig.reply(50, 0, 20.0);
    for _ in 0..2_000 {
        rig.reply(50, 0, 60.0);
    }
    // The baseline gains a thousandth of the difference at each reply: after 211 replies or 10.6 s,
    // less than 32.4 ms of 40 ms are left, and a percent is regained each second from 5 Mb/s on.
    assert!((10e6..13e6).contains(&rig.rate), "{}", rig.rate);
}

#[test]
fn sqm_autorate_grows_to_the_good_rates_and_falls_below_what_was_sent() {
    let config = SqmAutorate {
        history: 1,
        ..SqmAutorate::default()
    };
    let mut rig = Rig::new(&config);
    near(rig.rate, 6e6);
    for flow in 0..6 {
        rig.reply(10, flow, 20.0);
    }
    rig.loaded(0.9);
    rig.rate = rig.state.tick(Time(rig.now * MS), rig.rate, &mut rig.load);
    // The only good rate is now the 5.4 Mb/s that were sent, below the rate.
    near(rig.rate, 6e6 + 0.3e6);
    for flow in 0..6 {
        rig.reply(10, flow, 200.0);
    }
    rig.rate = rig.state.tick(Time(rig.now * MS), rig.rate, &mut rig.load);
    near(rig.rate, 0.9 * 0.9 * 6.3e6);
    // Without replies for a second the rate is the smallest.
    rig.rate = rig
        .state
        .tick(Time((rig.now + 1_000) * MS), rig.rate, &mut rig.load);
    near(rig.rate, 2e6);
}

#[test]
fn delays_of_half_of_the_reflectors_do_not_decide() {
    let mut rig = Rig::new(&SqmAutorate::default());
    for flow in 0..6 {
        rig.reply(10, flow, 20.0);
    }
    for flow in 0..3 {
        rig.reply(10, flow, 200.0);
    }
    let before = rig.rate;
    rig.loaded(0.5);
    rig.rate = rig.state.tick(Time(rig.now * MS), rig.rate, &mut rig.load);
    near(rig.rate, before);
}
