"""Characterisation of a queue or a congestion control by the guidelines of the IETF.

The guidelines are data: a folder for each RFC, and a TOML file for each section with its request,
its scenario and its figures.
"""
