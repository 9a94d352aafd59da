"""What can be wrong with what a user asks."""

from __future__ import annotations


class RequestError(ValueError):
    """A request that cannot be met whatever the scenario: said before anything runs."""
