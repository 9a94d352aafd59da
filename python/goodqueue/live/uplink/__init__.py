"""Connections of an emulated network with the outside."""
