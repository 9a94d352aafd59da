"""The words of the report that do not depend on a run."""

INTRODUCTION = """\
Four links under long TCP flows are run by ns-2 itself, and by goodqueue under the `ns2` profile,
which follows the source of ns-2's TCP. Flows start 10 ms apart, each with a random jitter of up to
10 ms. Figures cover the last three quarters of a run and are means over seeds ± standard errors.

Criteria: utilisation within 0.5 point; mean backlog within 5 % of ns-2's plus three standard errors
of the difference; loss rate within 10 % plus three standard errors. S4 is judged by its utilisation
alone, because a run has only a few losses. Duplicate data is the share of received data that the
receiver had already. Goodput is the data acknowledged to ns-2's senders, and the data delivered by
our receivers.

Results of captures are compared with the simulator in [traces.md](traces.md#accuracy), and
buffers sized from them against those from the truth in
[dhamdhere2005.md](dhamdhere2005.md#from-estimates).
"""

READING = """\
### Reading

* **The `ns2` profile equals ns-2's TCP packet for packet if no queue overflows.** One flow that
  loses chosen packets sends the same packets as in ns-2, at times that agree to the microsecond,
  with every agent (`crates/testkit/tests/traffic/ns2_transmissions.rs`). S3 has no random element,
  and agrees in every digit of utilisation, loss and backlog. With many flows chance remains,
  because each simulator draws its own start times.
* **Ties differ.** An arrival and the end of a transmission may occur at the same instant. On a
  link that a single flow does not yet fill, this happens in every round trip. In goodqueue the
  frame whose transmission ends leaves first. In ns-2 the rounding errors of the clock decide.
  On the link of "loss by loss" with a `queue-limit` of 5, 24 random patterns of losses have 937
  such ties, and ns-2 handles the arrival first in 103 of them. If the queue is full, ns-2 then
  loses that packet, and goodqueue loses a later packet of the same burst. In 13 of these 24
  patterns all packets are therefore the same. With a `queue-limit` of 20, which never
  overflows, the packets of all 24 patterns are the same (`test_variants.py`). goodqueue has no
  switch for ns-2's choice, because this choice follows no rule. In S4 the senders are as fast
  as the bottleneck, so arrivals of different flows are often simultaneous. In goodqueue such
  arrivals are ordered at random; with a fixed order one flow would starve the others.
* **The phase of the clock** with which ns-2 measures round trips is random for each flow. Our clock
  starts with the run, and start times are jittered by one tick. The phase moves timeouts by 10 ms.
* **S4** has nearly all of its losses in its start-up, which is not measured. The few remaining
  losses determine the mean backlog, which varies by several per cent between seeds in both
  simulators.
* **The `rfc` profile** retransmits more on S1 and S2. RFC 6298 restarts the retransmission timer
  only for new ACKs. The repair of the first hole takes another round trip, and if the queue is
  steady, the timer is hardly longer than that. The timer expires, and go-back-N repeats data that
  had arrived. ns-2 and BSD restart the timer at the fast retransmit; with
  `tcp.details.fast_retransmit_restarts_timer=true` the share of duplicates falls below ns-2's. On
  S3 the profile uses less of the link for two reasons: it halves the data that were in flight
  before limited transmit instead of the window, and its receivers acknowledge every second segment.
* **ns-3** has another TCP. Its rows show the differences that are possible between two correct
  simulators.
"""

STUDIES_HEAD = """\
## Two studies of buffer sizes, against ns-2

Every cell of Tables 3 to 5 of two studies ([drop tail](ahmad2020.md), [RED](wisdom2021.md)) is
compared. One TCP flow and datagrams cross a slow link that loses 1, 2 or 5 % at random, in the
set-up that reproduces the tables (`python/goodqueue/papers/ahmad2020/fitted.toml`). Criteria: means
of delay and throughput differ from ns-2's by at most 5 % or three standard errors of the
difference, in all but 2 of 414 cases, and by 3 % on average. The table has mean absolute
differences.
"""

