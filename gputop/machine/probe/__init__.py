"""Runs the worker processes of a probe."""
