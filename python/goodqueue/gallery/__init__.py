"""The ready scenarios' pictures: `python -m goodqueue.gallery` draws those of docs/scenarios.md."""
