"""Prometheus: a frame as series in the text format. `table.SERIES` has one row per series."""
