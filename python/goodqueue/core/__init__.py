"""Values and tools without a subject of their own: intervals, files, frames, threads."""
