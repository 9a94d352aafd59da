"""The range over hosts of `goodqueue size`, beside TCP of a kernel behind its ends."""
