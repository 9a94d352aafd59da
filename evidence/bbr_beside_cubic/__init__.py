"""Measures BBR's share beside CUBIC in deep buffers: the table of docs/evidence/controls.md."""
