"""The commands as they are typed: options, and which of them go together."""
