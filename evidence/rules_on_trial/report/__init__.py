"""The page of the study, docs/rules-on-trial.md, and its pictures."""
