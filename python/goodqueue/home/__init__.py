"""The shaper of a home's router: the rate to type, and what people feel before and after.

`api.home` is the entry. `line` has the kinds of access lines, `household` the traffic, `scenario`
the scenario of both, `answer` what the runs show, and `devices` the lines for routers. The search
for a rate is that of `goodqueue.tuning`.
"""
