"""Commands that compute a buffer: `size` and `smoothing`."""
