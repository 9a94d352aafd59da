"""Answers of `goodqueue size` on drawn links, beside dense runs over the buffer."""
