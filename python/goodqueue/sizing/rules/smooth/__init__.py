"""Rules for traffic without large bursts, from queueing theory."""
