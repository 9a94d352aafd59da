"""Accuracy of the analysis of captures."""
