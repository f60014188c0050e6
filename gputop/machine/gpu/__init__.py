"""Readings of the GPUs."""
