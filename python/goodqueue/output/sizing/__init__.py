"""The answer of `goodqueue size`, on a terminal and as an HTML page."""
