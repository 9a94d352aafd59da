"""Runs Prague beside a classic flow behind queues without L4S, for docs/evidence/controls.md."""
