# A dumbbell of long TCP flows for ns-2, the counterpart of scenarios/s1.toml to s4.toml.
#
#   ns dumbbell.tcl key=value ...
#
# One pair of hosts per flow on 1 Gb/s links, a bottleneck of 10 ms with a drop-tail queue. Flow i
# starts at 0.01 i s plus a random jitter of up to 10 ms; its base round-trip time is class
# (i mod classes) of so many, evenly spaced. Results, one line of JSON, cover the last three quarters
# of the run. duplicates=1 adds a line with the share of data packets that their receiver already had;
# it traces every link to a receiver, which takes time and changes nothing else. trace=FILE writes when
# flow 0 sends what; drops=N,N,... loses these arrivals at the bottleneck, counted from 0.
#
# queue=RED puts ns-2's RED there, its limit `buffer` times the mean packet of 1500 bytes. min, max
# (packets), weight and p (the probability at max) are ns-2's own automatic values unless given;
# bytes=0 counts packets, gentle=0 and wait=0 switch these off, adaptive=1 adapts p. The line of
# results then has the share of early drops, and mean and variance of the average (bytes or packets)
# at arrivals.

array set opt {
    flows 100  rate 50  buffer 688  rtt_min 20  rtt_max 534  classes 18
    duration 200  seed 1  tcp Sack1  window 10000
    jitter 0.01  duplicates 0  trace ""  drops ""
    queue DropTail  min 0  max 0  weight -1  p 0.1  bytes 1  gentle 1  wait 1  adaptive 0
}
foreach argument $argv {
    set pair [split $argument =]
    if {![info exists opt([lindex $pair 0])]} { puts stderr "unknown key: $argument"; exit 2 }
    set opt([lindex $pair 0]) [lindex $pair 1]
}

remove-all-packet-headers
add-packet-header IP TCP Flags
Agent/TCP set window_ $opt(window)
Agent/TCP set packetSize_ 1460
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ 0.2

Queue/RED set mean_pktsize_ 1500
Queue/RED set thresh_ $opt(min)
Queue/RED set maxthresh_ $opt(max)
Queue/RED set q_weight_ $opt(weight)
Queue/RED set linterm_ [expr {1.0 / $opt(p)}]
Queue/RED set bytes_ $opt(bytes)
Queue/RED set queue_in_bytes_ $opt(bytes)
Queue/RED set gentle_ $opt(gentle)
Queue/RED set wait_ $opt(wait)
Queue/RED set adaptive_ $opt(adaptive)

set ns [new Simulator]
$ns rtproto Manual

# Streams of near seeds begin alike: spread the seeds and discard what comes first.
set random [new RNG]
$random seed [expr {7919 * $opt(seed) + 12345}]
for {set i 0} {$i < 50} {incr i} { $random uniform 0 1 }

set left [$ns node]
set right [$ns node]
$ns simplex-link $left $right $opt(rate)Mb 10ms $opt(queue)
$ns simplex-link $right $left $opt(rate)Mb 10ms DropTail
$ns queue-limit $left $right $opt(buffer)
$ns queue-limit $right $left 100000
[$left get-module Manual] add-route-to-adj-node -default $right
[$right get-module Manual] add-route-to-adj-node -default $left
set bottleneck [$ns link $left $right]
set monitor [new QueueMonitor/ED]
set integrator [new Integrator]
$monitor set-pkts-integrator $integrator
$monitor set-bytes-integrator [new Integrator]
$bottleneck attach-monitors [new SnoopQueue/In] [new SnoopQueue/Out] [new SnoopQueue/Drop] $monitor
if {$opt(queue) == "RED"} {
    set early [new SnoopQueue/EDrop]
    $early set-monitor $monitor
    $early target [$ns set nullAgent_]
    set red [$bottleneck queue]
    $red early-drop-target $early
    set awk [file join [file dirname [info script]] average.awk]
    set averages [open "|awk -v begin=[expr {0.25 * $opt(duration)}] -f $awk" w]
    $red trace ave_
    $red attach $averages
}

if {$opt(drops) != ""} {
    set losses [new ErrorModel/List]
    $losses droplist [split $opt(drops) ,]
    $losses drop-target [new Agent/Null]
    $ns lossmodel $losses $left $right
}
if {$opt(duplicates)} {
    set counter [file join [file dirname [info script]] duplicates.awk]
    set begin_count [expr {0.25 * $opt(duration)}]
    set deliveries [open "|awk -v begin=$begin_count -f $counter" w]
}

