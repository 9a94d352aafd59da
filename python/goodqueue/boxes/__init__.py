"""Switches: the memory that the ports of a box share, and the incasts that it survives.

`switch` has the box and the closed forms of dynamic thresholds, `scenario` the runs, `api` the
question, `worlds` the hosts that are not described, and `answer` what the searches show.
"""
