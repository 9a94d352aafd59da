"""Rules that follow from the course of TCP's congestion window."""
