"""Commands about published experiments: `reproduce` and `demo`."""
