"""From a packet capture to the parameters of the sizing rules, and to a simulation of the link."""

from goodqueue.passive.analysis import PARAMETERS, Analysis, Parameter, analyze

__all__ = ["PARAMETERS", "Analysis", "Parameter", "analyze"]
