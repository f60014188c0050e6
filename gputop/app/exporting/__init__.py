"""Exporting: frames as series for Prometheus, by HTTP or into files."""
