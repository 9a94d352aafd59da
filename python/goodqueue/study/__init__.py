"""Studies: many runs of one scenario, stored in one folder.

    study.toml ── plan ──> [Run] ── executor ──> [RunResult] ── store ──> Results ── pictures

docs/studies.md describes the file, the store and the frames.
"""
