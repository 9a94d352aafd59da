"""Published experiments: ns-2 beside our tables, and sizing from captures."""
