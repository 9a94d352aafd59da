"""Results of a run: figures, tables, files of traces, and the life of one flow."""
