"""The words of the report that do not depend on a run."""

INTRODUCTION = """\
Four links under long TCP flows, run by ns-2 itself and by goodqueue under the `ns2` profile, which
is ns-2's TCP as its source has it. Flows start 10 ms apart, each with a random jitter of up to
10 ms; figures cover the last three quarters of a run and are means over seeds ± standard errors.

Criteria: utilisation within 0.5 point; mean backlog within 5 % of ns-2's plus three standard errors
of the difference; loss rate within 10 % plus three standard errors; on S4, where a run sees only a
few losses, utilisation alone. Duplicate data is the share of received data that its receiver had
already. Goodput is what ns-2's senders saw acknowledged and what our receivers delivered.
"""

READING = """\
## Reading

* **The `ns2` profile is ns-2's TCP, packet for packet.** One flow that loses chosen packets sends
  what ns-2 sends, to the microsecond, whichever the agent
  (`crates/testkit/tests/ns2_transmissions.rs`). S3, which has no chance in it, agrees in every
  digit of utilisation, loss and backlog. With many flows chance remains: each simulator draws its
  own start times.
* **Ties differ.** Where an arrival and the end of a transmission fall on one instant, ns-2 goes by
  the order of scheduling and by rounding errors; we say that a frame whose transmission ends has
  left. A lone flow that does not yet fill its link meets this tie in every round trip: with a
  buffer far below the bandwidth-delay product it loses another packet of the same burst. In S4 the
  senders are as fast as the bottleneck, so that arrivals of different flows tie all the time; here
  they take turns at random. Under an order that lasts, one flow would shut the others out.
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
