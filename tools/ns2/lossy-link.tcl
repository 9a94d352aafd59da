# The set-up that two studies of buffer sizes ran (docs/ahmad2020.md, docs/wisdom2021.md) for ns-2, the
# counterpart of python/goodqueue/papers/ahmad2020/fitted.toml.
#
#   ns lossy-link.tcl key=value ...
#
# One TCP flow (0 -> 6) and datagrams (1 -> 7) share the link 4 -> 5 of `rate` Mb/s. It loses packets at
# random before its queue, whose `queue-limit` is `buffer`. `tcp` is Sack1, Reno, Newreno or Tahoe; receivers delay
# ACKs. Results, one line of JSON (tools/ns2/delays.awk says what they are). trace=FILE keeps the whole
# trace, too, of all nodes; seed=0 takes ns-2's default stream as it is, as the studies did; end=124 ends the run with
# the FTP, as ours does.

array set opt {rate 0.5  loss 0.01  buffer 10  queue DropTail  tcp Sack1  seed 0  trace ""  end 125.0}
foreach argument $argv {
    set pair [split $argument =]
    if {![info exists opt([lindex $pair 0])]} { puts stderr "unknown key: $argument"; exit 2 }
    set opt([lindex $pair 0]) [lindex $pair 1]
}

# Errors, RED and the agents' clocks all draw from one stream. Streams of near seeds begin alike: spread the
# seeds and discard what comes first.
if {$opt(seed) > 0} {
    $defaultRNG seed [expr {7919 * $opt(seed) + 12345}]
    for {set i 0} {$i < 50} {incr i} { $defaultRNG uniform 0 1 }
}

set ns [new Simulator]
if {$opt(trace) != ""} {
    set trace [open $opt(trace) w]
    $ns trace-all $trace
}
for {set i 0} {$i < 8} {incr i} { set node($i) [$ns node] }
foreach {from to delay} {0 4 5ms  1 4 2ms  2 4 5ms  3 4 5ms  5 6 5ms  5 7 2ms} {
    $ns duplex-link $node($from) $node($to) 200Mb $delay DropTail
}
$ns simplex-link $node(4) $node(5) $opt(rate)Mb 10ms $opt(queue)
$ns simplex-link $node(5) $node(4) 0.5Mb 10ms $opt(queue)
$ns queue-limit $node(4) $node(5) $opt(buffer)

set errors [new ErrorModel]
$errors set rate_ $opt(loss)
$errors unit pkt
$errors ranvar [new RandomVariable/Uniform]
$errors drop-target [new Agent/Null]
$ns lossmodel $errors $node(4) $node(5)

# ns-2's plain agent is Tahoe; only Sack1 has a sink of its own.
set tcp [expr {$opt(tcp) == "Tahoe" ? [new Agent/TCP] : [new Agent/TCP/$opt(tcp)]}]
set sink [expr {$opt(tcp) == "Sack1" ? [new Agent/TCPSink/Sack1/DelAck] : [new Agent/TCPSink/DelAck]}]
$tcp set window_ 8000
$tcp set packetSize_ 552
$tcp set fid_ 1
$ns attach-agent $node(0) $tcp
$ns attach-agent $node(6) $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp

set udp [new Agent/UDP]
$udp set fid_ 2
set null [new Agent/Null]
$ns attach-agent $node(1) $udp
$ns attach-agent $node(7) $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr attach-agent $udp
$cbr set packet_size_ 1000
$cbr set rate_ 0.02Mb

# Two ends of each way are enough for the results.
set awk [file join [file dirname [info script]] delays.awk]
set ends [open "|awk -f $awk" w]
foreach {from to} {0 4  5 6  1 4  5 7} { $ns trace-queue $node($from) $node($to) $ends }

proc finish {} {
    global ns ends trace
    $ns flush-trace
    close $ends
    if {[info exists trace]} { close $trace }
    exit 0
}

$ns at 0.1 "$cbr start"
$ns at 2.0 "$ftp start"
$ns at 124.0 "$ftp stop"
$ns at 124.5 "$cbr stop"
$ns at $opt(end) finish
$ns run
