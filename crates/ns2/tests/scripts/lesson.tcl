# What lessons write: a TCP flow and datagrams over a slow link, with traces and pictures.
set ns [new Simulator]
$ns color 1 Blue
set trace [open lesson.tr w]
$ns trace-all $trace
set nam [open lesson.nam w]
$ns namtrace-all $nam

proc finish {} {
    global ns trace nam
    $ns flush-trace
    close $trace
    close $nam
    exec nam lesson.nam &
    exit 0
}

set n0 [$ns node]
set n1 [$ns node]
set n2 [$ns node]
set n3 [$ns node]
$n0 label "sender"
$ns duplex-link $n0 $n2 2Mb 10ms DropTail
$ns duplex-link $n1 $n2 2Mb 10ms DropTail
$ns duplex-link $n2 $n3 1.7Mb 20ms DropTail
$ns queue-limit $n2 $n3 10
$ns duplex-link-op $n2 $n3 queuePos 0.5

set tcp [new Agent/TCP/Newreno]
$tcp set class_ 2
$tcp set fid_ 1
$ns attach-agent $n0 $tcp
set sink [new Agent/TCPSink/DelAck]
$ns attach-agent $n3 $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ftp set type_ FTP

set udp [new Agent/UDP]
$ns attach-agent $n1 $udp
set null [new Agent/Null]
$ns attach-agent $n3 $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr attach-agent $udp
$cbr set packet_size_ 1000
$cbr set rate_ 1mb
$cbr set random_ false

$ns at 0.1 "$cbr start"
$ns at 1.0 "$ftp start"
$ns at 40.0 "$ftp stop"
$ns at 44.5 "$cbr stop"
$ns at 45.0 "finish"
puts "interval [$cbr set interval_]"
$ns run
