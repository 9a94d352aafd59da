"""Pictures of results. They read tables and nothing else."""
