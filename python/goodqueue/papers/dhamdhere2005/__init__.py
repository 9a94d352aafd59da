"""Dhamdhere, Jiang and Dovrolis, "Buffer Sizing for Congested Internet Links", INFOCOM 2005."""
