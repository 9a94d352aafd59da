"""Rules for flows that pace, estimate a rate, or follow marks."""
