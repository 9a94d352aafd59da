//! The kinds of values: their units and common mistakes.

/// A kind of value: its units with their factors, and common mistakes.
pub(super) struct Quantity {
    /// Its noun with its article, for messages.
    pub noun: &'static str,
    pub example: &'static str,
    /// Unit of a written zero.
    pub zero: &'static str,
    pub units: &'static [(&'static str, u64)],
    /// Other accepted spellings of a unit, each with the unit: those in printed results.
    pub spellings: &'static [(&'static str, &'static str)],
    /// Common mistakes (written, message, help); `#` represents the number.
    pub traps: &'static [(&'static str, &'static str, &'static str)],
}

pub(super) const RATE: Quantity = Quantity {
    noun: "a rate",
    example: "2Mbps",
    zero: "bps",
    units: &[
        ("bps", 1),
        ("kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
    ],
    spellings: &[
        ("b/s", "bps"),
        ("kb/s", "kbps"),
        ("Mb/s", "Mbps"),
        ("Gb/s", "Gbps"),
        ("Tb/s", "Tbps"),
        ("bit/s", "bps"),
        ("kbit/s", "kbps"),
        ("Mbit/s", "Mbps"),
        ("Gbit/s", "Gbps"),
        ("Tbit/s", "Tbps"),
    ],
    traps: &[
        (
            "mbps",
            "\"#mbps\" is ambiguous",
            "write \"#Mbps\" for megabits per second",
        ),
        (
            "kBps",
            "rates count bits, not bytes",
            "write 8 × # with the unit \"kbps\"",
        ),
        (
            "KBps",
            "rates count bits, not bytes",
            "write 8 × # with the unit \"kbps\"",
        ),
        (
            "MBps",
            "rates count bits, not bytes",
            "write 8 × # with the unit \"Mbps\"",
        ),
        (
            "GBps",
            "rates count bits, not bytes",
            "write 8 × # with the unit \"Gbps\"",
        ),
        (
            "Bps",
            "rates count bits, not bytes",
            "write 8 × # with the unit \"bps\"",
        ),
        (
            "kB/s",
            "rates count bits, not bytes",
            "write 8 × # with the unit \"kb/s\"",
        ),
        (
            "MB/s",
            "rates count bits, not bytes",
            "write 8 × # with the unit \"Mb/s\"",
        ),
        (
            "GB/s",
            "rates count bits, not bytes",
            "write 8 × # with the unit \"Gb/s\"",
        ),
        (
            "M",
            "\"M\" is not a whole unit",
            "write \"#Mbps\" for megabits per second",
        ),
        (
            "G",
            "\"G\" is not a whole unit",
            "write \"#Gbps\" for gigabits per second",
        ),
        (
            "k",
            "\"k\" is not a whole unit",
            "write \"#kbps\" for kilobits per second",
        ),
        (
            "Mb",
            "\"Mb\" is an amount, not a rate",
            "write \"#Mbps\" for megabits per second",
        ),
        (
            "Mbit",
            "\"Mbit\" is not a unit here",
            "write \"#Mbps\" for megabits per second",
        ),
        (
            "Gbit",
            "\"Gbit\" is not a unit here",
            "write \"#Gbps\" for gigabits per second",
        ),
        (
            "kbit",
            "\"kbit\" is not a unit here",
            "write \"#kbps\" for kilobits per second",
        ),
    ],
};

pub(super) const SPAN: Quantity = Quantity {
    noun: "a time",
    example: "10ms",
    zero: "s",
    units: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
        ("min", 60_000_000_000_000),
        ("h", 3_600_000_000_000_000),
    ],
    // The micro sign and the Greek letter.
    spellings: &[("\u{b5}s", "us"), ("\u{3bc}s", "us")],
    traps: &[
        (
            "m",
            "\"#m\" is ambiguous",
            "write \"#ms\" for milliseconds or \"#min\" for minutes",
        ),
        (
            "msec",
            "\"msec\" is not a unit here",
            "write \"#ms\" for milliseconds",
        ),
        (
            "sec",
            "\"sec\" is not a unit here",
            "write \"#s\" for seconds",
        ),
        (
            "seconds",
            "\"seconds\" is not a unit here",
            "write \"#s\" for seconds",
        ),
        (
            "Ms",
            "\"#Ms\" is ambiguous",
            "write \"#ms\" for milliseconds",
        ),
        (
            "MS",
            "\"#MS\" is ambiguous",
            "write \"#ms\" for milliseconds",
        ),
        (
            "d",
            "\"d\" is not a unit here",
            "write hours: 24 × # with the unit \"h\"",
        ),
    ],
};

pub(super) const SIZE: Quantity = Quantity {
    noun: "a size",
    example: "536B",
    zero: "B",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    spellings: &[],
    traps: &[
        (
            "KB",
            "\"#KB\" is ambiguous",
            "write \"#kB\" for 1000 bytes each or \"#KiB\" for 1024",
        ),
        (
            "K",
            "\"#K\" is ambiguous",
            "write \"#kB\" for 1000 bytes each or \"#KiB\" for 1024",
        ),
        (
            "k",
            "\"#k\" is ambiguous",
            "write \"#kB\" for 1000 bytes each or \"#KiB\" for 1024",
        ),
        (
            "M",
            "\"#M\" is ambiguous",
            "write \"#MB\" for 10^6 bytes each or \"#MiB\" for 2^20",
        ),
        (
            "b",
            "sizes count bytes, not bits",
            "write \"#B\" if you mean bytes",
        ),
        (
            "kb",
            "sizes count bytes, not bits",
            "write \"#kB\" if you mean kilobytes",
        ),
        (
            "Kb",
            "sizes count bytes, not bits",
            "write \"#kB\" if you mean kilobytes",
        ),
        (
            "Mb",
            "sizes count bytes, not bits",
            "write \"#MB\" if you mean megabytes",
        ),
        ("mB", "\"#mB\" is ambiguous", "write \"#MB\" for megabytes"),
        ("bytes", "\"bytes\" is not a unit here", "write \"#B\""),
        (
            "p",
            "a size is wanted, not packets",
            "write bytes, as in \"1500B\"",
        ),
    ],
};

pub(super) const LIMIT: Quantity = Quantity {
    noun: "a queue limit",
    example: "100p",
    zero: "p",
    units: &[("p", 1), ("bdp", 1)],
    spellings: &[("packets", "p"), ("packet", "p"), ("BDP", "bdp")],
    traps: &[
        (
            "pkts",
            "\"pkts\" is not a unit here",
            "write \"#p\" for packets",
        ),
        (
            "pkt",
            "\"pkt\" is not a unit here",
            "write \"#p\" for packets",
        ),
        ("P", "\"P\" is not a unit here", "write \"#p\" for packets"),
        (
            "m",
            "\"#m\" is ambiguous",
            "write \"#ms\" for milliseconds or \"#MB\" for megabytes",
        ),
    ],
};

pub(super) const PACKETS: Quantity = Quantity {
    noun: "a number of packets",
    units: &[("p", 1)],
    ..LIMIT
};
