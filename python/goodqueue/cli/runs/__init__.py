"""Commands that run scenarios: `run`, its option `--explain`, and `compare`."""
