"""Everything that was derived from runs: its makers, its data, and the engine that made it.

A folder holds one experiment: its programs, its data, and `stamp.json`, which says from which
engine, inputs and programs each thing came. `python -m evidence check` finds what has aged.
"""
