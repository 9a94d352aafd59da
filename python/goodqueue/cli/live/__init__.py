"""Commands that run real programs behind emulated links."""
