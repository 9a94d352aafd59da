"""Prose of the report on TCP Prague and DualPI2."""

RIG = """\
## TCP Prague and DualPI2, against Linux

The project heistp/l4s-tests published goodput of two flows through one bottleneck, measured with
the L4S team's Linux tree of November 2020. `evidence/validation/l4s/two-flows-2020.csv` has half of
its rows. HTB shapes the bottleneck, netem delays packets before it, and both directions have the
same queue discipline with its default parameters. A run lasts three minutes, and goodput is that of
the last one. All flows negotiate accurate ECN. Kernels have changed since, so shares are compared
and not goodput.

Our runs (`evidence/validation/l4s/two-flows.toml`) differ from today's defaults in two values,
which are those of the kernel of the tests (L4STeam/linux, commit b256daedc767 of August 2020):

- DualPI2's step spares packets that find fewer than two packets waiting in the low-latency queue
  (`min_qlen_step = "2p"`). That kernel had this exemption without an option (`sch_dualpi2.c`);
  Linux 6.17 and later have the option, off by default.
- Every round trip of Prague counts as it is (`rtt_target = "0s"`). That kernel had a target of
  15 ms which was off (`RTT_CONTROL_NONE` in `tcp_prague.c`).

Prague of 2020 also had a window of at least two segments and a pace of whole segments, which our
Prague does not copy.
"""

READING = """\
The row behind DualPI2 that differs most has two Prague flows with 20 and 10 ms over 50 Mb/s. Our
rates are as 1 to 3.1, about the inverse square of the round-trip times with the queue (21 and
11 ms), and those of Linux are as 1 to 1.9, about their inverse. The cause is that our packets have
no jitter. Without CUBIC only the step marks, and without jitter all packets of a round trip are
marked or none, at the same times for both flows. With marks at random each flow gets a rate in
inverse proportion to its round trip. A jitter of 0 to 0.1 ms on the way of the ACKs, as timers and
interrupts of a computer cause it, or one of 0 to 0.3 ms gives a share of 0.31 (Linux 0.34), and the
ramp of RFC 9332 in place of the step 0.33. The L4S team describes the same effect of a step, and
remedies it in later programs (`udp_prague`, Prague 0.7) by a pace that varies by 3 % within each
round trip.

The row of CUBIC alone that misses its goal has 160 and 10 ms behind 200 packets at 10 Mb/s. The
published figure is one run. The shares of our ten runs have a standard deviation of 0.07, because a
cycle of the long flow's window takes about the minute that is measured.

The agreement depends on the two values. With the first seed, the rows of Prague behind DualPI2
differ as follows:
"""

BEHIND_A_FIFO = """\
Behind a FIFO without marks Prague reacts to losses only, like Reno. These rows have no goal. They
differ by 0.05 on average and 0.12 at most, and beside CUBIC our Prague flow mostly has less than
that of Linux:"""
