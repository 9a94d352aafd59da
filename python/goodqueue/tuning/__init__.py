"""Search for the values of any parameter of a scenario that keep bounds on any of its figures.

`goodqueue.tune` is the entry. `axis` has the values that may be tried, `figures` the names of
figures, `bounds` the bounds and the goal, `search` the runs, and `answer` what they show.
"""
