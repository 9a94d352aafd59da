"""Prose of the report on TCP Prague and DualPI2."""

RIG = """\
## TCP Prague and DualPI2, against Linux

The project heistp/l4s-tests published goodput of two flows through one bottleneck, measured with
the L4S team's Linux tree of November 2020. `research/validation/l4s/two-flows-2020.csv` has half of
its rows. HTB shapes the bottleneck, netem delays packets before it, and both directions have the
same queue discipline with its default parameters. A run lasts three minutes, and goodput is that of
the last one. All flows negotiate accurate ECN. Kernels have changed since, so shares are compared
and not goodput.

Our runs (`research/validation/l4s/two-flows.toml`) differ from today's defaults in two values. They
stand for the tree of 2020, whose source was not at hand:

- DualPI2's step spares packets that find fewer than two packets waiting in the low-latency queue
  (`min_qlen_step = "2p"`). Linux 6.17 and later have no such exemption by default.
- Prague's target for round-trip times is 10 ms (`rtt_target`), and not 25 ms. Prague's multipath
  version (`mprague`), an early copy, has that value.
"""

READING = """\
One row behind DualPI2 is outside of 0.10: two Prague flows with 20 and 10 ms over 50 Mb/s. Our
rates are as 1 to 3.4, about the inverse square of the round-trip times with the queue (21 and
11 ms), and those of Linux are as 1 to 1.9, about their inverse. With an `rtt_target` of 25 ms our
share is 0.37 (Linux 0.34), so this row alone speaks against 10 ms.

The agreement depends on these two values. With seed 1, the 18 rows of Prague behind DualPI2
differ as follows:

| `min_qlen_step` | `rtt_target` | mean difference | rows within 0.10 | largest difference |
| --- | --- | --- | --- | --- |
| 2 packets | 10 ms | 0.018 | 17 | 0.11 |
| 2 packets | 25 ms | 0.043 | 14 | 0.16 |
| none | 10 ms | 0.109 | 11 | 0.47 |
| none | 25 ms | 0.153 | 11 | 0.53 |
"""

BEHIND_A_FIFO = """\
Behind a FIFO without marks Prague reacts to losses only, like Reno. These rows have no goal. They
differ by 0.05 on average and 0.15 at most, and beside CUBIC our Prague flow mostly has less than
that of Linux:"""
