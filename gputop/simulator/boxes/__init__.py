"""The plans of the simulated boxes."""
