"""The words of the report that do not depend on a run."""

INTRODUCTION = """\
Four links under long TCP flows, run by ns-2 itself and by goodqueue under the `ns2` profile, which
is ns-2's TCP as its source has it. Flows start 10 ms apart, each with a random jitter of up to
10 ms; figures cover the last three quarters of a run and are means over seeds ± standard errors.

Criteria: utilisation within 0.5 point; mean backlog within 5 % of ns-2's plus three standard errors
of the difference; loss rate within 10 % plus three standard errors; on S4, where a run sees only a
few losses, utilisation alone. Duplicate data is the share of received data that its receiver had
already. Goodput is what ns-2's senders saw acknowledged and what our receivers delivered.

Results of captures are compared with the simulator in [traces.md](traces.md#accuracy), and
buffers sized from them against those from the truth in
[dhamdhere2005.md](dhamdhere2005.md#from-estimates).
"""

READING = """\
### Reading

* **The `ns2` profile is ns-2's TCP, packet for packet where no queue overflows.** One flow that
  loses chosen packets sends what ns-2 sends, to the microsecond, whichever the agent
  (`crates/testkit/tests/ns2_transmissions.rs`). S3, which has no chance in it, agrees in every
  digit of utilisation, loss and backlog. With many flows chance remains: each simulator draws its
  own start times.
* **Ties differ.** An arrival and the end of a transmission may fall on one instant: on a link that
  a lone flow does not yet fill, this happens in every round trip. Here a frame whose transmission
  ends has left. In ns-2 rounding errors of the clock decide: on the link of "loss by loss" with a
  `queue-limit` of 5, 24 random patterns of losses meet 937 such ties, and ns-2 handles the arrival
  first in 103 of them. If the queue is full it then loses that packet, and here a later packet of
  the same burst is lost. So 13 of these 24 patterns are the same packet for packet, and with a
  `queue-limit` of 20, which never overflows, all 24 are (`test_variants.py`). No switch of
  ours can do as ns-2 does, since there is no rule in it. In S4 the senders are as fast as the
  bottleneck, so that arrivals of different flows tie all the time; here they take turns at random.
  Under an order that lasts, one flow would shut the others out.
* **The phase of the clock** by which ns-2 measures round trips is random per flow; ours starts with
  the run, and start times are jittered by one tick. It moves timeouts by 10 ms.
* **S4** has nearly all of its losses in its start-up, which is not measured. The few that remain
  decide the mean backlog, and it varies by several per cent between seeds in either simulator.
* **The `rfc` profile** resends more on S1 and S2. RFC 6298 restarts the retransmission timer for
  new ACKs only; the repair of the first hole takes a round trip more, and where the queue is steady
  the timer is hardly longer than that: it expires, and go-back-N resends what had arrived. ns-2 and
  BSD restart it at the fast retransmit; with `tcp.details.fast_retransmit_restarts_timer=true` the
  share of duplicates falls below ns-2's. On S3 it uses less of the link because it halves what was
  in flight before limited transmit instead of the window, and because its receivers acknowledge
  every other segment.
* **ns-3** has another TCP; how far two honest simulators may differ can be read from its rows.
"""

STUDIES_HEAD = """\
## Two studies of buffer sizes, against ns-2

Every cell of Tables 3 to 5 of two studies ([drop tail](ahmad2020.md), [RED](wisdom2021.md)): one
TCP flow and datagrams over a slow link that loses 1, 2 or 5 % at random, in the set-up from which
the tables come (`python/goodqueue/papers/ahmad2020/fitted.toml`). Criteria: means of delay and
throughput within 5 % of ns-2's or three standard errors of the difference, but for 2 of 414, and
3 % apart on average. The table has mean absolute differences.
"""

STUDIES_READING = """
* **Seeds.** Streams of ns-2 whose seeds are near begin alike, and where buffers are large the time
  of the first random loss decides the mean delay of a run. The script spreads the seeds and
  discards what comes first; with seeds 1 to 10 as they are, ns-2's mean delay in such a cell is up
  to a fifth higher.
* **Without random loss** nothing is left to chance: with `loss=0 end=124` the mean delay agrees to
  the microsecond, and the datagrams lost to the last (`test_ns2_studies.py`), but where the
  phase of ns-2's clock moves a timeout by a tick or its sink delays the ACK of a duplicate.
* **RED's limit** is in bytes, and compared before the arrival is added, in both.
* **Loss counts** are of datagrams alone, a few of 310, and vary by their square root between runs.
"""

VARIANTS = """\
## Against ns-2, loss by loss

ns-2's own `tcpVariants` tests: one flow, 8 Mb/s to a router, 800 kb/s and 100 ms with a queue of 8
to the sink, a window of 28 packets, and one to four packets lost on purpose, for each agent, with
and without limited transmit. `tools/ns2/drops.tcl` runs them in ns-2, `scenarios/drop-pattern.toml`
here, under the `ns2` profile and with 7 waiting beside the one in transmission. Compared is which
packet the sender hands to its link when, for five seconds. The settings called `default` are
ns-2.35's, and so the profile's; `tests` are those of these tests, which keep what ns-2 did before
2003 to 2006: an initial timeout of 6 s, a least timeout of 1 s, a loss leaves whole packets
(`precisionReduce_` off), and every partial ACK restarts NewReno's timer and ends its inflation.

Criterion: the same packets in the same order, at times that differ by no more than one transmission
of the slow link, 10.4 ms.
"""

