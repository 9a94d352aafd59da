//! Disciplines whose options `tc` reads or shows in a way of their own: plain FIFOs, which have two
//! names for one discipline; `red` and `choke`, which show a weight in place of the burst; `cake`, with names
//! for round-trip times and a framing; `fq_codel`, whose threshold has a selector with a mask; and
//! those with children. Every other discipline is read and
//! written by the declaration of its parameters alone.

use super::entry::Entry;
use super::htb::{ClassLine, classes};
use super::read::{Options, Read, Stated};
use super::refuse;
use super::units::{fifo_packets, integer, signed, size, time, write_size};
use super::write::{Scale, Written};
use goodqueue_queue::{
    CakeCells, CakeDiffserv, FqCodelConfig, Limit, PrioConfig, PrioMap, QueueConfig, TbfConfig,
    ThresholdSelector, red_wlog,
};
use goodqueue_types::Span;
use goodqueue_types::message::shorten;
use goodqueue_types::parameters::{Parameter, Value, Words};

/// Name of a FIFO in bytes, which is the same discipline here as `pfifo`.
const BFIFO: &str = "bfifo";

/// Every name of `tc` that has an equivalent here.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    let names = QueueConfig::qdiscs().map(|(name, _)| name);
    names.chain([BFIFO])
}

/// Our name of a discipline of `tc`.
pub(super) fn word_of(kind: &str) -> Option<&'static str> {
    let name = if kind == BFIFO { "pfifo" } else { kind };
    let found = QueueConfig::qdiscs().find(|(known, _)| *known == name);
    found.map(|(_, word)| word)
}

/// True if lines of other disciplines may follow.
pub(super) fn has_children(kind: &str) -> bool {
    matches!(kind, "htb" | "tbf" | "prio")
}

/// The queues that need a command of their own.
pub(super) fn children(queue: &QueueConfig) -> Vec<&QueueConfig> {
    match queue {
        QueueConfig::Tbf(TbfConfig { inner, .. }) if own_limit(&inner.0).is_none() => {
            vec![&*inner.0]
        }
        QueueConfig::Prio(PrioConfig { bands, .. }) => bands.iter().collect(),
        _ => Vec::new(),
    }
}

/// The limit, if the queue is a shaper's own.
fn own_limit(inner: &QueueConfig) -> Option<u64> {
    match inner {
        QueueConfig::DropTail(config) => match config.limit {
            Limit::Bytes(bytes) => Some(bytes),
            _ => None,
        },
        _ => None,
    }
}

/// The options that no declaration writes, with a space before them.
pub(super) fn write(queue: &QueueConfig, scale: Scale) -> Written {
    Ok(match queue {
        QueueConfig::DropTail(config) => match config.limit {
            Limit::Bytes(bytes) => format!(" limit {}", write_size("limit", scale.bytes(bytes))?),
            Limit::Packets(packets) => format!(" limit {packets}"),
            Limit::Unlimited => unreachable!("no FIFO of Linux is without a limit"),
        },
        QueueConfig::Cake(config) => match config.framing.0 {
            None => " raw".to_owned(),
            Some(framing) => format!(
                " {} overhead {} mpu {}",
                CakeCells::from(framing.cells).word(),
                framing.overhead,
                framing.minimum
            ),
        },
        QueueConfig::FqCodel(FqCodelConfig {
            selector: ThresholdSelector::Ect1,
            ..
        }) => " ce_threshold_selector 0x1/0x3".to_owned(),
        // A shaper with a child has no use for a limit, which tc asks for all the same.
        QueueConfig::Tbf(config) => {
            let bytes = own_limit(&config.inner.0).unwrap_or(config.burst);
            format!(" limit {}", write_size("limit", scale.bytes(bytes))?)
        }
        QueueConfig::Prio(config) => {
            let PrioMap::Tos(map) = &config.map else {
                unreachable!("a map of code points has no equivalent")
            };
            let map: Vec<String> = map.iter().map(ToString::to_string).collect();
            format!(" bands {} priomap {}", config.bands.len(), map.join(" "))
        }
        _ => String::new(),
    })
}

/// Reader of the options that no declaration reads.
pub(super) struct Reader<'c> {
    kind: &'c str,
    /// `htb`: its classes.
    classes: &'c [ClassLine],
    children: &'c [(&'c str, QueueConfig)],
    /// `red` and `choke`: exponent of the weight.
    ewma: Option<u32>,
    /// `cake`: the link's own framing.
    raw: bool,
    /// `cake`: bytes that frames have beyond their IP packets, if a word of the line states them.
    overhead: Option<i64>,
    /// `prio`: number of bands.
    bands: u32,
}

