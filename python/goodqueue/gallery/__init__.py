"""Pictures of the ready scenarios: `python -m goodqueue.gallery` draws them for its page."""
