# Reads ns-2's trace of the links next to the hosts of lossy-link.tcl; prints what the tables of the two studies hold:
# the mean delay of TCP's data packets from their sending to their arrival (each transmission counts by itself), the
# payload received over the time from the first one sent to the last one received, and the datagrams lost: missing
# before the last that arrived. Fields: 1 event, 2 time, 3 from, 4 to, 6 size, 11 sequence number, 12 number of the
# packet.
$1 == "+" && $3 == 0 && $6 > 40 {
    sent[$12] = $2
    if (!first) first = $2
}
$1 == "r" && $4 == 6 && $6 > 40 {
    delay += $2 - sent[$12]
    received++
    payload += $6 - 40
    last = $2
}
$1 == "r" && $4 == 7 {
    arrived++
    datagrams = $11 + 1
}
END {
    printf "{\"delay_ms\": %.6f, \"throughput_kbps\": %.6f, \"lost\": %d}\n", \
        1000 * delay / received, 8 * payload / (last - first) / 1000, datagrams - arrived
}
