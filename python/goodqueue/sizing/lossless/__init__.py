"""Lossless Ethernet: the headroom that a port with priority-based flow control needs."""
