"""Recommendations, checked by exhaustive scans."""
