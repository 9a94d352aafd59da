"""The library polars, which makes frames, as `pl`. If it is missing, the error names its extra."""

from goodqueue.core.extras import require

require("polars")

import polars as pl  # noqa: E402 - a missing library has a message of its own

__all__ = ["pl"]