/// Names of usual round-trip times in `cake`.
const RTTS: [(&str, Span); 8] = [
    ("datacentre", Span::from_micros(100)),
    ("lan", Span::from_millis(1)),
    ("metro", Span::from_millis(10)),
    ("regional", Span::from_millis(30)),
    ("internet", Span::from_millis(100)),
    ("oceanic", Span::from_millis(300)),
    ("satellite", Span::from_secs(1)),
    ("interplanetary", Span::from_secs(1_000)),
];

/// A framing in `cake`: bytes that a frame has beyond its IP packet, to which those of other words
/// are added, and the cells and the smallest frame, if the word sets them.
struct Framed(i64, Option<CakeCells>, Option<u64>);

const FRAMED: [(&str, Framed); 14] = [
    ("conservative", Framed(48, Some(CakeCells::Atm), None)),
    ("ipoa-vcmux", Framed(8, Some(CakeCells::Atm), None)),
    ("ipoa-llcsnap", Framed(16, Some(CakeCells::Atm), None)),
    ("bridged-vcmux", Framed(24, Some(CakeCells::Atm), None)),
    ("bridged-llcsnap", Framed(32, Some(CakeCells::Atm), None)),
    ("pppoa-vcmux", Framed(10, Some(CakeCells::Atm), None)),
    ("pppoa-llc", Framed(14, Some(CakeCells::Atm), None)),
    ("pppoe-vcmux", Framed(32, Some(CakeCells::Atm), None)),
    ("pppoe-llcsnap", Framed(40, Some(CakeCells::Atm), None)),
    ("pppoe-ptm", Framed(30, Some(CakeCells::Ptm), None)),
    ("bridged-ptm", Framed(22, Some(CakeCells::Ptm), None)),
    ("ethernet", Framed(38, None, Some(84))),
    ("ether-vlan", Framed(4, None, None)),
    ("docsis", Framed(18, Some(CakeCells::None), Some(64))),
];

const BANDS: &str = "tc has from 2 to 16, which priomap counts from 0";

