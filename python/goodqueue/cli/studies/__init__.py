"""The commands `sweep`, `results` and `draw`, which run and read studies."""
