"""Results of live measurements as tables, sentences and pages."""
