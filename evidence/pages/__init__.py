"""Pictures of the README and of guides that commands and examples of the pages themselves draw."""
