"""The lab: a page in the browser that shows what a buffer does, and its local server."""
