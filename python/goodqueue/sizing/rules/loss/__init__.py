"""Rules that bound the loss rate."""
