use super::*;
use goodqueue_types::parameters::{Parameter, Parameters};
use goodqueue_types::{Segment, Time};

const PACKETS: usize = 200_000;

fn process(mut config: LossConfig, of: LossOf) -> LossProcess {
    config.set("of", of.value());
    LossProcess::new(config, RandomStream::new(11, "loss", 0))
}

/// Returns true for each lost packet of a stream that repeats these frame sizes.
fn fates(model: LossConfig, sizes: &[u64]) -> Vec<bool> {
    let mut process = process(model, LossOf::Everything);
    let sizes = sizes.iter().cycle().take(PACKETS);
    sizes
        .map(|bytes| process.loses(&Packet::default(), *bytes))
        .collect()
}

/// Returns the share of losses and its standard error from the means of a hundred batches, which is
/// valid for bursts too.
fn share(fates: &[bool]) -> (f64, f64) {
    let mean = |part: &[bool]| part.iter().filter(|lost| **lost).count() as f64 / part.len() as f64;
    let (all, batches) = (mean(fates), 100.0_f64);
    let square = |part: &[bool]| (mean(part) - all) * (mean(part) - all);
    let variance = fates.chunks(PACKETS / 100).map(square).sum::<f64>() / (batches - 1.0);
    (all, (variance / batches).sqrt())
}

#[track_caller]
fn assert_share(fates: &[bool], expected: f64) {
    let (found, error) = share(fates);
    assert!(
        (found - expected).abs() < 4.0 * error,
        "{found} ± {error}, not {expected}"
    );
}

/// Returns the number of runs of losses and their mean length.
fn bursts(fates: &[bool]) -> (f64, f64) {
    let lost = fates.iter().filter(|lost| **lost).count();
    let starts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    (starts as f64, lost as f64 / starts as f64)
}

/// Returns the scope of all packets with probabilities for this unit.
fn by(per: LossUnit) -> LossScope {
    LossScope {
        per,
        ..LossScope::default()
    }
}

fn gilbert(to_bad: f64, to_good: f64, per: LossUnit) -> LossConfig {
    LossConfig::GilbertElliott(GilbertElliott {
        to_bad,
        to_good,
        scope: by(per),
        ..GilbertElliott::default()
    })
}

#[test]
fn independent_losses_have_their_share() {
    let model = |probability, per| {
        let scope = by(per);
        LossConfig::Independent(IndependentLoss { probability, scope })
    };
    let packets = fates(model(0.03, LossUnit::Packet), &[40, 1500]);
    assert_share(&packets, 0.03);
    // Runs of independent losses are geometric with mean 1 / (1 - p).
    let (runs, length) = bursts(&packets);
    let error = (0.03_f64.sqrt() / 0.97) / runs.sqrt();
    assert!((length - 1.0 / 0.97).abs() < 4.0 * error, "{length}");
    // A bit error rate of 1e-6 is about 8e-6 per byte.
    let bytes = fates(model(8e-6, LossUnit::Byte), &[1500]);
    assert_share(&bytes, 1.0 - (1.0 - 8e-6_f64).powi(1500));
    let mixed = fates(model(8e-6, LossUnit::Byte), &[40, 1500]);
    let small: Vec<bool> = mixed.iter().step_by(2).copied().collect();
    let large = mixed.iter().skip(1).step_by(2).filter(|lost| **lost);
    assert!(small.iter().filter(|lost| **lost).count() * 10 < large.count());
    assert!(!fates(model(0.0, LossUnit::Byte), &[1500]).contains(&true));
    assert!(!fates(model(1.0, LossUnit::Byte), &[1500]).contains(&false));
}

/// Gilbert's model by packet has a share of p / (p + r) and geometric bursts of 1 / r packets on
/// average.
#[test]
fn bursts_by_packet_have_their_share_and_length() {
    for (to_bad, to_good) in [(0.01, 0.25), (0.002, 0.05), (0.3, 0.9)] {
        let fates = fates(gilbert(to_bad, to_good, LossUnit::Packet), &[1500]);
        assert_share(&fates, to_bad / (to_bad + to_good));
        let (runs, length) = bursts(&fates);
        let error = (1.0_f64 - to_good).sqrt() / to_good / runs.sqrt();
        assert!((length - 1.0 / to_good).abs() < 4.0 * error, "{length}");
    }
}

/// Elliott's model has a share of (1-h) p / (p + r) + (1-k) r / (p + r).
#[test]
fn each_state_has_its_own_loss() {
    let model = LossConfig::GilbertElliott(GilbertElliott {
        to_bad: 0.02,
        to_good: 0.1,
        loss_bad: 0.4,
        loss_good: 0.01,
        scope: by(LossUnit::Packet),
    });
    assert_share(&fates(model, &[1500]), (0.4 * 0.02 + 0.01 * 0.1) / 0.12);
}

/// If loss is certain in the bad state and steps are by byte, a frame of n bytes is kept if it
/// begins in the good state and stays there for n - 1 steps. Two frames are both kept with 2n - 1
/// steps.
#[test]
fn bursts_by_byte_have_the_share_of_the_chain_byte_by_byte() {
    let (to_bad, to_good) = (2e-5, 4e-4);
    let good = to_good / (to_bad + to_good);
    let kept = |bytes: i32| good * (1.0_f64 - to_bad).powi(bytes - 1);
    let fates = fates(gilbert(to_bad, to_good, LossUnit::Byte), &[1500]);
    assert_share(&fates, 1.0 - kept(1500));
    let pairs: Vec<bool> = fates.windows(2).map(|pair| !(pair[0] || pair[1])).collect();
    assert_share(&pairs, kept(3000));
}

#[test]
fn only_listed_packets_are_lost_and_only_they_advance_the_chain() {
    let ack = Packet {
        body: Body::Tcp(Segment::default()),
        arrived: Time::ZERO,
        ..Packet::default()
    };
    let data = Packet {
        body: Body::Datagram,
        ..Packet::default()
    };
    for (of, lost, kept) in [(LossOf::Acks, &ack, &data), (LossOf::Data, &data, &ack)] {
        let mut process = process(gilbert(1.0, 0.0, LossUnit::Packet), of);
        for _ in 0..5 {
            assert!(!process.loses(kept, 1500));
        }
        assert!(!process.loses(lost, 40), "the first finds the good state");
        assert!(process.loses(lost, 40));
        assert!(!process.loses(kept, 1500));
    }
}
