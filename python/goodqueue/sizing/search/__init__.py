"""The search for a smallest buffer: limits to try, replicates, the time budget."""
