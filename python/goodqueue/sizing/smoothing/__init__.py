"""Playout buffers: how much of a stream an end host stores to play it without stopping."""
