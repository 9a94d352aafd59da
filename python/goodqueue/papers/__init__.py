"""Published experiments as data, and what compares them with runs of ours."""
