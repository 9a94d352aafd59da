"""The words of the report about Linux that do not depend on a run."""

LINUX_RIG = """\
## Against Linux 6.18

Recordings of a real kernel (`evidence/validation/linux/6.18.csv`) were made with iperf3 between
two network namespaces. A small forwarder in user space joins them on TUN devices without
offload headers, so that every packet is at most an MTU of 1500 bytes. The forward direction has
10 Mbit/s counted in IP bytes, drop tail with a number of packets that wait beside the one in
service, and 20 ms; the reverse direction has only a delay of 20 ms. The kernel is Linux 6.18
with HZ 250 and default TCP settings, except for socket buffers of 4 MB and more. The kernel has
no `fq`, so BBR paces inside TCP. All flows start together, figures cover 11 to 69 s, and a ping
of 84 bytes every 0.1 s shares the queue. The forwarder delivered packets 30 to 50 µs late on
average, and once in a run 3 to 35 ms late.

goodqueue runs `scenarios/linux-bottleneck.toml` with the `linux` profile and starts jittered by
up to 5 ms. Criteria, in brackets: utilisation within 1 point (2 with buffers below half a
bandwidth-delay product), mean queue within 10 % or half a packet, drops within 25 % or two. For
BBR all of these tolerances are doubled, because its gain cycle begins at random. If there are
repeats, two of their standard deviations are allowed too.
"""

LINUX_READING = """\
* **Units of two segments.** At this rate Linux sends in units of two segments, and lets an odd
  segment wait if the next ACK is expected within a millisecond
  (`tcp.details.segmentation_offload`). If segments left one by one, one BBR flow would have 1.9
  packets behind 8 in place of 2.3 (recorded 3.2). Drops change less (ten seeds): one CUBIC flow
  behind 33 packets would lose 27 in place of 32 (recorded 25), one Reno flow 50 in place of 57
  (54), and four Reno flows 530 in place of 534 (468). The runs are those of
  `scenarios/linux-bottleneck.toml` with `--set tcp.details.segmentation_offload=false`.
* **Pings affect losses.** One flow loses one or two segments per epoch, and one more if a ping
  takes a place in the full queue before the loss is noticed. Sometimes the ping itself is lost.
* **Reno, one flow, 33 packets** uses 0.4 points more of the link than Linux. The window after a
  loss is just the bandwidth-delay product, so any late packet leaves the link idle, and in the
  simulation no packet is late.
* **BBR, four flows, 33 packets** lose an eighth of the packets that they send. Our flows lost half
  more than Linux's until BBR had Linux's long-term estimate of the bandwidth, which takes such a
  link for a policed one and keeps its rate for 48 round trips.
* **Compressed SACKs raise BBR's estimate of the bandwidth.** Linux delays the ACKs that report a
  hole for the fourth time and later by 1.0 to 1.1 ms (`tcp.details.sack_compression`). A rate
  sample that begins with a delayed ACK and ends with a prompt one is 2.7 % too high, and BBR
  keeps the largest sample of ten round trips. Before this rule was modelled, one BBR flow behind
  8 packets had a mean queue of 2.16 packets and missed its tolerance; behind 4 packets it had
  1.01 instead of 2.2.
* **BBR, one flow** has a queue that is still a third of a packet to a packet shorter than
  Linux's. It takes the largest rate sample as the bandwidth and paces one per cent below it, so
  between probes its queue drains by a third of a packet per round trip. Without losses every
  sample of the simulation is exact. In the kernel the largest sample lies above the link's rate,
  because ACKs are late by different times (see below). In a recording with 133 packets `ss -ti`
  showed 60 estimates over 24 s, which were 0.0 to 2.8 % above that rate, half of them more than
  0.7 %. This uses up the margin of one per cent.
"""

LINUX_DEEP = """\
### Behind deep buffers

40 CUBIC flows at 17 Mb/s and 100 ms were recorded behind two to twelve bandwidth-delay products,
and eight BBR flows at 20 Mb/s and 40 ms behind one
(`evidence/validation/linux/6.18-deep.csv`). The rig and the kernel are the same; each
row is one run, with 98 s measured after 60 s (BBR 58 s after
30 s). goodqueue runs the same scenario with that rate, delay and limit. Criteria, in brackets:
utilisation within 2 points, mean queue within 5 %, loss within 10 % and two standard deviations of
one of our runs. These deviations represent the chance in the single recorded run.
"""

