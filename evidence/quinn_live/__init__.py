"""Transfers of quinn behind emulated links in real time, and the same in simulated time."""