STUDIES_READING = """
* **Seeds.** Random streams of ns-2 with neighbouring seeds begin alike, and if buffers are large,
  the time of the first random loss determines the mean delay of a run. The script therefore spreads
  the seeds and discards the first numbers. With seeds 1 to 10 unchanged, ns-2's mean delay in such
  a cell is up to a fifth higher.
* **Without random loss** a run has no random element. With `loss=0 end=124` the mean delay agrees
  to the microsecond, and the number of lost datagrams is equal (`test_ns2_studies.py`), with two
  exceptions: the phase of ns-2's clock moves a timeout by a tick, or its sink delays the ACK of a
  duplicate.
* **RED's limit** is in bytes, and the queue is compared with it before the arrival is added, in
  both simulators.
* **Loss counts** count only datagrams, of which a few of 310 are lost, and their standard
  deviation between runs is the square root of the count.
"""

VARIANTS = """\
## Against ns-2, loss by loss

These are ns-2's own `tcpVariants` tests. One flow crosses a link of 8 Mb/s to a router, and a
link of 800 kb/s and 100 ms with a queue of 8 to the sink. Its window is 28 packets, and one to
four packets are lost on purpose, for each agent, with and without limited transmit.
`tools/ns2/drops.tcl` runs the tests in ns-2. `scenarios/drop-pattern.toml` runs them here,
under the `ns2` profile, with 7 packets waiting beside the one in transmission. For five
seconds, the number and the time of each packet that the sender gives to its link are compared.
The settings called `default` are those of ns-2.35, and so of the profile. The settings called
`tests` are those of ns-2's tests, which keep its behaviour before 2003 to 2006: an initial
timeout of 6 s, a smallest timeout of 1 s, windows of whole packets after a loss
(`precisionReduce_` off), and for NewReno a timer that every partial ACK restarts and an
inflation that every partial ACK ends.

Criterion: the same packets in the same order, at times that differ by at most one transmission of
the slow link, 10.4 ms.
"""

VARIANTS_READING = """\
Our flow starts 5.558807 ms later, which is the phase of the clock with which ns-2's first agent
measures round trips. Times are counted from the start of each flow. The queue overflows in none of
these cases: every loss is one of those chosen.
"""

RED = """\
## RED, against ns-2

The link and the flows of S1 are run with ns-2's RED (`tools/ns2/dumbbell.tcl` with `queue=RED`) and
with ours (`scenarios/s5.toml`). S5 has ns-2's own automatic thresholds and weight. Three further
sets of parameters have the mean of the average queue below `min`, near `max`, and in the gentle
region. The last set is adaptive RED. The average is read at every arrival. A drop is early if RED
drew it at random, and forced if the limit was reached; under ns-2's default `use_mark_p_` the
average alone forces no drop.

Criterion: the mean of our seeds differs from ns-2's by at most Student's 95 % quantile times the
standard deviation of ns-2's runs, widened by a tenth. It must hold for each figure.
"""

RED_READING = """\
ns-2's parameters are in packets of `mean_pktsize_`, which is 1500 bytes here (500 by default), and
its limit in bytes is that number of such packets. Our parameters are in bytes or packets, as `unit`
says.
"""

CHAINS = """\
## Parking lots and slow ways back, against ns-2

`tools/ns2/chain.tcl` runs these links in ns-2, and `scenarios/parking-lot.toml` and
`scenarios/asymmetric.toml` run them here, with Sack1 and the `ns2` profile. *Parking lot*: ten
flows of 100 to 193 ms cross three links in a row (`long`), and ten flows of 50 to 143 ms cross each
link alone (`cross1` to `cross3`). *Asymmetric*: four flows of 50 to 143 ms cross one link whose
reverse direction is slow. Receivers acknowledge every segment with 40 bytes, and more with SACK. At
10 Mb/s these ACKs are 270 kb/s, which a reverse link of 1 Mb/s carries and one of 200 kb/s does
not: its queue of ACKs is full, and a quarter of them is lost. Flows start 10 ms apart, each with a
random jitter of up to 10 ms in both simulators. Figures cover the last three quarters of a run and
are means over seeds ± standard errors.

Criterion, as for RED: the mean of our seeds differs from ns-2's by at most Student's 95 % quantile
times the standard deviation of ns-2's runs, widened by a tenth. It must hold for each figure.
"""

