"""Packets, ACKs and times of this kernel's hosts above 100 Mb/s, for `interface` of flows."""
