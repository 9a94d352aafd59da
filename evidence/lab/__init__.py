"""Times of the lab's page in a browser."""
