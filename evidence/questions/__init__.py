"""Questions that people ask, and the answers of `goodqueue size`."""
