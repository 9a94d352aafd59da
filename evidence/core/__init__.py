"""The mechanism: derived things, their stamps and canaries, and the order of their making."""
