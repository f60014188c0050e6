"""Headless views of a frame: table, JSON, CSV."""
