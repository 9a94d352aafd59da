"""Search for the values of two to four parameters, proposed by Optuna."""
