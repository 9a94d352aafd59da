"""Pictures of results. They read tables and nothing else."""

from goodqueue.core.extras import require

require("polars", "matplotlib")
