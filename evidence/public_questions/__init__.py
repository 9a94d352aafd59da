"""Answers to questions of public threads, each by one command, in docs/questions.md."""
