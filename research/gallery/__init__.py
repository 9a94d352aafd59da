"""Pictures of the ready scenarios, drawn by `python -m research.gallery`."""
