"""The readings of GPUs."""
