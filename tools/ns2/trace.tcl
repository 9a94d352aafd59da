# A link of 1 Mb/s with room for 10 packets, a TCP flow and a CBR flow: a trace (the argument names its file), and
# what the queue's own monitor counts. Made tests/data/ns2/dumbbell.tr.xz and .json (ns-2.35).
set ns [new Simulator]
set tr [open [lindex $argv 0] w]
$ns trace-all $tr
foreach i {0 1 2 3} { set n($i) [$ns node] }
$ns duplex-link $n(0) $n(1) 10Mb 2ms DropTail
$ns duplex-link $n(2) $n(1) 10Mb 2ms DropTail
$ns duplex-link $n(1) $n(3) 1Mb 10ms DropTail
$ns queue-limit $n(1) $n(3) 10
set mon [$ns monitor-queue $n(1) $n(3) ""]
set tcp [new Agent/TCP/Newreno]; $tcp set packetSize_ 960; $tcp set window_ 100
set sink [new Agent/TCPSink]
$ns attach-agent $n(0) $tcp; $ns attach-agent $n(3) $sink; $ns connect $tcp $sink
set ftp [new Application/FTP]; $ftp attach-agent $tcp
set udp [new Agent/UDP]; set null [new Agent/Null]
$ns attach-agent $n(2) $udp; $ns attach-agent $n(3) $null; $ns connect $udp $null
set cbr [new Application/Traffic/CBR]; $cbr set packetSize_ 210; $cbr set rate_ 200k; $cbr attach-agent $udp
$ns at 0.1 "$cbr start"; $ns at 0.5 "$ftp start"; $ns at 5.0 "finish"
proc finish {} { global ns tr mon; $ns flush-trace; close $tr
  foreach v {parrivals_ pdepartures_ pdrops_ barrivals_ bdepartures_ bdrops_} { puts "$v [$mon set $v]" }; exit 0 }
$ns run
