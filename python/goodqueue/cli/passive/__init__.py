"""Commands that read packet captures."""