impl<'c> Reader<'c> {
    pub(super) fn new(qdisc: &'c Entry, children: &'c [(&'c str, QueueConfig)]) -> Self {
        Self {
            kind: &qdisc.kind,
            classes: &qdisc.classes,
            children,
            ewma: None,
            raw: false,
            overhead: None,
            bands: 3,
        }
    }

    /// The words of the options.
    pub(super) fn known(&self) -> &'static [&'static str] {
        match self.kind {
            "pfifo" | BFIFO => &["limit"],
            "cake" => &["raw", "overhead", "mpu", "fwmark"],
            "tbf" => &["limit", "latency"],
            "prio" => &["bands", "priomap"],
            "htb" => &["default", "direct_qlen"],
            "fq_codel" => &["ce_threshold_selector"],
            _ => &[],
        }
    }

    /// Reads an option; false if the word is none.
    pub(super) fn option(
        &mut self,
        word: &str,
        options: &mut Options<'_>,
        stated: &mut Stated<'_>,
    ) -> Read<bool> {
        match (self.kind, word) {
            ("pfifo", "limit") => {
                let limit = Value::Packets(fifo_packets(options.value(word)?)?);
                stated.set(stated.key("limit"), limit);
            }
            (BFIFO, "limit") => {
                let limit = Value::Bytes(size(options.value(word)?)?);
                stated.set(stated.key("limit"), limit);
            }
            ("red" | "choke", "ewma") => self.ewma = Some(integer(options.value(word)?)?),
            ("cake", _) => return self.cake(word, options, stated),
            ("tbf", _) => return tbf(word, options, stated),
            ("fq_codel", "ce_threshold_selector") => {
                let selector = match options.value(word)? {
                    "0x1/0x3" => ThresholdSelector::Ect1,
                    "0/0" => ThresholdSelector::Any,
                    other => {
                        return refuse(
                            format!("a threshold for packets {other} is not modelled"),
                            "0x1/0x3 (ECT(1) alone) is; leave the option out for all packets",
                        );
                    }
                };
                stated.set(stated.key("ce_threshold_selector"), selector.value());
            }
            ("htb", "direct_qlen") => {
                let limit = Value::Packets(u64::from(integer(options.value(word)?)?));
                stated.set(stated.key(word), limit);
            }
            ("htb", "default" | "direct_packets_stat" | "ver") => _ = options.value(word)?,
            ("htb", "offload") => {}
            ("prio", "bands") => self.bands = integer(options.value(word)?)?,
            ("prio", "priomap") => {
                let mut map = [0; 16];
                for band in &mut map {
                    *band = match integer(options.value(word)?)? {
                        number @ 0..=15 => number as u8,
                        number => return refuse(format!("there is no band {number}"), BANDS),
                    };
                }
                stated.set(stated.key("priomap"), map.value());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn cake(
        &mut self,
        word: &str,
        options: &mut Options<'_>,
        stated: &mut Stated<'_>,
    ) -> Read<bool> {
        if let Some((_, framed)) = FRAMED.iter().find(|framed| framed.0 == word) {
            self.frame(framed, word == "conservative", stated);
            return Ok(true);
        }
        let (key, value) = if let Some((_, rtt)) = RTTS.iter().find(|rtt| rtt.0 == word) {
            ("rtt", Value::Span(*rtt))
        } else if let Some(cells) = CakeCells::from_word(word) {
            ("atm", cells.value())
        } else {
            match word {
                "raw" => {
                    self.raw = true;
                    return Ok(true);
                }
                "overhead" => {
                    self.overhead = Some(i64::from(signed(options.value(word)?)?));
                    return Ok(true);
                }
                "fwmark" => {
                    if integer(options.value(word)?)? != 0 {
                        let note = "fwmark is left out: packets have no marks of a firewall";
                        stated.notes.push(note.to_owned());
                    }
                    return Ok(true);
                }
                "unlimited" => ("bandwidth", Value::Absent),
                "diffserv" => ("diffserv", CakeDiffserv::Diffserv4.value()),
                "mpu" => {
                    let bytes = integer(options.value(word)?)?;
                    (word, Value::Bytes(u64::from(bytes)))
                }
                _ => return Ok(false),
            }
        };
        stated.set(stated.key(key), value);
        Ok(true)
    }

    /// Sets what a named framing of CAKE sets.
    fn frame(&mut self, framed: &Framed, replaces: bool, stated: &mut Stated<'_>) {
        let Framed(bytes, cells, minimum) = framed;
        let before = self.overhead.filter(|_| !replaces).unwrap_or(0);
        self.overhead = Some(before + bytes);
        if let Some(cells) = cells {
            stated.set(stated.key("atm"), cells.value());
        }
        if let Some(minimum) = minimum {
            stated.set(stated.key("mpu"), Value::Bytes(*minimum));
        }
    }

    /// Sets the framing of CAKE: the bytes of all its words, or that of the link.
    fn framing(&self, stated: &mut Stated<'_>) {
        if self.raw {
            let framing = ["overhead", "mpu", "atm"];
            let given = &mut stated.given.0;
            given.retain(|(key, _)| !framing.contains(&key.name));
        } else if let Some(overhead) = self.overhead {
            if overhead < 0 {
                stated.notes.push(format!(
                    "an overhead of {overhead} B is less than the IP packet: 0 B assumed"
                ));
            }
            let bytes = u64::try_from(overhead).unwrap_or(0);
            stated.set(stated.key("overhead"), Value::Bytes(bytes));
        }
    }

    /// Completes the options of the line before the discipline is made.
    pub(super) fn complete(&self, stated: &mut Stated<'_>) -> Read<()> {
        let fifo = word_of(self.kind) == Some("drop_tail") || self.kind == "pfifo_head_drop";
        match self.kind {
            _ if fifo && !stated.given.has("limit") => refuse(
                "without a limit the queue has the device's txqueuelen, which the line does not show",
                "add limit and its value",
            ),
            "red" if !stated.given.has("limit") => {
                refuse("red needs a limit", "add limit and its value")
            }
            "cake" => {
                self.framing(stated);
                Ok(())
            }
            "htb" if self.classes.is_empty() => refuse(
                "htb is a hierarchy of classes, which are not shown",
                "add the lines of `tc class show`, or parse the line of a leaf and write its rate as \
                 kind = \"tbf\"",
            ),
            "htb" => {
                let classes = classes(self.classes, self.children, stated.notes)?;
                stated.set(stated.key("classes"), classes);
                Ok(())
            }
            "tbf" => self.inner(stated),
            "prio" => self.queues(stated),
            _ => Ok(()),
        }
    }

    /// Sets the queue that waits for tokens: a limit, or the discipline of a child.
    fn inner(&self, stated: &mut Stated<'_>) -> Read<()> {
        match self.children {
            [] if stated.given.has("limit") => {
                stated.given.0.retain(|(key, _)| key.name != "latency");
                Ok(())
            }
            [] if stated.given.has("latency") => Ok(()),
            [] => refuse("tbf needs a limit or a latency", "add one of them"),
            [(_, inner)] => {
                stated
                    .given
                    .0
                    .retain(|(key, _)| !["limit", "latency"].contains(&key.name));
                stated.set(stated.key("queue"), inner.value());
                Ok(())
            }
            _ => refuse("tbf has one child", "give its line and its child's"),
        }
    }

    /// Sets the queue of each band.
    fn queues(&self, stated: &mut Stated<'_>) -> Read<()> {
        let (bands, children) = (self.bands, self.children);
        if !(2..=16).contains(&bands) {
            return refuse(format!("prio with {bands} bands"), BANDS);
        }
        let is_band =
            |parent: &str, band: u32| parent.split(':').nth(1) == Some(&format!("{band:x}"));
        for (parent, _) in children {
            if !(1..=bands).any(|band| is_band(parent, band)) {
                return refuse(
                    format!("\"{}\" is no parent among {bands} bands", shorten(parent)),
                    "give each child's line whole, with parent 1:1 for the first band",
                );
            }
        }
        let queues = (1..=bands).map(|band| {
            let child = children.iter().find(|child| is_band(child.0, band));
            let assumed = || QueueConfig::drop_tail(Limit::Packets(1_000));
            child
                .map_or_else(assumed, |(_, queue)| queue.clone())
                .value()
        });
        stated.set(stated.key("bands"), Value::List(queues.collect()));
        if children.len() < bands as usize {
            stated.notes.push(
                "the queue of a band is not shown: pfifo with 1000 packets assumed, the usual txqueuelen"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Changes values that follow from options without a parameter, and notes the assumptions.
    pub(super) fn finish(&self, queue: &mut QueueConfig, stated: &mut Stated<'_>) -> Read<()> {
        let (min, avpkt, burst) = match queue {
            QueueConfig::LinuxRed(config) => (config.min, config.avpkt, &mut config.burst),
            QueueConfig::Choke(config) => {
                let min = config.min.saturating_mul(config.avpkt);
                (min, config.avpkt, &mut config.burst)
            }
            _ => return Ok(()),
        };
        if let (false, Some(ewma)) = (stated.given.has("burst"), self.ewma) {
            *burst = burst_of(min, avpkt, ewma)?;
        }
        for (key, note) in [
            ("avpkt", format!("avpkt is not shown: {avpkt} B assumed")),
            (
                "burst",
                format!("burst is not shown: {burst} packets assumed"),
            ),
            (
                "bandwidth",
                "bandwidth is not shown: 10 Mbit/s assumed, as tc does".to_owned(),
            ),
        ] {
            if !stated.given.has(key) {
                stated.notes.push(note);
            }
        }
        Ok(())
    }
}

/// Other names of the options of `tbf`, and the options that set its limit.
fn tbf(word: &str, options: &mut Options<'_>, stated: &mut Stated<'_>) -> Read<bool> {
    let bytes = |text: &str| size(text.split('/').next().unwrap_or(text)).map(Value::Bytes);
    let (key, value) = match word {
        "buffer" | "maxburst" => ("burst", bytes(options.value(word)?)?),
        "minburst" => ("mtu", bytes(options.value(word)?)?),
        "limit" => ("limit", Value::Bytes(size(options.value(word)?)?)),
        "latency" | "lat" => {
            if word == "lat" {
                stated.notes.push(
                    "tc shows the latency to three digits: the limit may differ by half a per cent"
                        .to_owned(),
                );
            }
            ("latency", Value::Span(time(options.value(word)?)?))
        }
        "mpu" | "overhead" => return Ok(size(options.value(word)?)? == 0),
        "linklayer" => return Ok(options.value(word)? == "ethernet"),
        _ => return Ok(false),
    };
    stated.set(stated.key(key), value);
    Ok(true)
}

/// Returns the smallest burst that gives this weight with a threshold of `min` bytes. The weight
/// falls as bursts get longer, so bisection finds it.
fn burst_of(min: u32, avpkt: u32, ewma: u32) -> Read<u32> {
    let wlog = |burst: u32| red_wlog(min, burst, avpkt).map(u32::from);
    let (mut low, mut high) = (1_u32, 1 << 20);
    while low < high {
        let middle = low.midpoint(high);
        if wlog(middle) < Some(ewma) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    match Some(low).filter(|burst| wlog(*burst) == Some(ewma)) {
        Some(burst) => Ok(burst),
        None => refuse(
            format!("no burst of packets of {avpkt} bytes gives ewma {ewma}"),
            "give the command's avpkt and burst in place of ewma",
        ),
    }
}
