"""Exit codes of the command line; the package's docstring says what each means."""

EXIT_BAD_INPUT = 2
EXIT_NOT_FEASIBLE = 3
EXIT_FAILED_RUNS = 4
EXIT_DAMAGED = 5
EXIT_UNPROVED = 6
EXIT_NOT_TRUSTED = 7
EXIT_PROGRAM_FAILED = 8
EXIT_INTERRUPTED = 130
