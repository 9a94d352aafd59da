"""Recorded runs on the disk: the folder of a study, its ledger and tables, and their repair."""
