# One flow of ns-2 that loses chosen packets: the counterpart of scenarios/drop-pattern.toml.
#
#   ns drops.tcl key=value ...
#
# The network is that of ns-2's own `tcpVariants` tests: a sender, 8 Mb/s without delay to a router, 800
# kb/s and 100 ms with a queue of 8 to the sink, a window of 28 packets, a start at 1 s. drops=N,N,...
# names the packets lost before the slow link, counted from 0 in order of arrival. Results: ns-2's trace of
# the sender's link, whose lines with `+` are what TCP sends. settings=tests takes the settings of those
# tests, which keep what ns-2 did before 2003 to 2006; settings=default is ns-2.35 as it comes. buffer=N is
# the `queue-limit` of the slow link, and trace=slow traces that link instead, whose lines with `d` are
# packets lost there.

array set opt {
    tcp Sack1  drops 14  limited_transmit 1  settings default  buffer 8  trace fast
}
foreach argument $argv {
    set pair [split $argument =]
    if {![info exists opt([lindex $pair 0])]} { puts stderr "unknown key: $argument"; exit 2 }
    set opt([lindex $pair 0]) [lindex $pair 1]
}

remove-all-packet-headers
add-packet-header IP TCP Flags
Agent/TCP set window_ 28
Agent/TCP set singledup_ $opt(limited_transmit)
if {$opt(settings) == "tests"} {
    Agent/TCP set rtxcur_init_ 6.0
    Agent/TCP set minrto_ 1
    Agent/TCP set precisionReduce_ false
    Agent/TCP/Newreno set newreno_changes1_ 0
    Agent/TCP/Newreno set partial_window_deflation_ 0
}

set ns [new Simulator]
set sender [$ns node]
set router [$ns node]
set receiver [$ns node]
$ns duplex-link $sender $router 8Mb 0ms DropTail
$ns duplex-link $router $receiver 800Kb 100ms DropTail
$ns queue-limit $router $receiver $opt(buffer)
$ns queue-limit $receiver $router 8
if {$opt(trace) == "slow"} {
    $ns trace-queue $router $receiver stdout
} else {
    $ns trace-queue $sender $router stdout
}

set losses [new ErrorModel/List]
$losses droplist [split $opt(drops) ,]
$losses drop-target [new Agent/Null]
$ns lossmodel $losses $router $receiver

# ns-2's plain agent is Tahoe.
set tcp [expr {$opt(tcp) == "Tahoe" ? [new Agent/TCP] : [new Agent/TCP/$opt(tcp)]}]
set sink [expr {$opt(tcp) == "Sack1" ? [new Agent/TCPSink/Sack1] : [new Agent/TCPSink]}]
$ns attach-agent $sender $tcp
$ns attach-agent $receiver $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp

$ns at 1.0 "$ftp start"
$ns at 6.0 {
    $ns flush-trace
    exit 0
}
$ns run
