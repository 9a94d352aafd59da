"""The analysis of a capture, and its comparison with the model, as tables."""
