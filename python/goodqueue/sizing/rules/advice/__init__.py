"""Recommendations of vendors, operators and studies."""
