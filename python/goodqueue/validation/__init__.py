"""The real ns-2 beside goodqueue on the same links: what `make validate` runs."""
