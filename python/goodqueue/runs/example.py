"""A small scenario for first steps, documentation and tests."""

EXAMPLE = """\
schema_version = 2
title = "An upload and a ping on a home uplink"
duration = "60s"
warmup = "20s"

[topology]
shape = "dumbbell"
access = { rate = "100Mbps", delay = "5ms" }
bottleneck = { rate = "2Mbps", delay = "10ms", queue = { kind = "drop_tail", limit = "100p" } }

[[flow]]
name = "upload"
start_jitter = "1s"
workload = { kind = "bulk" }

[[flow]]
name = "ping"
workload = { kind = "ping", interval = "100ms" }
"""
"""Text of a scenario: an upload and a ping share an uplink of 2 Mb/s with a buffer of 100 packets.

Examples:
    >>> import goodqueue
    >>> goodqueue.load(goodqueue.EXAMPLE).links
    ['bottleneck']
"""
