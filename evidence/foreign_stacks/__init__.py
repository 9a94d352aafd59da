"""Predicts published headroom tables of switches from two speeds and two cables."""
