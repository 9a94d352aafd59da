"""Studies behind the package's figures: programs that need the checkout and are not in the wheel."""