VARIANTS_READING = """\
Our flow starts 5.558807 ms later: that is the phase of the clock by which ns-2's first agent
measures round trips. Times are counted from the start of each flow. In none of these cases does the
queue overflow: every loss is one of those chosen.
"""

RED = """\
## RED, against ns-2

The link and the flows of S1 with ns-2's RED (`tools/ns2/dumbbell.tcl` with `queue=RED`) and ours
(`scenarios/s5.toml`): S5, where thresholds and weight are ns-2's own automatic values, three sets
of parameters with the mean of the average queue below `min`, near `max`, and in the gentle region,
and adaptive RED. The average is seen at every arrival. A drop is early when RED drew it at random,
and forced when the limit was reached: under ns-2's default `use_mark_p_` the average alone forces
none.

Criterion: the mean of our seeds lies where 95 % of ns-2's seeds lie, that is within Student's
quantile times the standard deviation of its runs, widened by a tenth. It holds for each figure.
"""

RED_READING = """\
The parameters of ns-2 count in packets of `mean_pktsize_`, 1500 bytes here (500 unless set), and
its limit in bytes is as many of those; ours are in bytes or packets as `unit` says.
"""

CHAINS = """\
## Parking lots and slow ways back, against ns-2

`tools/ns2/chain.tcl` in ns-2, `scenarios/parking-lot.toml` and `scenarios/asymmetric.toml` here,
with Sack1 and the `ns2` profile. *Parking lot*: ten flows of 100 to 193 ms over three links in a
row (`long`), and ten of 50 to 143 ms over each link alone (`cross1` to `cross3`). *Asymmetric*:
four flows of 50 to 143 ms over one link whose way back is slow. Receivers acknowledge every segment
with 40 bytes, and more for SACK: at 10 Mb/s that is 270 kb/s, which 1 Mb/s carries and 200 kb/s do
not. There the queue of ACKs is full, and a quarter of them is lost. Flows start 10 ms apart, each
with a random jitter of up to 10 ms in either simulator; figures cover the last three quarters of a
run and are means over seeds ± standard errors.

Criterion, as for RED: the mean of our seeds lies where 95 % of ns-2's seeds lie, that is within
Student's quantile times the standard deviation of its runs, widened by a tenth. It holds for each
figure.
"""

CHAINS_READING = """\
* **Ties decide where round trips are multiples.** The round-trip times above are such that packets
  of different flows do not come at one instant again and again. With three links of 10 Mb/s and
  times of 100 to 190 and 50 to 140 ms in steps of 10 ms they do: 30 ms are 25 transmissions. There
  the simulators do not agree. Over 12 seeds the long flows get 138.1 ± 3.3 kb/s here and
  124.4 ± 2.5 in ns-2, with 20 packets of buffer 191.8 ± 1.4 and 177.2 ± 1.7; on the asymmetric link
  with 1 Mb/s back, in steps of 30 ms, we lose 0.217 % and ns-2 0.233 %. A step of 10.33 (31) ms
  makes all of it agree, and nothing else has to change: packets that tie go in the order of
  scheduling in ns-2, in random order here. Links of different rates let the seeds differ less.
* **Lost ACKs** cost little: the next one says as much. But each that is left moves the window by
  several segments, which leave in a burst, and ns-2 opens its window by ACKs, not by bytes. That
  the mean backlog agrees with a quarter of the ACKs lost is a test of both.
"""

NS3_QUEUES = """\
## CoDel, PIE and FQ-CoDel, against ns-3

The link of `scenarios/ns3.toml` with 20 Mb/s, 80 ms and ten flows under ns-3's queue discs
(`tools/ns3/dumbbell.cc` with `queue=`) and our disciplines with its switches: `flavour = "ns3"`;
`mtu = "1499B"` and `next_mark = "from_now"`; a quantum of 1500 bytes and each queue's own backlog.
One packet waits in ns-3's device, after its queue disc has looked at it: our targets are longer by
the 0.6 ms that it takes. Two loads:

* **datagrams** of 1500 bytes at exponential intervals, 24 Mb/s in all: the discipline alone;
* **TCP**: Reno with ECN (RFC 3168), so that marks take the place of drops and nothing is repaired.

Criteria: utilisation within half a point of ns-3's; the share of arrivals dropped or marked, and
the mean backlog, within 10 % plus three standard errors of the difference. Means over seeds ±
standard errors.
"""

NS3_QUEUES_READING = """\
* Under **datagrams** all figures agree. CoDel cannot hold 20 % of overload near its target: its
  drops follow one another ever faster, but only by the square root of their number. That both
  queues stand at the same height is a test of the whole control law over some 24,000 drops.
* Under **TCP**, too, CoDel and PIE agree. What is left is how the two answer a mark. ns-3 halves
  the threshold and then lets every ACK inflate the window (`TcpClassicRecovery` does in its
  reduced state what it does in recovery), so that a flow goes on sending for a round trip; ours
  pauses until half of its packets are acknowledged.
* **FQ-CoDel under TCP does not agree**, for that reason as far as we know: each queue holds a
  packet or so, and the burst of one flow is not evened out by the others. With `TcpPrrRecovery`
  ns-3's own figures change by as much as ours differ from them: 94.6 % busy, 1.06 % marked and
  10.4 packets. Under datagrams the same discipline agrees. In one of our five seeds all flows fall
  into step and leave the link idle for 15 % of the time, as one Reno flow would with so short a
  queue; in the others it is busy for 97 %.
* With drops in place of marks the TCPs differ in their repairs, too, and ns-3 with its default
  recovery loses two fifths more than we do under CoDel and PIE. That is not compared.
"""
