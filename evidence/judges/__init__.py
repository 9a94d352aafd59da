"""Open data of other laboratories beside our runs of the same networks."""
