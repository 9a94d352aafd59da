# A SACK flow and datagrams over a dumbbell, for ns-2: what tests/run/test_ns2_traces.py runs beside us.
set ns [new Simulator]
set f [open [lindex $argv 0] w]
$ns trace-all $f
for {set i 0} {$i < 6} {incr i} { set n($i) [$ns node] }
foreach {a b rate delay} {0 2 10Mb 2ms 1 2 10Mb 2ms 2 3 1Mb 10ms 3 4 10Mb 2ms 3 5 10Mb 2ms} {
    $ns duplex-link $n($a) $n($b) $rate $delay DropTail
    $ns queue-limit $n($a) $n($b) 1000
    $ns queue-limit $n($b) $n($a) 1000
}
# ns-2 counts the packet in transmission, too.
$ns queue-limit $n(2) $n(3) 11
set tcp [new Agent/TCP/Sack1]
$tcp set packetSize_ 960
$tcp set window_ 1000
$tcp set fid_ 1
$ns attach-agent $n(0) $tcp
set sink [new Agent/TCPSink/Sack1]
$ns attach-agent $n(4) $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
set udp [new Agent/UDP]
$udp set fid_ 2
$ns attach-agent $n(1) $udp
set null [new Agent/Null]
$ns attach-agent $n(5) $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ 500
$cbr set interval_ 0.02
$cbr attach-agent $udp
$ns at 0.1 "$cbr start"
$ns at 0.5 "$ftp start"
$ns at 20.0 "exit 0"
$ns run
