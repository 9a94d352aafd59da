"""TCP Prague and DualPI2 beside published figures of Linux."""
