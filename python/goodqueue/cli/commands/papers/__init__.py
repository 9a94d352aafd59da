"""Options of the commands about published experiments."""