CHAINS_READING = """\
* **Ties decide if round trips are multiples of one another.** The round-trip times above were
  chosen so that packets of different flows do not repeatedly arrive at the same instant. With three
  links of 10 Mb/s and times of 100 to 190 and 50 to 140 ms in steps of 10 ms they do, because 30 ms
  are 25 transmissions. The simulators then disagree. Over 12 seeds the long flows get 138.1 ± 3.3
  kb/s here and 124.4 ± 2.5 in ns-2; with 20 packets of buffer they get 191.8 ± 1.4 and 177.2 ± 1.7.
  On the asymmetric link with 1 Mb/s back, in steps of 30 ms, we lose 0.217 % and ns-2 0.233 %. A
  step of 10.33 (31) ms makes all of this agree without any other change: ns-2 orders packets that
  tie by the time at which they were scheduled, and goodqueue orders them at random. If the links
  have different rates, the seeds differ less.
* **Lost ACKs** cost little, because the next ACK contains the same information. Each ACK that is
  left, however, moves the window by several segments, which leave in a burst, and ns-2's window
  grows by the number of ACKs and not of bytes. The mean backlog agrees although a quarter of the
  ACKs is lost, which tests both effects.
"""

NS3_QUEUES = """\
## CoDel, PIE and FQ-CoDel, against ns-3

The link of `scenarios/ns3.toml` with 20 Mb/s, 80 ms and ten flows is run with ns-3's queue discs
(`tools/ns3/dumbbell.cc` with `queue=`) and with our disciplines under its switches: `flavour =
"ns3"`; `mtu = "1499B"` and `next_mark = "from_now"`; a quantum of 1500 bytes and each queue's own
backlog. In ns-3 one packet waits in the device after its queue disc has handled it, so our targets
are longer by its transmission time of 0.6 ms. There are two loads:

* **datagrams** of 1500 bytes at exponential intervals, 24 Mb/s in all: the discipline alone;
* **TCP**: Reno with ECN (RFC 3168), so that marks replace drops and no data must be repaired.

Criteria: utilisation within half a point of ns-3's; the share of arrivals dropped or marked, and
the mean backlog, within 10 % plus three standard errors of the difference. Means over seeds ±
standard errors.
"""

NS3_QUEUES_READING = """\
* Under **datagrams** all figures agree. CoDel cannot hold 20 % of overload near its target: its
  drops follow one another faster and faster, but only by the square root of their number. Equal
  heights of both queues therefore test the whole control law, over some 24,000 drops.
* Under **TCP**, too, CoDel and PIE agree. The remaining differences come from the response to a
  mark. ns-3 halves the threshold and then lets every ACK inflate the window (`TcpClassicRecovery`
  does in its reduced state what it does in recovery), so a flow continues to send for a round trip.
  Ours pauses until half of its packets are acknowledged.
* **FQ-CoDel under TCP does not agree**, as far as we know for the same reason: each queue holds
  about one packet, and the other flows do not even out the burst of one flow. With
  `TcpPrrRecovery` ns-3's own figures change by the size of these differences: 94.6 % busy, 1.06
  % marked and 10.4 packets. Under datagrams the same discipline agrees. In one of our five
  seeds all flows synchronise and leave the link idle for 15 % of the time, as one Reno flow
  would with so short a queue; in the others the link is busy for 97 %.
* If packets are dropped instead of marked, the TCPs also differ in their repairs: ns-3 with its
  default recovery loses two fifths more than goodqueue under CoDel and PIE. This case is not
  compared.
"""
