"""Congestion controls of this package and of quinn in the bands of `goodqueue characterize`."""
