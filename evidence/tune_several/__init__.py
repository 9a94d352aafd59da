"""Answers of `goodqueue tune` on drawn problems of two parameters, beside dense grids."""
