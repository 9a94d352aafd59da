"""Pictures of studies: which runs they show, and how each kind is drawn."""
