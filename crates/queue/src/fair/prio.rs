//! Strict priority among bands (Linux `prio`).

use crate::config::refuse_small_limit;
use crate::{
    Backlog, BuiltIn, Configuration, Context, Discipline, Exclusive, Limit, Qdisc, QueueConfig,
    QueueDiscipline, Refusal,
};
use goodqueue_types::parameters::{
    Declared, Key, Kind, Parameter, Parameters, REQUIRED, Tc, Value,
};
use goodqueue_types::{Packet, RandomStream, Time, parameters};

parameters! {
    /// Parameters of strict priority.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PrioConfig("prio") {
        /// The queues of the 2 to 16 bands; the first band with packets is served first.
        bands: Vec<QueueConfig> = Vec::new() => Key::new(Kind::ListOf(&Kind::Queue))
            .default(REQUIRED)
            .in_tc(Tc::Hook)
            .example("[{ limit = \"100p\" }, { limit = \"100p\" }, { limit = \"100p\" }]");
        map: PrioMap = PrioMap::LINUX;
    }
}

impl BuiltIn for PrioConfig {
    const QDISC: Qdisc = Qdisc::Named("prio");
    const EXCLUSIVE: Exclusive = Exclusive {
        keys: &["dscp_map", "priomap"],
        reason: "both choose the band",
    };

    fn qdisc(&self) -> Qdisc {
        match self.map {
            PrioMap::Tos(_) => Self::QDISC,
            PrioMap::Dscp(_) => Qdisc::None(
                "a map of code points needs filters in tc",
                "write priomap in place of dscp_map, or add the filters by hand",
            ),
        }
    }
}

/// Assignment of packets to bands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrioMap {
    /// Band of each Linux priority. The kernel derives the priority from only two bits of the TOS
    /// byte: DSCPs 2 and 3 (modulo 8) are bulk, 4 and 5 interactive, 6 and 7 (so EF, 46)
    /// interactive bulk, and the others, including the class selectors, best effort. `tc`:
    /// `priomap`.
    Tos([u8; 16]),
    /// Band of each DSCP, as `tc filter` can map them.
    Dscp([u8; 64]),
}

impl PrioMap {
    /// Default `priomap` of `tc`.
    pub const LINUX: Self = Self::Tos([1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);

    fn bands(&self) -> &[u8] {
        match self {
            Self::Tos(bands) => bands,
            Self::Dscp(bands) => bands,
        }
    }

    /// Returns the band of a DSCP.
    pub fn band(&self, dscp: u8) -> usize {
        let band = match self {
            Self::Tos(bands) => bands[linux_priority(dscp)],
            Self::Dscp(bands) => bands[usize::from(dscp & 63)],
        };
        usize::from(band)
    }
}

/// One of the two keys that hold the map.
impl Declared for PrioMap {
    const KEYS: &'static [Key] = &[
        Key::new(Kind::Numbers { count: 16, max: 15 })
            .named("priomap")
            .default("`tc`'s")
            .in_tc(Tc::Hook)
            .example("[1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]")
            .doc(
                "The band, from 0, of each Linux priority, which follows from the type of service.",
            ),
        Key::new(Kind::Numbers { count: 64, max: 15 })
            .named("dscp_map")
            .default("by `priomap`")
            .in_tc(Tc::Hook)
            .example("[…]")
            .doc("The band of each code point, in place of `priomap`."),
    ];
}

impl Parameters for PrioMap {
    fn keys(&self) -> &'static [Key] {
        Self::KEYS
    }

    fn get(&self, key: &str) -> Option<Value> {
        match (key, self) {
            ("priomap", Self::Tos(bands)) => Some(bands.value()),
            ("dscp_map", Self::Dscp(bands)) => Some(bands.value()),
            _ => None,
        }
    }

    fn set(&mut self, key: &str, value: Value) {
        match key {
            "priomap" => *self = Self::Tos(Parameter::from_value(value)),
            "dscp_map" => *self = Self::Dscp(Parameter::from_value(value)),
            _ => {}
        }
    }
}

/// Returns the Linux priority of a DSCP. The kernel's `ip_tos2prio` is a table over
/// `(tos & 0x1e) >> 1` with 0 for `TC_PRIO_BESTEFFORT`, 2 for `_BULK`, 6 for `_INTERACTIVE` and 4
/// for `_INTERACTIVE_BULK`. The lowest bit of its index belongs to ECN and has no effect.
fn linux_priority(dscp: u8) -> usize {
    [0, 2, 6, 4][usize::from(dscp >> 1 & 3)]
}

impl PrioConfig {
    /// Returns the parameters of `tc`: three bands, each with a queue like `queue`, and its
    /// `priomap`.
    pub fn linux(queue: QueueConfig) -> Self {
        Self {
            bands: vec![queue; 3],
            map: PrioMap::LINUX,
        }
    }
}

impl Configuration for PrioConfig {
    type Queue = Prio;

    fn build(&self, random: &mut RandomStream) -> Prio {
        let bands = self.bands.iter().map(|band| band.build(random));
        Prio {
            bands: bands.collect(),
            map: self.map.clone(),
        }
    }

    fn table_bytes(&self) -> usize {
        let tables = self.bands.iter().map(Configuration::table_bytes);
        tables.sum::<usize>() + self.bands.len() * size_of::<Discipline>()
    }

    /// Returns the limit of the band of unmarked packets (DSCP 0).
    fn limit(&self) -> Limit {
        let band = self.bands.get(self.map.band(0));
        band.map_or(Limit::Packets(0), Configuration::limit)
    }