LINUX_DEEP_READING = """\
* **A larger buffer does not reduce CUBIC's loss** here, in the kernel or in the simulator: it
  is about 2 % with two bandwidth-delay products and 3 % with twelve. Reno's loss, simulated,
  falls from 2.0 to 0.2 %.
  [congestion-controls.md](congestion-controls.md#cubic-behind-deep-buffers) explains CUBIC's
  loss by the losses per overflow. `goodqueue size --control cubic --max-loss 1%` therefore
  reports correctly that no buffer suffices on this link.
"""

LATENESS = """\
time_us,share
5,0
28,0.1
44,0.5
70,0.9
192,0.99
438,0.995
1140,0.998
2149,0.999
6170,1
"""
"""Lateness of packets that a user-space forwarder delivered, by quantiles, in microseconds."""

LINUX_TRIED = (
    """\
### What was tried on tiny and deep buffers

Some figures differ more than chance allows although the table above holds: the pings lost with 4
packets, and the figures of four CUBIC flows with 8 packets. Each was recorded again, one to three
times, on a busier machine with a forwarder of the same description (`tools/captures/tail_drop.py`).
Each was also simulated with one change at a time; the table has means of seeds 1 to 10:

- *later*: the base round trip is 0.2 ms longer;
- *ACKs late*: each packet in the reverse direction is late by a random time, exponential with this
  mean;
- *forwarder*: packets are as late as those of the forwarder while it recorded `bbr, 1 x 4` (the
  distribution is below), once when it reads them and once when it delivers them, in both
  directions;
- *ping*: a ping is sent every 101.3 ms instead of 100 ms, which gives it another phase.

| figure | Linux | as it is | later | ACKs late 50 µs | 400 µs | forwarder | ping |
| --- | --- | --- | --- | --- | --- | --- | --- |
| bbr, 1 x 4: mean queue | 2.16 to 2.21 | 2.23 | 2.19 | 2.23 | 2.15 | 2.12 | 2.28 |
| bbr, 1 x 4: pings lost | 66 to 87 | 83 | 111 | 70 | 69 | 70 | 75 |
| bbr, 1 x 8: mean queue | 3.19 to 3.33 | 2.35 | 2.38 | 2.68 | 3.24 | 2.81 | 2.41 |
| bbr, 1 x 33: mean queue | 8.0, 13.7 | 7.09 | 6.78 | 7.36 | 21.68 | 11.04 | 7.11 |
| bbr, 1 x 133: mean queue | 7.6, 14.5 | 7.08 | 6.79 | 7.36 | 30.78 | 10.85 | 7.11 |
| cubic, 1 x 4: utilisation, % | 79.4 to 89.5 | 90.4 | 89.8 | 90.8 | 88.8 | 80.4 | 90.5 |
| cubic, 1 x 8: utilisation, % | 87.7 to 96.8 | 96.7 | 96.5 | 96.9 | 96.3 | 96.3 | 96.3 |
| cubic, 1 x 133: pings lost | 2 to 4 | 6 | 2 | 5 | 3 | 4 | 5 |
| cubic, 4 x 8: mean queue | 4.00 to 4.23 | 4.76 | 4.48 | 4.74 | 4.49 | 4.59 | 4.78 |
| cubic, 4 x 8: pings lost | 21 to 23 | 50 | 23 | 49 | 26 | 35 | 53 |
| reno, 1 x 8: pings lost | 10 to 16 | 20 | 17 | 25 | 11 | 12 | 13 |

These changes have no relevant effect: segments that leave one by one (`segmentation_offload` off),
ACKs of every second segment at once (`ack_rule = "every_nth"`), a clock granularity of 4 ms.
Pacing, which Linux without `fq` does not use for these controls, gives CUBIC figures other than
Linux's (4 packets: utilisation 91.2 %, 38 pings lost).

* **Phases and lateness explain CUBIC, Reno and the pings.** One packet takes 1.2 ms, and ACKs
  release the next packet 40 ms after one has left. As 40 ms are 33.3 transmissions, it always
  arrives when a third of a transmission is over. A fraction of a millisecond then determines if a
  packet or a ping meets a full queue (Floyd and Jacobson 1992). Recorded round trips are not
  40.00 ms: the shortest pings take 0.1 to 0.5 ms longer than the expected 40.07 ms. With 0.1 ms
  more and the forwarder's lateness together, the queue of four flows is 4.43 packets and 22 of
  their pings are lost. The order of ping and data at a full queue is not at fault: in both
  systems the first to arrive is served first.
* **The forwarder explains BBR's queue with 33 and 133 packets** and half of what is missing with
  8, and the difference between two recordings, because lateness raises the estimate of the
  bandwidth. With 4 packets nothing is missing since selective ACKs are compressed: before, the
  mean queue was 1.01 packets and 34 pings were lost. ACKs later by 0.4 ms on average explain the
  figures with 8 packets, but are too much for larger buffers. Other sources of lateness in the
  hosts were not measured.
* **A busy machine affects tiny buffers.** A wake-up that is late by milliseconds leaves the link
  idle. The lowest utilisations were recorded under a load of 17 processes on two processors.

```sh
cat > late.csv << END
"""
    + LATENESS
    + """\
END
late="jitter={law='empirical',file='$PWD/late.csv'}"
goodqueue run scenarios/linux-bottleneck.toml --set flow.bulk.count=4 \\
  --set topology.bottleneck.queue.limit=8p
... --set topology.bottleneck.delay=20200us
... --set 'topology.bottleneck.reverse.jitter={law="exponential",mean="400us"}'
... --set topology.bottleneck."$late" --set topology.bottleneck.reverse."$late" \\
  --set topology.access="{rate='10Gbps',$late}" \\
  --set topology.far_access="{rate='10Gbps',$late}"
... --set flow.ping.workload.interval=101.3ms
... --set tcp.details.segmentation_offload=false
... --set tcp.ack_rule=every_nth
... --set tcp.rto.granularity=4ms
... --set tcp.pacing=true
sudo python3 tools/captures/tail_drop.py cubic 4 8
```

**At 10 Gb/s.** In recordings of hardware (1.2 ms, frames of 9000 bytes, CUBIC) 99 % utilisation
needs 0.16 to 0.19 of a bandwidth-delay product, which is 167 frames. In the simulation it needs
much less; the table has means of two seeds over 0.4 s:

| changed | 32 flows | 64 flows |
| --- | --- | --- |
| nothing | 0.07 | 0.05 |
| segments leave one by one | 0.04 | 0.04 |
| 0.05 ms more round trip | 0.07 | 0.05 |
| access links of 40 Gb/s, so that bursts are spread | 0.08 | 0.05 |
| pacing | 0.11 | 0.08 |
| ACKs late by 10 µs on average | 0.11 | 0.08 |
| ACKs late by 20 µs | 0.14 | 0.13 |
| ACKs late by 30 µs | 0.20 | 0.16 |
| an ACK for every 4th frame | 0.13 | 0.11 |
| an ACK for every 7th frame | 0.22 | 0.22 |

A frame takes 7.2 µs at this rate. Network cards gather frames for tens of microseconds before they
interrupt, and the kernel merges up to 64 kB (7 frames) and acknowledges them together. Either alone
explains the larger need of hardware. Simulated hosts take no time and merge nothing
([MODEL.md](../MODEL.md)), so for links of this speed add `jitter` to the reverse direction, or
`ack_every`.

```sh
goodqueue run scenarios/linux-bottleneck.toml --set topology.bottleneck.rate=10Gbps \\
  --set tcp.mss=8948B --set topology.bottleneck.delay=600us \\
  --set 'topology.bottleneck.reverse={rate="100Gbps"}' --set flow.bulk.count=32 \\
  --set flow.bulk.start_jitter=50ms --set tcp.receive_window=64MB \\
  --set duration=600ms --set warmup=200ms --set topology.bottleneck.queue.limit=11p
... --set 'topology.bottleneck.reverse={rate="100Gbps",jitter={law="exponential",mean="30us"}}'
... --set tcp.ack_rule=every_nth --set tcp.ack_every=7
```
"""
)
