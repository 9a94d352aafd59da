"""Measures what queues and controls in Python cost: `python -m evidence.python_cost.experiment`."""
