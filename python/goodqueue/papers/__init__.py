"""Published experiments as data, and the code that compares them with our own runs."""
