"""Studies behind the package's figures. They need the checkout and are not in the wheel."""
