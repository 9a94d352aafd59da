"""Single runs: scenarios in, results and traces out, within memory and disk space."""
