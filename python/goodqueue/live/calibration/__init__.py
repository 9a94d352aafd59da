"""Theory, simulation and this machine's kernel on the same links."""
