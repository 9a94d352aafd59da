"""Definitions of the commands: their options, and which options can be combined."""
