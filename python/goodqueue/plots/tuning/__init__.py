"""Pictures of the answers of `goodqueue tune`."""
