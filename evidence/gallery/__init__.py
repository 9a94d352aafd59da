"""Pictures of the ready scenarios, drawn by `make evidence NAME=gallery`."""
