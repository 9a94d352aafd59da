"""Comparison of queue disciplines on one link: `python -m research.which_queue`."""
