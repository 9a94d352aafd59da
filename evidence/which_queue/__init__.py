"""Comparison of queue disciplines on one link: `make evidence NAME=which_queue`."""
