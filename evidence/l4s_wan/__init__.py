"""Single flows over a path of the internet, beside published goodput of heistp/l4s-tests."""
