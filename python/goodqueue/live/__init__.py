"""Real programs behind emulated links, on Linux."""
