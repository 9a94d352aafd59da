"""Pages, pictures and run times of the papers' experiments, for the documentation."""