    /// Sets the limit of each band.
    fn set_limit(&mut self, limit: Limit) {
        for band in &mut self.bands {
            band.set_limit(limit);
        }
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        let count = self.bands.len();
        if !(2..=16).contains(&count) {
            let message = format!("the number of bands is {count}");
            return Err(Refusal::new("bands", message, "write from 2 to 16 bands"));
        }
        if let Some(band) = self.map.bands().iter().find(|b| usize::from(**b) >= count) {
            let message = format!("there is no band {band}");
            let mut help = format!("number the bands from 0 to {}", count - 1);
            if self.map == PrioMap::LINUX {
                help +=
                    "; without a priomap of its own the queue has Linux's, for three bands or more";
            }
            return Err(Refusal::new("priomap", message, help));
        }
        for band in &self.bands {
            refuse_small_limit(band.limit(), frame_bytes)?;
            band.check(frame_bytes)?;
        }
        Ok(())
    }

    fn is_work_conserving(&self) -> bool {
        self.bands.iter().all(Configuration::is_work_conserving)
    }
}

/// State of strict priority: the first band that has a packet ready gives it.
#[derive(Clone, Debug)]
pub struct Prio {
    bands: Box<[Discipline]>,
    map: PrioMap,
}

impl QueueDiscipline for Prio {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        self.bands[self.map.band(packet.dscp)].enqueue(context, packet);
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let mut bands = self.bands.iter_mut();
        bands.find_map(|band| band.dequeue(context))
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        let bands = self.bands.iter();
        bands.filter_map(|band| band.next_ready(now)).min()
    }

    fn backlog(&self) -> Backlog {
        let bands = self.bands.iter().map(QueueDiscipline::backlog);
        bands.fold(Backlog::default(), |sum, band| Backlog {
            packets: sum.packets + band.packets,
            bytes: sum.bytes + band.bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::rig::{Rig, check_all_inside};

    /// Offers packets of 100 bytes with these DSCPs and returns (DSCPs sent, DSCPs dropped).
    fn offer(config: &PrioConfig, dscps: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut rig = Rig::new(config);
        for dscp in dscps {
            let packet = Packet {
                size: 100,
                dscp: *dscp,
                ..Packet::default()
            };
            rig.call(|queue, context| queue.enqueue(context, packet));
        }
        let waiting = rig.queue.backlog();
        let sent: Vec<u8> = std::iter::from_fn(|| rig.dequeue())
            .map(|packet| packet.dscp)
            .collect();
        assert_eq!(waiting.packets, sent.len() as u64);
        assert_eq!(waiting.bytes, 100 * waiting.packets);
        let dropped = rig.verdicts.iter().map(|verdict| match verdict {
            Verdict::Dropped(packet, _) => packet.dscp,
            marked @ Verdict::Marked(..) => panic!("{marked:?}"),
        });
        (sent, dropped.collect())
    }

    fn two_each() -> PrioConfig {
        PrioConfig::linux(QueueConfig::drop_tail(Limit::Packets(2)))
    }

    #[test]
    fn the_first_band_with_packets_is_sent_first() {
        // The DSCPs are interactive (4), best effort (0) and bulk (2).
        let (sent, dropped) = offer(&two_each(), &[2, 0, 4, 0, 2, 4, 0]);
        assert_eq!(sent, [4, 4, 0, 0, 2, 2]);
        assert_eq!(dropped, [0], "each band has a limit of its own");
    }

    /// The table of tc-prio(8) gives the band by TOS value. The DSCP is in its upper six bits.
    #[test]
    fn bands_are_those_of_the_manual() {
        for (tos, band) in [
            (0x00, 1), // best effort
            (0x08, 2), // maximum throughput: bulk
            (0x10, 0), // minimum delay: interactive
            (0x18, 1), // both: interactive bulk
            (0x0c, 2),
            (0x14, 0),
            (0x1c, 1),
            (0x04, 1),
            (0xb8, 1), // EF
            (0xc0, 1), // CS6
        ] {
            assert_eq!(PrioMap::LINUX.band(tos >> 2), band, "TOS {tos:#x}");
        }
    }

    #[test]
    fn a_map_by_dscp_can_put_ef_first() {
        let mut bands = [1; 64];
        bands[46] = 0;
        let config = PrioConfig {
            map: PrioMap::Dscp(bands),
            ..two_each()
        };
        assert_eq!(offer(&config, &[0, 46, 10, 46]).0, [46, 46, 0, 10]);
    }

    #[test]
    fn a_search_for_a_buffer_sets_every_band() {
        let mut config = two_each();
        config.set_limit(Limit::Bytes(9_000));
        assert!(config.bands.iter().all(|b| b.limit() == config.limit()));
        assert_eq!(config.limit(), Limit::Bytes(9_000));
    }

    #[test]
    fn every_discipline_conforms_as_a_band() {
        check_all_inside(|band| QueueConfig::Prio(PrioConfig::linux(band)));
    }

    #[test]
    fn missing_bands_and_empty_ones_are_refused() {
        let refused = |config: &PrioConfig| config.check(1_514).unwrap_err().key;
        assert_eq!(two_each().check(1_514), Ok(()));
        let mut config = two_each();
        config.bands.pop();
        assert_eq!(refused(&config), "priomap");
        config.bands.pop();
        assert_eq!(refused(&config), "bands");
        config = two_each();
        config.bands[1].set_limit(Limit::Bytes(100));
        assert_eq!(refused(&config), "limit");
    }
}
