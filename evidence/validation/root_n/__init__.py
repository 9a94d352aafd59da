"""The square-root rule, measured."""
