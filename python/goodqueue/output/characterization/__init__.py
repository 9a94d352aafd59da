"""Text, JSON and page of a characterisation."""
