"""Probe page."""
