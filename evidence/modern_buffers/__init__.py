"""The buffers that links with the traffic of 2026 need, and the record of the rules for it."""
