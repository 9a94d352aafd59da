"""The answer to a question about a link: how it is worked out, and what it holds."""
