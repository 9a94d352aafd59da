"""Estimates the parameters of the sizing rules from a packet capture, and simulates its link."""

from goodqueue.passive.analysis import PARAMETERS, Analysis, Parameter, analyze

__all__ = ["PARAMETERS", "Analysis", "Parameter", "analyze"]
