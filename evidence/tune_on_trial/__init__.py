"""Answers of `goodqueue tune` on drawn problems of one parameter, beside dense grids."""