# An access link between a host and its router, with queues that never overflow.
proc access {host router delay_ms} {
    global ns
    $ns duplex-link $host $router 1Gb ${delay_ms}ms DropTail
    $ns queue-limit $host $router 100000
    $ns queue-limit $router $host 100000
    [$host get-module Manual] add-route-to-adj-node -default $router
    [$router get-module Manual] add-route-to-adj-node $host
}

for {set i 0} {$i < $opt(flows)} {incr i} {
    set rtt $opt(rtt_min)
    if {$opt(classes) > 1} {
        set step [expr {($opt(rtt_max) - $opt(rtt_min)) / double($opt(classes) - 1)}]
        set rtt [expr {$opt(rtt_min) + ($i % $opt(classes)) * $step}]
    }
    set access [expr {($rtt / 2.0 - 10) / 2.0}]
    set source [$ns node]
    set sink_node [$ns node]
    access $source $left $access
    access $sink_node $right $access
    if {$opt(duplicates)} { $ns trace-queue $right $sink_node $deliveries }
    if {$opt(trace) != "" && $i == 0} { $ns trace-queue $source $left [open $opt(trace) w] }
    # ns-2's plain agent is Tahoe.
    set tcp($i) [expr {$opt(tcp) == "Tahoe" ? [new Agent/TCP] : [new Agent/TCP/$opt(tcp)]}]
    set sink [expr {$opt(tcp) == "Sack1" ? [new Agent/TCPSink/Sack1] : [new Agent/TCPSink]}]
    $ns attach-agent $source $tcp($i)
    $ns attach-agent $sink_node $sink
    $ns connect $tcp($i) $sink
    $tcp($i) set fid_ $i
    set ftp($i) [new Application/FTP]
    $ftp($i) attach-agent $tcp($i)
    $ns at [expr {0.01 * $i + [$random uniform 0 $opt(jitter)]}] "$ftp($i) start"
}

proc snapshot {name} {
    global ns opt tcp monitor integrator
    upvar #0 $name shot
    $integrator newpoint [$ns now] [$integrator set lasty_]
    set shot(queue) [$integrator set sum_]
    foreach {key variable} {
        arrivals parrivals_ departures pdepartures_ drops pdrops_ early epdrops_
    } {
        set shot($key) [$monitor set $variable]
    }
    foreach {key variable} {acked ack_ sent ndatapack_ resent nrexmitpack_} {
        set shot($key) 0
        for {set i 0} {$i < $opt(flows)} {incr i} {
            set shot($key) [expr {$shot($key) + [$tcp($i) set $variable]}]
        }
    }
}

proc finish {} {
    global ns opt begin end deliveries averages
    snapshot end
    set seconds [expr {0.75 * $opt(duration)}]
    foreach key {queue arrivals departures drops early acked sent resent} {
        set d($key) [expr {double($end($key) - $begin($key))}]
    }
    # Packets times 1500 bytes: the byte counter of the monitor wraps at 2^31.
    set utilization [expr {$d(departures) * 12000.0 / ($opt(rate) * 1e6 * $seconds)}]
    set loss [expr {$d(arrivals) > 0 ? $d(drops) / $d(arrivals) : 0.0}]
    set goodput [expr {$d(acked) * 11680.0 / $seconds / $opt(flows)}]
    set resent [expr {$d(sent) > 0 ? $d(resent) / $d(sent) : 0.0}]
    puts [format {{"utilization": %.6f, "loss_rate": %.8f, "mean_backlog_packets": %.4f, "goodput_bps": %.1f, "resent_share": %.8f, "delivered": %.0f}} \
        $utilization $loss [expr {$d(queue) / $seconds}] $goodput $resent $end(departures)]
    if {$opt(queue) == "RED"} {
        puts [format {{"early_share": %.8f}} [expr {$d(drops) > 0 ? $d(early) / $d(drops) : 0.0}]]
    }
    flush stdout
    $ns flush-trace
    if {$opt(duplicates)} { close $deliveries }
    if {$opt(queue) == "RED"} { close $averages }
    exit 0
}

$ns at [expr {0.25 * $opt(duration)}] "snapshot begin"
$ns at $opt(duration) finish
$ns run
