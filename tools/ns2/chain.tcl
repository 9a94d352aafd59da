# A chain of links with long TCP flows for ns-2, the counterpart of scenarios/parking-lot.toml and
# scenarios/asymmetric.toml.
#
#   ns chain.tcl key=value ...
#
# A link of `delay` ms for each of `rates` (Mb/s), in a row, each with a drop-tail queue of `buffer`; back,
# of `reverse_rate` (0: as forward) and `reverse_buffer`. `long` flows cross all of them, `cross` flows each
# one. Flow i of a set has the base round-trip time of class (i mod classes) of so many, evenly spaced
# (ms); its hosts stand on 1 Gb/s links. It starts at 0.01 i s plus a random jitter of up to 10 ms.
#
# Results, one line of JSON, cover the last three quarters of the run: goodput per flow of each set
# (bit/s acknowledged), and for each link and its way back utilisation, loss rate and mean backlog.

array set opt {
    rates 10  delay 10  buffer 84  reverse_rate 0  reverse_buffer 100000
    long 10  long_min 100  long_max 193  cross 0  cross_min 50  cross_max 143  classes 10
    duration 200  seed 1
}
foreach argument $argv {
    set pair [split $argument =]
    if {![info exists opt([lindex $pair 0])]} { puts stderr "unknown key: $argument"; exit 2 }
    set opt([lindex $pair 0]) [lindex $pair 1]
}
set rates [split $opt(rates) ,]
set links [llength $rates]

remove-all-packet-headers
add-packet-header IP TCP Flags
Agent/TCP set window_ 10000
Agent/TCP set packetSize_ 1460
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ 0.2

set ns [new Simulator]

# Streams of near seeds begin alike: spread the seeds and discard what comes first.
set random [new RNG]
$random seed [expr {7919 * $opt(seed) + 12345}]
for {set i 0} {$i < 50} {incr i} { $random uniform 0 1 }

# What the queue of a link counts; `name` is its name in the results.
proc watch {name from to rate} {
    global ns monitors integrators rate_of
    set monitors($name) [new QueueMonitor]
    set integrators($name) [new Integrator]
    set rate_of($name) $rate
    $monitors($name) set-pkts-integrator $integrators($name)
    $monitors($name) set-bytes-integrator [new Integrator]
    [$ns link $from $to] attach-monitors \
        [new SnoopQueue/In] [new SnoopQueue/Out] [new SnoopQueue/Drop] $monitors($name)
}

set node(0) [$ns node]
for {set k 1} {$k <= $links} {incr k} {
    set node($k) [$ns node]
    set before $node([expr {$k - 1}])
    set rate [lindex $rates [expr {$k - 1}]]
    set back [expr {$opt(reverse_rate) > 0 ? $opt(reverse_rate) : $rate}]
    $ns simplex-link $before $node($k) ${rate}Mb $opt(delay)ms DropTail
    $ns simplex-link $node($k) $before ${back}Mb $opt(delay)ms DropTail
    $ns queue-limit $before $node($k) $opt(buffer)
    $ns queue-limit $node($k) $before $opt(reverse_buffer)
    watch link$k $before $node($k) $rate
    watch link$k.reverse $node($k) $before $back
}

# A host on a router, behind queues that never overflow.
proc host {router delay_ms} {
    global ns
    set host [$ns node]
    $ns duplex-link $host $router 1Gb ${delay_ms}ms DropTail
    $ns queue-limit $host $router 100000
    $ns queue-limit $router $host 100000
    return $host
}

# Flows of the set `name` over links `first` to `last`.
proc flows {name count first last rtt_min rtt_max} {
    global ns opt node random tcps
    set tcps($name) {}
    set step [expr {($rtt_max - $rtt_min) / double(max($opt(classes) - 1, 1))}]
    set propagation [expr {$opt(delay) * ($last - $first + 1)}]
    for {set i 0} {$i < $count} {incr i} {
        set rtt [expr {$rtt_min + ($i % $opt(classes)) * $step}]
        set access [expr {($rtt / 2.0 - $propagation) / 2.0}]
        set source [host $node([expr {$first - 1}]) $access]
        set destination [host $node($last) $access]
        set tcp [new Agent/TCP/Sack1]
        set sink [new Agent/TCPSink/Sack1]
        $ns attach-agent $source $tcp
        $ns attach-agent $destination $sink
        $ns connect $tcp $sink
        set ftp [new Application/FTP]
        $ftp attach-agent $tcp
        lappend tcps($name) $tcp
        $ns at [expr {0.01 * $i + [$random uniform 0 0.01]}] "$ftp start"
    }
}

flows long $opt(long) 1 $links $opt(long_min) $opt(long_max)
if {$opt(cross) > 0} {
    for {set k 1} {$k <= $links} {incr k} {
        flows cross$k $opt(cross) $k $k $opt(cross_min) $opt(cross_max)
    }
}

# The counters of now, by name.
proc snapshot {shot} {
    global ns monitors integrators tcps
    upvar #0 $shot counted
    foreach name [array names monitors] {
        $integrators($name) newpoint [$ns now] [$integrators($name) set lasty_]
        set counted($name.queue) [$integrators($name) set sum_]
        foreach variable {parrivals_ pdepartures_ bdepartures_ pdrops_} {
            set counted($name.$variable) [$monitors($name) set $variable]
        }
    }
    foreach name [array names tcps] {
        set counted($name.acked) 0
        foreach tcp $tcps($name) { incr counted($name.acked) [$tcp set ack_] }
    }
}

proc finish {} {
    global opt begin end monitors rate_of tcps
    snapshot end
    set seconds [expr {0.75 * $opt(duration)}]
    foreach key [array names end] { set d($key) [expr {double($end($key) - $begin($key))}] }
    set figures {}
    foreach name [lsort [array names tcps]] {
        set goodput [expr {$d($name.acked) * 11680.0 / $seconds / [llength $tcps($name)]}]
        lappend figures [format {"%s.goodput_bps": %.3f} $name $goodput]
    }
    foreach name [lsort [array names monitors]] {
        set offered $d($name.parrivals_)
        foreach {metric value} [list \
            utilization [expr {$d($name.bdepartures_) * 8.0 / ($rate_of($name) * 1e6 * $seconds)}] \
            loss_rate [expr {$offered > 0 ? $d($name.pdrops_) / $offered : 0.0}] \
            mean_backlog_packets [expr {$d($name.queue) / $seconds}]] {
            lappend figures [format {"%s.%s": %.8f} $name $metric $value]
        }
    }
    puts "{[join $figures {, }]}"
    exit 0
}

$ns at [expr {0.25 * $opt(duration)}] "snapshot begin"
$ns at $opt(duration) finish
$ns run
