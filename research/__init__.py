"""Studies behind the package's figures: programs that need the checkout, outside the wheel."""
