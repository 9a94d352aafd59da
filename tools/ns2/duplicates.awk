# Reads ns-2's trace of the links to the receivers; prints the share of the data packets received after
# `begin` seconds that their flow had received before. Fields: 1 event, 2 time, 5 type, 8 flow, 11 sequence
# number.
$1 == "r" && $5 == "tcp" {
    known = ($8, $11) in seen
    seen[$8, $11]
    if ($2 > begin) {
        received++
        duplicates += known
    }
}
END { printf "{\"duplicate_share\": %.8f}\n", received ? duplicates / received : 0 }
