# Parameters in an array, procedures with defaults, lists, and a procedure that records at intervals.
array set opt {flows 6 rate 10Mb delay 20ms buffer 30 stop 30.0 queue RED}
proc assign {text name} {
    upvar $name target
    set pair [split $text =]
    set target([lindex $pair 0]) [lindex $pair 1]
}
foreach argument $argv {
    assign $argument opt
}

Agent/TCP set window_ 1000
Agent/TCP set packetSize_ 1460
Queue/RED set thresh_ 10
Queue/RED set maxthresh_ 30
Queue/RED set q_weight_ 0.002
Queue/RED set queue_in_bytes_ false
Queue/RED set bytes_ false
Queue/RED set gentle_ false
Queue/RED set linterm_ 50

set ns [new Simulator]
set r(0) [$ns node]
set r(1) [$ns node]
$ns duplex-link $r(0) $r(1) $opt(rate) $opt(delay) $opt(queue)
$ns queue-limit $r(0) $r(1) $opt(buffer)
$ns queue-limit $r(1) $r(0) [expr {2 * $opt(buffer)}]

proc host {router {delay 5ms}} {
    global ns
    set node [$ns node]
    $ns duplex-link $node $router 100Mb $delay DropTail
    return $node
}

set watched {}
for {set i 0} {$i < $opt(flows)} {incr i} {
    set s($i) [host $r(0) [expr {1 + $i}]ms]
    set d($i) [host $r(1)]
    if {$i % 2 == 0} {
        set tcp($i) [new Agent/TCP/Reno]
        set sink [new Agent/TCPSink]
    } else {
        set tcp($i) [new Agent/TCP/Sack1]
        set sink [new Agent/TCPSink/Sack1]
    }
    $ns attach-agent $s($i) $tcp($i)
    $ns attach-agent $d($i) $sink
    $ns connect $tcp($i) $sink
    set ftp($i) [$tcp($i) attach-app FTP]
    lappend watched $tcp($i)
    $ns at [expr 0.5 * $i] "$ftp($i) start"
}

set out [open windows.txt w]
proc record {} {
    global ns watched out
    set line [format "%.2f" [$ns now]]
    foreach tcp $watched { append line " " [$tcp set cwnd_] }
    puts $out $line
    $ns at [expr {[$ns now] + 0.1}] "record"
}
$ns at 0.0 "record"
$ns at $opt(stop) {
    close $out
    exec xgraph windows.txt &
    $ns halt
}
$ns run
