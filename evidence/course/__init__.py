"""The Mininet assignment "bufferbloat" without Mininet, beside results that students published."""
