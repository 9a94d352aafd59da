"""The real ns-2 and recordings of Linux beside goodqueue: what `make validate` runs."""
