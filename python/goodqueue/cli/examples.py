"""Examples of each command, and the options that its page of help describes first."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, str]] = {
    "": (
        "goodqueue size --rate 20Mbps --rtt 30ms --flows 4 --max-loss 1%",
        "goodqueue run scenarios/home-web.toml --out results",
    ),
    "demo": ("goodqueue demo", "goodqueue demo > answer.txt"),
    "run": (
        "goodqueue run scenarios/home-web.toml --out results",
        "goodqueue run link.toml --set topology.bottleneck.queue.limit=50p --json",
    ),
    "compare": (
        "goodqueue compare before.toml after.toml",
        "goodqueue compare link.toml --variant '' --variant flow.upload.count=4",
    ),
    "analyze": (
        "goodqueue analyze before.pcap --after after.pcap",
        "goodqueue analyze before.pcap --link 10Mbps --to-scenario link.toml",
    ),
    "flows": (
        "goodqueue flows flows.csv --sampling 1000",
        "goodqueue flows flows.csv --sizes sizes.csv",
    ),
    "size": (
        "goodqueue size --rate 20Mbps --rtt 30ms --flows 4 --max-loss 1% --quick",
        "goodqueue size link.toml --max-delay 50ms --report answer.html",
    ),
    "home": (
        "goodqueue home --line dsl --framing ptm --down 50Mbps --up 10Mbps",
        "goodqueue home --line cable --down 200Mbps --up 20Mbps --traffic 'call, web'",
    ),
    "box": (
        """goodqueue box --ports 48x10Gbps,4x100Gbps --memory 12MB --rtt 100us \\
    --incast 32x64kB --keep 'query.p99<=5ms'""",
        "goodqueue box --config config_db.json --incast 64x20kB --keep 'query.p99<=2ms'",
    ),
    "headroom": (
        "goodqueue headroom --speed 100Gbps --cable 300m",
        "goodqueue headroom --speed 400Gbps --cable 2km --mtu 9100 --ports 32",
    ),
    "tune": (
        """goodqueue tune link.toml --vary topology.bottleneck.queue.limit=5p..500p \\
    --keep 'ping.p99<=60ms' --most upload.goodput""",
        """goodqueue tune link.toml --vary topology.bottleneck.rate=50%..200% \\
    --vary topology.bottleneck.queue.limit=5p..500p \\
    --keep 'ping.p99<=60ms' --keep 'upload.goodput>=5Mbps'""",
    ),
    "smoothing": (
        "goodqueue smoothing --rate 3.2Mbps --rtt 100ms --duration 60s",
        "goodqueue smoothing --rate 3.2Mbps --rtt 100ms --duration 60s --quick",
    ),
    "emulate": (
        """goodqueue emulate --rate 10Mbps --rtt 40ms --server 'iperf3 -s' \\
    -- iperf3 -c server""",
        "goodqueue emulate call.toml --allow-commands --out results",
    ),
    "calibrate": ("goodqueue calibrate --quick", "goodqueue calibrate --only pie --only bbr"),
    "probe": (
        "goodqueue probe server --token token --listen 0.0.0.0",
        "goodqueue probe HOST --token token --size",
    ),
    "lab": ("goodqueue lab", "goodqueue lab scenarios/web-search.toml"),
    "sweep": (
        "goodqueue sweep study.toml --dry-run",
        "goodqueue sweep study.toml --out runs --report study.html",
    ),
    "results": (
        "goodqueue results runs --metric bottleneck.utilization --where rate=10Mbps",
        "goodqueue results runs --draw use.svg --metric bottleneck.utilization",
    ),
    "export": (
        "goodqueue export link.toml --to ns3",
        "goodqueue export link.toml --to mininet --set duration=30s",
    ),
    "import": (
        "goodqueue import dumbbell.tcl flows=10 buffer=100 -o dumbbell.toml",
        "goodqueue import dumbbell.tcl --json",
    ),
    "characterize": (
        "goodqueue characterize fq_codel --quick",
        "goodqueue characterize --stack quinn --control bbr --out report",
    ),
    "schema": ("goodqueue schema", "goodqueue schema > scenario.schema.json"),
    "reproduce": (
        "goodqueue reproduce --list",
        "goodqueue reproduce gijsbers2011 table1 --report table1.html",
    ),
    "qdisc": (
        'goodqueue qdisc parse "qdisc fq_codel 0: root limit 1000p"',
        "goodqueue qdisc print link.toml",
    ),
    "qdisc parse": (
        'goodqueue qdisc parse "qdisc fq_codel 0: root limit 1000p"',
        "tc qdisc show dev eth0 | goodqueue qdisc parse -",
    ),
    "qdisc print": (
        "goodqueue qdisc print link.toml",
        "goodqueue qdisc print link.toml --link uplink",
    ),
}
"""Two examples of each command by its name, and of the whole program."""

FIRST: dict[str, tuple[str, ...]] = {
    "run": ("--set", "--out", "--series", "--seed", "--json", "--trace", "--pcap", "--engine"),
    "size": (
        *("--rate", "--rtt", "--flows", "--control", "--min-utilization", "--max-loss"),
        *("--max-delay", "--quick", "--set", "--explain", "--syntax", "--report", "--json"),
        *("--link", "--from", "--budget"),
    ),
    "sweep": ("--out", "--dry-run", "--report", "--jobs", "--set", "--metrics"),
    "results": ("--metric", "--where", "--runs", "--export", "--draw", "--report", "--merge"),
    "emulate": ("--rate", "--rtt", "--queue", "--server", "--out", "--duration", "--set"),
}
"""Options of commands with many, the most used first; the others follow in the order of their
declaration."""
