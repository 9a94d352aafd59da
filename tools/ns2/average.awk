# Mean and variance of a variable that ns-2 traces ("name time value", a line for each change) from
# the time `begin` on, as one line of JSON.

$2 >= begin {
    samples++
    from_old = $3 - mean
    mean += from_old / samples
    squares += from_old * ($3 - mean)
}

END {
    variance = samples > 0 ? squares / samples : 0
    printf "{\"average_queue_mean\": %.6f, \"average_queue_variance\": %.6f}\n", mean, variance
}
