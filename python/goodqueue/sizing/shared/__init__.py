"""The memory that several links share: the limits that it makes, and how much they need."""
